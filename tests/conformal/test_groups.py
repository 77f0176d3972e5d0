"""Groups: whole ones train or calibrate, in all folds, and statements name the proven bounds."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
from counting import Counting, make_data
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, LeaveOneGroupOut
from sklearn.multiclass import OneVsRestClassifier

from labelsure import (
    CrossConformalClassifier,
    InductiveConformalClassifier,
    LabelWiseConformalClassifier,
    PooledClassifier,
    calibrate_labels,
    calibrate_outputs,
    load_model,
    save_model,
)
from labelsure.conformal._guarantees import bound_by_groups, bound_in_folds
from labelsure.conformal._splits import make_splits
from labelsure.measures import PowerMeasure

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*examples have no label", "ignore:.*cannot be reached"
)

X, Y = make_data(90)
GROUPS = np.random.RandomState(0).permutation(np.arange(90) // 3)


UNEQUAL = np.repeat(np.arange(30), [2, 4, 1, 5, 3] * 6)


class AsTheyAre(ClassifierMixin, BaseEstimator):
    """A learner that was fitted elsewhere: its outputs are the features."""

    def fit(self, X, Y):  # noqa: ARG002
        self.classes_ = [np.array([0, 1])] * np.asarray(Y).shape[1]
        return self

    def predict_proba(self, X):
        return np.asarray(X, dtype=np.float64)


@given(st.integers(0, 10**6), st.integers(2, 8), st.integers(8, 12))
def test_folds_are_of_whole_groups_and_every_group_calibrates_once(seed, n_folds, n_groups):
    random = np.random.RandomState(seed)
    groups = np.concatenate([np.arange(n_groups), random.randint(n_groups, size=20)])
    splits = make_splits(n_folds, groups, np.zeros((len(groups), 1)), seed, groups=groups)
    counts = [len(np.unique(groups[split.calibration])) for split in splits]
    assert max(counts) - min(counts) <= 1
    for train, calibration in splits:
        assert not set(groups[train]) & set(groups[calibration])
        assert len(train) + len(calibration) == len(groups)
    everyone = np.concatenate([split.calibration for split in splits])
    assert len(np.unique(everyone)) == len(everyone) == len(groups)


@pytest.mark.parametrize("cv", [3, 6, GroupKFold(4), LeaveOneGroupOut()])
@pytest.mark.parametrize("measure", [None, PowerMeasure()])
def test_no_model_is_trained_on_the_group_that_it_speaks_about(cv, measure):
    """The default measure uses outputs of inner folds or shared models; all fits are watched."""
    groups = GROUPS // 5  # six of 15
    Counting.fits.clear()
    model = CrossConformalClassifier(Counting(), cv=cv, measure=measure, random_state=0).fit(
        X, Y, groups=groups
    )
    for rows in model.fold_indices_:
        assert not set(groups[rows]) & set(np.delete(groups, rows))
    for part, _ in Counting.fits:
        seen = [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in part]
        assert not set(groups[seen]) & set(np.delete(groups, seen))


@pytest.mark.parametrize("kind", [CrossConformalClassifier, InductiveConformalClassifier])
def test_pools_learn_from_inner_folds_of_whole_groups(kind):
    """Three groups of many equal rows: members that memorise look perfect unless kept apart."""
    random = np.random.RandomState(0)
    groups = np.repeat(np.arange(12), 10)
    objects = np.repeat(random.rand(12, 4), 10, axis=0)
    labels = np.repeat(random.randint(2, size=(12, 2)), 10, axis=0)
    members = [("memory", RandomForestClassifier(10)), ("line", LogisticRegression())]
    options = {"random_state": 0, "measure": PowerMeasure()} | (
        {"cv": 3} if kind is CrossConformalClassifier else {"calibration_size": 3}
    )
    pool = PooledClassifier(members, cv=3)
    apart = kind(pool, **options).fit(objects, labels, groups=groups).models_[0].estimator
    torn = kind(pool, **options).fit(objects, labels).models_[0].estimator
    assert apart.shared_weights_.sum() < 0.5 * torn.shared_weights_.sum()


def test_statement_of_equal_groups_has_their_bound():
    model = InductiveConformalClassifier(Counting(), random_state=0, calibration_size=10).fit(
        X, Y, groups=GROUPS
    )
    guarantee = model.calibrator_.guarantee
    assert guarantee.error_bound(0.1) == pytest.approx(0.1 + 0.9 * (2 / 3) / 11)
    assert "exchangeable groups of 3 examples each, 10 of which calibrate" in guarantee.sentence(
        0.1
    )
    wise = LabelWiseConformalClassifier(Counting(), random_state=0, calibration_size=10).fit(
        X, Y, groups=GROUPS
    )
    pred = wise.predict_labels(X[:2])
    for options in ({}, {"per_label": True}, {"at_most_wrong": 1}):
        assert "groups of 3 examples each" in pred.region(0.1, **options).statement
        assert "at most 0.155" in pred.region(0.1, **options).statement


@pytest.mark.parametrize(
    "options",
    [{"smoothed": True}, {"mondrian": "cardinality"}, {"weight": lambda X: np.ones(len(X))}],
    ids=["smoothed", "mondrian", "weight"],
)
@pytest.mark.parametrize("groups", [GROUPS, UNEQUAL], ids=["equal", "unequal"])
def test_statements_of_groups_that_are_counted_otherwise_promise_nothing(options, groups):
    model = InductiveConformalClassifier(
        Counting(), random_state=0, measure=PowerMeasure(), **options
    )
    statement = model.fit(X, Y, groups=groups).predict_labelsets(X[:2]).region(0.1).statement
    assert "at most 1, for exchangeable groups" in statement
    assert "no smaller bound is proven" in statement


def test_statement_of_groups_of_any_sizes_is_the_level():
    model = InductiveConformalClassifier(Counting(), random_state=0, calibration_size=10).fit(
        X, Y, groups=UNEQUAL
    )
    wise = LabelWiseConformalClassifier(Counting(), random_state=0, calibration_size=10).fit(
        X, Y, groups=UNEQUAL
    )
    pred = wise.predict_labels(X[:2])
    regions = [
        pred.region(0.1, **options) for options in ({}, {"per_label": True}, {"at_most_wrong": 1})
    ]
    for region in [model.predict_labelsets(X[:2]).region(0.1), *regions]:
        assert (
            "at most 0.1, for exchangeable groups of any sizes, 10 of which calibrate"
            in region.statement
        )
        assert "drawn at random from a new group" in region.statement
    assert not model.calibrator_.guarantee.reaches(1 / 12)
    assert model.calibrator_.guarantee.reaches(1 / 11)
    assert "With 10 calibration groups every labelset" in model.calibrator_.guarantee.limit


def test_statements_of_folds_of_equal_groups_have_their_bound():
    """30 groups of three in three folds: 2 [(0.1 * 91 - 1) / 3 + 3] / 33 = 0.345."""
    model = CrossConformalClassifier(Counting(), cv=3, measure=PowerMeasure(), random_state=0).fit(
        X, Y, groups=GROUPS
    )
    other = model.recalibrate(X, Y, measure=PowerMeasure(2))
    wise = (
        LabelWiseConformalClassifier(Counting(), cv=3)
        .fit(X, Y, groups=GROUPS)
        .predict_labels(X[:2])
    )
    regions = [
        wise.region(0.1, **options) for options in ({}, {"per_label": True}, {"at_most_wrong": 1})
    ]
    for region in [*(one.predict_labelsets(X[:2]).region(0.1) for one in (model, other)), *regions]:
        assert (
            "at most 0.345, for exchangeable groups of 3 examples each, 30 of which calibrate"
            in region.statement
        )
        assert "in 3 folds that were not chosen by their labels, any learner" in region.statement
    assert bound_in_folds(0.9, size=3, n_groups=30, n_folds=3) == 1.0


@given(seed=st.integers(0, 10**6), sizes=st.lists(st.integers(1, 7), min_size=2, max_size=9))
@settings(max_examples=40, deadline=None)
def test_p_values_are_means_over_groups_in_exact_fractions(seed, sizes):
    """Outputs in quarters, so that most scores are tied; the twin counts with fractions."""
    random = np.random.RandomState(seed)
    groups = random.permutation(np.repeat(np.arange(len(sizes)), sizes))
    outputs, new = random.randint(5, size=(len(groups), 2)) / 4, random.randint(5, size=(3, 2)) / 4
    labels = random.randint(2, size=outputs.shape)
    learner = AsTheyAre().fit(outputs, labels)
    model = InductiveConformalClassifier(
        learner, prefit=True, measure=PowerMeasure(1), empty_labelset="allow"
    )
    pred = model.fit(outputs, labels, groups=groups).predict_labelsets(new)
    wise = (
        LabelWiseConformalClassifier(learner, prefit=True)
        .fit(outputs, labels, groups=groups)
        .predict_labels(new)
    )
    if len(set(sizes)) == 1:
        plain = calibrate_outputs(
            outputs, labels, measure=PowerMeasure(1), empty_labelset="allow"
        ).predict_labelsets(new)
        assert np.array_equal(pred.p_values(), plain.p_values())
        assert np.array_equal(
            wise.p_values, calibrate_labels(outputs, labels).predict_labels(new).p_values
        )
        return

    def exact(strange):
        shares = [Fraction(int(strange[groups == k].sum()), size) for k, size in enumerate(sizes)]
        return (sum(shares) + 1) / (len(sizes) + 1)

    own = np.abs(labels - outputs)
    for i, output in enumerate(new):
        table = []
        for labelset in pred.candidates():
            expected = exact(own.sum(axis=1) >= np.abs(labelset - output).sum())
            table.append(expected)
            assert pred.p_value(labelset)[i] == float(expected)
            if expected < 1:
                assert not pred.region(expected).contains(np.tile(labelset, (3, 1)))[i]
            assert pred.region(expected - Fraction(1, 10**6)).contains(np.tile(labelset, (3, 1)))[i]
        second, first = sorted(map(float, table))[-2:]
        assert (pred.credibility[i], pred.confidence[i]) == (first, 1 - second)
        for j, on in np.ndindex(2, 2):
            p_value = exact(own[:, j] >= abs(on - output[j]))
            assert wise.p_values[i, j, on] == float(p_value)
            together = exact(own.max(axis=1) >= abs(on - output[j]))
            for level, member in ((together - Fraction(1, 10**6), True), (together, False)):
                if 0 < level < 1:
                    assert wise.region(level).possible_values[i, j, on] == member


def test_rows_with_unknown_labels_leave_their_groups_smaller():
    """Two of three rows of group 1 are complete, none of group 4: it is no group then."""
    groups, gaps = np.repeat(np.arange(5), 3), np.zeros((15, 2), dtype=bool)
    gaps[[3, 12, 13, 14], 0] = True
    outputs, labels = np.tile(np.arange(15)[:, None] / 15, 2), np.ones((15, 2))
    learner = AsTheyAre().fit(outputs, labels)
    model = InductiveConformalClassifier(
        learner, prefit=True, measure=PowerMeasure(1), empty_labelset="allow"
    )
    model.fit(outputs, np.where(gaps, np.nan, labels), groups=groups)
    pred = model.predict_labelsets([[4.5 / 15] * 2])
    assert pred.p_value([1, 1])[0] == float((1 + Fraction(1, 2) + 1) / 5)
    statement = pred.region(0.25).statement
    assert "at most 0.25, for exchangeable groups of any sizes, 4 of which calibrate" in statement
    assert "from the completely labelled ones of a new group" in statement
    assert "4 more examples have unknown labels" in statement
    wise = LabelWiseConformalClassifier(learner, prefit=True).fit(
        outputs, np.where(gaps, np.nan, labels), groups=groups
    )
    assert "no smaller bound" in wise.predict_labels([[0.5, 0.5]]).region(0.25).statement


def test_groups_of_different_sizes_are_kept_by_files_pickles_and_recalibration(tmp_path):
    model = InductiveConformalClassifier(Counting(), measure=PowerMeasure(), random_state=0).fit(
        X, Y, groups=UNEQUAL
    )
    smoothed = model.recalibrate(X, Y, smoothed=True)
    expected = model.predict_labelsets(X)
    assert (smoothed.predict_labelsets(X).p_values() < expected.p_values()).any()
    for same in (
        pickle.loads(pickle.dumps(model)),
        smoothed.recalibrate(X, Y, smoothed=False),
        model.recalibrate(X, Y, measure=PowerMeasure()),
    ):
        found = same.predict_labelsets(X)
        assert np.array_equal(found.p_values(), expected.p_values())
        assert found.region(0.1).statement == expected.region(0.1).statement
    learner = LogisticRegression()
    for kind in (InductiveConformalClassifier, LabelWiseConformalClassifier):
        fitted = kind(OneVsRestClassifier(learner), random_state=0).fit(X, Y, groups=UNEQUAL)
        save_model(fitted, tmp_path / kind.__name__)
        again = load_model(tmp_path / kind.__name__)
        if kind is LabelWiseConformalClassifier:
            assert np.array_equal(
                again.predict_labels(X).p_values, fitted.predict_labels(X).p_values
            )
        else:
            assert np.array_equal(
                again.predict_labelsets(X).p_values(), fitted.predict_labelsets(X).p_values()
            )


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (GROUPS[:-1], "each of the 90 examples"),
        (GROUPS.reshape(-1, 1), "each of the 90 examples"),
        (np.where(GROUPS == 3, np.nan, GROUPS), "got NaN or None"),
        (np.where(GROUPS == 3, None, GROUPS), "got NaN or None"),
        (np.array([*GROUPS[:-1].tolist(), "last"], dtype=object), "mixture"),
        (np.zeros(90), "at least two"),
    ],
)
def test_impossible_groups_are_refused(groups, message):
    with pytest.raises(ValueError, match=message):
        CrossConformalClassifier(Counting()).fit(X, Y, groups=groups)


def test_splits_that_tear_groups_apart_are_refused_before_any_fit():
    Counting.fits.clear()
    for cv in (KFold(3), list(KFold(3).split(X))):
        with pytest.raises(ValueError, match=r"keep every group on one side .* Use GroupKFold"):
            CrossConformalClassifier(Counting(), cv=cv).fit(X, Y, groups=GROUPS)
    with pytest.raises(ValueError, match="31 folds need at least 31 groups, got 30"):
        CrossConformalClassifier(Counting(), cv=31).fit(X, Y, groups=GROUPS)
    assert Counting.fits == []


def test_updates_of_predictors_with_groups_are_refused():
    model = InductiveConformalClassifier(Counting(), random_state=0).fit(X, Y, groups=GROUPS)
    wise = LabelWiseConformalClassifier(Counting(), random_state=0).fit(X, Y, groups=GROUPS)
    for one in (model, wise):
        with pytest.raises(ValueError, match="fitted without groups"):
            one.update(X, Y)


def errors_of_new_groups(n_sets, n_groups, size, level, seed):
    """How often the first example of a new group is missed, if examples of a group are similar."""
    random = np.random.RandomState(seed)
    missed = 0
    for _ in range(n_sets):
        centres = np.repeat(random.rand(n_groups + 1, 2), size, axis=0)
        outputs = np.clip(centres + 0.01 * random.rand(*centres.shape), 0, 1)
        labels = np.repeat(random.rand(n_groups + 1, 2) < 0.5, size, axis=0).astype(int)
        new = n_groups * size
        predictor = calibrate_outputs(outputs[:new], labels[:new])
        region = predictor.predict_labelsets(outputs[[new]]).region(level)
        missed += not region.contains(labels[[new]])[0]
    return missed / n_sets


@pytest.mark.validity
def test_errors_in_new_groups_exceed_the_level_and_keep_the_bound_of_groups():
    """Nine groups of five nearly equal examples at 0.131: the bound is 0.2005, and it is reached.

    False alarms: 4 standard deviations on either side, 3e-5 each.
    """
    level, n_sets = 0.131, 4000
    error, bound = (
        errors_of_new_groups(n_sets, 9, 5, level, seed=0),
        bound_by_groups(level, size=5, n_groups=9),
    )
    assert level + 4 * np.sqrt(level / n_sets) < error <= bound + 4 * np.sqrt(bound / n_sets)


def misses_of_unlike_groups(n_sets, levels, seed):
    """How often a new group's example is missed, with groups and without.

    Every other group is one strange example, the others are seven each that are not strange and
    nearly alike: these are seven eighths of all examples, and half of the new ones.
    """
    random = np.random.RandomState(seed)
    missed = np.zeros((2, len(levels)))
    for _ in range(n_sets):
        sizes = np.where(random.rand(20) < 0.5, 1, 7)
        centres = np.where(sizes == 1, 0.5 * random.rand(20), 0.6 + 0.3 * random.rand(20))
        groups = np.repeat(np.arange(20), sizes)
        outputs = (centres[groups] + 0.01 * random.rand(len(groups)))[:, None]
        old, new = groups < 19, np.flatnonzero(groups == 19)[[0]]
        labels = np.ones(outputs.shape, dtype=int)
        options = {"measure": PowerMeasure(1), "empty_labelset": "allow"}
        model = InductiveConformalClassifier(
            AsTheyAre().fit(outputs, labels), prefit=True, **options
        )
        alike = calibrate_outputs(outputs[old], labels[old], **options).predict_labelsets(
            outputs[new]
        )
        pred = model.fit(outputs[old], labels[old], groups=groups[old]).predict_labelsets(
            outputs[new]
        )
        missed += [
            [not one.region(level).contains([[1]])[0] for level in levels] for one in (pred, alike)
        ]
    return missed / n_sets


@pytest.mark.validity
def test_errors_in_groups_of_any_sizes_are_at_most_the_level():
    """Counting examples alike would be invalid. False alarms: 4 standard deviations, 3e-5."""
    n_sets, levels = 2000, np.array([0.1, 0.2])
    by_groups, alike = misses_of_unlike_groups(n_sets, levels, seed=0)
    most = levels + 4 * np.sqrt(levels * (1 - levels) / n_sets)
    assert (by_groups <= most).all()
    assert (alike > 1.5 * most).all()

"""Groups: whole ones train or calibrate, in outer and inner folds, and statements say what is proven of them."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from counting import Counting, make_data
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, LeaveOneGroupOut

from labelsure import (
    CrossConformalClassifier,
    InductiveConformalClassifier,
    LabelWiseConformalClassifier,
    PooledClassifier,
    calibrate_outputs,
)
from labelsure.conformal._groups import bound_by_groups, sizes_of_groups, state_groups
from labelsure.conformal._splits import hold_out, make_splits
from labelsure.measures import PowerMeasure

pytestmark = pytest.mark.filterwarnings("ignore:.*examples have no label", "ignore:.*cannot be reached")

X, Y = make_data(90)
GROUPS = np.random.RandomState(0).permutation(np.arange(90) // 3)


def groups_of(part):
    return {int(GROUPS[np.flatnonzero((row == X).all(axis=1))[0]]) for row in part}


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


def test_hold_out_draws_whole_groups():
    train, calibration = hold_out(0.3, 90, 1, groups=GROUPS)
    assert not set(GROUPS[train]) & set(GROUPS[calibration])
    assert len(np.unique(GROUPS[calibration])) == 9
    assert sorted([*train, *calibration]) == list(range(90))


@pytest.mark.parametrize("cv", [3, 6, GroupKFold(4), LeaveOneGroupOut()])
@pytest.mark.parametrize("measure", [None, PowerMeasure()])
def test_no_model_is_trained_on_the_group_that_it_speaks_about(cv, measure):
    """The default measure takes out-of-fold outputs, from inner folds and from shared models; all fits are watched."""
    groups = GROUPS // 5  # six of 15
    Counting.fits.clear()
    model = CrossConformalClassifier(Counting(), cv=cv, measure=measure, random_state=0).fit(X, Y, groups=groups)
    for rows in model.fold_indices_:
        assert not set(groups[rows]) & set(np.delete(groups, rows))
    for part, _ in Counting.fits:
        seen = [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in part]
        assert not set(groups[seen]) & set(np.delete(groups, seen))


def test_groups_may_be_words():
    names = np.array(["a", "b", "c"])[GROUPS % 3]
    model = CrossConformalClassifier(Counting(), cv=3, measure=PowerMeasure(), random_state=0)
    for groups in (names, pd.Series(names), names.tolist(), names.astype(object)):
        assert [len(rows) for rows in model.fit(X, Y, groups=groups).fold_indices_] == [30, 30, 30]


@pytest.mark.parametrize("kind", [CrossConformalClassifier, InductiveConformalClassifier])
def test_pools_learn_from_inner_folds_of_whole_groups(kind):
    """Three groups of many equal rows: members that remember rows look perfect, unless their group is kept apart."""
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
    model = InductiveConformalClassifier(Counting(), random_state=0, calibration_size=10).fit(X, Y, groups=GROUPS)
    guarantee = model.calibrator_.guarantee
    assert guarantee.error_bound(0.1) == pytest.approx(0.1 + 0.9 * (2 / 3) / 11)
    assert "exchangeable groups of 3 examples each, 10 of which calibrate" in guarantee.sentence(0.1)
    wise = LabelWiseConformalClassifier(Counting(), random_state=0, calibration_size=10).fit(X, Y, groups=GROUPS)
    pred = wise.predict_labels(X[:2])
    for options in ({}, {"per_label": True}, {"at_most_wrong": 1}):
        assert "groups of 3 examples each" in pred.region(0.1, **options).statement
        assert "at most 0.155" in pred.region(0.1, **options).statement


@pytest.mark.parametrize(
    ("options", "groups"),
    [
        ({}, np.repeat(np.arange(30), [2, 4] * 15)),
        ({"smoothed": True}, GROUPS),
        ({"mondrian": "cardinality"}, GROUPS),
    ],
)
def test_statements_of_other_groups_promise_nothing(options, groups):
    model = InductiveConformalClassifier(Counting(), random_state=0, measure=PowerMeasure(), **options)
    statement = model.fit(X, Y, groups=groups).predict_labelsets(X[:2]).region(0.1).statement
    assert "at most 1, for exchangeable groups" in statement
    assert "no smaller bound is proven" in statement


def test_groups_that_train_count_too_where_all_must_be_of_one_size():
    """Ten groups of three calibrate, or thirty of one, but others have two or four: so may new ones."""
    for size in (3, 1):
        groups = np.concatenate([np.arange(30) // size, 30 + np.repeat(np.arange(20), [2, 4] * 10)])
        model = CrossConformalClassifier(Counting(), cv=[(np.arange(30, 90), np.arange(30))], measure=PowerMeasure())
        wise = LabelWiseConformalClassifier(Counting(), cv=[(np.arange(30, 90), np.arange(30))])
        for pred in (
            model.fit(X, Y, groups=groups).predict_labelsets(X[:2]),
            wise.fit(X, Y, groups=groups).predict_labels(X[:2]),
        ):
            assert "at most 1, for exchangeable groups" in pred.region(0.1).statement


def test_statement_of_groups_without_the_empty_labelset_asks_for_labels():
    model = InductiveConformalClassifier(Counting(), random_state=0, calibration_size=10, empty="exclude")
    statement = model.fit(X, Y, groups=GROUPS).calibrator_.guarantee.sentence(0.1)
    assert "groups of 3 examples each, all with at least one label, 10 of which calibrate" in statement


def test_draws_that_rule_out_labelsets_at_any_level_have_no_least_level():
    """With guarantee="exact" a region may be small at any level; other rules cannot go below one example's share."""
    model = CrossConformalClassifier(Counting(), cv=3, measure=PowerMeasure(), random_state=0).fit(X, Y, groups=GROUPS)
    assert "cannot be reached" in model.predict_labelsets(X).region(0.001).statement
    exact = model.recalibrate(X, Y, guarantee="exact").predict_labelsets(X).region(0.001)
    assert "cannot be reached" not in exact.statement
    assert model.recalibrate(X, Y, guarantee="exact").calibrator_.guarantee.vacuous_below is None


def test_statements_of_folds_of_groups_promise_nothing():
    model = CrossConformalClassifier(Counting(), cv=3, measure=PowerMeasure(), random_state=0).fit(X, Y, groups=GROUPS)
    assert "no smaller bound" in model.predict_labelsets(X[:2]).region(0.1).statement
    again = model.recalibrate(X, Y, guarantee="exact")
    assert "no smaller bound" in again.predict_labelsets(X[:2]).region(0.1).statement
    other = model.recalibrate(X, Y, measure=PowerMeasure(2))
    assert "no smaller bound" in other.predict_labelsets(X[:2]).region(0.1).statement
    for conditional in (False, True):
        wise = LabelWiseConformalClassifier(Counting(), cv=3, conditional=conditional).fit(X, Y, groups=GROUPS)
        assert "no smaller bound" in wise.predict_labels(X[:2]).region(0.1).statement


def test_groups_of_one_are_examples():
    model = CrossConformalClassifier(Counting(), cv=3, measure=PowerMeasure(), random_state=0)
    alone = model.fit(X, Y, groups=np.arange(90)).predict_labelsets(X[:2]).region(0.1)
    assert alone.statement == model.fit(X, Y).predict_labelsets(X[:2]).region(0.1).statement


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


def test_one_group_left_for_inner_folds_says_so():
    with pytest.raises(ValueError, match="at least 2 groups in every training part"):
        CrossConformalClassifier(Counting(), cv=2).fit(X, Y, groups=GROUPS % 2)


def test_updates_of_predictors_with_groups_are_refused():
    model = InductiveConformalClassifier(Counting(), random_state=0).fit(X, Y, groups=GROUPS)
    wise = LabelWiseConformalClassifier(Counting(), random_state=0).fit(X, Y, groups=GROUPS)
    for one in (model, wise):
        with pytest.raises(ValueError, match="fitted without groups"):
            one.update(X, Y)


def errors_of_new_groups(n_sets, n_groups, size, level, seed):
    """How often the first example of a new group is missed, examples of a group being nearly alike."""
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
    error, bound = errors_of_new_groups(n_sets, 9, 5, level, seed=0), bound_by_groups(level, size=5, n_groups=9)
    assert level + 4 * np.sqrt(level / n_sets) < error <= bound + 4 * np.sqrt(bound / n_sets)


@pytest.mark.parametrize("sizes", [[2, 2, 2, 2, 2], [1, 3, 2, 2, 2]])
def test_statements_of_groups_are_vacuous_below_one_in_one_more_than_the_calibration_examples(sizes):
    groups = np.repeat(np.arange(5), sizes)
    found = state_groups(sizes_of_groups(groups, [np.arange(8)]), plain=True)
    assert (found.vacuous_below, found.n_calibration) == (Fraction(1, 9), 8)
    assert state_groups(sizes_of_groups(groups, [np.arange(8)]), plain=False).vacuous_below is None

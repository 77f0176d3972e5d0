"""Mondrian predictors: every p-value against its definition, and validity within categories."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.tree import DecisionTreeClassifier

from brute_force import codes_of
from labelsure import ByCardinality, ByLabel, ByObject, CrossConformalClassifier, InductiveConformalClassifier
from labelsure._core.randomness import DRAW_UNIT, MERGING, SMOOTHING, draw_uniforms, join_keys, object_keys
from labelsure.conformal._guarantees import Merging
from labelsure.estimators import outputs_of
from labelsure.measures import CardinalityPenalty, LogLossMeasure, PowerMeasure, UnseenPenalty
from search_cases import BY_SEARCH, BY_TABLE

FALSE_ALARM = 1e-4
BASE = DecisionTreeClassifier(max_depth=3, random_state=0)
TAXONOMIES = {
    "number of labels": ByCardinality(),
    "few or many labels": ByCardinality(at_most=2),
    "one label": ByLabel(1),
    "object": ByObject(lambda X: np.where(X[:, 0] > 0.8, "right", "left")),
}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    return X, (X[:, [0, 1, 2, 0]] + rng.normal(size=(90, 4)) > 0.4).astype(int)


def category_of(taxonomy, x, labelset):
    """Return the category as the taxonomy's description says."""
    if isinstance(taxonomy, ByObject):
        return x[0] > 0.8
    if isinstance(taxonomy, ByLabel):
        return labelset[1]
    n_labels = sum(labelset)
    return n_labels if taxonomy.at_most is None else min(n_labels, taxonomy.at_most)


def counts_by_definition(model, taxonomy, x, labelset, examples):
    """Return, fold by fold, how many scores in the category of object and labelset are >, = and all in all."""
    X, Y = examples
    own, counts = category_of(taxonomy, x, labelset), []
    for fold, inner, rows in zip(model.calibrator_.folds, model.models_, model.fold_indices_, strict=True):
        score = fold.measure.energy(outputs_of(inner, x[None], 4)).scores(labelset[None])[0]
        within = [s for r, s in zip(rows, fold.scores, strict=True) if category_of(taxonomy, X[r], Y[r]) == own]
        counts.append((sum(s > score for s in within), sum(s == score for s in within), len(within)))
    return np.array(counts)


def p_values_by_definition(model, X_new, candidates, taxonomy, examples, draws=None):
    """Return p = (#{>} + u (#{=} + 1)) / (n_category + 1) of every candidate, u = 1 unless smoothed."""
    table = np.empty((len(X_new), len(candidates)))
    for i, x in enumerate(X_new):
        u = Fraction(1) if draws is None else Fraction(int(draws[i]), DRAW_UNIT)
        for c, labelset in enumerate(candidates):
            above, equal, n_category = counts_by_definition(model, taxonomy, x, labelset, examples).sum(axis=0).tolist()
            table[i, c] = (above + u * (equal + 1)) / (n_category + 1)
    return table


@pytest.mark.parametrize("name", TAXONOMIES)
@pytest.mark.parametrize(
    "measure",
    [
        PowerMeasure(d=2, pair_penalty=0.5),
        LogLossMeasure() + UnseenPenalty(2.0),
        PowerMeasure() + CardinalityPenalty(1.0),
    ],
    ids=str,
)
@pytest.mark.parametrize("inductive", [True, False])
def test_p_values_equal_their_definition(data, name, measure, inductive):
    X, Y = data
    taxonomy = TAXONOMIES[name]
    options = {"measure": measure, "mondrian": taxonomy, "random_state": 0, "empty": "allow"}
    if inductive:
        model = InductiveConformalClassifier(BASE, calibration_size=0.4, **options).fit(X[:80], Y[:80])
    else:
        model = CrossConformalClassifier(BASE, cv=3, **options).fit(X[:80], Y[:80])
    X_new = X[80:83]
    pred = model.predict_labelsets(X_new)
    expected = p_values_by_definition(model, X_new, pred.candidates(), taxonomy, (X, Y))
    np.testing.assert_allclose(pred.p_values(), expected, rtol=1e-11)


@pytest.mark.parametrize("name", TAXONOMIES)
@pytest.mark.parametrize("inductive", [True, False])
def test_smoothed_p_values_equal_their_definition(data, name, inductive):
    """One draw per object, whatever the category; where there are no examples the p-value is the draw itself."""
    X, Y = data
    options = {"measure": PowerMeasure(), "mondrian": TAXONOMIES[name], "smoothed": True, "empty": "allow"}
    kind = InductiveConformalClassifier if inductive else CrossConformalClassifier
    model = kind(BASE, random_state=0, **options).fit(X[:80], Y[:80])
    pred = model.predict_labelsets(X[80:84])
    draws = draw_uniforms(model.calibrator_.seed, SMOOTHING, join_keys([object_keys(X[80:84])]))
    expected = p_values_by_definition(model, X[80:84], pred.candidates(), TAXONOMIES[name], (X, Y), draws)
    np.testing.assert_allclose(pred.p_values(), expected, rtol=1e-7)


@pytest.mark.parametrize("name", TAXONOMIES)
def test_p_values_within_categories_are_the_papers_whatever_decides_about_regions(data, name):
    X, Y = data
    options = {"measure": PowerMeasure(), "mondrian": TAXONOMIES[name], "cv": 3, "random_state": 0}
    cross, exact = (
        CrossConformalClassifier(BASE, guarantee=guarantee, **options).fit(X[:80], Y[:80]).predict_labelsets(X[80:84])
        for guarantee in ("cross", "exact")
    )
    np.testing.assert_array_equal(exact.p_values(), cross.p_values())


@pytest.mark.parametrize("name", TAXONOMIES)
def test_regions_of_exact_equal_their_definition_within_categories(data, name):
    """The rule is applied to the folds' counts in the category; folds without examples of it have no say."""
    X, Y = data
    options = {"measure": PowerMeasure(), "guarantee": "exact", "mondrian": TAXONOMIES[name], "empty": "allow"}
    model = CrossConformalClassifier(BASE, cv=3, random_state=0, **options).fit(X[:80], Y[:80])
    pred = model.predict_labelsets(X[80:84])
    draws = draw_uniforms(model.calibrator_.seed, MERGING, join_keys([object_keys(X[80:84])]))
    found = {True: 0, False: 0}
    for level in (0.1, 0.25, 0.5):
        region = pred.region(level)
        members = np.array([region.contains(labelset) for labelset in pred.candidates()]).T
        for i, x in enumerate(X[80:84]):
            merging = Merging(True, draws[[i]])
            for c, labelset in enumerate(pred.candidates()):
                above, equal, sizes = counts_by_definition(model, TAXONOMIES[name], x, labelset, (X, Y)).T
                at_least = (above + equal)[:, None]
                weighing = merging.weighing_at(sizes.tolist())(Fraction(str(level)))
                expected = weighing.numerators(at_least, at_least, np.array([0]))[0] >= 1
                assert members[i, c] == expected
                found[bool(expected)] += 1
        assert region.sizes.tolist() == members.sum(axis=1).tolist()
    assert min(found.values()) > 10


@pytest.mark.parametrize("name", TAXONOMIES)
def test_answers_agree_with_the_table(data, name):
    X, Y = data
    model = CrossConformalClassifier(BASE, cv=4, mondrian=TAXONOMIES[name], random_state=0, empty="allow")
    model.fit(X[:60], Y[:60])
    for options in (BY_SEARCH, BY_TABLE):
        model.calibrator_ = replace(model.calibrator_, options=options)
        pred = model.predict_labelsets(X[60:])
        table, candidates = pred.p_values(), pred.candidates()
        region = pred.region(0.3)
        assert region.sizes.tolist() == (table > 0.3).sum(axis=1).tolist()
        top = pred.top(5)
        assert np.array_equal(top.p_values, -np.sort(-table, axis=1)[:, :5])
        for i, row in enumerate(table):
            members = candidates[row > 0.3]
            assert sorted(codes_of(region[i].members().labelsets)) == sorted(codes_of(members))
            assert sorted(codes_of(list(region[i]) or np.empty((0, 4)))) == sorted(codes_of(members))
            assert region.inner[i].tolist() == (members.all(axis=0) & (len(members) > 0)).tolist()
            assert region.outer[i].tolist() == members.any(axis=0).tolist()
        rows = np.arange(len(pred))
        assert np.array_equal(pred.p_value(Y[60:]), table[rows, codes_of(Y[60:])])
        some = pred[[3, 1]]
        assert np.array_equal(some.p_values(), table[[3, 1]])
        assert np.array_equal(some.region(0.3).sizes, region.sizes[[3, 1]])


def test_a_category_without_examples_gives_the_p_value_one(data):
    X, Y = data
    few = Y.copy()
    few[few.sum(axis=1) > 2] = 0
    model = CrossConformalClassifier(BASE, cv=3, mondrian="cardinality", random_state=0).fit(X, few)
    assert (model.predict_labelsets(X[:5]).p_value(np.ones((5, 4), dtype=int)) == 1).all()
    by_object = InductiveConformalClassifier(BASE, mondrian=lambda X: X[:, 0] > 100, random_state=0).fit(X, Y)
    assert (by_object.predict_labelsets(X[:2] + 1000).p_values() == 1).all()


def test_labels_are_found_by_number_and_by_name(data):
    pandas = pytest.importorskip("pandas")
    X, Y = data
    named = pandas.DataFrame(Y, columns=["a", "b", "c", "d"])
    by_name = InductiveConformalClassifier(BASE, mondrian="b", random_state=0).fit(X, named)
    by_number = InductiveConformalClassifier(BASE, mondrian=1, random_state=0).fit(X, Y)
    assert np.array_equal(by_name.predict_labelsets(X).p_value(Y), by_number.predict_labelsets(X).p_value(Y))


def rejections(make_model, n_trials, draw, seed=0):
    """Return, for one new object per simulated data set, whether its true labelset is rejected, and its category."""
    rejected, groups = np.empty(n_trials, dtype=bool), np.empty(n_trials, dtype=int)
    for trial, rng in enumerate(np.random.default_rng(seed).spawn(n_trials)):
        X, Y, x, y, groups[trial] = draw(rng)
        pred = make_model().fit(X, Y).predict_labelsets(x)
        rejected[trial] = not pred.region(0.2).contains(y)[0]
    return rejected, groups


def draw_by_noise(rng):
    """Labels are noisy on the right and clear on the left: errors of an ordinary predictor pile up on the right."""
    X = rng.normal(size=(61, 2))
    noise = np.where(X[:, :1] > 0.5, 2.0, 0.1)
    Y = (X + noise * rng.normal(size=(61, 2)) > 0).astype(int)
    return X[:60], Y[:60], X[60:], Y[60:], int(X[60, 0] > 0.5)


def logistic(**options):
    base = OneVsRestClassifier(LogisticRegression())
    return lambda: InductiveConformalClassifier(base, calibration_size=0.5, empty="allow", random_state=0, **options)


@pytest.mark.validity
def test_error_stays_at_the_level_within_each_category():
    rejected, groups = rejections(logistic(mondrian=lambda X: X[:, 0] > 0.5), 2000, draw_by_noise)
    for group in (0, 1):
        of_group = rejected[groups == group]
        assert binomtest(int(of_group.sum()), len(of_group), 0.2, alternative="greater").pvalue > FALSE_ALARM
    ordinary, groups = rejections(logistic(), 2000, draw_by_noise)
    noisy = ordinary[groups == 1]  # what the taxonomy is for
    assert binomtest(int(noisy.sum()), len(noisy), 0.2, alternative="greater").pvalue < FALSE_ALARM

"""Guarantees as a choice: both merging rules against their formulas, and the regions that follow from them."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from labelsure import CrossConformalClassifier, calibrate_outputs
from labelsure._core.p_values import count_at_least
from labelsure._core.randomness import DRAW_UNIT, MERGING, draw_uniforms, join_keys, object_keys
from labelsure.conformal import GUARANTEES
from labelsure.conformal._guarantees import Merging
from labelsure.conformal._rules import E_VALUE_SCALE, complements
from labelsure.estimators import outputs_of
from labelsure.measures import PowerMeasure

SIZES = st.lists(st.integers(1, 12), min_size=2, max_size=6)
LEVELS = st.fractions(Fraction(1, 50), Fraction(9, 10), max_denominator=60)
DRAWS = st.integers(1, DRAW_UNIT)


def counts_for(data, sizes):
    """Return one count per fold, for three labelsets."""
    return np.array([[data.draw(st.integers(0, size)) for _ in range(3)] for size in sizes])


def numerators(weighing, counts):
    return weighing.numerators(counts[:, None], counts[:, None], np.array([0]))[0]


def members(sizes, counts, significance, draw):
    """Tell which labelsets belong to the region of "exact" at a level."""
    weighing = Merging(True, np.array([draw])).weighing_at(sizes)(significance)
    return (numerators(weighing, counts) >= 1).tolist()


def e_values(sizes, counts, significance):
    """Return eps E(p_k) of each labelset as fractions, one list per labelset."""
    rows = []
    for size, row in zip(sizes, counts, strict=True):
        values = complements((size,), significance)[0]
        rows.append([1 - Fraction(int(values[c]), E_VALUE_SCALE) for c in row])
    return list(zip(*rows, strict=True))


@pytest.mark.parametrize("exact", [False, True])
def test_p_values_of_the_paper_stay_where_only_regions_change(exact):
    weighing = Merging(exact, np.array([1])).weighing([3, 5])
    assert weighing.denominators.tolist() == [9]
    assert numerators(weighing, np.array([[2, 0, 3], [1, 0, 5]])).tolist() == [4, 1, 9]


@given(st.data(), SIZES, LEVELS, DRAWS)
def test_exact_keeps_labelsets_whose_mean_e_value_is_below_u_over_eps(data, sizes, significance, draw):
    counts = counts_for(data, sizes)
    means = [sum(of_one) / len(sizes) for of_one in e_values(sizes, counts, significance)]
    expected = [mean < Fraction(draw, DRAW_UNIT) for mean in means]
    assert members(sizes, counts, significance, draw) == expected
    order = data.draw(st.permutations(range(len(sizes))))
    assert members([sizes[k] for k in order], counts[order], significance, draw) == expected


def test_folds_without_examples_have_no_say():
    """Within a category a fold may have none; where no fold has any, every labelset is a member."""
    counts = np.array([[0, 1, 3], [0, 2, 4]])
    draw, level = DRAW_UNIT // 3, Fraction(1, 3)
    expected = members([3, 4], counts, level, draw)
    with_none = np.insert(counts, 1, 0, axis=0)
    assert members([3, 0, 4], with_none, level, draw) == expected
    assert len(set(expected)) == 2
    assert members([0, 0], np.zeros((2, 3), dtype=int), level, draw) == [True] * 3


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(83, 3))
    Y = (X + rng.normal(size=(83, 3)) > 0).astype(int)
    return X, Y


@pytest.fixture(scope="module")
def model(data):
    X, Y = data
    base = DecisionTreeClassifier(max_depth=3, random_state=0)
    return CrossConformalClassifier(base, cv=4, random_state=0, empty="allow").fit(X[:60], Y[:60])


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_regions_of_every_guarantee_agree_in_all_their_answers(data, model, guarantee):
    X, Y = data
    pred = model.recalibrate(X[:60], Y[:60], guarantee=guarantee).predict_labelsets(X[63:])
    candidates = pred.candidates()
    for significance in (0.1, 0.25, 0.5):
        region = pred.region(significance)
        holds = np.array([region.contains(labelset) for labelset in candidates]).T
        assert region.sizes.tolist() == holds.sum(axis=1).tolist()
        for i, own in enumerate(holds):
            listed = candidates[own]
            assert sorted(map(tuple, region[i].members().labelsets)) == sorted(map(tuple, listed))
            assert region.inner[i].tolist() == (listed.all(axis=0) & own.any()).tolist()
            assert region.outer[i].tolist() == listed.any(axis=0).tolist()
            assert len(region[i].members().p_values) == own.sum()
        assert pred[3:5].region(significance).sizes.tolist() == region.sizes[3:5].tolist()


def test_randomised_regions_follow_the_draws_of_the_objects(data, model):
    """What the rule says with U from the calibrator's seed and the object's features is what the region holds."""
    X, Y = data
    other = model.recalibrate(X[:60], Y[:60], guarantee="exact")
    pred = other.predict_labelsets(X[60:])
    draws = draw_uniforms(other.calibrator_.seed, MERGING, join_keys([object_keys(X[60:])]))
    sizes = other.calibrator_.sizes
    for i, draw in enumerate(draws[:8]):
        scores = [
            fold.measure.energy(np.repeat(outputs_of(inner, X[[60 + i]], 3), 8, axis=0)).scores(pred.candidates())
            for fold, inner in zip(other.calibrator_.folds, other.models_, strict=True)
        ]
        calibrations = other.calibrator_.calibrations
        counts = np.array([count_at_least(one, own) for one, own in zip(calibrations, scores, strict=True)])
        expected = members(sizes, counts, Fraction(1, 4), draw)
        assert [bool(pred[i].region(0.25).contains(labelset)[0]) for labelset in pred.candidates()] == expected


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_predictions_of_every_guarantee_can_be_pickled(data, model, guarantee):
    X, Y = data
    pred = model.recalibrate(X[:60], Y[:60], guarantee=guarantee).predict_labelsets(X[:4])[1:]
    again = pickle.loads(pickle.dumps(pred))
    assert np.array_equal(again.region(0.2).sizes, pred.region(0.2).sizes)
    assert again.region(0.2).statement == pred.region(0.2).statement


def predictor_of_five_folds(guarantee):
    rng = np.random.default_rng(0)
    outputs = rng.random((60, 4))
    Y = (rng.random((60, 4)) < outputs).astype(int)
    folds = np.arange(60) % 5
    return calibrate_outputs(outputs, Y, folds=folds, guarantee=guarantee, empty="allow", random_state=0)


def test_regions_by_p_values_are_nested_and_those_by_e_values_need_not_be():
    """Regions of "exact" are made for their level: one at 0.15 may lack a member of the one at 0.17 (as documented)."""
    rng = np.random.default_rng(1)
    centre = rng.random((200, 4))
    new = [np.clip(centre + rng.normal(scale=0.15, size=centre.shape), 0, 1) for _ in range(5)]  # folds disagree
    lacking = {}
    for guarantee in GUARANTEES:
        pred = predictor_of_five_folds(guarantee).predict_labelsets(new)
        smaller, larger = (
            np.array([pred.region(level).contains(labelset) for labelset in pred.candidates()])
            for level in (0.17, 0.15)
        )
        lacking[guarantee] = int((smaller & ~larger).sum())
    assert lacking["cross"] == 0
    assert lacking["exact"] > 0


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_bounds_of_estimated_sizes_do_not_contradict_each_other(guarantee):
    """Thirty labels, ten folds: a certified lower bound once was sixty times the upper one."""
    rng = np.random.default_rng(0)
    n, n_labels, n_folds = 200, 30, 10
    outputs = rng.beta(0.4, 0.8, size=(n, n_labels))
    Y = (rng.random(outputs.shape) < outputs).astype(int)
    new = np.clip(rng.beta(0.4, 0.8, size=(2, n_labels)) + 0.05 * rng.normal(size=(n_folds, 2, n_labels)), 0, 1)
    folds = np.arange(n) % n_folds
    predictor = calibrate_outputs(outputs, Y, folds=folds, measure=PowerMeasure(), guarantee=guarantee, random_state=0)
    for significance in (0.05, 0.2):
        for size in predictor.predict_labelsets(new).region(significance).size_estimates:
            assert size.at_least <= size.low <= size.value <= size.high <= size.at_most

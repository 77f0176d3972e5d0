"""Guarantees as a choice: each merging rule against its formula, and what it says of itself."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from labelsure import CrossConformalClassifier, InductiveConformalClassifier, calibrate_outputs
from labelsure.conformal._guarantees import GUARANTEES, cross_error_bound, merge_folds
from labelsure.conformal._p_to_e import scaled_e_values
from labelsure.conformal._splits import make_splits
from labelsure.labelsets import DRAW_UNIT

SIZES = st.lists(st.integers(1, 12), min_size=2, max_size=6)
LEVELS = st.fractions(Fraction(1, 50), Fraction(9, 10), max_denominator=60)


def counts_for(data, sizes):
    """Return one count per fold, for three labelsets."""
    return np.array([[data.draw(st.integers(0, size)) for _ in range(3)] for size in sizes])


def fold_p_values(sizes, counts):
    return [[Fraction(int(c) + 1, size + 1) for c in row] for size, row in zip(sizes, counts, strict=True)]


def merged(name, sizes, counts, draw):
    """Return the p-value of each labelset as an exact fraction of whole numbers."""
    merging = merge_folds(name, sizes, np.array([draw]), smoothed=False)
    numerators = merging.rule.numerators(counts[:, None], np.array([0]))[0]
    return [Fraction(int(one), int(merging.rule.denominators[0])) for one in numerators]


@given(st.data(), SIZES)
def test_twice_mean_equals_twice_the_mean_of_fold_p_values(data, sizes):
    counts = counts_for(data, sizes)
    p_values = fold_p_values(sizes, counts)
    expected = [2 * sum(of_one) / len(sizes) for of_one in zip(*p_values, strict=True)]
    assert merged("twice-mean", sizes, counts, 0) == expected


@given(st.data(), st.integers(1, 12), st.integers(2, 9), st.integers(1, DRAW_UNIT))
def test_running_means_equal_their_formulas(data, size, n_folds, draw):
    sizes = [size] * n_folds
    counts = counts_for(data, sizes)
    u = Fraction(draw, DRAW_UNIT)
    for of_one, e_mod, eu_mod in zip(
        zip(*fold_p_values(sizes, counts), strict=True),
        merged("e-mod", sizes, counts, draw),
        merged("eu-mod", sizes, counts, draw),
        strict=True,
    ):
        means = [sum(of_one[:t]) / t for t in range(1, n_folds + 1)]
        assert e_mod == 2 * min(means)
        expected = 2 * min(of_one[0] / (2 - u), *means)
        assert 0 <= eu_mod - expected < Fraction(1, 10**7)  # 1 / (2 - u) is rounded up


@given(st.integers(1, 60), LEVELS)
def test_e_values_fall_and_average_to_at_most_one(size, significance):
    values = scaled_e_values(size, significance)
    assert (np.diff(values) <= 0).all()
    assert (values >= 0).all()
    assert float(significance) * (1 - 2e-9) <= values.mean() <= float(significance) * (1 + 1e-15)


@given(st.integers(1, 60), LEVELS)
def test_e_values_equal_their_formula(size, significance):
    """F(p) = (1/eps) (1 + e^{C (eps - s)}) / (1 + e^{C (p - s)}): two ratios give C back, wherever F is not flat."""
    values = scaled_e_values(size, significance)
    n_values, level = size + 1, float(significance)
    grid = np.arange(1, n_values + 1) / n_values
    if (significance * n_values).denominator == 1:
        assert values.tolist() == (grid <= level + 1e-12).astype(float).tolist()
        return
    middle = (level + (int(significance * n_values) + 1) / n_values) / 2
    low, high = 0.0, 1.0
    f = lambda c: (1 + np.exp(c * (level - middle))) / (1 + np.exp(np.minimum(c * (grid - middle), 700)))  # noqa: E731
    while f(high).mean() > level:
        high *= 2
    for _ in range(200):
        c = (low + high) / 2
        low, high = (c, high) if f(c).mean() > level else (low, c)
    np.testing.assert_allclose(values, f(low), rtol=1e-5, atol=1e-9)


@given(st.data(), SIZES, LEVELS, st.integers(1, DRAW_UNIT))
def test_exact_keeps_labelsets_whose_mean_e_value_is_below_u_over_eps(data, sizes, significance, draw):
    counts = counts_for(data, sizes)
    rule = merge_folds("exact", sizes, np.array([draw]), smoothed=False).rule_at(significance)
    members = rule.numerators(counts[:, None], np.array([0]))[0] >= 1
    e_values = [scaled_e_values(size, significance)[row] for size, row in zip(sizes, counts, strict=True)]
    mean, limit = np.mean(e_values, axis=0), draw / DRAW_UNIT
    clear = np.abs(mean - limit) > 1e-8
    assert (members == (mean < limit))[clear].all()


@given(st.data(), st.integers(1, 12), st.integers(2, 6), LEVELS)
def test_exact_deterministic_keeps_labelsets_whose_running_mean_never_reaches_one_over_eps(
    data, size, n_folds, significance
):
    sizes = [size] * n_folds
    counts = counts_for(data, sizes)
    rule = merge_folds("exact-deterministic", sizes, np.array([1]), smoothed=False).rule_at(significance)
    members = rule.numerators(counts[:, None], np.array([0]))[0] >= 1
    scaled = np.array([scaled_e_values(size, significance)[row] for row in counts])
    running = scaled.cumsum(axis=0) / np.arange(1, n_folds + 1)[:, None]
    clear = (np.abs(running - 1) > 1e-7).all(axis=0)
    assert (members == (running < 1).all(axis=0))[clear].all()


def test_exact_deterministic_rejects_where_the_level_is_a_value_of_p():
    """At eps (m + 1) a whole number an e-value is 0 or exactly 1 / eps: one fold with p <= eps first is enough."""
    rule = merge_folds("exact-deterministic", [9, 9], np.array([1]), smoothed=False).rule_at(Fraction(3, 10))
    counts = np.array([[2, 2, 3, 9], [2, 9, 2, 9]])  # p_1 = .3, .3, .4, 1
    assert (rule.numerators(counts[:, None], np.array([0]))[0] >= 1).tolist() == [False, False, True, True]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(83, 3))
    Y = (X + rng.normal(size=(83, 3)) > 0).astype(int)
    return X, Y


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_regions_of_every_guarantee_agree_in_all_their_answers(data, guarantee):
    X, Y = data
    model = CrossConformalClassifier(
        DecisionTreeClassifier(max_depth=3), cv=4, guarantee=guarantee, random_state=0, empty="allow"
    ).fit(X[:63], Y[:63])
    pred = model.predict_labelsets(X[63:])
    candidates = pred.candidates()
    for significance in (0.1, 0.25, 0.5):
        region = pred.region(significance)
        members = np.array([region.contains(np.tile(labelset, (20, 1))) for labelset in candidates]).T
        assert region.sizes.tolist() == members.sum(axis=1).tolist()
        for i, own in enumerate(members):
            listed = candidates[own]
            assert sorted(map(tuple, region[i].members().labelsets)) == sorted(map(tuple, listed))
            assert region.inner[i].tolist() == (listed.all(axis=0) & own.any()).tolist()
            assert region.outer[i].tolist() == listed.any(axis=0).tolist()
            assert len(region[i].members().p_values) == own.sum()
        assert pred[3:5].region(significance).sizes.tolist() == region.sizes[3:5].tolist()


@pytest.mark.parametrize("guarantee", ["twice-mean", "e-mod", "eu-mod"])
def test_regions_are_the_labelsets_with_p_values_above_the_level(data, guarantee):
    X, Y = data
    model = CrossConformalClassifier(DecisionTreeClassifier(max_depth=3), cv=3, guarantee=guarantee, random_state=0)
    pred = model.fit(X[:63], Y[:63]).predict_labelsets(X[63:])
    table = pred.p_values()
    assert (table <= 1).all()
    assert (pred.region(0.3).sizes == (table > 0.3).sum(axis=1)).all()
    assert np.array_equal(pred.credibility, table.max(axis=1))


def test_prefix_guarantees_make_equal_folds_and_train_with_what_is_left():
    Y = np.zeros((23, 2), dtype=np.int8)
    splits = make_splits(5, Y, Y, 0, equal=True)
    assert [len(calibration) for _, calibration in splits] == [4] * 5
    assert len(np.unique(np.concatenate([calibration for _, calibration in splits]))) == 20
    for train, calibration in splits:
        assert sorted([*train, *calibration]) == list(range(23))


def test_cross_error_bound_is_the_smaller_of_two(data):
    assert cross_error_bound(0.1, 100, 10) == pytest.approx(0.2 + min(2 * 0.9 * 0.9 / 11, 0.9 / 11))
    assert cross_error_bound(0.1, 100, 50) == pytest.approx(0.2 + min(2 * 0.9 * 0.98 / 3, 0.5 / 51))
    X, Y = data
    model = CrossConformalClassifier(DecisionTreeClassifier(), cv=9, random_state=0).fit(X[:81], Y[:81])
    sentence = model.predict_labelsets(X).region(0.05).statement
    bound = cross_error_bound(0.05, 81, 9)
    for part in (f"at most {bound:.3g}", "81 exchangeable examples in 9 folds", "Barber", "Papadopoulos 2014"):
        assert part in sentence


@pytest.mark.parametrize("guarantee", [name for name in GUARANTEES if name != "cross"])
def test_sentences_promise_the_level_itself_and_name_who_proved_it(data, guarantee):
    X, Y = data
    model = CrossConformalClassifier(DecisionTreeClassifier(), cv=3, guarantee=guarantee, random_state=0).fit(X, Y)
    sentence = model.predict_labelsets(X[:2]).region(0.05).statement
    assert "at most 0.05" in sentence
    assert GUARANTEES[guarantee].proved_by in sentence


def test_inductive_and_full_regions_state_their_guarantee(data):
    X, Y = data
    inductive = InductiveConformalClassifier(DecisionTreeClassifier(), random_state=0).fit(X, Y)
    assert "at most 0.1, for exchangeable examples" in inductive.predict_labelsets(X[:2]).region(0.1).statement
    one_fold = calibrate_outputs(np.full((5, 2), 0.4), np.eye(5, 2, dtype=int))
    assert "at most 0.1, for exchangeable examples" in one_fold.predict_labelsets([[0.1, 0.2]]).region(0.1).statement


def test_smoothed_cross_conformal_regions_promise_nothing(data):
    X, Y = data
    model = CrossConformalClassifier(DecisionTreeClassifier(), cv=3, smoothed=True, random_state=0).fit(X, Y)
    assert model.predict_labelsets(X[:2]).region(0.1).statement.startswith("Nothing is proven")


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_predictions_of_every_guarantee_can_be_pickled(data, guarantee):
    X, Y = data
    model = CrossConformalClassifier(DecisionTreeClassifier(), cv=3, guarantee=guarantee, random_state=0).fit(X, Y)
    pred = model.predict_labelsets(X[:4])[1:]
    again = pickle.loads(pickle.dumps(pred))
    assert np.array_equal(again.region(0.2).sizes, pred.region(0.2).sizes)
    assert again.region(0.2).statement == pred.region(0.2).statement


def test_bad_guarantees_are_refused(data):
    X, Y = data
    outputs, labels = np.full((6, 2), 0.4), np.eye(6, 2, dtype=int)
    with pytest.raises(ValueError, match=r"guarantee must be .*'sure'"):
        CrossConformalClassifier(DecisionTreeClassifier(), guarantee="sure").fit(X, Y)
    with pytest.raises(ValueError, match=r"at least two folds, got one fold.*InductiveConformalClassifier"):
        calibrate_outputs(outputs, labels, guarantee="exact")
    with pytest.raises(ValueError, match="folds of equal size, got sizes from 2 to 4"):
        calibrate_outputs(outputs, labels, folds=[0, 0, 0, 0, 1, 1], guarantee="e-mod")
    with pytest.raises(ValueError, match="smoothed=True goes with guarantee='cross' only"):
        calibrate_outputs(outputs, labels, folds=[0, 0, 0, 1, 1, 1], guarantee="exact", smoothed=True)


@settings(max_examples=20)
@given(st.integers(0, 2**31))
def test_randomised_guarantees_are_repeatable_and_follow_the_seed(seed):
    outputs = np.random.default_rng(0).random((40, 3))
    options = {"folds": [0, 1] * 20, "guarantee": "exact", "random_state": seed}
    predictor = calibrate_outputs(outputs, (outputs > 0.5).astype(int), **options)
    new = np.random.default_rng(1).random((2, 50, 3))
    sizes = predictor.predict_labelsets(new).region(0.2).sizes
    assert np.array_equal(sizes, predictor.predict_labelsets(new).region(0.2).sizes)

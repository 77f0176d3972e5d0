"""Guarantees as a choice: each merging rule against its formula, and the regions that follow from it."""

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
from labelsure.conformal import GUARANTEES, make_splits
from labelsure.conformal._guarantees import Merging
from labelsure.conformal._rules import E_VALUE_SCALE, complements, linear_e_values, steep_e_values
from labelsure.estimators import outputs_of
from labelsure.labelsets import Allowed
from labelsure.measures import PowerMeasure

SIZES = st.lists(st.integers(1, 12), min_size=2, max_size=6)
LEVELS = st.fractions(Fraction(1, 50), Fraction(9, 10), max_denominator=60)
DRAWS = st.integers(1, DRAW_UNIT)
EQUAL_FOLDS = [name for name, kind in GUARANTEES.items() if kind.prefixes]


def counts_for(data, sizes):
    """Return one count per fold, for three labelsets."""
    return np.array([[data.draw(st.integers(0, size)) for _ in range(3)] for size in sizes])


def fold_p_values(sizes, counts):
    """Return p_k of each labelset, one list per labelset."""
    rows = [[Fraction(int(c) + 1, size + 1) for c in row] for size, row in zip(sizes, counts, strict=True)]
    return list(zip(*rows, strict=True))


def numerators(weighing, counts):
    return weighing.numerators(counts[:, None], counts[:, None], np.array([0]))[0]


def merged(name, sizes, counts, draw=1):
    """Return the p-value of each labelset as an exact fraction of whole numbers."""
    weighing = Merging(GUARANTEES[name], np.array([draw])).weighing(sizes)
    return [Fraction(int(one), int(weighing.denominators[0])) for one in numerators(weighing, counts)]


def members(name, sizes, counts, significance, draw=1):
    """Tell which labelsets belong to the region at a level."""
    weighing = Merging(GUARANTEES[name], np.array([draw])).weighing_at(sizes)(significance)
    return (numerators(weighing, counts) >= 1).tolist()


def e_values(calibrator, sizes, counts, significance):
    """Return eps E(p_k) of each labelset as fractions, one list per labelset."""
    rows = []
    for size, row in zip(sizes, counts, strict=True):
        values = complements(calibrator, (size,), significance)[0]
        rows.append([1 - Fraction(int(values[c]), E_VALUE_SCALE) for c in row])
    return list(zip(*rows, strict=True))


def running_means(values):
    return [sum(values[:t]) / t for t in range(1, len(values) + 1)]


@given(st.data(), SIZES)
def test_twice_mean_equals_twice_the_mean_of_fold_p_values(data, sizes):
    counts = counts_for(data, sizes)
    expected = [2 * sum(of_one) / len(sizes) for of_one in fold_p_values(sizes, counts)]
    assert merged("twice-mean", sizes, counts) == expected


@pytest.mark.parametrize(("sizes", "off"), [((400, 630, 640), 0), ((400, 630, 640, 1008), Fraction(2, 2**28))])
def test_twice_mean_is_exact_up_to_a_common_denominator_of_2_to_the_28_and_rounded_up_beyond(sizes, off):
    """401 * 631 * 641 is between 2^27 and 2^28; with 1009 as well it is beyond."""
    counts = np.array([[0, 3, size // 2] for size in sizes])
    for found, p in zip(merged("twice-mean", sizes, counts), fold_p_values(sizes, counts), strict=True):
        assert 0 <= found - 2 * sum(p) / len(sizes) <= off


@given(st.data(), st.integers(1, 12), st.integers(2, 9), DRAWS)
def test_running_means_equal_their_formulas(data, size, n_folds, draw):
    sizes = [size] * n_folds
    counts = counts_for(data, sizes)
    u = Fraction(draw, DRAW_UNIT)
    for of_one, e_mod, eu_mod in zip(
        fold_p_values(sizes, counts),
        merged("e-mod", sizes, counts, draw),
        merged("eu-mod", sizes, counts, draw),
        strict=True,
    ):
        assert e_mod == 2 * min(running_means(of_one))
        expected = 2 * min(of_one[0] / (2 - u), *running_means(of_one))
        assert 0 <= eu_mod - expected < Fraction(1, 10**7)  # 1 / (2 - u) is rounded up


def test_running_means_of_22_folds_are_exact():
    """The least common multiple of 1 .. 22 is below 2^28, that of 1 .. 23 is not."""
    sizes = [4] * 22
    counts = np.random.default_rng(0).integers(0, 5, (22, 40))
    counts[0] = 4  # else the first is often the least
    found = merged("e-mod", sizes, counts)
    assert found == [2 * min(running_means(of_one)) for of_one in fold_p_values(sizes, counts)]


@pytest.mark.parametrize("name", ["cross", "exact", "exact-deterministic", "exact-prefix"])
def test_p_values_of_the_paper_stay_where_only_regions_change(name):
    counts = np.array([[2, 0, 3], [1, 0, 5]])
    assert merged(name, [3, 5], counts) == [Fraction(4, 9), Fraction(1, 9), 1]


@given(st.data(), SIZES, LEVELS, DRAWS)
def test_exact_keeps_labelsets_whose_mean_e_value_is_below_u_over_eps(data, sizes, significance, draw):
    counts = counts_for(data, sizes)
    means = [sum(of_one) / len(sizes) for of_one in e_values(steep_e_values, sizes, counts, significance)]
    expected = [mean < Fraction(draw, DRAW_UNIT) for mean in means]
    assert members("exact", sizes, counts, significance, draw) == expected


@pytest.mark.parametrize(
    ("name", "calibrator"), [("exact-deterministic", steep_e_values), ("twice-mean", linear_e_values)]
)
@given(st.data(), SIZES, LEVELS)
def test_regions_by_the_mean_keep_labelsets_whose_mean_e_value_is_below_one_over_eps(
    name, calibrator, data, sizes, significance
):
    counts = counts_for(data, sizes)
    expected = [sum(of_one) / len(sizes) < 1 for of_one in e_values(calibrator, sizes, counts, significance)]
    assert members(name, sizes, counts, significance) == expected
    order = data.draw(st.permutations(range(len(sizes))))
    assert members(name, [sizes[k] for k in order], counts[order], significance) == expected


@pytest.mark.parametrize(("name", "calibrator"), [("exact-prefix", steep_e_values), ("e-mod", linear_e_values)])
@given(st.data(), st.integers(1, 12), st.integers(2, 6), LEVELS)
def test_regions_by_running_means_keep_labelsets_that_never_reach_one_over_eps(
    name, calibrator, data, size, n_folds, significance
):
    sizes = [size] * n_folds
    counts = counts_for(data, sizes)
    values = e_values(calibrator, sizes, counts, significance)
    assert members(name, sizes, counts, significance) == [max(running_means(of_one)) < 1 for of_one in values]


@given(st.data(), st.integers(1, 60), st.integers(2, 6), LEVELS)
def test_linear_regions_are_within_those_of_their_p_values(data, size, n_folds, significance):
    sizes = [size] * n_folds
    counts = counts_for(data, sizes)
    for name in ("twice-mean", "e-mod"):
        kept = members(name, sizes, counts, significance)
        above = [p > significance for p in merged(name, sizes, counts)]
        assert all(not member or p for member, p in zip(kept, above, strict=True))


def test_running_means_reject_where_the_first_fold_does_and_the_mean_where_all_do():
    """At eps (m + 1) a whole number a steep e-value is 0 or exactly 1 / eps."""
    counts = np.array([[2, 2, 3, 9], [2, 9, 2, 9]])  # p_1 = .3, .3, .4, 1 and p_2 = .3, 1, .3, 1
    assert members("exact-prefix", [9, 9], counts, Fraction(3, 10)) == [False, False, True, True]
    assert members("exact-deterministic", [9, 9], counts, Fraction(3, 10)) == [False, True, True, True]


@pytest.mark.parametrize("name", ["exact", "exact-deterministic", "twice-mean"])
def test_folds_without_examples_have_no_say(name):
    """Within a category a fold may have none; where no fold has any, every labelset is a member."""
    counts = np.array([[0, 1, 3], [0, 2, 4]])
    draw, level = DRAW_UNIT // 3, Fraction(1, 3)
    expected = members(name, [3, 4], counts, level, draw)
    with_none = np.insert(counts, 1, 0, axis=0)
    assert members(name, [3, 0, 4], with_none, level, draw) == expected
    assert len(set(expected)) == 2
    assert members(name, [0, 0], np.zeros((2, 3), dtype=int), level, draw) == [True] * 3


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


@pytest.mark.parametrize("guarantee", ["cross", "eu-mod", "twice-mean", "e-mod"])
def test_regions_are_those_of_the_p_values_or_smaller(data, model, guarantee):
    X, Y = data
    pred = model.recalibrate(X[:60], Y[:60], guarantee=guarantee).predict_labelsets(X[60:])
    table, candidates = pred.p_values(), pred.candidates()
    assert (table <= 1).all()
    assert np.array_equal(pred.credibility, table.max(axis=1))
    n_members = n_above = 0
    for level in (0.15, 0.3, 0.45):
        region, above = pred.region(level), table > level
        holds = np.array([region.contains(labelset) for labelset in candidates]).T
        assert not (holds & ~above).any()
        n_members, n_above = n_members + holds.sum(), n_above + above.sum()
    assert (n_members == n_above) == (guarantee in ("cross", "eu-mod"))


@pytest.mark.parametrize("guarantee", ["exact", "eu-mod"])
def test_randomised_regions_follow_the_draws_of_the_objects(data, model, guarantee):
    """What the rule says with U from the calibrator's seed and the object's features is what the region holds."""
    X, Y = data
    other = model.recalibrate(X[:60], Y[:60], guarantee=guarantee)
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
        if guarantee == "exact":
            expected = members("exact", sizes, counts, Fraction(1, 4), draw)
        else:
            expected = [p > Fraction(1, 4) for p in merged("eu-mod", sizes, counts, draw)]
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
    for guarantee in ("cross", "eu-mod", "exact", "exact-deterministic"):
        pred = predictor_of_five_folds(guarantee).predict_labelsets(new)
        smaller, larger = (
            np.array([pred.region(level).contains(labelset) for labelset in pred.candidates()])
            for level in (0.17, 0.15)
        )
        lacking[guarantee] = int((smaller & ~larger).sum())
    assert lacking["cross"] == lacking["eu-mod"] == 0
    assert lacking["exact"] > 0
    assert lacking["exact-deterministic"] > 0


@pytest.mark.parametrize("n_examples", [20, 23])
def test_prefix_guarantees_make_equal_folds_and_train_with_what_is_left(n_examples):
    Y = np.zeros((n_examples, 2), dtype=np.int8)
    splits = make_splits(5, Y, Y, 0, equal=True)
    assert [len(calibration) for _, calibration in splits] == [4] * 5
    assert len(np.unique(np.concatenate([calibration for _, calibration in splits]))) == 20
    for train, calibration in splits:
        assert sorted([*train, *calibration]) == list(range(n_examples))


@pytest.mark.parametrize("guarantee", EQUAL_FOLDS)
def test_prefix_guarantees_of_a_classifier_use_equal_folds(data, guarantee):
    X, Y = data
    model = CrossConformalClassifier(DecisionTreeClassifier(), cv=5, guarantee=guarantee, random_state=0).fit(X, Y)
    assert model.calibrator_.sizes == (16,) * 5
    assert all(len(rows) == 16 for rows in model.fold_indices_)


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_bounds_of_estimated_sizes_do_not_contradict_each_other(guarantee):
    """Thirty labels, ten folds: with "eu-mod" a certified lower bound once was sixty times the upper one."""
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


@pytest.mark.parametrize("constraints", [None, Allowed([[1, 0], [0, 1], [1, 1]])], ids=["all", "listed"])
def test_masses_of_labels_count_no_p_value_beyond_one(constraints):
    """Twice a mean of p-values may be 2: it is a p-value of 1, and counted as such."""
    outputs, Y = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8], [0.2, 0.9]], [[1, 0], [1, 0], [0, 1], [0, 1]]
    predictor = calibrate_outputs(
        outputs, Y, folds=[0, 1, 0, 1], measure=PowerMeasure(), guarantee="twice-mean", constraints=constraints
    )
    pred = predictor.predict_labelsets([[[0.99, 0.01]]] * 2)  # of both folds, the first labelset has p_k = 1
    p_values = pred.p_values()
    assert 0 < p_values.min() < p_values.max() == 1
    shares = p_values @ pred.candidates() / p_values.sum(axis=1, keepdims=True)
    assert pred.rank_labels(method="mass") == pytest.approx(shares, rel=1e-12)

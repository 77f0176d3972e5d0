"""Searches where scores are the largest of labels' costs: every answer against brute force, and for many labels.

Ties everywhere, labels that cost nothing, folds that agree and folds that do not, rules, smoothing, with and without
the empty labelset.
"""

import pickle
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import labelset_reference
from brute_force import highest_by_label, labelsets_of
from fold_strategies import COSTS, fold_lists, smoothing
from labelsure.labelsets import DRAW_UNIT, EngineOptions, Fold, FoldEngine
from labelsure.labelsets.search._max_answers import MaxAnswers
from labelsure.labelsets.search._max_problem import UNIT_BITS, MaxProblem, count_members, draw_some, estimate_members
from labelsure.labelsets.table import RowTable
from max_cases import max_energy, noisy_folds, random_max_case
from search_cases import BY_SEARCH, Case, assert_answers_equal_brute_force, values_of

N_CASES = 120


def assert_max_answers_equal_brute_force(case, seed, **options):
    assert_answers_equal_brute_force(case, seed, **options)
    engine, n_labels = case.engine(), case.folds[0].energy.n_labels
    assert isinstance(engine._search, MaxAnswers)
    assert isinstance(engine.table.backend, RowTable)
    for i, ranked in enumerate(case.ranked()):
        labelsets, objects = labelsets_of(ranked.codes, n_labels).astype(np.int8), np.full(len(ranked.codes), i)
        assert engine.numerators_of(labelsets, objects).tolist() == ranked.numerators.tolist()
        assert engine.total_scores(labelsets, objects).tolist() == ranked.totals.tolist()


@pytest.mark.parametrize("block", range(3))
def test_answers_equal_brute_force(block):
    for seed in range(block, N_CASES, 3):
        assert_max_answers_equal_brute_force(random_max_case(seed), seed)


@pytest.mark.validity
@pytest.mark.parametrize("block", range(10))
def test_answers_equal_brute_force_in_many_cases(block):
    for seed in range(10**6 + block, 10**6 + 5000, 10):
        assert_max_answers_equal_brute_force(random_max_case(seed), seed)


@st.composite
def max_energies(draw, n_objects, n_labels):
    kinds = [draw(COSTS), draw(COSTS)]
    return max_energy(*(draw(arrays(np.int64, (n_objects, n_labels), elements=kind)) for kind in kinds))


@settings(max_examples=60)
@given(st.data(), fold_lists(labels=(1, 5), folds=(1, 5), objects=(1, 2), kind=max_energies), st.booleans())
def test_answers_equal_brute_force_for_whatever_hypothesis_finds(data, folds, allow_empty):
    draws = data.draw(smoothing(folds[0].energy.n_objects))
    assert_max_answers_equal_brute_force(Case(folds, allow_empty, draws), data.draw(st.integers(0, 99)))


@pytest.mark.parametrize("seed", range(20))
def test_brute_force_equals_reference(seed):
    case = random_max_case(seed, labels=(1, 5), folds=(1, 4))
    case.rule = None
    for i, ranked in enumerate(case.ranked()):
        weights = (1, 0) if case.draws is None else (int(case.draws[i]), DRAW_UNIT - int(case.draws[i]))
        expected = labelset_reference.ranked(
            case.folds, i, allow_empty=case.allow_empty, at_least=weights[0], above=weights[1]
        )
        assert list(zip(*(part.tolist() for part in ranked), strict=True)) == expected


@pytest.mark.parametrize("chunk", [1, 3])
def test_searches_in_small_pieces_find_the_same(chunk):
    """As where there are too many rows to be worked on together."""
    for seed in range(40):
        case = random_max_case(seed, labels=(2, 7))
        assert_max_answers_equal_brute_force(case, seed, chunk=chunk, few_members=2)


FAR = 2**48
"""Beyond all costs and calibration scores of random cases."""


def embed(case, n_labels, rng):
    """Return the case among many labels: "certain" ones, where flipping one costs FAR, and "free" ones of no cost."""
    kinds = rng.choice(["certain", "free"], p=[0.7, 0.3], size=n_labels)
    kinds[rng.choice(n_labels, size=case.folds[0].energy.n_labels, replace=False)] = "small"
    on = (kinds == "certain") & (rng.random(n_labels) < 0.4)
    folds = []
    for fold in case.folds:
        costs = np.full((2, fold.energy.n_objects, n_labels), -FAR)
        costs[0][:, on], costs[1][:, (kinds == "certain") & ~on] = FAR, FAR
        costs[:, :, kinds == "small"] = fold.energy.maximum.off, fold.energy.maximum.on
        folds.append(Fold(fold.calibration, max_energy(*costs)))
    return Case(folds, case.allow_empty, case.draws, case.rule), kinds, on


@pytest.mark.parametrize("n_labels", [63, 64, 129, 200, 1000])
def test_answers_among_many_labels_are_those_about_a_few(n_labels):
    """Labels that change nothing double sizes, and are off in the best labelset; flipped certain labels are strange."""
    for seed in range(8):
        rng = np.random.default_rng([seed, n_labels])
        small = random_max_case(seed, labels=(1, 9))
        small.allow_empty = True
        large, kinds, on = embed(small, n_labels, rng)
        large.allow_empty = bool(seed % 2)
        n_small, n_free, n_certain = ((kinds == kind).sum().item() for kind in ("small", "free", "certain"))
        engine = large.engine()
        best, highest = engine.top(2), engine.label_numerators()
        flipped = on.astype(np.int8)
        flipped[np.flatnonzero(kinds == "certain")[0]] ^= 1
        for i, ranked in enumerate(small.ranked()):
            (stranger,) = engine.numerators_of(flipped[None], np.array([i]))
            for smallest in (int(ranked.numerators[0]), int(rng.choice(ranked.numerators)), int(stranger)):
                size = len(ranked.members(smallest).codes) << n_free
                if smallest <= stranger:
                    size = 2**n_labels - (not large.allow_empty)
                assert values_of(engine.region_sizes(smallest))[i] == size
            assert best.numerators[i].tolist() == [ranked.numerators[0]] * 2
            expected = on.astype(np.int8)
            expected[kinds == "small"] = labelsets_of(ranked.codes[:1], n_small)[0]
            assert best.labelsets[i, 0].tolist() == expected.tolist()
            undecided = np.maximum(highest_by_label(ranked, n_small), stranger)
            assert highest[i, kinds == "small"].tolist() == undecided.tolist()
            assert (highest[i, kinds == "free"] == ranked.numerators[0]).all()
            certain = on[kinds == "certain"].astype(int)
            assert (highest[i, kinds == "certain", certain] == ranked.numerators[0]).all()
            assert (highest[i, kinds == "certain", 1 - certain] == stranger).all()
        assert n_certain > 20


def disagreeing(seed, n_labels, **options):
    """Return an engine whose folds disagree enough for thousands of different minima."""
    folds = noisy_folds(seed, n_labels=n_labels, n_folds=8, noise=1.5)
    return FoldEngine(folds, allow_empty=False, options=EngineOptions(**options))


def test_sizes_are_bracketed_for_sure_and_estimated_well():
    """Against counts with as many minima as there are; of 20 or more intervals of 99 %, two may miss."""
    n_right = n_estimated = 0
    for seed in range(30):
        engine = disagreeing(seed, 26)
        problem, smallest = MaxProblem.of(engine.arrays, engine.weighing, 0), int(engine.denominators[0] - 1) // 4
        if count_members(problem, smallest, 64) is not None:
            continue
        size = count_members(problem, smallest, 2**20)
        estimate = estimate_members(problem, smallest, 64, at_least=0)
        assert estimate.at_least <= size <= estimate.at_most
        assert estimate.at_least <= estimate.low <= estimate.value <= estimate.high <= estimate.at_most
        assert estimate.approximate
        assert estimate.high < 1.5 * estimate.low
        n_right += estimate.low <= size <= estimate.high
        n_estimated += 1
    assert n_right >= n_estimated - 2 >= 18


def test_the_empty_labelset_is_left_out_of_estimates():
    folds, options = noisy_folds(1, n_labels=40, n_folds=8, noise=1.5), EngineOptions(exact_minima=8)
    (size,), (without,) = (
        FoldEngine(folds, allow_empty=allow_empty, options=options).region_sizes(30) for allow_empty in (True, False)
    )
    assert size.coverage_level == 0.99  # estimated, though here the bounds meet
    assert (without.at_least, without.value, without.at_most) == (size.at_least - 1, size.value - 1, size.at_most - 1)
    engine = disagreeing(1, 40)
    known = estimate_members(MaxProblem.of(engine.arrays, engine.weighing, 0), 30, 8, at_least=10**9)
    assert min(known.at_least, known.low) >= 10**9


@pytest.mark.parametrize(("n_best", "budget"), [(1, 1), (6, 100), (12, 300)])
def test_the_best_of_searches_that_are_cut_short_are_there_once(n_best, budget):
    """What the walk has found and what is looked at in its place may be the same labelsets."""
    options, n_open = EngineOptions(ranked_budget=budget, chunk=4), 0
    for seed in range(12):
        folds = noisy_folds(seed, n_labels=10, n_folds=12, noise=3.0)
        engine = FoldEngine(folds, allow_empty=True, options=options)
        best = engine._search.best(np.arange(1), n_best)
        labelsets, numerators = best.labelsets[0], best.numerators[0]
        assert len(np.unique(labelsets, axis=0)) == n_best
        assert engine.numerators_of(labelsets, np.zeros(n_best, dtype=np.int64)).tolist() == numerators.tolist()
        assert (np.diff(numerators) <= 0).all()
        assert engine.table.top(1).numerators[0, 0] <= best.upper[0].max()
        n_open += not best.certain.all()
    assert n_open > 4


def test_rough_sizes_are_estimates_too():
    engine = disagreeing(0, 60)
    (size,) = engine.region_sizes(int(engine.denominators[0] - 1) // 10, bits=2.0)
    assert not size.exact
    assert size.at_least <= size.low <= size.value <= size.high <= size.at_most


def test_few_labels_are_counted_in_a_table_where_minima_are_too_many():
    engine = disagreeing(1, 12)
    smallest = int(engine.denominators[0] - 1) // 20
    expected = values_of(engine.region_sizes(smallest))
    assert expected == values_of(engine.table.region_sizes(np.array([smallest])))
    assert engine._search.count_members(np.array([smallest])) == expected
    engine = disagreeing(1, 12, exact_minima=2)
    assert engine._search.count_members(np.array([smallest])) == [None]
    assert values_of(engine.region_sizes(smallest)) == expected


@pytest.mark.parametrize("n_kept", [1, 2, 5])
def test_draws_keep_each_with_its_chance(n_kept):
    """Over all draws from a fine grid each position is kept as often as its chance says, the largest always."""
    sizes = np.array([5.0, 0.1, 0.1, 2.0, 30.0, 1.0, 0.01])
    kept_in, chances = np.zeros(7), np.zeros(7)
    grid = (np.arange(2000) + 0.5) / 2000
    for number in grid:
        kept, units = draw_some(sizes, n_kept, mock.Mock(random=lambda number=number: number))
        assert n_kept - 1 <= len(kept) <= n_kept + 1
        kept_in[kept] += 1 / 2000
        chances[kept] = [unit / 2**UNIT_BITS for unit in units]
    assert np.abs(kept_in - chances).max() < 2 / 2000
    assert chances.sum() == pytest.approx(n_kept)
    unsure = chances < 1
    assert np.ptp(chances[unsure] / sizes[unsure]) < 1e-9
    assert n_kept == 1 or chances[4] == 1


def test_engines_of_some_objects_of_threads_and_of_pickles_agree():
    for seed in range(9):
        case = random_max_case(seed, labels=(9, 10), objects=(3, 3))
        engine, threads = case.engine(), case.engine(n_jobs=2)
        again, some = pickle.loads(pickle.dumps(engine)), engine.take(np.array([2, 0]))
        smallest = int(np.median(engine.top(50).numerators))
        for other, rows in ((threads, [0, 1, 2]), (again, [0, 1, 2]), (some, [2, 0])):
            assert other.arrays.is_maximum
            assert np.array_equal(other.top(9).labelsets, engine.top(9).labelsets[rows])
            assert np.array_equal(other.label_numerators(), engine.label_numerators()[rows])
            assert list(other.region_sizes(smallest)) == [engine.region_sizes(smallest)[i] for i in rows]


def test_huge_regions_are_iterated_and_limited_but_not_listed():
    folds, options = noisy_folds(2, n_labels=100, n_folds=3, noise=0.5), EngineOptions(list_bytes=124 * 10_000)
    engine = FoldEngine(folds, allow_empty=True, options=options)
    smallest = int(engine.denominators[0] - 1) // 10
    assert engine.region_sizes(smallest)[0].value > 2**40
    with pytest.raises(ValueError, match="more than 10000 labelsets, too many for a list of them all"):
        engine.region_members(0, smallest, None)
    labelsets, numerators = engine.region_members(0, smallest, 6000)
    assert np.unique(labelsets, axis=0).shape == (6000, 100)
    first, _ = engine.region_members(0, smallest, 50)
    assert np.array_equal(first, labelsets[:50])
    totals = engine.total_scores(labelsets, np.zeros(6000, dtype=np.int64)).tolist()
    codes = [sum(1 << j for j in np.flatnonzero(labelset).tolist()) for labelset in labelsets]
    ranks = list(zip((-numerators).tolist(), totals, codes, strict=True))
    assert ranks == sorted(ranks)
    found, n_found = set(), 0
    for part, numbers in engine.iterate_members(0, smallest):
        assert len(part) <= options.chunk
        assert (engine.numerators_of(part, np.zeros(len(part), dtype=np.int64)) == numbers).all()
        assert (numbers >= smallest).all()
        found.update(map(bytes, part))
        n_found += len(part)
        if n_found > 20_000:
            break
    assert len(found) == n_found


def test_there_may_be_no_objects_and_one_label():
    nobody = FoldEngine([Fold(np.sort(np.array([1])), max_energy(*np.zeros((2, 0, 9), np.int64)))], allow_empty=True)
    assert nobody.top(2).labelsets.shape == (0, 2, 9)
    assert nobody.label_numerators().shape == (0, 9, 2)
    assert list(nobody.region_sizes(1)) == []
    one = Fold(np.sort(np.array([1])), max_energy(np.array([[0]]), np.array([[1]])))
    engine = FoldEngine([one], allow_empty=False, options=BY_SEARCH)
    assert engine.label_numerators().tolist() == [[[0, 2]]]
    assert engine.top(2).numerators.tolist() == [[2, 0]]
    assert values_of(engine.region_sizes(1)) == [1]

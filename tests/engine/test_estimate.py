"""Sizes of regions too large to be counted, against enumeration and exact counts in Python's
integers.

Certified bounds must hold always. An interval of confidence 99 % may miss the truth once in a
hundred times; the draws are fixed, so a test that passes once passes for ever. By the bound of its
error the intervals are far wider than needed: none of the cases here misses.
"""

import tracemalloc
from math import comb

import numpy as np
import pytest

from brute_force import rank_all, scores_of_all
from fold_strategies import weighing_of
from labelsure._random import DRAW_UNIT
from labelsure.engine import _knapsack
from labelsure.engine._fold_arrays import Fold
from labelsure.engine._fold_engine import FoldEngine
from labelsure.engine._results import EngineOptions
from labelsure.measures._energy import Energy, Overrides, Penalty, SquareRoot
from labelsure.measures._labelset_bits import decode
from search_cases import by_rows, estimate_of, values_of


def estimate(engine, i, smallest, **options):
    """Return the estimate of one region, whatever the number of labels."""
    estimated = estimate_of(engine, i, smallest, **options)
    assert estimated.sure <= estimated.size.high
    return estimated.size


def count(engine, smallest, budget):
    """Return what a search of the first object's region finds within a budget, and whether that is
    all.
    """
    ((found, finished),) = engine._search.count(np.arange(1), np.array([smallest]), budget)
    return found, finished


def assert_holds(size, truth):
    """The truth lies within the certified bounds and within the interval; the estimate too."""
    assert not size.exact or size.coverage_level == 0.99
    assert size.at_least <= truth <= size.at_most
    assert size.low <= truth <= size.high
    assert size.at_least <= size.low <= size.value <= size.high <= size.at_most
    assert size.coverage_level == 0.99


def subset_sum_counts(costs):
    """Return how many subsets of ``costs`` have each sum, in Python's integers."""
    counts = [1]
    for cost in costs:
        longer = counts + [0] * cost
        for total, count in enumerate(counts):
            longer[total + cost] += count
        counts = longer
    return counts


def inductive_engine(n_labels, seed, costs, n_folds=1):
    """Return an engine with small whole costs, calibrated at every score from 0 on, and the exact
    size of each region.

    The numerator of a labelset whose flips cost s is l + 1 - s in each of the equal folds' shares.
    """
    rng = np.random.default_rng([seed, n_labels])
    costs = rng.integers(*costs, endpoint=True, size=n_labels)
    on = rng.integers(0, 2, size=n_labels).astype(bool)
    energy = Energy(np.array([costs[on].sum()]), np.where(on, -costs, costs)[None])
    scores = np.arange(1 + costs.sum())
    engine = FoldEngine([Fold(np.sort(scores), energy)] * n_folds, allow_empty=True)
    cumulated = np.cumsum(np.array(subset_sum_counts(costs.tolist()), dtype=object))
    return engine, lambda budget: (int(cumulated[budget]), n_folds * (len(scores) - budget) + 1)


@pytest.mark.parametrize("n_folds", [1, 3])
@pytest.mark.parametrize("n_labels", [30, 64, 65, 128, 200])
def test_counts_equal_subset_sums(n_labels, n_folds):
    for seed in range(3):
        engine, exact = inductive_engine(n_labels, seed, costs=(1, 9), n_folds=n_folds)
        budgets = [budget for budget in range(20) if exact(budget)[0] < 40_000]
        for budget in budgets:
            truth, smallest = exact(budget)
            assert values_of(engine.region_sizes(smallest)) == [truth]
        assert truth > 1000


@pytest.mark.parametrize("n_folds", [1, 3])
@pytest.mark.parametrize("n_labels", [30, 64, 65, 128, 200])
def test_estimates_hold_subset_sums(n_labels, n_folds):
    """Five intervals per setting; the exact counts go up to 2^200."""
    engine, exact = inductive_engine(n_labels, 0, costs=(0, 9), n_folds=n_folds)
    top = len(engine.folds[0].calibration) - 1
    for budget in np.linspace(10, top, 5).astype(int):
        truth, smallest = exact(budget)
        size = estimate(engine, 0, smallest, at_least=count(engine, smallest, 500)[0])
        assert_holds(size, truth)
        # with one fold the cover is the region but for the grid
        assert size.at_most < 8 * n_folds * truth
        assert size.high < 1.5 * size.low


def test_estimates_of_one_fold_with_few_costs_are_nearly_exact():
    engine, exact = inductive_engine(200, seed=0, costs=(0, 3))
    truth, smallest = exact(100)
    assert truth > 2**150
    size = estimate(engine, 0, smallest, at_least=count(engine, smallest, 1000)[0])
    assert_holds(size, truth)
    assert abs(size.value / truth - 1) < 0.02


def energy_of(kind, rng, n_labels):
    spread = 2**20
    unary = rng.integers(-spread, 2 * spread, size=(1, n_labels))
    constant = np.array([-int(np.minimum(unary, 0).sum())])
    pairwise = link = penalty = overrides = None
    if "pairs" in kind:
        pairwise = rng.integers(-spread // 8, spread // 8, size=(n_labels, n_labels))
    if "link" in kind:
        link = SquareRoot(12)
    if "penalty" in kind:
        unit = 2**14 if link else spread
        anchors = rng.integers(0, 2, size=(5, n_labels)).astype(np.int8)
        penalty = Penalty(rng.integers(0, unit, size=n_labels + 1), anchors, unit // 8)
    if "overrides" in kind:
        codes = rng.choice(2**n_labels, size=40, replace=False)
        scores = rng.integers(0, 2 * spread if link is None else 2**16, size=40)
        overrides = Overrides(np.array([0, 40]), decode(codes, n_labels), scores)
    return Energy(constant, unary, pairwise, link, penalty, overrides)


def cross_engine(kind, seed, n_labels, n_folds):
    """Return an engine of folds that agree roughly, with calibration scores as those of likely
    labelsets.
    """
    rng = np.random.default_rng([seed, len(kind), n_folds])
    first = energy_of(kind, rng, n_labels)
    folds = []
    for _ in range(n_folds):
        noise = rng.integers(-(2**18), 2**18, size=first.unary.shape)
        energy = Energy(
            first.constant,
            first.unary + noise,
            first.pairwise,
            first.link,
            first.penalty,
            first.overrides,
        )
        likely = (rng.random((50, n_labels)) < 0.9 * (energy.unary < 0) + 0.05).astype(np.int8)
        scores = energy.scores(likely, objects=np.zeros(50, dtype=np.int64))
        folds.append(Fold(np.sort(scores[: rng.integers(20, 51)]), energy))
    draws = rng.integers(1, DRAW_UNIT, size=1) if "smoothed" in kind else None
    return FoldEngine(folds, allow_empty=bool(seed % 2), weighing=weighing_of(folds, draws)), draws


KINDS = [
    "plain",
    "smoothed",
    "pairs",
    "link",
    "penalty",
    "overrides",
    "link pairs penalty overrides smoothed",
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_folds", [1, 5])
def test_estimates_hold_enumerated_sizes(kind, n_folds):
    """Two levels of each of three problems of 13 labels: 84 intervals of confidence 99 % in all."""
    for seed in range(3):
        engine, draws = cross_engine(kind, seed, 13, n_folds)
        draw = None if draws is None else draws[0]
        ranked = rank_all(engine.folds, 0, allow_empty=engine.allow_empty, draw=draw)
        for level in (0.05, 0.3):
            smallest = int(level * int(engine.denominators[0])) + 1
            truth = len(ranked.members(smallest).codes)
            found, _ = count(engine, smallest, 20)
            assert_holds(estimate(engine, 0, smallest, at_least=found), truth)


@pytest.mark.validity
@pytest.mark.parametrize("kind", KINDS)
def test_intervals_miss_no_more_often_than_they_say(kind):
    """100 regions of 17 labels a kind: more than 5 misses at 1 % each have a probability below
    0.001.
    """
    n_missed = n_estimates = 0
    for seed in range(100):
        engine, _ = cross_engine(kind, seed, 17, 1 + seed % 10)
        smallest = int((0.05, 0.1, 0.2, 0.5)[seed % 4] * int(engine.denominators[0])) + 1
        (truth,) = values_of(by_rows(engine).region_sizes(np.array([smallest])))
        found, finished = count(engine, smallest, 500)
        if finished:
            assert found == truth
        else:
            size = estimate(engine, 0, smallest, at_least=found)
            n_estimates += 1
            assert size.at_least <= truth <= size.at_most
            n_missed += not size.low <= truth <= size.high
    assert n_estimates > 50
    assert n_missed <= 5


@pytest.mark.parametrize("draw", [1, DRAW_UNIT // 3, DRAW_UNIT])
def test_estimates_hold_where_one_calibration_score_decides(draw):
    """Just above the numerator of labelsets stranger than all calibration examples: one score >=
    makes a member.
    """
    rng = np.random.default_rng(draw)
    energies = [Energy(np.array([9]), rng.integers(-3, 9, size=(1, 12))) for _ in range(3)]
    folds = [Fold(np.sort(rng.integers(5, 40, size=9)), energy) for energy in energies]
    engine = FoldEngine(folds, allow_empty=True, weighing=weighing_of(folds, np.array([draw])))
    ranked = rank_all(folds, 0, allow_empty=True, draw=draw)
    for smallest in (
        draw + 1,
        min(draw + DRAW_UNIT // 2, DRAW_UNIT),
        DRAW_UNIT,
        DRAW_UNIT + draw + 1,
    ):
        if smallest > draw:
            truth = len(ranked.members(smallest).codes)
            assert_holds(estimate(engine, 0, smallest, at_least=0), truth)


def test_estimates_hold_where_folds_have_one_calibration_score():
    """Each of three equal folds makes all sets of up to three of twelve flips members, some of
    them for sure.
    """
    fold = Fold(np.array([80]), Energy(np.array([50]), np.full((1, 12), 10)))
    engine = FoldEngine([fold] * 3, allow_empty=True)
    size = estimate(engine, 0, 2, at_least=0)
    assert_holds(size, 1 + 12 + 66 + 220)
    assert size.at_least > 50


def test_proven_intervals_that_are_far_too_wide_give_way_to_approximate_ones():
    """Twenty folds that disagree: members are rare in the cover, and an interval asked for may be
    too narrow.
    """
    rng = np.random.default_rng(0)
    common = rng.integers(0, 30, size=(1, 14))
    energies = [
        Energy(np.array([100]), common + rng.integers(-40, 90, size=(1, 14))) for _ in range(20)
    ]
    folds = [Fold(np.sort(100 + rng.integers(0, 200, size=9)), energy) for energy in energies]
    engine = FoldEngine(folds, allow_empty=True)
    smallest = int(by_rows(engine).top(1).numerators[0, 0]) // 2
    (truth,) = values_of(by_rows(engine).region_sizes(np.array([smallest])))
    proven, approximate = (
        estimate(engine, 0, smallest, at_least=0, bits=bits) for bits in (0.1, 0.01)
    )
    for size in (proven, approximate):
        assert_holds(size, truth)
    assert (proven.approximate, approximate.approximate) == (False, True)


def test_estimates_hold_where_penalties_are_far_above_roots():
    """Calibration scores whose square is beyond 2^63."""
    rng = np.random.default_rng(0)
    penalty = Penalty(np.arange(13)[::-1] * 2**36)
    energy = Energy(
        np.array([2**40]),
        rng.integers(-(2**36), 2**36, size=(1, 12)),
        link=SquareRoot(12),
        penalty=penalty,
    )
    fold = Fold(np.sort(rng.choice(scores_of_all(Fold(None, energy), 0), size=60)), energy)
    engine = FoldEngine([fold], allow_empty=True)
    ranked = rank_all([fold], 0, allow_empty=True)
    for smallest in (5, 20, 50):
        assert_holds(estimate(engine, 0, smallest, at_least=0), len(ranked.members(smallest).codes))


def test_estimates_reach_beyond_floats():
    """2^1200 labelsets: no float holds their number."""
    energy = Energy(np.array([600]), np.where(np.arange(1200) % 2, -1, 1)[None])
    options = EngineOptions(count_budget=1000)
    engine = FoldEngine([Fold(np.sort(np.arange(1201)), energy)], allow_empty=True, options=options)
    # fewer than 600 flips: almost half of all labelsets
    (size,) = engine.region_sizes(603, bits=0.1)
    truth = sum(comb(1200, n_flips) for n_flips in range(600))
    assert_holds(size, truth)
    assert abs(size.value - truth) * 10 < truth
    assert str(size) == "2^1199.0 (+-0.1)"


def test_estimates_take_memory_for_undecided_labels_only():
    """Ten thousand labels of which twelve are undecided, and draws checked in parts."""
    unary = np.full((1, 10_000), 2**36)
    unary[0, ::800] = 2**10
    engine = FoldEngine(
        [Fold(np.sort(np.full(20, 10 * 2**10)), Energy(np.array([0]), unary))], allow_empty=True
    )
    tracemalloc.start()
    size = estimate(engine, 0, 5, at_least=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    truth = 2**13 - 13 - 78 - 1  # all sets of up to ten of thirteen flips
    assert_holds(size, truth)
    assert peak < 400 * 2**20


def test_bounds_of_part_sizes_are_not_below_them():
    rng = np.random.default_rng(0)
    for n_labels in (3, 8, 12):
        linear = _knapsack.LinearCosts(
            5.0, np.zeros(n_labels, dtype=bool), rng.integers(0, 100, n_labels) * 1.0
        )
        costs = 5 + decode(np.arange(2**n_labels), n_labels) @ linear.costs
        thresholds = np.arange(5, 500, 7)
        counted = [(costs <= threshold).sum() for threshold in thresholds]
        for near in (5, 100, 400):
            assert (linear.log_sizes(thresholds, near) >= np.log(counted) - 1e-9).all()
        tight = [linear.log_sizes(np.array([one]), int(one))[0] for one in thresholds]
        assert np.mean(tight - np.log(counted)) < 1.5

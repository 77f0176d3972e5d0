"""Depth-first searches, with and without pairs: that they can be interrupted anywhere, and keep to their budget."""

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from labelsure.labelsets.search._depth_first_kernels import LastFlips, bound_two, leads_to

from brute_force import codes_of
from labelsure._core.energy import Energy
from labelsure.labelsets import EngineOptions, Fold, FoldEngine
from labelsure.labelsets.search import _states
from search_cases import random_case, random_rule, values_of


@pytest.mark.parametrize(("chunk", "call_budget"), [(1, 10**6), (2, 3), (4096, 1), (3, 7)])
def test_search_goes_on_where_it_was_interrupted(chunk, call_budget):
    """Full buffers and spent budgets after every node: still every member once, in the same order."""
    cases = [random_case(seed, labels=(4, 7), objects=(1, 1)) for seed in range(25)]
    smallest = [int(np.quantile(case.ranked()[0].numerators, 0.6)) for case in cases]

    def iterated(options):
        searches = [case.search(options) for case in cases]
        chunks = [list(search.iterate_members(0, s)) for search, s in zip(searches, smallest, strict=True)]
        return [[code for labelsets, _ in parts for code in codes_of(labelsets)] for parts in chunks]

    whole = iterated(EngineOptions())
    options = EngineOptions(chunk=chunk, depth_first_call=call_budget, ranked_call=call_budget)
    assert iterated(options) == whole
    assert sum(map(len, whole)) > 500


def test_search_counts_no_more_than_its_budget_allows():
    for seed in range(40):
        case = random_case(seed, labels=(5, 8), objects=(1, 1))
        ranked = case.ranked()[0]
        smallest = int(np.median(ranked.numerators))
        truth = len(ranked.members(smallest).codes)
        search = case.search()
        for budget in (1, 5, 50, 10**6):
            ((size, finished),) = search.count(np.arange(1), np.array([smallest]), budget)
            assert size <= truth
            assert size == truth or not finished
        assert finished
        for share in (1, 10**6):  # of the entries of a table: all that a search needs, or one evaluation
            search = case.search(EngineOptions(table_share=share))
            assert search.count_members(np.array([smallest])) in ([truth], [None])


@given(arrays(np.int64, st.tuples(st.integers(0, 6), st.integers(1, 3)), elements=st.integers(0, 50)))
def test_two_flips_add_at_least_the_two_smallest_costs(cost):
    two = np.full((len(cost) + 1, cost.shape[1]), _states.FAR)
    bound_two(cost, two)
    for t in range(len(cost) + 1):
        expected = np.sort(cost[t:], axis=0)[:2].sum(axis=0) if len(cost) - t > 1 else [_states.FAR] * cost.shape[1]
        assert two[t].tolist() == list(expected)


@given(st.sets(st.integers(0, 9)), st.sets(st.integers(0, 9)))
def test_search_leads_to_what_its_flips_begin(wanted, made):
    wanted, made = sorted(wanted), sorted(made)
    flipped = np.array([0, *made], dtype=np.int64)
    expected = len(made) < len(wanted) and wanted[: len(made)] == made
    assert leads_to(np.array(wanted, dtype=np.int64), len(made), flipped) == expected


@st.composite
def wide_engines(draw):
    """Return engines of one object with so many labels that positions are counted by blocks; models agree or not."""
    n_labels, n_folds = draw(st.integers(9, 17)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    alike = rng.integers(draw(st.sampled_from([-3, 0, 20])), 60, size=n_labels)
    noise = draw(st.sampled_from([0, 2, 30]))
    folds = []
    for _ in range(n_folds):
        unary = alike + rng.integers(-noise, noise + 1, size=n_labels)
        unary = np.where(rng.random(n_labels) < draw(st.sampled_from([0.0, 0.3])), -unary, unary)
        energy = Energy(np.array([100]), unary[None])
        folds.append(Fold(np.sort(100 + rng.integers(-60, 400, size=12)), energy))
    rule = random_rule(rng, folds, 1) if draw(st.booleans()) else None
    return FoldEngine(folds, allow_empty=draw(st.booleans()), weighing=rule)


@given(wide_engines(), st.floats(0.01, 0.99))
@settings(max_examples=8 if os.environ.get("NUMBA_DISABLE_JIT") else 30)
def test_members_counted_by_blocks_are_those_of_the_table(engine, quantile):
    lowest, highest = int(engine.weighing.lowest[0]) + 1, int(engine.table.top(1).numerators[0, 0])
    smallest = lowest + int(quantile * max(highest - lowest, 0))
    (truth,) = values_of(engine.table.region_sizes(np.array([smallest])))
    assert engine._search.count(np.arange(1), np.array([smallest]), 10**7) == [(truth, True)]
    for budget in (10, 100):
        ((found, _),) = engine._search.count(np.arange(1), np.array([smallest]), budget)
        assert found <= truth
    listed = [numerators for _, numerators in engine._search.iterate_members(0, smallest)]
    assert sum(map(len, listed)) == truth


def test_regions_of_free_labels_are_counted_at_once():
    """2^16 labelsets of sixteen labels that cost nothing, and four far away: a few evaluations for all."""
    unary = np.where(np.arange(20) < 16, 0, 10**6)[None]
    engine = FoldEngine([Fold(np.arange(10), Energy(np.array([0]), unary))], allow_empty=True)
    assert engine._search.count(np.arange(1), np.array([5]), 10) == [(2**16, True)]
    engine = FoldEngine(engine.folds, allow_empty=False)
    assert engine._search.count(np.arange(1), np.array([5]), 100) == [(2**16 - 1, True)]


def test_nothing_is_counted_by_blocks_where_members_are_listed():
    (one,) = random_case(3, labels=(4, 7), objects=(1, 1)).search().pose(np.arange(1))
    assert all(len(part) == 0 for part in LastFlips.of(one.flips, counted=False, allow_empty=True))


@pytest.mark.parametrize(("threshold", "n_members"), [(59, 2), (69, 12), (70, 22), (100, 35), (104, 35), (105, 48)])
def test_single_flips_are_counted_by_whole_and_by_broken_blocks(threshold, n_members):
    """A cheap flip and at most one other fit; of the others blocks of eight fit as a whole, in part, or not at all."""
    unary = np.repeat([10, 60, 95], [1, 10, 13])[None]
    engine = FoldEngine([Fold(np.array([threshold]), Energy(np.array([0]), unary))], allow_empty=True)
    assert engine._search.count(np.arange(1), np.array([2]), 10**4) == [(n_members, True)]

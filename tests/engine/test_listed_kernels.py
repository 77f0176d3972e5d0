"""Labelsets with discounts, looked at one by one: bounds of what they score, and what becomes of
answers by them.
"""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from brute_force import codes_of, highest_by_label
from labelsure.engine._labelset_kernels import insert
from labelsure.engine._listed_kernels import (
    bound_listed,
    count_listed,
    offer_listed,
    raise_by_listed,
)
from labelsure.engine._results import EngineOptions
from labelsure.engine._walk_kernels import FOUND, Found
from search_cases import BY_SEARCH, BY_TABLE, assert_best, seen_case

# then a climb, and what it finds is sorted in
LITTLE = EngineOptions(table_labels=0, first_budget=3)
SEEDS = range(30 if os.environ.get("NUMBA_DISABLE_JIT") else 150)


@pytest.mark.parametrize("options", [BY_SEARCH, BY_TABLE, LITTLE], ids=["search", "table", "climb"])
def test_best_labelsets_and_labels_equal_brute_force(options):
    for seed in SEEDS:
        case = seen_case(seed)
        engine, everyone = case.engine(options=options), case.ranked()
        assert_best(engine, everyone, 1 + seed % 6)
        expected = [
            [list(own) for own in highest_by_label(ranked, engine.n_labels)] for ranked in everyone
        ]
        assert engine.label_numerators().tolist() == expected, seed


class Listed:
    """The listed candidates of the first object of a case: what kernels take, and what these
    labelsets score.
    """

    def __init__(self, case):
        search, first = case.search(BY_SEARCH), np.array([0])
        self.asked = search._discounted_arrays(first)
        _, self.bounds, self.listed, *_ = self.asked
        labelsets = self.listed.labelsets
        objects = np.zeros(len(labelsets), dtype=np.int64)
        self.scores = search.arrays.scores(labelsets, objects)
        self.numerators = case.weighing.of_scores(search.arrays.calibrations, self.scores, objects)
        self.general = search.arrays.general_numerators(labelsets, case.weighing, objects)
        self.keys = list(
            zip(
                (-self.numerators).tolist(),
                self.scores.sum(axis=0).tolist(),
                codes_of(labelsets),
                strict=True,
            )
        )


def listed_of(seeds):
    """Yield cases with listed labelsets."""
    for seed in seeds:
        listed = Listed(seen_case(seed))
        if listed.keys:
            yield seed, listed


@njit
def bounded(listed, bounds):
    return bound_listed(0, listed, bounds)


def test_bounds_of_listed_labelsets_are_below_their_scores():
    for _, one in listed_of(SEEDS):
        likeliest = bounded(one.listed, one.bounds)
        assert (one.bounds.bounds <= one.scores.min(axis=0)).all()
        assert one.bounds.totals.tolist() == one.scores.sum(axis=0).tolist()
        assert one.bounds.totals[likeliest] == one.bounds.totals.min()


def test_best_listed_labelsets_equal_all_sorted():
    for seed, one in listed_of(SEEDS):
        n_best = 1 + seed % 5
        found = Found.of(1, n_best, 1)
        offer_listed(*one.asked, found)
        n_found = found.numbers[0, FOUND]
        codes = found.words[0, :n_found, 0]
        numbers = found.keys[0, :n_found, :2].T.tolist()
        keys = list(zip(*numbers, codes.tolist(), strict=True))
        assert keys == sorted(one.keys)[:n_best], seed


@given(st.integers(0, 10**6), st.integers(0, 2**32))
def test_numerators_of_labels_are_raised_to_the_highest_listed_ones(seed, other_seed):
    for _, one in listed_of([seed]):
        n_labels, highest = one.listed.labelsets.shape[1], int(one.numerators.max()) + 1
        maxima = np.random.default_rng(other_seed).integers(0, highest + 1, size=(1, n_labels, 2))
        expected = maxima[0].copy()
        for labelset, numerator in zip(one.listed.labelsets, one.numerators, strict=True):
            for j, on in enumerate(labelset):
                expected[j, on] = max(expected[j, on], numerator)
        raise_by_listed(*one.asked, maxima)
        assert maxima[0].tolist() == expected.tolist()


def test_listed_members_are_counted_with_and_without_discounts():
    n_members = 0
    for seed, one in listed_of(SEEDS):
        for smallest in {
            int(one.numerators.min()),
            int(np.median(one.numerators)),
            int(one.numerators.max()) + 1,
        }:
            counts = np.full((1, 2), -1)
            count_listed(*one.asked, np.array([smallest]), counts)
            expected = [int((values >= smallest).sum()) for values in (one.numerators, one.general)]
            assert counts.tolist() == [expected], seed
            n_members += expected[0] > expected[1] > 0
    assert n_members > 2


@given(st.lists(st.integers(0, 3), max_size=12), st.integers(1, 4))
def test_inserted_keys_are_the_first_of_all_sorted_each_labelset_once(values, n_best):
    keys, n_found = np.zeros((n_best + 1, 3), dtype=np.int64), 0
    for value in values:
        keys[n_best] = (value, 0, value)
        if n_found < n_best or tuple(keys[n_best]) < tuple(keys[n_best - 1]):
            n_found = insert(n_found, keys)
    offered = sorted((value, 0, value) for value in set(values))
    assert [tuple(key) for key in keys[:n_found].tolist()] == offered[:n_best]

"""Objects searched together, labelsets with discounts looked at one by one: as brute force says, whatever the room."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelsure.labelsets.search._discount_kernels import bound_listed, offer_listed, raise_by_listed
from numba import njit

from brute_force import codes_of, highest_by_label
from labelsure.labelsets import EngineOptions, Fold
from labelsure.labelsets.search._labelset_kernels import CODE, NUMERATOR, TOTAL, FoundBest, insert
from search_cases import BY_SEARCH, BY_TABLE, Case, random_calibration, random_energy, seen_case

LITTLE = EngineOptions(table_labels=0, ranked_call=3)
SEEDS = 150


@pytest.mark.parametrize("options", [BY_SEARCH, BY_TABLE, LITTLE], ids=["search", "table", "little room"])
def test_best_labelsets_equal_brute_force(options):
    for seed in range(SEEDS):
        case, n_best = seen_case(seed), 1 + seed % 6
        best = case.engine(options=options).top(n_best)
        for i, ranked in enumerate(case.ranked()):
            n_there = min(n_best, len(ranked.codes))
            assert best.numerators[i, :n_there].tolist() == ranked.numerators[:n_there].tolist(), seed
            assert codes_of(best.labelsets[i, :n_there]) == ranked.codes[:n_there].tolist(), seed
        assert best.certain.all()


def penalised_case(seed):
    """Return a case with costs of labels, and of cardinalities and distances, and with nothing else."""
    rng = np.random.default_rng(seed)
    style = {"pairs": "none", "link": -1, "penalty": "both", "overrides": False, "discounts": False, "spreads": [3]}
    energies = [random_energy(rng, 2, 1 + seed % 6, style) for _ in range(1 + seed % 3)]
    return Case(
        [Fold(random_calibration(rng, energy, far=96), energy) for energy in energies], allow_empty=True, draws=None
    )


def test_best_labelsets_with_penalties_equal_brute_force():
    for seed in range(40):
        case = penalised_case(seed)
        engine = case.engine(options=BY_SEARCH)
        best, maxima = engine.top(2), engine.label_numerators()
        for i, ranked in enumerate(case.ranked()):
            assert best.numerators[i].tolist() == ranked.numerators[:2].tolist(), seed
            assert maxima[i].tolist() == [list(own) for own in highest_by_label(ranked, maxima.shape[1])], seed


def test_little_room_leaves_some_searches_to_others():
    """Else the last of the cases above would prove nothing."""
    cases = [seen_case(seed) for seed in range(SEEDS)]
    for options, low, high in ((LITTLE, 0.1, 0.95), (BY_SEARCH, 1, 1)):
        searches = [case.search(options).together for case in cases]
        assert low <= np.mean([search.best(np.arange(2), 2).finished for search in searches]) <= high
        assert low <= np.mean([search.label_maxima(np.arange(2))[1] for search in searches]) <= high


@pytest.mark.parametrize("options", [BY_SEARCH, BY_TABLE, LITTLE], ids=["search", "table", "little room"])
def test_highest_numerators_of_labels_equal_brute_force(options):
    for seed in range(SEEDS):
        case = seen_case(seed)
        found = case.engine(options=options).label_numerators()
        for i, ranked in enumerate(case.ranked()):
            assert found[i].tolist() == [list(own) for own in highest_by_label(ranked, found.shape[1])], seed


def listed_of(case):
    """Return the folds, and all that kernels take that look at listed labelsets of the first object."""
    search = case.search(BY_SEARCH).together
    return search.arrays, search._listed(np.array([0]))


@njit
def bounded(listed, bounds):
    return bound_listed(0, listed, bounds)


def test_bounds_of_listed_labelsets_are_below_their_scores():
    for seed in range(SEEDS):
        arrays, (_, bounds, listed, *_) = listed_of(seen_case(seed))
        if not len(listed.more):
            continue
        likeliest = bounded(listed, bounds)
        scores = arrays.scores(listed.labelsets, np.zeros(len(listed.more), dtype=np.int64))
        assert (bounds.bounds <= scores.min(axis=0)).all()
        assert bounds.totals.tolist() == scores.sum(axis=0).tolist()
        assert bounds.totals[likeliest] == bounds.totals.min()


def test_best_listed_labelsets_equal_all_sorted():
    for seed in range(SEEDS):
        case = seen_case(seed)
        arrays, asked = listed_of(case)
        labelsets = arrays.discounted.labelsets
        if not len(labelsets):
            continue
        owners, n_best = np.zeros(len(labelsets), dtype=np.int64), 1 + seed % 5
        scores = arrays.scores(labelsets, owners)
        numerators = case.weighing.of_scores(arrays.calibrations, scores, owners)
        expected = sorted(
            (-int(numerator), int(total), code)
            for numerator, total, code in zip(numerators, scores.sum(axis=0), codes_of(labelsets), strict=True)
            if code or case.allow_empty
        )[:n_best]
        found = FoundBest.of(1, n_best, 1)
        offer_listed(*asked, found)
        keys = found.keys[0, : found.n_found[0]]
        codes = (keys[:, CODE] ^ np.iinfo(np.int64).min).tolist()
        assert list(zip(keys[:, NUMERATOR].tolist(), keys[:, TOTAL].tolist(), codes, strict=True)) == expected


@given(st.integers(0, 10**6), st.integers(0, 2**32))
def test_numerators_of_labels_are_raised_to_the_highest_listed_ones(seed, other_seed):
    case = seen_case(seed)
    arrays, asked = listed_of(case)
    labelsets = arrays.discounted.labelsets
    if not len(labelsets):
        return
    objects = np.zeros(len(labelsets), dtype=np.int64)
    numerators = case.weighing.of_scores(arrays.calibrations, arrays.scores(labelsets, objects), objects)
    highest = int(numerators.max()) + 1
    maxima = np.random.default_rng(other_seed).integers(0, highest + 1, size=(1, arrays.n_labels, 2))
    expected = maxima[0].copy()
    for labelset, numerator in zip(labelsets, numerators, strict=True):
        if case.allow_empty or labelset.any():
            for j, on in enumerate(labelset):
                expected[j, on] = max(expected[j, on], numerator)
    raise_by_listed(*asked, maxima)
    assert maxima[0].tolist() == expected.tolist()


@given(st.lists(st.integers(0, 3), max_size=12), st.integers(1, 4))
def test_inserted_keys_are_the_first_of_all_sorted_each_labelset_once(values, n_best):
    keys, n_found = np.zeros((n_best + 1, CODE + 1), dtype=np.int64), 0
    offered = sorted((value, 0, value) for value in set(values))
    for value in values:
        keys[n_best] = (value, 0, value)
        if n_found < n_best or tuple(keys[n_best]) < tuple(keys[n_best - 1]):
            n_found = insert(n_found, keys)
    assert [tuple(key) for key in keys[:n_found].tolist()] == offered[:n_best]

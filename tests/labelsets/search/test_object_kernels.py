"""Objects searched together, labelsets with discounts looked at one by one: as brute force says, whatever the room."""

from itertools import count

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brute_force import codes_of, highest_by_label
from labelsure._core.labelset_bits import pack
from labelsure.labelsets import EngineOptions
from labelsure.labelsets.arrays._discount_kernels import LabelCosts
from labelsure.labelsets.arrays._fold_arrays import FoldArrays, Lookup

from labelsure.labelsets.search._labelset_kernels import CODE, NUMERATOR, TOTAL
from labelsure.labelsets.search._states import FINISHED, Ranked
from search_cases import BY_SEARCH, BY_TABLE, seen_case

LITTLE = EngineOptions(table_labels=0, plain_frontier=2, ranked_call=1)
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


def test_little_room_leaves_some_searches_to_others():
    """Else the last of the cases above would prove nothing."""
    cases = [seen_case(seed) for seed in range(SEEDS)]
    for options, low, high in ((LITTLE, 0.1, 0.95), (BY_SEARCH, 1, 1)):
        searches = [case.search(options).together for case in cases]
        assert low <= np.mean([search.best(np.arange(2), 2).ended == FINISHED for search in searches]) <= high
        assert low <= np.mean([search.label_maxima(np.arange(2)).known for search in searches]) <= high


@pytest.mark.parametrize("options", [BY_SEARCH, BY_TABLE, LITTLE], ids=["search", "table", "little room"])
def test_highest_numerators_of_labels_equal_brute_force(options):
    for seed in range(SEEDS):
        case = seen_case(seed)
        found = case.engine(options=options).label_numerators()
        for i, ranked in enumerate(case.ranked()):
            assert found[i].tolist() == [list(own) for own in highest_by_label(ranked, found.shape[1])], seed


def listed_of(case):
    arrays = FoldArrays(case.folds)
    costs = LabelCosts.of(arrays.n_labels, arrays.n_folds, len(arrays.discounted.more))
    for k, energy in enumerate(arrays.general):
        costs.constant[k], costs.unary[:, k] = energy.constant[0], energy.unary[0]
    return arrays, costs


def test_bounds_of_listed_labelsets_are_below_their_scores():
    for seed in range(SEEDS):
        arrays, costs = listed_of(seen_case(seed))
        labelsets = arrays.discounted.labelsets
        if not len(labelsets):
            continue
        lowest = bound_listed(costs, arrays.discounted)
        scores = arrays.scores(labelsets, np.zeros(len(labelsets), dtype=np.int64))
        assert (costs.bounds <= scores.min(axis=0)).all()
        assert costs.totals.tolist() == scores.sum(axis=0).tolist()
        assert costs.totals[lowest] == costs.totals.min()


def test_best_listed_labelsets_equal_all_sorted():
    for seed in range(SEEDS):
        case = seen_case(seed)
        arrays, costs = listed_of(case)
        labelsets = arrays.discounted.labelsets
        owners, n_best = np.zeros(len(labelsets), dtype=np.int64), 1 + seed % 5
        scores = arrays.scores(labelsets, owners)
        numerators = case.weighing.of_scores(arrays.calibrations, scores, owners)
        expected = sorted(
            (-int(numerator), int(total), code)
            for numerator, total, code in zip(numerators, scores.sum(axis=0), codes_of(labelsets), strict=True)
            if code or case.allow_empty
        )[:n_best]
        best = Ranked(np.arange(n_best + 1), np.empty((n_best + 1, CODE + 1), dtype=np.int64))
        lookup = Lookup(arrays.tables, arrays.penalties, case.weighing.of(0), case.allow_empty)
        n_found = best_listed(costs, arrays.discounted, lookup, 0, best)
        found = best.keys[best.order[:n_found]]
        codes = (found[:, CODE] ^ np.iinfo(np.int64).min).tolist()
        assert sorted(zip(found[:, NUMERATOR].tolist(), found[:, TOTAL].tolist(), codes, strict=True)) == expected


@given(st.sampled_from([3, 64, 70, 130]), st.integers(0, 2**32))
def test_labelset_is_listed_where_it_is_one_of_them(n_labels, seed):
    rng = np.random.default_rng(seed)
    some = pack(np.unique(rng.random((9, n_labels)) < rng.choice([0.01, 0.5]), axis=0))
    ordered = some[np.lexsort(some.T[::-1])]
    listed = np.ascontiguousarray(ordered[::2])
    assert [bool(is_listed(words, listed)) for words in ordered] == [i % 2 == 0 for i, _ in zip(count(), ordered)]
    assert not is_listed(ordered[0], listed[:0])

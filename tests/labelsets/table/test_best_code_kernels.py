"""The best of all codes: kernels equal sorting."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from brute_force import codes_of
from labelsure.labelsets.arrays._fold_arrays import FoldArrays
from labelsure.labelsets.table._best_code_kernels import (
    BestCodes,
    CodeCosts,
    best_codes,
    insert,
    search_codes,
    two_lowest,
)
from search_cases import seen_case

NUMBERS = st.integers(0, 3)


@given(st.lists(st.tuples(NUMBERS, NUMBERS, st.booleans()), min_size=1, max_size=20), st.booleans(), st.integers(1, 5))
def test_best_codes_are_the_first_of_all_sorted(entries, by_total, n_best):
    rows, totals, candidate = (np.array(part) for part in zip(*entries, strict=True))
    codes = np.flatnonzero(candidate)
    n_best = min(n_best, len(codes))
    best = np.empty((1, n_best), dtype=np.int64)
    best_codes(rows[None].astype(np.int32), totals[None] if by_total else totals[None, :0], codes, best)
    expected = sorted(codes.tolist(), key=lambda code: (-rows[code], totals[code] if by_total else 0, code))
    assert best[0].tolist() == expected[:n_best]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=9), st.booleans())
def test_two_lowest_are_those_of_the_lowest_totals(totals, without_first):
    first = int(without_first and len(totals) > 1)
    lowest, second = two_lowest(np.array(totals), first)
    left = sorted(totals[first:])
    assert [totals[lowest], totals[second]] == [left[0], left[min(1, len(left) - 1)]]
    assert (lowest == second) == (len(left) == 1)


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=12), st.integers(1, 5))
def test_inserted_codes_are_the_first_of_all_sorted(entries, n_best):
    found, n_found = BestCodes.of(1, n_best), 0
    for code, (value, total) in enumerate(entries):
        n_found = insert(0, (code * 5) % len(entries) if len(entries) % 5 else code, value, total, n_found, found)
    codes = [(code * 5) % len(entries) if len(entries) % 5 else code for code in range(len(entries))]
    ranked = sorted((-value, total, code) for code, (value, total) in zip(codes, entries, strict=True))
    got = zip((-found.numerators[0]).tolist(), found.totals.tolist(), found.codes[0].tolist(), strict=True)
    assert list(got)[:n_found] == ranked[:n_best]


def test_searched_codes_equal_brute_force():
    for seed in range(150):
        case = seen_case(seed, labels=(1, 7))
        arrays, first = FoldArrays(case.folds), int(not case.allow_empty)
        rows = np.zeros((arrays.n_folds, 2**arrays.n_labels), dtype=np.int64)
        for row, fold in zip(rows, case.folds, strict=True):
            if fold.energy.discounts is not None:
                row[codes_of(fold.energy.discounts.labelsets)] = -fold.energy.discounts.amounts
        constant, unary = (np.stack([getattr(one, part) for one in arrays.general]) for part in ("constant", "unary"))
        found = BestCodes.of(2, min(1 + seed % 6, 2**arrays.n_labels - first))
        costs = CodeCosts.of(rows, arrays.n_labels)
        search_codes(constant, unary, case.weighing.of_objects(np.arange(2)), arrays.tables, first, costs, found)
        for i, ranked in enumerate(case.ranked()):
            n_best = found.codes.shape[1]
            assert found.codes[i].tolist() == ranked.codes[:n_best].tolist(), seed
            assert found.numerators[i].tolist() == ranked.numerators[:n_best].tolist(), seed

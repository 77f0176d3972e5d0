"""The climb puts real labelsets among the best found, and finds what a long search does where
models disagree.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelsure.engine._fold_arrays import FoldArrays
from labelsure.engine._fold_engine import FoldEngine
from labelsure.engine._results import EngineOptions
from labelsure.engine._search import climb
from labelsure.engine._walk_kernels import FOUND, Found
from search_cases import disagreeing_folds, walk_case


def test_what_a_climb_finds_is_what_brute_force_says_of_it():
    n_found = []
    for seed in range(60):
        case = walk_case(seed)
        arrays = FoldArrays(case.folds)
        if arrays.has_link or arrays.penalties.present:
            continue
        (ranked,) = case.ranked()
        every = zip(*(part.tolist() for part in ranked), strict=True)
        words, numerators, totals = climb(arrays, case.weighing, 0, case.allow_empty)
        found = zip(numerators.tolist(), totals.tolist(), words[:, 0].tolist(), strict=True)
        assert set(found) <= set(every), seed
        n_found.append(len(words))
    assert max(n_found) > 3


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 5)), max_size=9))
def test_labelsets_offered_twice_are_among_the_best_once(offered):
    found = Found.of(1, 3, 1)
    for numerator, total, code in offered:
        words = np.array([[code]], dtype=np.uint64)
        found.offer(0, np.array([numerator]), np.array([total]), words)
    n_found = int(found.numbers[0, FOUND])
    rank = [tuple(key) for key in found.keys[0, :n_found, :2].tolist()]
    codes = found.words[0, :n_found, 0].tolist()
    best = {}
    for numerator, total, code in offered:
        best[code] = min(best.get(code, (1, 0)), (-numerator, total))
    expected = sorted((*key, code) for code, key in best.items())[:3]
    assert [(*key, code) for key, code in zip(rank, codes, strict=True)] == expected


@pytest.mark.parametrize("n_labels", [60, 159])
def test_a_climb_finds_at_least_what_a_long_search_finds_where_folds_disagree(n_labels):
    for seed in range(4):
        folds = disagreeing_folds(n_labels, 10, seed=seed)
        answers = []
        for first in (200_000, 0):
            options = EngineOptions(first_budget=first, best_budget=max(first, 1))
            answers.append(FoldEngine(folds, allow_empty=True, options=options).top(1))
        searched, climbed = answers
        assert not searched.certain[0]
        assert climbed.numerators[0, 0] >= searched.numerators[0, 0] > 0
        assert climbed.upper[0, 0] >= climbed.numerators[0, 0]

"""The climb puts real labelsets among the best found, and finds what a long search does where models disagree."""

import numpy as np
import pytest

from labelsure.engine._answers import climb
from labelsure.engine._fold_engine import FoldEngine
from labelsure.engine._listed_kernels import offer_listed
from labelsure.engine._results import EngineOptions
from labelsure.engine._walk_kernels import Found
from search_cases import disagreeing_folds, seen_case


def keys_of(found, i):
    """Return what was found for one object: minus numerators, totals and codes, in order."""
    rank, codes = found.rank(i), found.words[i, :, 0].tolist()
    return [
        (-numerator, total, code)
        for (numerator, total), code in zip(rank.tolist(), codes, strict=False)
    ]


@pytest.mark.parametrize("n_best", [1, 3, 40])
def test_what_a_climb_finds_is_what_brute_force_says_of_it_once_and_in_order(n_best):
    """From nothing, and from the listed labelsets, of which some are where climbs end."""
    n_found = []
    for seed in range(60):
        case = seen_case(seed)
        search = case.search()
        found = Found.of(2, n_best, 1)
        if len(search._listed.more):
            offer_listed(*search._listed_arrays(np.arange(2)), found)
        for i, ranked in enumerate(case.ranked()):
            before = keys_of(found, i)
            climb(
                search.arrays, case.weighing, i, found.keys[i], found.numbers[i], case.allow_empty
            )
            keys = keys_of(found, i)
            codes = [code for *_, code in keys]
            assert keys == sorted(keys)
            assert len(set(codes)) == len(codes)
            assert all(new <= old for new, old in zip(keys, before, strict=False))
            assert len(keys) >= len(before)
            every = zip(
                (-ranked.numerators).tolist(),
                ranked.totals.tolist(),
                ranked.codes.tolist(),
                strict=True,
            )
            assert set(keys) <= set(every), seed
            n_found.append(len(codes))
    assert max(n_found) >= min(n_best, 4)


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

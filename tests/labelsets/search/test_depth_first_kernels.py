"""Depth-first searches, with and without pairs: that they can be interrupted anywhere, and keep to their budget."""

import numpy as np
import pytest

from brute_force import codes_of
from labelsure.labelsets import EngineOptions
from search_cases import random_case


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

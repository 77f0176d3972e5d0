"""Depth-first searches, with and without pairs: that they can be interrupted anywhere, and keep to their budget."""

import numpy as np
import pytest

from brute_force import codes_of
from labelsure.labelsets import _pair_search, _search
from search_cases import random_case


@pytest.mark.parametrize(("chunk", "call_budget"), [(1, 10**6), (2, 3), (4096, 1), (3, 7)])
def test_search_goes_on_where_it_was_interrupted(chunk, call_budget, monkeypatch):
    """Full buffers and spent budgets after every node: still every member once, in the same order."""
    cases = [random_case(seed, labels=(4, 7), objects=(1, 1)) for seed in range(25)]
    smallest = [int(np.quantile(case.ranked()[0].numerators, 0.6)) for case in cases]

    def iterated():
        chunks = [list(case.engine()._search.iterate_members(0, s)) for case, s in zip(cases, smallest, strict=True)]
        return [[code for labelsets, _ in parts for code in codes_of(labelsets)] for parts in chunks]

    whole = iterated()
    monkeypatch.setattr(_search, "CHUNK", chunk)
    for module in (_search, _pair_search):
        monkeypatch.setattr(module, "CALL_BUDGET", call_budget)
    assert iterated() == whole
    assert sum(map(len, whole)) > 500


def test_search_counts_no_more_than_its_budget_allows():
    for seed in range(40):
        case = random_case(seed, labels=(5, 8), objects=(1, 1))
        ranked = case.ranked()[0]
        smallest = int(np.median(ranked.numerators))
        truth = len(ranked.members(smallest).codes)
        search = case.engine()._search
        for budget in (1, 5, 50, 10**6):
            ((size, finished),) = search._count(np.arange(1), smallest, budget)
            assert size <= truth
            assert size == truth or not finished
            assert search.count_members(smallest, budget) == [truth if finished else None]
        assert finished

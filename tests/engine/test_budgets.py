"""Searches keep to budgets of work and memory, and say what they know when these are spent.

Folds that disagree about every label, as models do about outliers: bounds are far from what
labelsets reach, and a search without a budget would grow for ever.
"""

from dataclasses import replace

import numpy as np
import pytest

from brute_force import highest_by_label
from labelsure.engine import _engine, _search
from labelsure.engine._fold_engine import FoldEngine
from labelsure.engine._results import EngineOptions, NotAllListedError
from search_cases import BY_SEARCH, Case, disagreeing_folds, random_case

SMALL = EngineOptions(table_labels=0, first_budget=20, best_budget=40, chunk=2)


@pytest.mark.parametrize("pairs", [False, True])
def test_the_best_of_disagreeing_folds_is_bounded(pairs):
    """A hundred labels, ten folds: nobody can look at all that may be as good."""
    options = EngineOptions(best_budget=20_000)
    engine = FoldEngine(disagreeing_folds(100, 10, pairs=pairs), allow_empty=True, options=options)
    best = engine.top(2)
    assert not best.certain.any()
    assert (best.numerators > 0).all()
    assert (best.upper >= best.numerators).all()
    assert best.upper[0, 0] > best.numerators[0, 0]
    assert best.upper.max() <= engine.denominators[0]
    found = engine.numerators_of(best.labelsets[0], np.zeros(2, dtype=np.int64))
    assert found.tolist() == best.numerators[0].tolist()


@pytest.mark.parametrize("pairs", [False, True])
def test_labels_of_disagreeing_folds_are_bounded(pairs):
    """The highest numerators with each label off and on are at least those found."""
    options = EngineOptions(best_budget=20_000)
    engine = FoldEngine(disagreeing_folds(60, 8, pairs=pairs), allow_empty=True, options=options)
    highest = engine.label_numerators()[0]
    best = engine.top(3)
    for labelset, numerator in zip(best.labelsets[0], best.numerators[0], strict=True):
        assert (highest[np.arange(60), labelset] >= numerator).all()


def test_bounds_hold_whatever_the_budget():
    """Against brute force: what was found is right, what may have been missed is not above the
    bound.
    """
    n_certain = n_uncertain = 0
    for seed in range(150):
        case = random_case(seed, labels=(4, 8), objects=(1, 2))
        engine = case.engine(options=SMALL)
        n_labels = engine.n_labels
        best, highest, everyone = engine.top(3), engine.label_numerators(), case.ranked()
        for i, ranked in enumerate(everyone):
            n_there = min(3, len(ranked.codes))
            assert (best.upper[i, :n_there] >= ranked.numerators[:n_there]).all()
            assert (best.numerators[i, :n_there] <= ranked.numerators[:n_there]).all()
            truth = np.array(highest_by_label(ranked, n_labels))
            assert (highest[i] >= truth).all()
            if best.certain[i]:
                assert best.numerators[i, :n_there].tolist() == ranked.numerators[:n_there].tolist()
                assert best.upper[i].tolist() == best.numerators[i].tolist()
        n_certain, n_uncertain = n_certain + best.certain.sum(), n_uncertain + (~best.certain).sum()
    assert min(n_certain, n_uncertain) > 20


def test_open_bounds_of_searches_with_pairs_hold_at_every_step():
    """After each call of the kernel: everything not yet found is below the bound."""
    case = Case(disagreeing_folds(7, 3, pairs=True), allow_empty=True, draws=None)
    highest, bounds, certain = case.ranked()[0].numerators[0], set(), False
    for budget in range(1, 400):
        best = case.engine(options=replace(BY_SEARCH, best_budget=budget)).top(1)
        certain = bool(best.certain[0])
        assert best.upper[0, 0] >= highest >= best.numerators[0, 0]
        bounds |= set() if certain else {int(best.upper[0, 0])}
    assert certain
    assert len(bounds) > 1


@pytest.mark.parametrize("pairs", [False, True])
def test_members_far_apart_are_not_listed_but_the_most_plausible_are(pairs, monkeypatch):
    monkeypatch.setattr(_search, "MEMBER_BUDGET", 0)
    monkeypatch.setattr(_engine, "FEW_MEMBERS", 3)
    options = EngineOptions(list_budget=500, best_budget=5000)
    engine = FoldEngine(disagreeing_folds(40, 5, pairs=pairs), allow_empty=True, options=options)
    smallest = int(engine.top(1).numerators[0, 0]) // 2 + 1
    with pytest.raises(NotAllListedError, match=r"spent its budget.*members\(limit=\)"):
        list(engine.iterate_members(0, smallest))
    with pytest.raises(NotAllListedError):
        engine.region_members(0, smallest, None)
    for limit in (2, 10):  # searched for best first; and listed, which takes too long
        labelsets, numerators = engine.region_members(0, smallest, limit)
        assert 0 < len(labelsets) <= limit
        assert (numerators >= smallest).all()

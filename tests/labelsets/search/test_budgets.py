"""Searches keep to budgets of work and memory, and say what they know when these are spent.

Folds that disagree about every label, as models do about outliers: bounds are far from what labelsets reach, and a
search without a budget would grow for ever.
"""

import numpy as np
import pytest
from labelsure.labelsets.search._best_first import best_of

from brute_force import highest_by_label
from labelsure._core.energy import Energy
from labelsure.labelsets import EngineOptions, Fold, FoldEngine
from labelsure.labelsets.arrays._results import NotAllListedError
from labelsure.labelsets.search import _best_first, _labels, _pair_search
from search_cases import Case, assert_answers_equal_brute_force, random_case

SMALL = EngineOptions(table_labels=0, best_budget=40, ranked_budget=40, label_budget=40, frontier=2, chunk=2)


def disagreeing_folds(n_labels, n_folds, *, seed=0, n_objects=1, pairs=False):
    """Return folds whose costs of labels have nothing to do with each other."""
    rng = np.random.default_rng([seed, n_labels, n_folds])
    folds = []
    for _ in range(n_folds):
        unary = rng.normal(0, 2**30, size=(n_objects, n_labels)).astype(np.int64)
        constant = -np.minimum(unary, 0).sum(axis=1)
        pairwise = rng.integers(-(2**28), 2**28, size=(n_labels, n_labels)) if pairs else None
        typical = int(np.abs(unary).sum() / n_objects)
        scores = rng.integers(0, typical, size=40)
        folds.append(Fold(np.sort(scores), Energy(constant, unary, pairwise)))
    return folds


@pytest.fixture
def work(monkeypatch):
    """Count the evaluations of all searches for the best."""
    spent = []

    def counted(function):
        def call(*args, **kwargs):
            best = function(*args, **kwargs)
            spent.append(best.work)
            return best

        return call

    for module, name in ((_best_first, "best_members"), (_best_first, "best_pair_members")):
        monkeypatch.setattr(module, name, counted(getattr(module, name)))
    return spent


@pytest.mark.parametrize("pairs", [False, True])
def test_the_best_of_disagreeing_folds_is_searched_within_budgets(pairs, work):
    """A hundred labels, ten folds: without budgets the frontier doubles until memory is full."""
    options = EngineOptions(best_budget=20_000, ranked_budget=20_000)
    engine = FoldEngine(disagreeing_folds(100, 10, pairs=pairs), allow_empty=True, options=options)
    best = engine.top(2)
    assert not best.certain.any()
    assert (best.numerators > 0).all()
    assert (best.upper >= best.numerators).all()
    assert best.upper[0, 0] > best.numerators[0, 0]
    assert best.upper.max() <= engine.denominators[0]
    found = engine.numerators_of(best.labelsets[0], np.zeros(2, dtype=np.int64))
    assert found.tolist() == best.numerators[0].tolist()
    # a list of a hundred labels takes 5 questions for each at most, and is not left unfinished
    assert max(work) <= 20_000 + 100 * (5 + 10)
    assert len(work) == (1 if pairs else 2)


def test_frontiers_keep_to_their_memory(work):
    """As much room as 500 entries take, each of 1 + 4 + 13 numbers, and far more work allowed."""
    options = EngineOptions(best_budget=10**7, frontier_bytes=500 * 8 * 18, ranked_budget=1000)
    (one,) = FoldEngine(disagreeing_folds(100, 10), allow_empty=True, options=options)._search.pose(np.arange(1))
    best = best_of(one, 1)
    assert best.missed is not None
    assert work[0] < 3 * 512  # each evaluation adds one entry at most


@pytest.mark.parametrize("pairs", [False, True])
def test_labels_of_disagreeing_folds_are_bounded_within_budgets(pairs, work, monkeypatch):
    """The highest numerators with each label off and on are at least those found, and the work is limited."""
    monkeypatch.setattr(_labels, "best_of", lambda *args, **kwargs: work.append(0) or best_of(*args, **kwargs))
    options = EngineOptions(best_budget=5000, ranked_budget=5000, label_budget=20_000)
    engine = FoldEngine(disagreeing_folds(60, 8, pairs=pairs), allow_empty=True, options=options)
    highest = engine.label_numerators()[0]
    best = engine.top(3)
    for labelset, numerator in zip(best.labelsets[0], best.numerators[0], strict=True):
        assert (highest[np.arange(60), labelset] >= numerator).all()
    assert sum(work) <= 20_000 + 4 * 5000 + len(work) * 60 * (5 + 8)


def test_bounds_hold_whatever_the_budget():
    """Against brute force: what was found is right, what may have been missed is not above the bound."""
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


def test_a_depth_first_search_finishes_what_best_first_has_no_room_for():
    """The same answers, with ties and all that energies may have, though no frontier holds more than two entries."""
    for seed in range(60):
        case = random_case(seed, labels=(1, 7))
        assert_answers_equal_brute_force(case, seed, frontier=2, frontier_bytes=0)


def test_open_bounds_of_searches_with_pairs_hold_at_every_step():
    """After each call of the kernel: everything not yet found is below the bound."""
    folds = disagreeing_folds(7, 3, pairs=True)
    case = Case(folds, allow_empty=True, draws=None)
    (one,) = case.search().pose(np.arange(1))
    numerators = case.ranked()[0].numerators
    problem, finished, bounds = one.problems.with_pairs(0), False, []
    for budget in range(1, 400):
        best = _pair_search.best_pair_members(problem, one.lookup, 1, SMALL, by_total=True, budget=budget)
        finished = best.missed is None
        found = int(best.rank[0, 0]) if len(best.rank) else 0
        assert max(found, 0 if finished else best.missed) >= numerators[0]
        bounds += [] if finished else [best.missed]
    assert finished
    assert len(set(bounds)) > 1


@pytest.mark.parametrize("pairs", [False, True])
def test_members_far_apart_are_not_listed_but_the_most_plausible_are(pairs):
    options = EngineOptions(list_budget=500, member_budget=0, few_members=3, best_budget=5000, ranked_budget=5000)
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

"""Depth-first search: its steps against definitions, and that it can be interrupted anywhere."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_force import codes_of
from fold_strategies import fold_lists
from labelsure.labelsets import _depth_first_kernels, _search, decode
from labelsure.labelsets._fold_arrays import FoldParts
from labelsure.labelsets._problems import pose_problems
from labelsure.labelsets._words import unpack
from search_cases import random_case

FOLDS = fold_lists(labels=(1, 5), folds=(1, 3), objects=(1, 1))


class Walk:
    """The state of a search for object 0: the labelset reached and what each further flip adds."""

    def __init__(self, folds):
        self.folds = folds
        self.parts = FoldParts(folds)
        self.n_labels = folds[0].energy.n_labels
        problems = pose_problems(folds, self.parts, np.arange(1))
        self.label, self.sign, self.n_hard = problems.label[0], problems.sign[0], int(problems.n_hard[0])
        self.marginal, self.words = problems.cost[0].copy(), problems.mode[0].copy()

    def toggle(self, t, direction):
        _depth_first_kernels.toggle(t, direction, self.label, self.sign, self.parts.pairs, self.marginal, self.words)

    def labelset(self):
        return unpack(self.words[None], self.n_labels)[0]

    def added(self, labelsets):
        """Return what the scores of labelsets are above that of the labelset reached, (labelsets, folds)."""
        both = np.vstack([self.labelset(), labelsets])
        objects = np.zeros(len(both), dtype=np.int64)
        scores = np.column_stack([fold.energy.scores(both, objects=objects) for fold in self.folds])
        return scores[1:] - scores[0]


@given(FOLDS, st.data())
def test_toggle_keeps_what_flips_add(folds, data):
    walk = Walk(folds)
    start, costs = walk.labelset(), walk.marginal.copy()
    flips = data.draw(st.lists(st.integers(0, walk.n_labels - 1), unique=True))
    for t in flips:
        walk.toggle(t, 1)
    differs = np.flatnonzero(walk.labelset() != start)
    assert sorted(differs) == sorted(walk.label[flips])
    others = [t for t in range(walk.n_labels) if t not in flips]
    one_more = np.tile(walk.labelset(), (len(others), 1))
    one_more[np.arange(len(others)), walk.label[others]] ^= 1
    assert walk.marginal[others].tolist() == walk.added(one_more).tolist()
    for t in reversed(flips):
        walk.toggle(t, -1)
    assert np.array_equal(walk.labelset(), start)
    assert np.array_equal(walk.marginal, costs)


@settings(max_examples=80)
@given(FOLDS.filter(lambda folds: any(fold.energy.pairwise is not None for fold in folds)), st.data())
def test_bound_rest_is_below_every_set_of_later_flips(folds, data):
    walk = Walk(folds)
    begin = data.draw(st.integers(0, walk.n_labels))
    for t in range(begin):
        if data.draw(st.booleans()):
            walk.toggle(t, 1)
    bound = np.full(len(folds), 99)
    _depth_first_kernels.bound_rest(begin, walk.n_hard, walk.label, walk.sign, walk.parts.pairs, walk.marginal, bound)
    later = decode(np.arange(2 ** (walk.n_labels - begin)), walk.n_labels - begin)
    labelsets = np.tile(walk.labelset(), (len(later), 1))
    labelsets[:, walk.label[begin:]] ^= later
    lowest = walk.added(labelsets).min(axis=0)
    assert (bound <= lowest).all()
    if begin >= walk.n_labels - 1:
        assert bound.tolist() == lowest.tolist()


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
    monkeypatch.setattr(_search, "CALL_BUDGET", call_budget)
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

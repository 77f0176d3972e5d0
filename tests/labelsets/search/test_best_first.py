"""Best-first search: its bounds, and answers where almost everything ties."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from labelsure.labelsets.search._best_first_kernels import Node, least_total
from labelsure.labelsets.search._problems import pose_problems

from brute_force import codes_of
from fold_strategies import fold_lists
from labelsure._core.energy import Energy
from labelsure._core.energy_parts import Penalty, SquareRoot
from labelsure.labelsets import EngineOptions, Fold, FoldEngine, decode
from labelsure.labelsets.arrays._fold_arrays import FoldArrays
from labelsure.labelsets.arrays._rule_kernels import Course
from search_cases import random_case


@given(fold_lists(labels=(1, 5), folds=(1, 3), objects=(1, 1)), st.data())
def test_least_total_is_below_every_total_with_the_flip(folds, data):
    """From the mode on, with the bound that a search takes where there are no flips yet."""
    folds = [Fold(fold.calibration, replace(fold.energy, pairwise=None)) for fold in folds]
    link = data.draw(st.none() | st.integers(0, 12).map(SquareRoot))
    linked = [Fold(fold.calibration, replace(fold.energy, link=link)) for fold in folds]
    problems = pose_problems(FoldArrays(folds), np.arange(1))
    n_labels = folds[0].energy.n_labels
    penalty = data.draw(arrays(np.int64, len(folds), elements=st.integers(0, 9)))
    labelsets = decode(np.arange(2**n_labels), n_labels)
    totals = sum(fold.energy.scores(labelsets, objects=np.zeros(2**n_labels, dtype=np.int64)) for fold in linked)
    flips, tables = problems.flips(0), FoldArrays(linked).tables
    course = Course(flips.mode, flips.cost, flips.label)
    node = Node(flips.mode, flips.base, flips.nearest[0], penalty, penalty, flips.mode, flips.mode, flips.base, course)
    for t, j in enumerate(problems.label[0]):
        bound = least_total(t, node, flips, tables)
        flipped = labelsets[:, j] == (problems.sign[0, t] > 0)
        assert bound <= totals[flipped].min() + penalty.sum()


@pytest.mark.parametrize("n_labels", [159, 1000])
@pytest.mark.parametrize("n_folds", [1, 10])
def test_best_is_the_lowest_code_where_everything_ties(n_labels, n_folds):
    """All outputs 0.5: every labelset has the same scores."""
    energy = Energy(np.array([7]), np.zeros((1, n_labels), dtype=np.int64))
    folds = [Fold(np.sort(np.arange(5, 10)), energy)] * n_folds
    for allow_empty in (True, False):
        engine = FoldEngine(folds, allow_empty=allow_empty)
        best = engine.top(5)
        first = 0 if allow_empty else 1
        assert codes_of(best.labelsets[0, :, :60]) == list(range(first, first + 5))
        assert not best.labelsets[0, :, 60:].any()
        assert best.numerators.tolist() == [[3 * n_folds + 1] * 5]
    assert (engine.take(np.arange(1)).label_numerators() == 3 * n_folds + 1).all()


@pytest.mark.parametrize("n_labels", [159, 1000])
def test_best_has_the_lowest_total_where_all_p_values_tie(n_labels):
    """Calibration scores above everything: p-values are all 1, total scores decide, and then codes."""
    rng = np.random.default_rng(n_labels)
    energies = [Energy(np.array([0]), rng.integers(-3, 4, size=(1, n_labels))) for _ in range(4)]
    engine = FoldEngine([Fold(np.sort(np.array([10**9])), one) for one in energies], allow_empty=True)
    total = sum(energy.unary[0] for energy in energies)
    best = engine.top(4)
    assert best.numerators.tolist() == [[5] * 4]
    assert np.array_equal(best.labelsets[0, 0], total < 0)
    free = np.flatnonzero(total == 0)[:2]  # flips that cost nothing: the lowest codes come first
    expected = [[], [free[0]], [free[1]], free.tolist()]
    flipped = [np.flatnonzero(row != best.labelsets[0, 0]).tolist() for row in best.labelsets[0]]
    assert flipped == expected


@pytest.mark.parametrize("kind", ["additive", "link", "pairs", "penalty"])
def test_best_is_found_where_most_labels_tie_and_others_are_certain(kind):
    """A hundred labels of output 0.5 below labels that are on: codes decide, and they must not be listed."""
    n_labels = 159
    unary = np.zeros((1, n_labels), dtype=np.int64)
    unary[0, 100:] = np.where(np.arange(59) % 3, 900, -1000)
    pairwise = np.zeros((n_labels, n_labels), dtype=np.int64)
    pairwise[:100, 100:] = 5 * (np.arange(59) % 3 > 0)  # with labels that are off
    energy = Energy(
        np.array([50_000]),
        unary,
        pairwise if kind == "pairs" else None,
        SquareRoot(12) if kind == "link" else None,
        Penalty(np.arange(160) // 22) if kind == "penalty" else None,  # two labels more than are certain cost nothing
    )
    engine = FoldEngine([Fold(np.sort(np.array([10**9])), energy)] * 3, allow_empty=False)
    best = engine.top(3)
    certain = np.flatnonzero(unary[0] < 0).tolist()
    assert len(certain) == 20
    assert [np.flatnonzero(row).tolist() for row in best.labelsets[0]] == [certain, [0, *certain], [1, *certain]]
    assert best.numerators.tolist() == [[4] * 3]


def test_top_may_ask_for_more_than_there_is():
    for seed in range(30):
        case = random_case(seed, labels=(1, 5))
        best = case.search().top(40)
        for i, ranked in enumerate(case.ranked()):
            n_there = len(ranked.codes)
            assert codes_of(best.labelsets[i, :n_there]) == ranked.codes.tolist()
            assert best.numerators[i].tolist() == ranked.numerators.tolist() + [0] * (40 - n_there)
            assert not best.labelsets[i, n_there:].any()


def test_a_search_in_many_short_calls_finds_the_same():
    """A frontier that is full again and again, and calls that end after every entry."""
    options = EngineOptions(frontier=2, ranked_call=1)
    for seed in range(30):
        case = random_case(seed, labels=(1, 7))
        best = case.search(options).top(9)
        for i, ranked in enumerate(case.ranked()):
            n_there = min(len(ranked.codes), 9)
            assert codes_of(best.labelsets[i, :n_there]) == ranked.codes[:9].tolist()
            assert best.numerators[i, :n_there].tolist() == ranked.numerators[:9].tolist()

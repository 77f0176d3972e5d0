"""Best-first search: heaps against sorting, and answers where almost everything ties."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from brute_force import codes_of
from fold_strategies import fold_lists
from labelsure._core.calibration import Calibration
from labelsure._core.energy import Energy
from labelsure._core.link import SquareRoot
from labelsure._core.penalty import Penalty
from labelsure.labelsets import Fold, FoldEngine, _best_first_kernels, decode
from labelsure.labelsets._fold_arrays import FoldParts, fold_tables
from labelsure.labelsets._problems import pose_problems
from search_cases import random_case

ROWS = st.integers(1, 20).flatmap(
    lambda n: st.tuples(
        arrays(np.int64, (n, 2), elements=st.integers(0, 2)),
        arrays(np.uint64, (n, 2), elements=st.sampled_from([0, 1, 2**63, 2**64 - 1])),
    )
)


def key(rank, code):
    """Return what _reference.ranked sorts by."""
    return -int(rank[0]), int(rank[1]), sum(int(word) << 64 * w for w, word in enumerate(code))


@given(ROWS)
def test_comes_before_equals_comparison_of_tuples(rows):
    rank, code = rows
    for a in range(len(rank)):
        for b in range(len(rank)):
            expected = key(rank[a], code[a]) < key(rank[b], code[b])
            assert _best_first_kernels.comes_before(a, b, rank, code) == expected


@given(ROWS, st.booleans())
def test_sift_makes_a_heap_of_entries_pushed_and_popped(rows, best_on_top):
    rank, code = rows
    keys = [key(*row) for row in zip(rank, code, strict=True)]
    heap = np.arange(len(rank))
    for size in range(1, len(rank) + 1):
        _best_first_kernels.sift(heap, size, size - 1, best_on_top, rank, code)
    popped = []
    for size in range(len(rank) - 1, -1, -1):
        popped.append(keys[heap[0]])
        heap[0] = heap[size]
        _best_first_kernels.sift(heap, size, 0, best_on_top, rank, code)
    assert popped == sorted(keys, reverse=not best_on_top)


@given(ROWS)
def test_may_improve_compares_with_the_worst_found(rows):
    rank, code = rows
    found_rank, found_words = np.vstack([rank[:1], rank[:1]]), np.vstack([code[:1], code[:1]])
    for row in range(len(rank)):
        may = _best_first_kernels.may_improve(row, rank, code, np.arange(2), found_rank, found_words)
        assert may == (key(rank[row], code[row]) < key(rank[0], code[0]))
        assert key(found_rank[0], found_words[0]) == key(rank[0], code[0])


@given(fold_lists(labels=(1, 5), folds=(1, 3), objects=(1, 1)), st.data())
def test_least_total_is_below_every_total_with_the_flip(folds, data):
    """From the mode on, with the bound that a search takes where there are no flips yet."""
    folds = [Fold(fold.calibration, replace(fold.energy, pairwise=None)) for fold in folds]
    link = data.draw(st.none() | st.integers(0, 12).map(SquareRoot))
    linked = [Fold(fold.calibration, replace(fold.energy, link=link)) for fold in folds]
    problems = pose_problems(folds, FoldParts(folds), np.arange(1))
    n_labels = folds[0].energy.n_labels
    penalty = data.draw(arrays(np.int64, len(folds), elements=st.integers(0, 9)))
    labelsets = decode(np.arange(2**n_labels), n_labels)
    totals = sum(fold.energy.scores(labelsets, objects=np.zeros(2**n_labels, dtype=np.int64)) for fold in linked)
    for t, j in enumerate(problems.label[0]):
        bound = _best_first_kernels.least_total(
            t, problems.base[0], problems.nearest[0, 0], problems.cost[0], penalty, fold_tables(linked).layout
        )
        flipped = labelsets[:, j] == (problems.sign[0, t] > 0)
        assert bound <= totals[flipped].min() + penalty.sum()


@given(st.tuples(st.integers(1, 5), st.integers(1, 3)).flatmap(lambda shape: arrays(np.int64, shape)))
def test_more_rows_keep_the_rows(rows):
    more = _best_first_kernels.more_rows(rows)
    words = _best_first_kernels.more_words(rows.view(np.uint64))
    assert more.shape == words.shape == (2 * len(rows), rows.shape[1])
    assert np.array_equal(more[: len(rows)], rows)
    assert np.array_equal(words[: len(rows)], rows.view(np.uint64))


@pytest.mark.parametrize("n_labels", [159, 1000])
@pytest.mark.parametrize("n_folds", [1, 10])
def test_best_is_the_lowest_code_where_everything_ties(n_labels, n_folds):
    """All outputs 0.5: every labelset has the same scores."""
    energy = Energy(np.array([7]), np.zeros((1, n_labels), dtype=np.int64))
    folds = [Fold(Calibration.of(np.arange(5, 10)), energy)] * n_folds
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
    engine = FoldEngine([Fold(Calibration.of(np.array([10**9])), one) for one in energies], allow_empty=True)
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
    engine = FoldEngine([Fold(Calibration.of(np.array([10**9])), energy)] * 3, allow_empty=False)
    best = engine.top(3)
    certain = np.flatnonzero(unary[0] < 0).tolist()
    assert len(certain) == 20
    assert [np.flatnonzero(row).tolist() for row in best.labelsets[0]] == [certain, [0, *certain], [1, *certain]]
    assert best.numerators.tolist() == [[4] * 3]


def test_top_may_ask_for_more_than_there_is():
    for seed in range(30):
        case = random_case(seed, labels=(1, 5))
        best = case.engine()._search.top(40)
        for i, ranked in enumerate(case.ranked()):
            n_there = len(ranked.codes)
            assert codes_of(best.labelsets[i, :n_there]) == ranked.codes.tolist()
            assert best.numerators[i].tolist() == ranked.numerators.tolist() + [0] * (40 - n_there)
            assert not best.labelsets[i, n_there:].any()

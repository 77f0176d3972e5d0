"""Searches where pairs of labels have costs: the state of the compiled search, and what is asked of it."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from labelsure._core.running import stop_if_asked
from labelsure._core.types import BoolArray, FloatArray, IntArray
from labelsure.labelsets._pair_kernels import (
    BUDGET_SPENT,
    BUFFER_FULL,
    FINISHED,
    FOUND,
    LABEL,
    LENGTH,
    STACK_FULL,
    WORK,
    WRITTEN,
    search_pairs,
)
from labelsure.labelsets._problems import FAR, Problems, own_row
from labelsure.labelsets._ranking_kernels import CODE, NUMERATOR, read_keys, read_sorted
from labelsure.labelsets._words import Words

CALL_BUDGET = 200_000
"""Work of one call of the kernel in evaluations, about 0.1 s, so that an interrupt is heard soon."""


class PairProblem(NamedTuple):
    """One object's problem as the kernel takes it.

    Attributes
    ----------
    base : (K,)
        The mode's additive scores.
    mode : uint64 (W,)
        The mode.
    labels : (n,)
        The labels that may be flipped.
    changes : float (K, n)
        What flipping each of them alone adds.
    sign : float (q,)
        1 for labels that are off in the mode, -1 for those that are on.
    pairs, diagonals, gains, slacks, charged
        As in bound_flips.
    """

    base: IntArray
    mode: Words
    labels: IntArray
    changes: FloatArray
    sign: FloatArray
    pairs: IntArray
    diagonals: FloatArray
    gains: FloatArray
    slacks: FloatArray
    charged: BoolArray


def pose_pair_problem(problems: Problems, row: int) -> PairProblem:
    """Return one problem for the kernel, labels in the order of its positions; each fold has the tighter bound."""
    label = problems.label[row]
    n_folds = problems.cost.shape[2]
    sign = np.empty(len(label))
    sign[label] = problems.sign[row]
    slacks = np.empty((n_folds, len(label)))
    slacks[:, label] = (problems.least[row] - problems.cost[row]).T
    diagonals, gains = own_row(problems.diagonals, row), own_row(problems.gains, row)
    changes = np.ascontiguousarray(problems.cost[row].T, dtype=np.float64)
    charged = np.ones(n_folds, dtype=bool)
    if diagonals.shape[1]:
        relaxed = np.minimum(changes - diagonals[:, label], 0).sum(axis=1)
        charged = np.minimum(changes + slacks[:, label], 0).sum(axis=1) >= relaxed
    return PairProblem(
        base=problems.base[row],
        mode=problems.mode[row],
        labels=label,
        changes=changes,
        sign=sign,
        pairs=own_row(problems.pairs, row),
        diagonals=diagonals,
        gains=gains,
        slacks=slacks,
        charged=charged,
    )


def force_label(problem: PairProblem, t: int, *, flipped: bool) -> PairProblem:
    """Return the problem with the t-th label flipped in the mode, or left alone, and not to be flipped any more."""
    others = np.arange(len(problem.labels)) != t
    if not flipped:
        return problem._replace(labels=problem.labels[others], changes=problem.changes[:, others])
    j = problem.labels[t]
    signs = problem.sign[j] * problem.sign[problem.labels]
    changes = problem.changes + signs * problem.pairs[:, j, problem.labels]
    mode = problem.mode.copy()
    mode[j >> 6] ^= np.uint64(1) << np.uint64(j & 63)
    return problem._replace(
        base=problem.base + problem.changes[:, t].astype(np.int64),
        mode=mode,
        labels=problem.labels[others],
        changes=changes[:, others],
    )


class PairState:
    """A search of one problem, which can be interrupted and taken up again.

    Parameters
    ----------
    problem : PairProblem
        What to search.
    common : tuple
        What all searches of the object take: penalties, tables, how counts are weighed, and options.
    n_room : int
        How many labelsets can be kept at a time.
    """

    def __init__(self, problem: PairProblem, common: tuple[Any, ...], n_room: int) -> None:
        n_folds, n_labels = problem.changes.shape
        self.problem, self.common = problem, common
        self.numbers = np.zeros(6, dtype=np.int64)
        self.levels = np.zeros((n_labels + 2, 4), dtype=np.int64)
        self.levels[0, LENGTH] = n_labels
        self.scores = np.zeros((n_labels + 2, n_folds), dtype=np.int64)
        self.scores[0] = problem.base
        self.changes = np.empty((n_folds, 0))
        self.entries = np.empty((3, 0), dtype=np.int64)
        self._widen(3 * n_labels + 1)
        self.changes[:, :n_labels] = problem.changes
        self.entries[LABEL, :n_labels] = problem.labels
        self.words = problem.mode.copy()
        self.found = np.arange(n_room + 1)
        self.keys = np.empty((n_room + 1, CODE + len(problem.mode)), dtype=np.int64)

    def go_on(self, limit: IntArray, budget: int, *, ranked: bool, by_total: bool = False) -> int:
        """Search on, with an empty buffer; return how the kernel ended."""
        problem = self.problem
        self.numbers[WRITTEN] = 0
        ended, last_work = STACK_FULL, int(self.numbers[WORK]) + budget
        while ended == STACK_FULL:
            stop_if_asked()
            ended = search_pairs(
                problem.sign,
                problem.pairs,
                problem.diagonals,
                problem.gains,
                problem.slacks,
                problem.charged,
                *self.common,
                ranked,
                by_total,
                limit,
                last_work - int(self.numbers[WORK]),
                self.numbers,
                self.levels,
                self.scores,
                self.changes,
                self.entries,
                self.words,
                self.found,
                self.keys,
            )
            if ended == STACK_FULL:
                self._widen(self.entries.shape[1])
        return ended

    def _widen(self, n_more: int) -> None:
        """Make room for longer lists."""
        self.changes = np.concatenate([self.changes, np.empty((len(self.changes), n_more))], axis=1)
        self.entries = np.concatenate([self.entries, np.empty((3, n_more), dtype=np.int64)], axis=1)


def list_pair_members(
    problem: PairProblem,
    common: tuple[Any, ...],
    smallest: int,
    words: Words,
    numerators: IntArray,
    budget: int | None,
) -> Iterator[tuple[int, bool]]:
    """Search a region; yield how many members were found since, and whether the search is finished.

    They are in ``words`` and ``numerators`` until the next step, if these have room. Ends when ``budget`` is spent.
    """
    state = PairState(problem, common, len(numerators))
    limit = np.array([smallest, 0, 0], dtype=np.int64)
    ended = BUFFER_FULL
    while ended != FINISHED and (budget is None or state.numbers[WORK] < budget):
        before = int(state.numbers[FOUND])
        left = CALL_BUDGET if budget is None else min(CALL_BUDGET, budget - int(state.numbers[WORK]))
        ended = state.go_on(limit, left, ranked=False)
        n_new = int(state.numbers[FOUND]) - before
        n_kept = min(n_new, len(numerators))
        words[:n_kept], rank = read_keys(state.keys[:n_kept])
        numerators[:n_kept] = rank[:, NUMERATOR]
        yield n_new, ended == FINISHED


def best_pair_members(
    problem: PairProblem, common: tuple[Any, ...], n_best: int, *, by_total: bool, budget: int | None = None
) -> tuple[Words, IntArray]:
    """Return the best labelsets of one problem, their numerators and total scores, in order.

    With a budget, the best of those met until it is spent.
    """
    state = PairState(problem, common, n_best)
    limit = np.array([-FAR, FAR, 0], dtype=np.int64)
    if n_best > len(problem.labels) + 1:
        limit[NUMERATOR] = _reached_by(problem, common, n_best)
    ended = BUDGET_SPENT
    while ended != FINISHED and (budget is None or state.numbers[WORK] < budget):
        ended = state.go_on(limit, CALL_BUDGET if budget is None else budget, ranked=True, by_total=by_total)
    return read_sorted(state.keys[state.found[: int(state.numbers[FOUND])]])


def _reached_by(problem: PairProblem, common: tuple[Any, ...], n_labelsets: int) -> int:
    """Return a numerator that at least so many labelsets reach, or one below all.

    A search for many labelsets that begins without a limit goes deep before it finds any that are good.
    """
    _, rank = best_pair_members(problem, common, len(problem.labels) + 1, by_total=False)
    smallest = int(rank[-1, NUMERATOR]) // 2 if len(rank) else 0
    while smallest > 0:
        state = PairState(problem, common, n_labelsets)
        limit = np.array([smallest, 0, 0], dtype=np.int64)
        ended = state.go_on(limit, CALL_BUDGET, ranked=False)
        while ended not in (FINISHED, BUFFER_FULL):
            ended = state.go_on(limit, CALL_BUDGET, ranked=False)
        if ended == BUFFER_FULL:
            return smallest
        smallest //= 2
    return -FAR

"""Best-first searches: the state of the compiled search, which gets more room when it needs it."""

from typing import Any

import numpy as np

from labelsure._core.running import stop_if_asked
from labelsure._core.types import IntArray
from labelsure.labelsets._best_first_kernels import FINISHED, FRONTIER_FULL, N_FOUND, best_first
from labelsure.labelsets._problems import FAR, Problems
from labelsure.labelsets._ranking_kernels import CODE, read_sorted
from labelsure.labelsets._words import Words

FRONTIER = 64
"""Entries that there is room for at first."""

CALL_BUDGET = 200_000
"""Evaluations of one call of the kernel, at most about 0.1 s, so that an interrupt is heard soon."""


def best_members(
    problems: Problems,
    row: int,
    common: tuple[Any, ...],
    n_best: int,
    *,
    forced: int,
    by_total: bool,
    additive: bool,
) -> tuple[Words, IntArray]:
    """Return the best labelsets of one problem without pairs, their numerators and total scores, in order.

    Parameters
    ----------
    problems, row : Problems, int
        Which problem.
    common : tuple
        What all searches of the object take: penalties, tables, how counts are weighed, and options.
    n_best : int
        How many labelsets.
    forced : int
        A position that must not be flipped, or -1.
    by_total : bool
        Whether total scores and codes decide between equal numerators; else anything may.
    additive : bool
        Whether no fold has a link.
    """
    (n_folds,), (n_words,) = problems.base[row].shape, problems.mode[row].shape
    numbers, found, frontier = np.zeros(3, dtype=np.int64), np.arange(n_best + 1), np.arange(FRONTIER)
    keys = np.empty((n_best + 1, CODE + n_words), dtype=np.int64)
    entry_keys = np.empty((FRONTIER, CODE + n_words), dtype=np.int64)
    entries = np.empty((FRONTIER, n_words + n_folds + 1), dtype=np.int64)
    total_cost = cheapest = numbers[:0]
    if by_total:
        total_cost = problems.cost[row].sum(axis=1)
        cheapest = np.append(np.minimum.accumulate(total_cost[::-1])[::-1], FAR)
    ended = FRONTIER_FULL
    while ended != FINISHED:
        stop_if_asked()
        ended = best_first(
            problems.label[row],
            problems.base[row],
            problems.cost[row],
            problems.nearest[row],
            total_cost,
            cheapest,
            additive,
            problems.mode[row],
            forced,
            *common,
            by_total,
            CALL_BUDGET,
            numbers,
            frontier,
            entry_keys,
            entries,
            found,
            keys,
        )
        if ended == FRONTIER_FULL:
            frontier = np.append(frontier, np.arange(len(frontier), 2 * len(frontier)))
            entry_keys, entries = (np.concatenate([rows, np.empty_like(rows)]) for rows in (entry_keys, entries))
    return read_sorted(keys[found[: numbers[N_FOUND]]])

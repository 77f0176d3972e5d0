"""Searches where pairs of labels have costs: the state of the compiled search, and what is asked of it."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from labelsure._checks import IntArray
from labelsure._parallel import stop_if_asked
from labelsure.engine import _pair_problem as states
from labelsure.engine._bound_kernels import FlipList
from labelsure.engine._fold_arrays import Lookup
from labelsure.engine._labelset_kernels import CODE, HIGHEST_BIT, NUMERATOR
from labelsure.engine._pair_kernels import Desk, search_pairs
from labelsure.engine._pair_problem import Allowance, Buffer, Goal, PairProblem, PairStack, Ranked
from labelsure.measures._labelset_bits import Words

CALL = 200_000
"""Evaluations of one call of the kernel, at most about 0.1 s, so that an interrupt is heard soon."""


class Best(NamedTuple):
    """The best labelsets of one problem.

    Attributes
    ----------
    words : uint64 array of shape (k, W)
    rank : int64 array of shape (k, 2)
        Numerators and total scores, in order.
    missed : int or None
        What no numerator of a labelset that was not found exceeds; None where these are the best
        for sure.
    work : int
        Evaluations that it took.
    """

    words: Words
    rank: IntArray
    missed: int | None
    work: int


def read_keys(keys: IntArray) -> tuple[Words, IntArray]:
    """Return the words of labelsets, and their numerators and total scores, (n, W) and (n, 2).

    Examples
    --------
    >>> from labelsure.engine._labelset_kernels import write_key
    >>> key = np.empty((1, 3), dtype=np.int64)
    >>> write_key(7, 40, np.array([5], dtype=np.uint64), True, 0, key)
    >>> read_keys(key)
    (array([[5]], dtype=uint64), array([[ 7, 40]]))
    """
    words: Words = np.ascontiguousarray(keys[:, : CODE - 1 : -1]).view(np.uint64) ^ HIGHEST_BIT
    rank: IntArray = keys[:, :CODE] * np.array([-1, 1])
    return words, rank


def read_sorted(keys: IntArray) -> tuple[Words, IntArray]:
    """Return the same, the most plausible labelset first."""
    return read_keys(keys[np.lexsort(keys.T[::-1])] if len(keys) > 1 else keys)


class PairSearch:
    """A search of one problem, which can be interrupted and taken up again.

    Parameters
    ----------
    problem : PairProblem
        What to search.
    lookup : Lookup
        How scores become numerators.
    n_room : int
        How many labelsets can be kept at a time.
    """

    def __init__(self, problem: PairProblem, lookup: Lookup, n_room: int) -> None:
        n_folds, n_labels = problem.changes.shape
        # lists have places of their own
        self.problem, self.lookup = (
            problem,
            lookup._replace(rules=lookup.rules.placed(problem.labels[:0])),
        )
        width = 3 * n_labels + 1
        self.stack = PairStack(
            numbers=np.zeros(states.N_NUMBERS, dtype=np.int64),
            levels=np.zeros((n_labels + 2, 4), dtype=np.int64),
            scores=np.zeros((n_labels + 2, n_folds), dtype=np.int64),
            changes=np.empty((n_folds, width)),
            entries=np.empty((3, width), dtype=np.int64),
            words=problem.mode.copy(),
        )
        self.stack.levels[0, states.LENGTH] = n_labels
        self.stack.scores[0] = problem.base
        self.stack.changes[:, :n_labels] = problem.changes
        self.stack.entries[states.LABEL, :n_labels] = problem.labels
        n_all, n_words = len(problem.costs.sign), len(problem.mode)
        places, of_folds = (
            np.empty((3, n_all), dtype=np.int64),
            np.zeros((4, n_folds), dtype=np.int64),
        )
        of_flips, of_labels = np.empty((3, n_folds, n_all)), np.empty((4, n_all))
        flips = FlipList(places[0], of_flips[0], of_folds[0], of_flips[1], of_labels[:3], places[1])
        known: Words = np.empty(n_words, dtype=np.uint64)
        _, more, penalty, asked_penalty = of_folds
        self.desk = Desk(
            flips, places[2], of_labels[3], of_flips[2], more, penalty, asked_penalty, known
        )
        self.best = Ranked(
            np.arange(n_room + 1), np.empty((n_room + 1, CODE + n_words), dtype=np.int64)
        )

    @property
    def work(self) -> int:
        """Evaluations so far."""
        return int(self.stack.numbers[states.WORK])

    def go_on(self, goal: Goal, budget: int) -> int:
        """Search on, with an empty buffer; return how the kernel ended."""
        self.stack.numbers[states.WRITTEN] = 0
        ended, last_work = states.NO_ROOM, self.work + budget
        while ended == states.NO_ROOM:
            stop_if_asked()
            left, stack = last_work - self.work, self.stack
            ended = search_pairs(
                self.problem.costs, self.lookup, goal, left, stack, self.desk, self.best
            )
            if ended == states.NO_ROOM:  # make room for longer lists
                changes = np.hstack([stack.changes, np.empty_like(stack.changes)])
                self.stack = stack._replace(changes=changes, entries=np.tile(stack.entries, 2))
        return ended

    def open_bound(self) -> int:
        """Return what no numerator of a labelset exceeds that an unfinished search has not looked at."""
        stack = self.stack
        level = int(stack.numbers[states.LEVEL])
        if not stack.numbers[states.STARTED] or (level == 0 and not stack.numbers[states.LISTED]):
            return states.FAR
        bounds = []
        for at in range(level + 1):
            begin, child, length = (
                int(stack.levels[at, column])
                for column in (states.BEGIN, states.CHILD, states.LENGTH)
            )
            if (
                at == level and not stack.numbers[states.LISTED]
            ):  # the present node's own list is still to be made
                begin, child = (
                    int(stack.levels[at - 1, states.BEGIN]),
                    int(stack.levels[at - 1, states.CHILD]) - 1,
                )
                length = child + 1
            bounds.append(
                int(
                    stack.entries[states.REACH, begin + child : begin + length].max(
                        initial=-states.FAR
                    )
                )
            )
        return max(bounds)


def list_pair_members(
    problem: PairProblem, lookup: Lookup, smallest: int, found: Buffer, allowance: Allowance
) -> Iterator[tuple[int, bool]]:
    """Search a region; yield how many members were found since, and whether the search is finished.

    They are in ``found`` until the next step, if that has room. Ends x.
    """
    search = PairSearch(problem, lookup, len(found.numerators))
    goal = Goal(ranked=False, by_total=False, limit=np.array([smallest, 0, 0], dtype=np.int64))
    ended = states.BUFFER_FULL
    while ended != states.FINISHED and allowance.left(search.stack.numbers) > 0:
        before = int(search.stack.numbers[states.FOUND])
        ended = search.go_on(goal, min(CALL, allowance.left(search.stack.numbers)))
        n_new = int(search.stack.numbers[states.FOUND]) - before
        n_kept = min(n_new, len(found.numerators))
        found.words[:n_kept], rank = read_keys(search.best.keys[:n_kept])
        found.numerators[:n_kept] = rank[:, NUMERATOR]
        yield n_new, ended == states.FINISHED


def best_pair_members(
    problem: PairProblem,
    lookup: Lookup,
    n_best: int,
    *,
    by_total: bool = True,
    budget: int,
) -> Best:
    """Return the best labelsets of one problem; of those met until the budget is spent.

    Parameters
    ----------
    problem, lookup, n_best
        What to search, and how many labelsets for.
    by_total : bool
        Whether total scores and codes decide between equal numerators; else anything may.
    budget : int
        Evaluations.
    """
    reached = -states.FAR
    if n_best > len(problem.labels) + 1:
        reached = _reached_by(problem, lookup, n_best, budget)
    search = PairSearch(problem, lookup, n_best)
    limit = np.array([reached, states.FAR, 0], dtype=np.int64)
    goal = Goal(ranked=True, by_total=by_total, limit=limit)
    ended = states.BUDGET_SPENT
    while ended != states.FINISHED and search.work < budget:
        ended = search.go_on(goal, min(CALL, budget - search.work))
    found = search.best.order[: int(search.stack.numbers[states.FOUND])]
    missed = None if ended == states.FINISHED else search.open_bound()
    return Best(*read_sorted(search.best.keys[found]), missed, search.work)


def _reached_by(problem: PairProblem, lookup: Lookup, n_labelsets: int, budget: int) -> int:
    """Return a numerator that at least this many labelsets reach, or one below all.

    A search for many labelsets that begins without a limit goes deep before it finds any that are
    good.
    """
    few = best_pair_members(problem, lookup, len(problem.labels) + 1, by_total=False, budget=budget)
    smallest, left = int(few.rank[-1, NUMERATOR]) // 2 if len(few.rank) else 0, budget
    while smallest > 0 and left > 0:
        search = PairSearch(problem, lookup, n_labelsets)
        goal = Goal(ranked=False, by_total=False, limit=np.array([smallest, 0, 0], dtype=np.int64))
        ended = states.BUDGET_SPENT
        while ended not in (states.FINISHED, states.BUFFER_FULL) and search.work < left:
            ended = search.go_on(goal, min(CALL, left - search.work))
        if ended == states.BUFFER_FULL:
            return smallest
        smallest, left = smallest // 2, left - search.work
    return -states.FAR

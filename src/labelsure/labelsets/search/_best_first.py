"""The best labelsets of one object: best first and, where that takes too much room, depth first, then with a bound."""

import numpy as np

from labelsure._core.labelset_bits import Words, pack, word_keys
from labelsure._core.running import stop_if_asked
from labelsure._core.types import IntArray
from labelsure.labelsets.arrays._rule_kernels import Course
from labelsure.labelsets.search import _states as states
from labelsure.labelsets.search._best_first_kernels import Node, Totals, best_first
from labelsure.labelsets.search._labelset_kernels import CODE, NUMERATOR, TOTAL
from labelsure.labelsets.search._pair_search import Best, best_pair_members, read_sorted
from labelsure.labelsets.search._problems import ObjectSearch, force_flip, force_label
from labelsure.labelsets.search._states import Flips, Frontier, Ranked


def best_of(
    one: ObjectSearch,
    n_best: int,
    *,
    by_total: bool = True,
    forced: int = -1,
    flipped: bool = False,
    budget: int | None = None,
) -> Best:
    """Return the best labelsets of one object in the energies' general form, overrides like any others.

    Parameters
    ----------
    one : ObjectSearch
        Whose.
    n_best : int
        How many.
    by_total : bool
        Whether total scores and codes decide between equal numerators; else anything may.
    forced, flipped : int, bool
        A position that has to be flipped, or not; -1: none.
    budget : int or None
        Evaluations; None: as many as the options allow, first for a best-first search, then for a depth-first one that
        needs little memory and knows by then what is good.
    """
    options, found, reached = one.options, None, None
    left = one.options.ranked_budget if budget is None else budget
    if not one.has_pairs:
        start = force_flip(one.flips, forced) if flipped else one.flips
        most = options.best_budget if budget is None else min(budget, options.best_budget)
        found = best_members(start, one, n_best, forced=forced, by_total=by_total, budget=most)
        left -= 0 if budget is None else found.work
        if found.missed is None or left <= 0:
            return found
        reached = int(found.rank[-1, NUMERATOR]) if len(found.rank) == n_best else -states.FAR
    problem = one.pair_problem
    if forced >= 0:
        problem = force_label(problem, forced, flipped=flipped)
    again = best_pair_members(problem, one.lookup, n_best, options, by_total=by_total, budget=left, reached=reached)
    if found is None or found.missed is None or again.missed is None:
        return again
    new = ~np.isin(word_keys(again.words), word_keys(found.words)) | (not by_total)  # then words mean nothing
    words, rank = np.concatenate([found.words, again.words[new]]), np.concatenate([found.rank, again.rank[new]])
    # what both have missed is below both bounds
    return Best(*_in_order(words, rank, n_best), min(found.missed, again.missed), found.work + again.work)


def best_members(flips: Flips, one: ObjectSearch, n_best: int, *, forced: int, by_total: bool, budget: int) -> Best:
    """Return the best labelsets of one problem without pairs, best first, within the budget and the memory allowed.

    Parameters
    ----------
    flips : Flips
        The problem.
    one : ObjectSearch
        How scores become numerators, and options.
    n_best, by_total, budget
        As in best_of.
    forced : int
        A position that must not be flipped, or -1.
    """
    (n_folds,), (n_words,), room = flips.base.shape, flips.mode.shape, one.options.frontier
    best = Ranked(np.arange(n_best + 1), np.empty((n_best + 1, CODE + n_words), dtype=np.int64))
    lookup = one.lookup
    if len(lookup.rules.most):
        place = lookup.rules.place.copy()
        place[flips.label[forced : forced + 1]] = -1  # nothing where forced is -1
        lookup = lookup._replace(rules=lookup.rules._replace(place=place))
        if not lookup.rules.may_allow(flips.mode):
            return Best(*read_sorted(best.keys[:0]), None, 0)
    frontier = Frontier(
        numbers=np.zeros(states.N_NUMBERS, dtype=np.int64),
        heap=np.arange(room),
        keys=np.empty((room, CODE + n_words), dtype=np.int64),
        entries=np.empty((room, n_words + n_folds + 1), dtype=np.int64),
    )
    most = max(one.options.frontier_bytes // (8 * (1 + frontier.keys.shape[1] + frontier.entries.shape[1])), room)
    numbers = frontier.numbers
    cost = cheapest = numbers[:0]
    if by_total:
        cost = flips.cost.sum(axis=1)
        cheapest = np.append(np.minimum.accumulate(cost[::-1])[::-1], states.FAR)
    totals = Totals(by_total, one.additive, cost, cheapest)
    scores, more, penalty = np.zeros((3, n_folds), dtype=np.int64)
    scores[:] = flips.base
    words, lowest, before = np.array([flips.mode] * 3)
    course = Course(flips.mode, flips.cost, np.empty_like(lookup.rules.place))
    node = Node(words, scores, more, penalty, np.zeros(2, dtype=np.int64), lowest, before, scores.copy(), course)
    ended = states.BUDGET_SPENT
    while ended != states.FINISHED and numbers[states.WORK] < budget:
        stop_if_asked()
        call = min(one.options.ranked_call, budget - int(numbers[states.WORK]))
        ended = best_first(flips, totals, forced, lookup, call, node, frontier, best)
        if ended == states.NO_ROOM:
            if 2 * len(frontier.heap) > most:
                break
            room = len(frontier.heap)
            keys, entries = (np.concatenate([rows, np.empty_like(rows)]) for rows in (frontier.keys, frontier.entries))
            frontier = Frontier(numbers, np.append(frontier.heap, np.arange(room, 2 * room)), keys, entries)
    missed = None if ended == states.FINISHED else -int(frontier.keys[frontier.heap[0], NUMERATOR])
    found = best.order[: numbers[states.FOUND]]
    return Best(*read_sorted(best.keys[found]), missed, int(numbers[states.WORK]))


def top_of(one: ObjectSearch, n_best: int) -> Best:
    """Return the best labelsets of one object, overrides with their own scores."""
    overrides = one.overrides
    best = best_of(one, n_best + overrides.n_stranger)
    if not len(overrides.labelsets):
        return best
    known = pack(overrides.labelsets)
    general = ~np.isin(word_keys(best.words), word_keys(known))
    words = np.concatenate([best.words[general], known])
    rank = np.concatenate([best.rank[general], np.column_stack([overrides.numerators, overrides.totals])])
    return Best(*_in_order(words, rank, n_best), best.missed, best.work)


def _in_order(words: Words, rank: IntArray, n_best: int) -> tuple[Words, IntArray]:
    order = np.lexsort((*words.T, rank[:, TOTAL], -rank[:, NUMERATOR]))[:n_best]
    return words[order], rank[order]

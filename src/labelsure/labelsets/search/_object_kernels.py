"""Compiled loops over the objects of a block: their search problems posed, their best labelsets searched for."""

from typing import NamedTuple

import numpy as np

from labelsure._core.compilation import kernel_part, lean_kernel
from labelsure._core.labelset_bits import Words
from labelsure._core.types import BoolArray, IntArray
from labelsure.labelsets.arrays._discount_kernels import LabelCosts
from labelsure.labelsets.arrays._discounted import Discounted
from labelsure.labelsets.arrays._fold_arrays import LINK, Lookup, ScoreTables
from labelsure.labelsets.arrays._lookup_kernels import Integer, weighing_of
from labelsure.labelsets.arrays._rule_kernels import Course
from labelsure.labelsets.arrays._weighing import ObjectWeighings
from labelsure.labelsets.search import _states as states
from labelsure.labelsets.search._best_first_kernels import Node, Totals, best_first
from labelsure.labelsets.search._discount_kernels import best_listed
from labelsure.labelsets.search._labelset_kernels import CODE, HIGHEST_BIT, NUMERATOR, precedes
from labelsure.labelsets.search._states import FAR, Flips, Frontier, Problems, Ranked


@lean_kernel
def pose_flips(
    unary: IntArray, own: IntArray, slack: IntArray, on: BoolArray, order: IntArray, problems: Problems
) -> None:
    """Write the problems of some objects, but for modes and pairs.

    Reference : the definitions in Problems
    Requires : unary, own (K, n, q), what switching each label on adds to the empty labelset and to the mode; slack
        (K, n, q), the least that other flips add to what flipping it costs, or (0, 0, 0); on (n, q), the mode; order
        (n, q), labels by what flipping them adds to the total; twice the constants as bases
    Cost : about 20 operations per object, label and fold
    """
    n_folds, n_objects, n_labels = own.shape
    has_slack = slack.shape[0] > 0
    for i in range(n_objects):
        cost, least, total = problems.cost[i], problems.least[i], problems.total[i]
        n_placed = 0
        for easy in range(2):  # hard labels come first
            for t in range(n_labels):
                j = order[i, t]
                sign = -1 if on[i, j] else 1
                total[n_placed], hard = 0, False
                for k in range(n_folds):
                    cost[n_placed, k] = least[n_placed, k] = sign * own[k, i, j]
                    total[n_placed] += cost[n_placed, k]
                    if has_slack:
                        least[n_placed, k] += slack[k, i, j]
                    hard |= least[n_placed, k] < 0
                if hard == (easy == 0):
                    problems.label[i, n_placed], problems.sign[i, n_placed] = j, sign
                    n_placed += 1
                if n_placed == n_labels:
                    break
            if easy == 0:
                problems.n_hard[i] = n_placed
            if n_placed == n_labels:
                break
        for k in range(n_folds):
            for j in range(n_labels):
                if on[i, j]:  # every pair inside the mode is met from both ends
                    problems.base[i, k] += unary[k, i, j] + own[k, i, j]
            problems.base[i, k] //= 2
        bound_rest(problems.least[i], problems.total[i], problems.rest[i], problems.nearest[i], problems.cheapest[i])


@kernel_part
def bound_rest(least: IntArray, total: IntArray, rest: IntArray, nearest: IntArray, cheapest: IntArray) -> None:
    """Write what flips from each position on add at least: any, at least one, and to the total.

    Reference : cumulative sums and minima from the end
    Requires : least (q, K), total (q,), the others with one row more
    Cost : a few operations per position and fold
    """
    n_labels, n_folds = least.shape
    cheapest[n_labels] = FAR
    for k in range(n_folds):
        rest[n_labels, k], nearest[n_labels, k] = 0, FAR
    for t in range(n_labels - 1, -1, -1):
        cheapest[t] = min(cheapest[t + 1], total[t])
        for k in range(n_folds):
            rest[t, k] = rest[t + 1, k] + min(least[t, k], 0)
            nearest[t, k] = min(nearest[t + 1, k], least[t, k])
    for t in range(n_labels):
        for k in range(n_folds):
            if rest[t, k] < 0:
                nearest[t, k] = rest[t, k]


class SearchDesk(NamedTuple):
    """Room for the search of one object after the other, see best_first."""

    node: Node
    frontier: Frontier
    best: Ranked

    @classmethod
    def of(cls, problems: Problems, n_best: int, room: int) -> "SearchDesk":
        """Return room for problems without rules, and for this many entries of a frontier."""
        n_folds, n_words = problems.base.shape[1], problems.mode.shape[1]
        numbers, rank, nothing = (np.zeros(size, dtype=np.int64) for size in (states.N_NUMBERS, 2, 0))
        scores, more, penalty, scores_before = np.zeros((4, n_folds), dtype=np.int64)
        words, lowest, before = np.zeros((3, n_words), dtype=np.uint64)
        course = Course(problems.mode[0], problems.cost[0], nothing)
        keys, best = (np.empty((size, CODE + n_words), dtype=np.int64) for size in (room, n_best + 1))
        entries = np.empty((room, n_words + n_folds + 1), dtype=np.int64)
        return cls(
            Node(words, scores, more, penalty, rank, lowest, before, scores_before, course),
            Frontier(numbers, np.arange(room), keys, entries),
            Ranked(np.arange(n_best + 1), best),
        )


class FoundBest(NamedTuple):
    """The best labelsets of n objects.

    Attributes
    ----------
    words : uint64 (n, k, W)
        In order.
    numerators : (n, k)
        Theirs.
    ended : (n,)
        Why the search ended; where it is not FINISHED they are not known.
    """

    words: Words
    numerators: IntArray
    ended: IntArray

    @classmethod
    def of(cls, n_objects: int, n_best: int, n_words: int) -> "FoundBest":
        """Return room for them."""
        words = np.zeros((n_objects, n_best, n_words), dtype=np.uint64)
        return cls(words, np.zeros((n_objects, n_best), dtype=np.int64), np.zeros(n_objects, dtype=np.int64))


@lean_kernel
def search_objects(
    problems: Problems,
    lookup: Lookup,
    weighings: ObjectWeighings,
    listed: Discounted,
    costs: LabelCosts,
    budget: Integer,
    desk: SearchDesk,
    found: FoundBest,
) -> None:
    """Search the best labelsets of each object: those with discounts one by one, then the others best first.

    Reference : labelset_reference.ranked
    Requires : no rules, pairs or scores of single objects; where there are discounts, no links or penalties either
    Cost : that of best_listed and best_first
    """
    numbers, best, nobody = desk.frontier.numbers, desk.best, np.int64(-1)
    additive = has_no_link(lookup.tables)
    for i in range(problems.base.shape[0]):
        own = Lookup(
            lookup.tables, lookup.penalties, weighing_of(i, weighings), lookup.allow_empty, lookup.rules, lookup.listed
        )
        flips = flips_of(i, problems)
        begin_search(flips.base, flips.mode, desk)
        if listed.more.shape[0] > 0:
            unpose(i, problems, costs)
            numbers[states.FOUND] = best_listed(costs, listed, own, np.int64(0), best)
        totals = Totals(True, additive, problems.total[i], problems.cheapest[i])
        found.ended[i] = best_first(flips, totals, nobody, own, budget, desk.node, desk.frontier, best)
        read_best(i, numbers[states.FOUND], best, found)


@kernel_part
def has_no_link(tables: ScoreTables) -> bool:
    """Tell whether no fold has a link.

    Reference : the definition
    Requires : nothing
    Cost : O(K)
    """
    additive = True
    for k in range(tables.layout.shape[0]):
        additive &= tables.layout[k, LINK] < 0
    return additive


@kernel_part
def flips_of(i: Integer, problems: Problems) -> Flips:
    """Return the problem of one object.

    Reference : Problems.flips
    Requires : no pairs
    Cost : none
    """
    n_hard: Integer = problems.n_hard[i]
    label, base, cost = problems.label[i], problems.base[i], problems.cost[i]
    return Flips(label, n_hard, base, cost, problems.rest[i], problems.nearest[i], problems.mode[i])


@kernel_part
def begin_search(base: IntArray, mode: Words, desk: SearchDesk) -> None:
    """Make the desk ready for a search from a mode with these scores.

    Reference : the requirements of best_first
    Requires : base (K,), mode (W,)
    Cost : O(K + W)
    """
    for number in range(desk.frontier.numbers.shape[0]):
        desk.frontier.numbers[number] = 0
    for w in range(mode.shape[0]):
        desk.node.words[w] = mode[w]
    for k in range(base.shape[0]):
        desk.node.scores[k], desk.node.penalty[k] = base[k], 0


@kernel_part
def unpose(i: Integer, problems: Problems, costs: LabelCosts) -> None:
    """Write the costs of one object's labels, given its problem.

    Reference : the definition
    Requires : no pairs
    Cost : O(q K)
    """
    cost = problems.cost[i]
    for k in range(costs.constant.shape[0]):
        costs.constant[k] = problems.base[i, k]
    for t in range(cost.shape[0]):
        j, sign = problems.label[i, t], problems.sign[i, t]
        for k in range(costs.constant.shape[0]):
            costs.unary[j, k] = sign * cost[t, k]
            if sign < 0:
                costs.constant[k] += cost[t, k]


@kernel_part
def read_best(i: Integer, n_found: Integer, best: Ranked, found: FoundBest) -> None:
    """Write the labelsets found in order.

    Reference : _pair_search.read_sorted
    Requires : as Ranked
    Cost : O(k^2 W)
    """
    order, keys, n_words = best.order, best.keys, found.words.shape[2]
    best_first_of_all = n_found >= 0  # no constant: numba would compile precedes again for it
    for place in range(n_found):
        for other in range(place + 1, n_found):
            if precedes(order[other], order[place], keys, best_first_of_all):
                order[place], order[other] = order[other], order[place]
        found.numerators[i, place] = -keys[order[place], NUMERATOR]
        for w in range(n_words):
            found.words[i, place, w] = np.uint64(keys[order[place], CODE + n_words - 1 - w]) ^ HIGHEST_BIT

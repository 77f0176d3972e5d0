r"""Compiled depth-first search where pairs of labels have costs of their own.

A node of the search tree is a set of flips together with a list of the labels that may still be flipped; its children
flip one of the list, and may flip what comes after it::

        {}  list a b c d e                  b and e were dropped: no labelset
        /         |         \               looked for has them flipped here
    {a} c d     {c} d      {d}
     /    \       |
  {a,c} d {a,d} {c,d}                       so lists become short soon

A label leaves the list of a node, and of all nodes below, once a bound tells that no labelset looked for has it flipped
there. The work per node follows the lists and not the number of labels. What each flip adds is kept for every list, in
floats that hold whole numbers below 2^53 exactly.
"""

from typing import NamedTuple

import numpy as np

from labelsure._core.compilation import kernel, kernel_part
from labelsure._core.labelset_bits import Words
from labelsure._core.types import FloatArray, IntArray
from labelsure.labelsets.arrays import Lookup, ScoreTables
from labelsure.labelsets.arrays._lookup_kernels import Integer, total_of, weigh
from labelsure.labelsets.search._bound_kernels import FlipList, bound_flips
from labelsure.labelsets.search._ranking_kernels import NUMERATOR, TOTAL, offer, precedes, write_key
from labelsure.labelsets.search._states import (
    AFTER,
    BEGIN,
    BELOW,
    BUDGET_SPENT,
    BUFFER_FULL,
    CHILD,
    FINISHED,
    FLIPPED,
    FOUND,
    FULL,
    ITSELF,
    LABEL,
    LENGTH,
    LEVEL,
    LISTED,
    NO_ROOM,
    NODE,
    OWN,
    OWN_BOUND,
    REACH,
    STARTED,
    WORK,
    WRITTEN,
    Goal,
    PairProblem,
    PairStack,
    Ranked,
)
from labelsure.labelsets.search._word_kernels import flip, is_candidate, penalise, switch_off

WORK_PER_EVALUATION = 8
"""Entries of lists that take about as long as looking up one score."""

ANCHORS_PER_EVALUATION = 256
"""Words of anchors that a labelset is compared with while the scores of all folds are looked up."""


class Desk(NamedTuple):
    """Room for the list at hand.

    Attributes
    ----------
    flips : FlipList
        The labels, what they add, and bounds.
    order : (q,)
        Places in the list, cheap flips first.
    totals : float (q,)
        What each flip adds to the total of the additive scores.
    nearest : float (K, q)
        The least of ``flips.forced`` from each place of the order on.
    more, penalty, asked_penalty : (K,)
        What is asked about adds this at least; penalties of all below, and of what is asked about.
    """

    flips: FlipList
    order: IntArray
    totals: FloatArray
    nearest: FloatArray
    more: IntArray
    penalty: IntArray
    asked_penalty: IntArray


@kernel
def search_pairs(
    problem: PairProblem, lookup: Lookup, goal: Goal, budget: Integer, stack: PairStack, best: Ranked
) -> Integer:
    """Go on with a search for all labelsets with a numerator of at least ``goal.limit[0]``, or for the best ones.

    The keys of all are written into ``best.keys``, in no order, until it is full but for one row; with no room they are
    only counted. The best are kept there as a heap.

    Reference : _reference.ranked
    Requires : everything in the stack zero at the beginning but scores[0] = base, words = mode, levels[0, LENGTH] = n,
        and the first n columns of changes and of entries, with the labels and costs
    Cost : a few evaluations of K look-ups per member; O(n K) per list, n its length
    """
    numbers, levels, limit = stack.numbers, stack.levels, goal.limit
    n_room = best.keys.shape[0] - 1
    n_folds, n_labels = problem.slacks.shape
    desk = set_up_desk(n_folds, n_labels)
    nothing = np.zeros(n_folds, np.int64)
    last_work = numbers[WORK] + budget
    value = np.int64(0)
    arrived = numbers[STARTED] == 0  # at a labelset that may be one of those looked for
    sure = False  # whether a bound need not be asked if there is anything below
    if arrived:
        numbers[STARTED] = 1
        penalise_exactly(lookup, stack, desk.asked_penalty)
        value = weigh(stack.scores[0], nothing, desk.asked_penalty, lookup.weighing, lookup.tables)
        numbers[WORK] += 1
    while numbers[LEVEL] >= 0:
        level = numbers[LEVEL]
        if arrived:
            arrived = False
            if value >= limit[NUMERATOR] and is_candidate(stack.words, lookup.allow_empty):
                record(value, nothing, lookup, goal, stack, desk, best)
            sure = value >= limit[NUMERATOR] and not goal.ranked
        if numbers[WRITTEN] > 0 and numbers[WRITTEN] == n_room:
            return BUFFER_FULL
        if numbers[WORK] >= last_work:
            return BUDGET_SPENT
        if numbers[LISTED] == 0:
            n = open_list(problem, lookup, goal, stack, desk)
            if n < 0:
                return NO_ROOM
            keep_children(n, sure, lookup, goal, stack, desk, best)
        if levels[level, CHILD] == levels[level, LENGTH]:
            go_back(stack)
        else:
            value = take_child(stack)
            sure = False
            arrived = not goal.ranked and value >= limit[NUMERATOR]
    return FINISHED


@kernel_part
def set_up_desk(n_folds: Integer, n_labels: Integer) -> Desk:
    """Return an empty desk.

    Reference : none
    Requires : nothing
    Cost : O(K q)
    """
    numbers = np.empty((3, n_labels), np.int64)
    fresh, forced, nearest = (
        np.empty((n_folds, n_labels), np.float64),
        np.empty((n_folds, n_labels), np.float64),
        np.empty((n_folds, n_labels), np.float64),
    )
    of_folds = np.zeros((4, n_folds), np.int64)
    flips = FlipList(numbers[0], fresh, of_folds[0], forced, np.empty((3, n_labels), np.float64), numbers[1])
    return Desk(flips, numbers[2], np.empty(n_labels, np.float64), nearest, of_folds[1], of_folds[2], of_folds[3])


@kernel
def record(
    value: Integer, more: IntArray, lookup: Lookup, goal: Goal, stack: PairStack, desk: Desk, best: Ranked
) -> None:
    """Count the present labelset and keep its key; among the best, if it is one of these, and raise the limit.

    Reference : heapq.heappushpop
    Requires : a candidate that reaches the limit's numerator; its scores are more (K,) above those of the level
    Cost : O(log n) comparisons
    """
    numbers = stack.numbers
    total = np.int64(0)
    if not goal.ranked:
        numbers[FOUND] += 1
        if best.keys.shape[0] > 1:
            write_key(value, total, stack.words, True, numbers[WRITTEN], best.keys)
            numbers[WRITTEN] += 1
        return
    if goal.by_total:
        total = total_of(stack.scores[numbers[LEVEL]], more, desk.asked_penalty, lookup.tables)
    numbers[FOUND] = keep_if_best(value, total, stack.words, goal, numbers[FOUND], best)


@kernel_part
def keep_if_best(value: Integer, total: Integer, words: Words, goal: Goal, n_found: Integer, best: Ranked) -> Integer:
    """Offer a labelset to the best found, and raise the limit of what is looked for; return how many are found.

    Reference : heapq.heappushpop
    Requires : as offer
    Cost : O(log n) comparisons
    """
    n_found = offer(value, total, words, goal.by_total, n_found, best)
    if n_found == best.keys.shape[0] - 1:
        goal.limit[NUMERATOR] = -best.keys[best.order[0], NUMERATOR]
        goal.limit[TOTAL] = best.keys[best.order[0], TOTAL]
        goal.limit[FULL] = 1
    return n_found


@kernel_part
def take_child(stack: PairStack) -> Integer:
    """Flip the next label of the present list; return the numerator that was found for it.

    Reference : the definition
    Requires : a child that was not taken yet
    Cost : O(K)
    """
    numbers, levels = stack.numbers, stack.levels
    level = numbers[LEVEL]
    at = levels[level, BEGIN] + levels[level, CHILD]
    levels[level, CHILD] += 1
    for k in range(stack.scores.shape[1]):
        stack.scores[level + 1, k] = stack.scores[level, k] + np.int64(stack.changes[k, at])
    flip(stack.words, stack.entries[LABEL, at])
    levels[level + 1, FLIPPED] = stack.entries[LABEL, at]
    numbers[LEVEL] = level + 1
    numbers[LISTED] = 0
    return stack.entries[OWN, at]


@kernel_part
def go_back(stack: PairStack) -> None:
    """Leave a node whose children were all taken.

    Reference : the definition
    Requires : a level
    Cost : one operation
    """
    level = stack.numbers[LEVEL]
    if level > 0:
        flip(stack.words, stack.levels[level, FLIPPED])
    stack.numbers[LEVEL] = level - 1


@kernel
def penalise_exactly(lookup: Lookup, stack: PairStack, penalty: IntArray) -> None:
    """Write the penalties of the present labelset.

    Reference : _core.energy_parts.Penalty.costs
    Requires : penalty (K,)
    Cost : see penalise, and counted as work
    """
    if lookup.penalties.present:
        penalise(stack.words, stack.numbers[:0], np.int64(0), lookup.penalties, penalty)
        stack.numbers[WORK] += lookup.penalties.anchors.size // ANCHORS_PER_EVALUATION


@kernel
def open_list(problem: PairProblem, lookup: Lookup, goal: Goal, stack: PairStack, desk: Desk) -> Integer:
    """Put the labels that may be flipped next on the desk, with bounds, cheap first; return how many, -1: no room.

    That is at first everything, then what comes after the last flip in the list above.

    Reference : the definition
    Requires : the list above
    Cost : O(n K), see bound_flips
    """
    numbers, levels, entries, flips = stack.numbers, stack.levels, stack.entries, desk.flips
    level = numbers[LEVEL]
    n_folds = stack.scores.shape[1]
    source, begin, n = np.int64(0), np.int64(0), levels[0, LENGTH]
    if level > 0:
        source = levels[level - 1, BEGIN] + levels[level - 1, CHILD]
        begin = levels[level - 1, BEGIN] + levels[level - 1, LENGTH]
        n = begin - source
    if begin + n > entries.shape[1]:
        return np.int64(-1)
    levels[level, BEGIN] = begin
    numbers[LISTED] = 1
    numbers[WORK] += n * n_folds // WORK_PER_EVALUATION
    if goal.ranked and level > 0:  # the limit may have risen since
        reach, limit = entries[REACH, source - 1], goal.limit
        if reach < limit[NUMERATOR] or (reach == limit[NUMERATOR] and limit[FULL] != 0 and not goal.by_total):
            n = np.int64(0)
    flipped = levels[level, FLIPPED]
    paired = level > 0 and problem.pairs.shape[1] > 0
    for i in range(n):
        flips.labels[i] = entries[LABEL, source + i]
        desk.totals[i] = 0.0
    for k in range(n_folds):
        for i in range(n):
            j = flips.labels[i]
            change = stack.changes[k, source + i]
            if paired:
                change += problem.sign[flipped] * problem.sign[j] * problem.pairs[k, flipped, j]
            flips.fresh[k, i] = change
            desk.totals[i] += change
    if n > 0:
        bound_flips(n, problem, flips)
        if lookup.penalties.present:
            penalise(stack.words, flips.labels[:n], np.int64(0), lookup.penalties, desk.penalty)
            numbers[WORK] += lookup.penalties.anchors.size // ANCHORS_PER_EVALUATION
    sort_places(n, desk.totals, desk.order)
    return n


@kernel_part
def sort_places(n: Integer, totals: FloatArray, order: IntArray) -> None:
    """Write the places of the first n totals, the lowest first; places of equal ones ascend.

    Reference : sorted
    Requires : totals, order (n,) or longer
    Cost : O(n) where they are nearly in order, as those of the list above were
    """
    for i in range(n):
        place = i
        while place > 0 and totals[order[place - 1]] > totals[i]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = i


@kernel
def keep_children(
    n: Integer, sure: bool, lookup: Lookup, goal: Goal, stack: PairStack, desk: Desk, best: Ranked
) -> None:
    """Write those of the list on the desk that labelsets looked for may flip, with bounds, into the stack.

    Labelsets with one of them flipped are recorded at once where the best are looked for.

    Reference : the definition
    Requires : n labels on the desk; sure where it is known that something below is looked for
    Cost : about two evaluations per label, O(K) more
    """
    level = stack.numbers[LEVEL]
    flips, order, limit, words = desk.flips, desk.order, goal.limit, stack.words
    begin, n_kept, reach = stack.levels[level, BEGIN], np.int64(0), np.int64(0)
    n_dropped, next_check = 0, 1
    asked = BELOW if sure else NODE
    i = 0
    while i < n:
        at = order[i]
        value = question(asked, i, lookup, stack, desk)
        if asked == ITSELF:
            if goal.ranked and value >= limit[NUMERATOR] and is_candidate(words, lookup.allow_empty):
                record(value, desk.more, lookup, goal, stack, desk, best)
            flip(words, flips.labels[at])
        elif asked == OWN_BOUND:
            if value >= limit[NUMERATOR] and (goal.ranked or lookup.penalties.present):
                asked = ITSELF
                continue
        else:
            hopeless = is_hopeless(value, stack.scores[level], desk, lookup.tables, goal)
            if asked == NODE and not hopeless:
                hopeless = cannot_be_better(value, n, stack, desk, lookup.tables, goal, best)
            if asked != BELOW:
                if hopeless:
                    break
                asked = BELOW
            elif not hopeless:
                reach = value
                asked = OWN_BOUND
            else:
                i += 1
                n_dropped += 1
                if n_dropped == next_check and i < n:  # one question about all that are left
                    asked = AFTER
                    next_check *= 2
                    if n_dropped == 1:
                        least_from(i, n, desk)
            continue
        for k in range(flips.fresh.shape[0]):
            stack.changes[k, begin + n_kept] = flips.fresh[k, at]
        stack.entries[LABEL, begin + n_kept] = flips.labels[at]
        stack.entries[OWN, begin + n_kept] = value
        stack.entries[REACH, begin + n_kept] = reach
        n_kept += 1
        i += 1
        asked = BELOW
    stack.levels[level, CHILD] = 0
    stack.levels[level, LENGTH] = n_kept


@kernel_part
def question(asked: Integer, i: Integer, lookup: Lookup, stack: PairStack, desk: Desk) -> Integer:
    """Return the numerator that is asked for about the i-th of the list in its order; ITSELF also flips it.

    Reference : the maximum of _reference.numerator over the labelsets in question
    Requires : least_from before AFTER is asked
    Cost : one evaluation
    """
    # All questions in one place: numba compiles what is called once for each place
    flips, at = desk.flips, desk.order[i]
    for k in range(desk.more.shape[0]):
        more = flips.bounds[k]
        if asked == BELOW:
            more += np.int64(flips.forced[k, at])
        elif asked == AFTER:
            more += np.int64(desk.nearest[k, i])
        elif asked != NODE:
            more = np.int64(flips.fresh[k, at])
        desk.more[k] = more
        if asked != ITSELF:
            desk.asked_penalty[k] = desk.penalty[k]
    if asked == ITSELF:
        flip(stack.words, flips.labels[at])
        penalise_exactly(lookup, stack, desk.asked_penalty)
    stack.numbers[WORK] += 1
    return weigh(stack.scores[stack.numbers[LEVEL]], desk.more, desk.asked_penalty, lookup.weighing, lookup.tables)


@kernel_part
def least_from(begin: Integer, n: Integer, desk: Desk) -> None:
    """Write the least of what single flips raise the bounds by, from each place on.

    Reference : numpy.minimum.accumulate
    Requires : begin < n
    Cost : O(n K)
    """
    for k in range(desk.more.shape[0]):
        lowest = desk.flips.forced[k, desk.order[n - 1]]
        for later in range(n - 1, begin - 1, -1):
            lowest = min(lowest, desk.flips.forced[k, desk.order[later]])
            desk.nearest[k, later] = lowest


@kernel_part
def is_hopeless(value: Integer, scores: IntArray, desk: Desk, tables: ScoreTables, goal: Goal) -> bool:
    """Tell whether labelsets with at most this numerator and at least these scores are none of those looked for.

    Reference : tuple comparison in _reference.ranked
    Requires : scores (K,), what is added to them on the desk
    Cost : one comparison, O(K) if it is a tie
    """
    limit = goal.limit
    if value != limit[NUMERATOR] or not goal.ranked:
        return bool(value < limit[NUMERATOR])
    if limit[FULL] == 0 or not goal.by_total:
        return bool(limit[FULL] != 0)
    return bool(total_of(scores, desk.more, desk.asked_penalty, tables) > limit[TOTAL])


@kernel_part
def cannot_be_better(
    value: Integer, n: Integer, stack: PairStack, desk: Desk, tables: ScoreTables, goal: Goal, best: Ranked
) -> bool:
    """Tell whether all labelsets below a node tie with the worst found at best, and then have higher codes.

    Reference : comparing the lowest of these codes
    Requires : at most this numerator; n labels on the desk that may be flipped
    Cost : one comparison, O(K + W + n) if it is a tie
    """
    limit = goal.limit
    if not (goal.ranked and goal.by_total) or limit[FULL] == 0 or value != limit[NUMERATOR]:
        return False
    total = total_of(stack.scores[stack.numbers[LEVEL]], desk.more, desk.asked_penalty, tables)
    return not may_hold_better(value, total, stack.words, desk.flips.labels[:n], best)


@kernel_part
def may_hold_better(value: Integer, total: Integer, words: Words, labels: IntArray, best: Ranked) -> bool:
    """Tell whether a labelset that differs from ``words`` in some of ``labels`` only may come before the worst found.

    Reference : comparing the lowest of these codes
    Requires : at most this numerator, at least this total score; all places of the best taken
    Cost : O(W + number of labels)
    """
    lowest = words.copy()
    for j in labels:
        switch_off(lowest, j)
    spare = best.order[best.order.shape[0] - 1]
    best_first = best.order.shape[0] > 0  # True, but no constant: numba would compile precedes again for each
    write_key(value, total, lowest, True, spare, best.keys)
    return bool(precedes(spare, best.order[0], best.keys, best_first))

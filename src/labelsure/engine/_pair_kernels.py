r"""Compiled depth-first search where pairs of labels have costs of their own.

A node of the search tree is a set of flips together with a list of the labels that may still be
flipped; its children flip one of the list, and may flip what comes after it::

        {}  list a b c d e                  b and e were dropped: no labelset
        /         |         \               looked for has them flipped here
    {a} c d     {c} d      {d}
     /    \       |
  {a,c} d {a,d} {c,d}                       so lists become short soon

A label leaves the list of a node, and of all nodes below, once a bound tells that no labelset
looked for has it flipped there. The work per node follows the lists and not the number of labels.
What each flip adds is kept for every list, in floats that hold whole numbers below 2^53 exactly.
"""

from typing import NamedTuple

import numpy as np

from labelsure._checks import FloatArray, IntArray
from labelsure._compile import kernel_part, lean_kernel
from labelsure.engine import _pair_problem as states
from labelsure.engine._bound_kernels import FlipList, bound_flips
from labelsure.engine._fold_arrays import Lookup, Penalties, ScoreTables
from labelsure.engine._labelset_kernels import (
    NUMERATOR,
    TOTAL,
    flip,
    is_candidate,
    offer,
    penalise,
    precedes,
    switch_off,
    write_key,
)
from labelsure.engine._lookup_kernels import Integer, total_of, weigh
from labelsure.engine._pair_problem import Goal, PairCosts, PairStack, Ranked
from labelsure.engine._rule_kernels import obeys
from labelsure.engine._rules import Rules
from labelsure.measures._labelset_bits import Words

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
    known : uint64 (W,)
        Room for notes.
    """

    flips: FlipList
    order: IntArray
    totals: FloatArray
    nearest: FloatArray
    more: IntArray
    penalty: IntArray
    asked_penalty: IntArray
    known: Words


@kernel_part
def open_list(
    costs: PairCosts, lookup: Lookup, goal: Goal, stack: PairStack, desk: Desk
) -> Integer:
    """Put the labels that may be flipped next on the desk, with bounds, cheap first; return how many, -1: no room.

    That is at first everything, then what comes after the last flip in the list above.

    Reference : the definition
    Requires : the list above
    Cost : O(n K), see bound_flips
    """
    numbers = stack.numbers
    levels = stack.levels
    entries = stack.entries
    flips = desk.flips
    level, penalties = numbers[states.LEVEL], lookup.penalties
    n_folds = stack.scores.shape[1]
    source = np.int64(0)
    begin = np.int64(0)
    n = levels[0, states.LENGTH]
    if level > 0:
        source = levels[level - 1, states.BEGIN] + levels[level - 1, states.CHILD]
        begin = levels[level - 1, states.BEGIN] + levels[level - 1, states.LENGTH]
        n = begin - source
    if begin + n > entries.shape[1]:
        return np.int64(-1)
    levels[level, states.BEGIN] = begin
    numbers[states.LISTED] = 1
    numbers[states.WORK] += n * n_folds // WORK_PER_EVALUATION
    if goal.ranked and level > 0:  # the limit may have risen since
        reach, limit = entries[states.REACH, source - 1], goal.limit
        if reach < limit[NUMERATOR] or (
            reach == limit[NUMERATOR] and limit[states.FULL] != 0 and not goal.by_total
        ):
            n = np.int64(0)
    if (
        lookup.rules.most.shape[0] > 0
        and n > 0
        and not list_obeys(entries, source, n, stack.words, lookup.rules)
    ):
        n = np.int64(0)
    flipped = levels[level, states.FLIPPED]
    paired = level > 0 and costs.pairs.shape[1] > 0
    for i in range(n):
        flips.labels[i] = entries[states.LABEL, source + i]
        desk.totals[i] = 0.0
    for k in range(n_folds):
        for i in range(n):
            j = flips.labels[i]
            change = stack.changes[k, source + i]
            if paired:
                change += costs.sign[flipped] * costs.sign[j] * costs.pairs[k, flipped, j]
            flips.fresh[k, i] = change
            desk.totals[i] += change
    if n > 0:
        bound_flips(n, costs, flips)
        if penalties.present:
            penalise(
                stack.words, flips.labels[:n], np.int64(0), penalties, desk.penalty, desk.known
            )
            numbers[states.WORK] += penalties.anchors.size // ANCHORS_PER_EVALUATION
    sort_places(n, desk.totals, desk.order)
    return n


@kernel_part
def list_obeys(entries: IntArray, begin: Integer, n: Integer, words: Words, rules: Rules) -> bool:
    """Tell whether no rule is broken by every labelset that differs from ``words`` in labels of a list only.

    Reference : Rules.may_allow
    Requires : n entries from ``begin`` on; changes rules.place
    Cost : O(q + terms of the rules)
    """
    for j in range(rules.place.shape[0]):
        rules.place[j] = -1
    for i in range(begin, begin + n):
        rules.place[entries[states.LABEL, i]] = 0
    return bool(obeys(words, words, np.int64(0), rules))


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


@kernel_part
def keep_children(
    n: Integer, sure: bool, lookup: Lookup, goal: Goal, stack: PairStack, desk: Desk, best: Ranked
) -> None:
    """Write those of the list on the desk that labelsets looked for may flip, with bounds, into the stack.

    Labelsets with one of them flipped are recorded at once where the best are looked for.

    Reference : the definition
    Requires : n labels on the desk; sure where it is known that something below is looked for
    Cost : about two evaluations per label, O(K) more
    """
    level = stack.numbers[states.LEVEL]
    flips = desk.flips
    order = desk.order
    limit = goal.limit
    words = stack.words
    tables = lookup.tables
    weighing = lookup.weighing
    penalties = lookup.penalties
    scores = stack.scores[level]
    begin = stack.levels[level, states.BEGIN]
    n_kept = np.int64(0)
    reach = np.int64(0)
    n_dropped, next_check = 0, 1
    asked = states.BELOW if sure else states.NODE
    i = 0
    while i < n:
        at = order[i]
        bound_scores(asked, i, desk)
        if asked == states.ITSELF:
            flip(words, flips.labels[at])
            penalise_exactly(penalties, words, stack.numbers, desk.asked_penalty, desk.known)
        value = weigh(
            scores, desk.more, desk.asked_penalty, weighing, tables
        )  # one place: it is compiled for each
        stack.numbers[states.WORK] += 1
        if asked == states.ITSELF:
            if (
                goal.ranked
                and value >= limit[NUMERATOR]
                and is_candidate(words, lookup.allow_empty, lookup.rules)
            ):
                total = np.int64(0)
                if goal.by_total:
                    total = total_of(scores, desk.more, desk.asked_penalty, tables)
                record(value, total, words, goal, stack.numbers, best)
            flip(words, flips.labels[at])
        elif asked == states.OWN_BOUND:
            if value >= limit[NUMERATOR] and (goal.ranked or penalties.present):
                asked = states.ITSELF
                continue
        else:
            hopeless = is_hopeless(value, scores, desk.more, desk.asked_penalty, tables, goal)
            tied = (
                value == limit[NUMERATOR]
                and limit[states.FULL] != 0
                and goal.ranked
                and goal.by_total
            )
            if asked == states.NODE and not hopeless and tied:
                total = total_of(scores, desk.more, desk.asked_penalty, tables)
                hopeless = not may_hold_better(
                    value, total, words, flips.labels[:n], desk.known, best
                )
            if asked != states.BELOW:
                if hopeless:
                    break
                asked = states.BELOW
            elif not hopeless:
                reach = value
                asked = states.OWN_BOUND
            else:
                i += 1
                n_dropped += 1
                if n_dropped == next_check and i < n:  # one question about all that are left
                    asked = states.AFTER
                    next_check *= 2
                    if n_dropped == 1:
                        least_from(i, n, flips.forced, order, desk.nearest)
            continue
        for k in range(flips.fresh.shape[0]):
            stack.changes[k, begin + n_kept] = flips.fresh[k, at]
        stack.entries[states.LABEL, begin + n_kept] = flips.labels[at]
        stack.entries[states.OWN, begin + n_kept] = value
        stack.entries[states.REACH, begin + n_kept] = reach
        n_kept += 1
        i += 1
        asked = states.BELOW
    stack.levels[level, states.CHILD] = 0
    stack.levels[level, states.LENGTH] = n_kept


@kernel_part
def bound_scores(asked: Integer, i: Integer, desk: Desk) -> None:
    """Write what is asked about the i-th of the list, in its order, adds to scores at least, and its penalty.

    Reference : the minimum over the labelsets in question
    Requires : least_from before AFTER is asked
    Cost : O(K)
    """
    flips, at = desk.flips, desk.order[i]
    for k in range(desk.more.shape[0]):
        more = flips.bounds[k]
        if asked == states.BELOW:
            more += np.int64(flips.forced[k, at])
        elif asked == states.AFTER:
            more += np.int64(desk.nearest[k, i])
        elif asked != states.NODE:
            more = np.int64(flips.fresh[k, at])
        desk.more[k] = more
        desk.asked_penalty[k] = desk.penalty[k]


@kernel_part
def least_from(
    begin: Integer, n: Integer, forced: FloatArray, order: IntArray, nearest: FloatArray
) -> None:
    """Write the least of what single flips raise the bounds by, from each place on.

    Reference : numpy.minimum.accumulate
    Requires : begin < n
    Cost : O(n K)
    """
    for k in range(nearest.shape[0]):
        lowest = forced[k, order[n - 1]]
        for later in range(n - 1, begin - 1, -1):
            lowest = min(lowest, forced[k, order[later]])
            nearest[k, later] = lowest


@kernel_part
def is_hopeless(
    value: Integer,
    scores: IntArray,
    more: IntArray,
    penalty: IntArray,
    tables: ScoreTables,
    goal: Goal,
) -> bool:
    """Tell whether labelsets with at most this numerator and at least these scores are none of those looked for.

    Reference : tuple comparison in labelset_reference.ranked
    Requires : scores, more, penalty (K,)
    Cost : one comparison, O(K) if it is a tie
    """
    limit = goal.limit
    if value != limit[NUMERATOR] or not goal.ranked:
        return bool(value < limit[NUMERATOR])
    if limit[states.FULL] == 0 or not goal.by_total:
        return bool(limit[states.FULL] != 0)
    return bool(total_of(scores, more, penalty, tables) > limit[TOTAL])


@kernel_part
def may_hold_better(
    value: Integer, total: Integer, words: Words, labels: IntArray, lowest: Words, best: Ranked
) -> bool:
    """Tell whether a labelset that differs from ``words`` in some of ``labels`` only may come before the worst found.

    Reference : comparing the lowest of these codes
    Requires : at most this numerator, at least this total score; all places of the best taken; lowest
        (W,), for notes
    Cost : O(W + number of labels)
    """
    for w in range(words.shape[0]):
        lowest[w] = words[w]
    for i in range(labels.shape[0]):
        switch_off(lowest, labels[i])
    spare = best.order[best.order.shape[0] - 1]
    best_first = (
        best.order.shape[0] > 0
    )  # True, but no constant: numba would compile precedes again for each
    write_key(value, total, lowest, True, spare, best.keys)
    return bool(precedes(spare, best.order[0], best.keys, best_first))


@kernel_part
def penalise_exactly(
    penalties: Penalties, words: Words, numbers: IntArray, penalty: IntArray, known: Words
) -> None:
    """Write the penalties of one labelset.

    Reference : measures._energy.Penalty.costs
    Requires : penalty (K,), known (W,), for notes
    Cost : see penalise, and counted as work
    """
    if penalties.present:
        penalise(words, numbers[:0], np.int64(0), penalties, penalty, known)
        numbers[states.WORK] += penalties.anchors.size // ANCHORS_PER_EVALUATION


@lean_kernel
def record(
    value: Integer, total: Integer, words: Words, goal: Goal, numbers: IntArray, best: Ranked
) -> None:
    """Count a labelset and keep its key; among the best, if it is one of these, and raise the limit.

    Reference : heapq.heappushpop
    Requires : a candidate that reaches the limit's numerator
    Cost : O(log n) comparisons
    """
    if goal.ranked:
        n_found = offer(value, total, words, goal.by_total, numbers[states.FOUND], best)
        numbers[states.FOUND] = n_found
        if n_found == best.keys.shape[0] - 1:
            goal.limit[NUMERATOR] = -best.keys[best.order[0], NUMERATOR]
            goal.limit[TOTAL] = best.keys[best.order[0], TOTAL]
            goal.limit[states.FULL] = 1
    else:
        numbers[states.FOUND] += 1
        if best.keys.shape[0] > 1:
            write_key(value, total, words, True, numbers[states.WRITTEN], best.keys)
            numbers[states.WRITTEN] += 1


@lean_kernel
def search_pairs(
    costs: PairCosts,
    lookup: Lookup,
    goal: Goal,
    budget: Integer,
    stack: PairStack,
    desk: Desk,
    best: Ranked,
) -> Integer:
    """Go on with a search for all labelsets with a numerator of at least ``goal.limit[0]``, or for the best ones.

    The keys of all are written into ``best.keys``, in no order, until it is full but for one row;
    with no room they are only counted. The best are kept there as a heap.

    Reference : labelset_reference.ranked
    Requires : everything in the stack zero at the beginning but scores[0] = base, words = mode, levels[0, LENGTH] = n,
        and the first n columns of changes and of entries, with the labels and costs; desk.more zero
    Cost : a few evaluations of K look-ups per member; O(n K) per list, n its length
    """
    numbers = stack.numbers
    levels = stack.levels
    limit = goal.limit
    tables = lookup.tables
    weighing = lookup.weighing
    n_room = best.keys.shape[0] - 1
    last_work = numbers[states.WORK] + budget
    value = np.int64(0)
    arrived = numbers[states.STARTED] == 0  # at a labelset that may be one of those looked for
    sure = False  # whether a bound need not be asked if there is anything below
    if arrived:
        numbers[states.STARTED] = 1
        penalise_exactly(lookup.penalties, stack.words, numbers, desk.asked_penalty, desk.known)
        value = weigh(stack.scores[0], desk.more, desk.asked_penalty, weighing, tables)
        numbers[states.WORK] += 1
    while numbers[states.LEVEL] >= 0:
        level = numbers[states.LEVEL]
        if arrived:
            arrived = False
            if value >= limit[NUMERATOR] and is_candidate(
                stack.words, lookup.allow_empty, lookup.rules
            ):
                total = np.int64(0)
                if goal.ranked and goal.by_total:
                    total = total_of(stack.scores[level], desk.more, desk.asked_penalty, tables)
                record(value, total, stack.words, goal, numbers, best)
            sure = value >= limit[NUMERATOR] and not goal.ranked
        if numbers[states.WRITTEN] > 0 and numbers[states.WRITTEN] == n_room:
            return states.BUFFER_FULL
        if numbers[states.WORK] >= last_work:
            return states.BUDGET_SPENT
        if numbers[states.LISTED] == 0:
            n = open_list(costs, lookup, goal, stack, desk)
            if n < 0:
                return states.NO_ROOM
            keep_children(n, sure, lookup, goal, stack, desk, best)
        sure = False
        if (
            levels[level, states.CHILD] == levels[level, states.LENGTH]
        ):  # go back: all children were taken
            if level > 0:
                flip(stack.words, levels[level, states.FLIPPED])
            numbers[states.LEVEL] = level - 1
            continue
        at = (
            levels[level, states.BEGIN] + levels[level, states.CHILD]
        )  # flip the next label of the list
        levels[level, states.CHILD] += 1
        for k in range(stack.scores.shape[1]):
            stack.scores[level + 1, k] = stack.scores[level, k] + np.int64(stack.changes[k, at])
        flip(stack.words, stack.entries[states.LABEL, at])
        levels[level + 1, states.FLIPPED] = stack.entries[states.LABEL, at]
        numbers[states.LEVEL], numbers[states.LISTED] = level + 1, 0
        value = stack.entries[states.OWN, at]
        arrived = not goal.ranked and value >= limit[NUMERATOR]
    return states.FINISHED

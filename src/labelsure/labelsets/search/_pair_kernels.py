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

import numpy as np

from labelsure._compile import lean_kernel
from labelsure.labelsets.arrays._fold_arrays import Lookup
from labelsure.labelsets.arrays._lookup_kernels import Integer, total_of, weigh
from labelsure.labelsets.search import _states as states
from labelsure.labelsets.search._labelset_kernels import NUMERATOR, flip, is_candidate
from labelsure.labelsets.search._list_kernels import Desk, keep_children, open_list, penalise_exactly, record
from labelsure.labelsets.search._problem import PairCosts
from labelsure.labelsets.search._states import Goal, PairStack, Ranked


@lean_kernel
def search_pairs(
    costs: PairCosts, lookup: Lookup, goal: Goal, budget: Integer, stack: PairStack, desk: Desk, best: Ranked
) -> Integer:
    """Go on with a search for all labelsets with a numerator of at least ``goal.limit[0]``, or for the best ones.

    The keys of all are written into ``best.keys``, in no order, until it is full but for one row; with no room they are
    only counted. The best are kept there as a heap.

    Reference : labelset_reference.ranked
    Requires : everything in the stack zero at the beginning but scores[0] = base, words = mode, levels[0, LENGTH] = n,
        and the first n columns of changes and of entries, with the labels and costs; desk.more zero
    Cost : a few evaluations of K look-ups per member; O(n K) per list, n its length
    """
    numbers, levels, limit, tables, weighing = stack.numbers, stack.levels, goal.limit, lookup.tables, lookup.weighing
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
            if value >= limit[NUMERATOR] and is_candidate(stack.words, lookup.allow_empty, lookup.rules):
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
        if levels[level, states.CHILD] == levels[level, states.LENGTH]:  # go back: all children were taken
            if level > 0:
                flip(stack.words, levels[level, states.FLIPPED])
            numbers[states.LEVEL] = level - 1
            continue
        at = levels[level, states.BEGIN] + levels[level, states.CHILD]  # flip the next label of the list
        levels[level, states.CHILD] += 1
        for k in range(stack.scores.shape[1]):
            stack.scores[level + 1, k] = stack.scores[level, k] + np.int64(stack.changes[k, at])
        flip(stack.words, stack.entries[states.LABEL, at])
        levels[level + 1, states.FLIPPED] = stack.entries[states.LABEL, at]
        numbers[states.LEVEL], numbers[states.LISTED] = level + 1, 0
        value = stack.entries[states.OWN, at]
        arrived = not goal.ranked and value >= limit[NUMERATOR]
    return states.FINISHED

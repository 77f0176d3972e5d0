r"""The search where pairs of labels have costs: depth first, compiled.

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

from labelsure._checks import IntArray
from labelsure._compile import kernel_part, lean_kernel
from labelsure._parallel import stop_if_asked
from labelsure.engine import _pair_problem as states
from labelsure.engine._bound_kernels import bound_flips
from labelsure.engine._fold_arrays import FAR, Lookup, Penalties
from labelsure.engine._labelset_kernels import (
    NUMERATOR,
    TOTAL,
    flip,
    insert,
    is_candidate,
    is_known,
    penalise,
    precedes,
    switch_off,
    write_key,
)
from labelsure.engine._lookup_kernels import Integer, total_of, weigh
from labelsure.engine._pair_problem import (
    Desk,
    PairBlock,
    PairCosts,
    PairRoom,
    PairStack,
    force_label,
)
from labelsure.engine._rule_kernels import obeys
from labelsure.engine._rules import Rules
from labelsure.engine._walk_kernels import (
    FINISHED,
    FLIPPED,
    FORCED_POSITION,
    FOUND,
    ROW,
    SMALLEST,
    UPPER,
    WORK,
    Asked,
    Found,
)
from labelsure.measures._labelset_bits import Words

CALL = 200_000
"""Evaluations of one call, at most about 0.1 s, so that an interrupt is heard soon."""

WORK_PER_EVALUATION = 8
"""Entries of lists that take about as long as looking up one score."""

ANCHORS_PER_EVALUATION = 256
"""Words of anchors that a labelset is compared with while the scores of all folds are looked up."""


class PairGoal(NamedTuple):
    """What a search with pairs looks for, and room for the answer.

    Attributes
    ----------
    ranked, by_total : bool
        As in Asked.
    known : uint64 (E, W)
        Labelsets that are skipped, in ascending order.
    known_begin : (2,)
        0 and E.
    keys : (k + 1, 2 + W)
        As in Found.
    numbers : (4,)
        As in Found.
    """

    ranked: bool
    by_total: bool
    known: Words
    known_begin: IntArray
    keys: IntArray
    numbers: IntArray


@lean_kernel
def search_pairs(
    costs: PairCosts,
    lookup: Lookup,
    goal: PairGoal,
    budget: Integer,
    stack: PairStack,
    desk: Desk,
) -> None:
    """Go on with a search for the best labelsets, or for all that have some numerator or more.

    It stops when nothing is left, when its budget is spent, or when the list of labelsets that it
    fills might not hold those of one node more.

    Twin : labelset_reference.ranked
    Requires : a room that is new or that an earlier call has left; goal.keys as in Found, with more
        than q rows where labelsets are listed
    Cost : two evaluations of K look-ups for each label that a list keeps; O(n K) for a list of n
    """
    state = stack.state
    levels = stack.levels
    n_room = goal.keys.shape[0] - 1
    last_work = goal.numbers[WORK] + budget
    if goal.ranked and goal.numbers[FOUND] == n_room:
        state[states.LIMIT] = max(state[states.LIMIT], -goal.keys[n_room - 1, NUMERATOR])
    if state[states.LISTED] == states.NEW:
        state[states.LISTED] = 0
        for k in range(desk.more.shape[0]):
            desk.more[k] = 0
        value = ask_exactly(stack.scores[0], lookup, goal, stack, desk)
        state[states.SURE] = take_in(value, stack.scores[0], lookup, goal, stack, desk)
    while state[states.LEVEL] >= 0 and goal.numbers[WORK] < last_work:
        level = state[states.LEVEL]
        if state[states.LISTED] == 0:
            if not goal.ranked and 0 < n_room < goal.numbers[FOUND] + costs.sign.shape[0]:
                break
            n = open_list(costs, lookup, goal, stack, desk)
            keep_children(n, lookup, goal, stack, desk)
        if levels[level, states.CHILD] == levels[level, states.LENGTH]:  # go back
            if level > 0:
                flip(stack.words, levels[level, states.FLIPPED])
            state[states.LEVEL] = level - 1
            continue
        at = levels[level, states.BEGIN] + levels[level, states.CHILD]
        levels[level, states.CHILD] += 1
        for k in range(stack.scores.shape[1]):
            stack.scores[level + 1, k] = stack.scores[level, k] + np.int64(stack.changes[k, at])
        flip(stack.words, stack.entries[states.LABEL, at])
        levels[level + 1, states.FLIPPED] = stack.entries[states.LABEL, at]
        state[states.LEVEL], state[states.LISTED] = level + 1, 0
        member = stack.entries[states.VALUE, at] >= state[states.LIMIT]
        state[states.SURE] = not goal.ranked and member
    goal.numbers[FINISHED] = state[states.LEVEL] < 0


@kernel_part
def ask_exactly(
    scores: IntArray, lookup: Lookup, goal: PairGoal, stack: PairStack, desk: Desk
) -> Integer:
    """Return the numerator of the present labelset, whose scores are ``scores + desk.more``.

    Twin : labelset_reference.numerator
    Requires : scores (K,)
    Cost : one evaluation
    """
    penalise_exactly(
        lookup.penalties, stack.words, goal.numbers, desk.asked_penalty, desk.notes_of_words
    )
    goal.numbers[WORK] += 1
    return weigh(scores, desk.more, desk.asked_penalty, lookup.weighing, lookup.tables)


@lean_kernel
def take_in(
    value: Integer,
    scores: IntArray,
    lookup: Lookup,
    goal: PairGoal,
    stack: PairStack,
    desk: Desk,
) -> bool:
    """Rank, list or count the present labelset if it is looked for; tell whether it is a member.

    Twin : sorted
    Requires : as ask_exactly, which has returned ``value``
    Cost : see insert
    """
    numbers = goal.numbers
    words = stack.words
    keys = goal.keys
    limit, n_room = stack.state[states.LIMIT], keys.shape[0] - 1
    if value < limit:
        return False
    if not is_candidate(words, lookup.allow_empty, lookup.rules):
        return not goal.ranked
    if goal.known.shape[0] > 0 and is_known(words, 0, goal.known_begin, goal.known):
        return not goal.ranked
    if not goal.ranked:
        if n_room > 0:
            write_key(value, np.int64(0), words, True, numbers[FOUND], keys)
        numbers[FOUND] += 1
        return True
    total = np.int64(0)
    if goal.by_total:
        total = total_of(scores, desk.more, desk.asked_penalty, lookup.tables)
    write_key(value, total, words, True, n_room, keys)
    if numbers[FOUND] < n_room or precedes(np.int64(n_room), np.int64(n_room - 1), keys, True):
        numbers[FOUND] = insert(numbers[FOUND], keys)
        if numbers[FOUND] == n_room:
            stack.state[states.LIMIT] = max(limit, -keys[n_room - 1, NUMERATOR])
    return False


@kernel_part
def open_list(
    costs: PairCosts, lookup: Lookup, goal: PairGoal, stack: PairStack, desk: Desk
) -> Integer:
    """Put the labels that may be flipped next on the desk, cheap first; return their number.

    That is at first everything, then what comes after the last flip in the list above.

    Twin : the definition
    Requires : the list above
    Cost : O(n K), see bound_flips
    """
    state = stack.state
    levels = stack.levels
    entries = stack.entries
    level, penalties = state[states.LEVEL], lookup.penalties
    n_folds = stack.scores.shape[1]
    source = np.int64(0)
    begin = np.int64(0)
    n = levels[0, states.LENGTH]
    if level > 0:
        source = levels[level - 1, states.BEGIN] + levels[level - 1, states.CHILD]
        begin = levels[level - 1, states.BEGIN] + levels[level - 1, states.LENGTH]
        n = begin - source
    levels[level, states.BEGIN] = begin
    state[states.LISTED] = 1
    goal.numbers[WORK] += n * n_folds // WORK_PER_EVALUATION
    if goal.ranked and level > 0:  # the limit may have risen since
        reach, limit = entries[states.VALUE, source - 1], state[states.LIMIT]
        is_full = goal.numbers[FOUND] == goal.keys.shape[0] - 1
        if reach < limit or (reach == limit and is_full and not goal.by_total):
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
        desk.labels[i] = entries[states.LABEL, source + i]
        desk.totals[i] = 0.0
    for k in range(n_folds):
        for i in range(n):
            j = desk.labels[i]
            change = stack.changes[k, source + i]
            if paired:
                change += costs.sign[flipped] * costs.sign[j] * costs.pairs[k, flipped, j]
            desk.fresh[k, i] = change
            desk.totals[i] += change
    if n > 0:
        bound_flips(n, costs, desk)
        if penalties.present:
            labels = desk.labels[:n]
            penalise(stack.words, labels, np.int64(0), penalties, desk.penalty, desk.notes_of_words)
            goal.numbers[WORK] += penalties.anchors.size // ANCHORS_PER_EVALUATION
    for i in range(n):  # nearly in order, as those of the list above were
        place = i
        while place > 0 and desk.totals[desk.order[place - 1]] > desk.totals[i]:
            desk.order[place] = desk.order[place - 1]
            place -= 1
        desk.order[place] = i
    return n


@kernel_part
def list_obeys(entries: IntArray, begin: Integer, n: Integer, words: Words, rules: Rules) -> bool:
    """Tell whether no rule is broken by every labelset that differs in labels of a list only.

    Twin : Rules.allow of all sets of flips
    Requires : n entries from ``begin`` on; changes rules.place
    Cost : O(q + terms of the rules)
    """
    for j in range(rules.place.shape[0]):
        rules.place[j] = -1
    for i in range(begin, begin + n):
        rules.place[entries[states.LABEL, i]] = 0
    return bool(obeys(words, words, np.int64(0), rules))


@kernel_part
def keep_children(n: Integer, lookup: Lookup, goal: PairGoal, stack: PairStack, desk: Desk) -> None:
    """Write the labels of the desk's list that labelsets looked for may flip into the stack.

    Labelsets with one of them flipped are taken in at once::

        all below the node?   --no--> nothing is kept
        for each label: all below its flip?  --no--> dropped; now and then: all that are left?
                        yes: the labelset with that flip itself; keep the label

    Twin : the definition
    Requires : n labels on the desk; state[SURE] where it is known that something is looked for
    Cost : two evaluations per label that is kept, O(K) more
    """
    level = stack.state[states.LEVEL]
    scores = stack.scores[level]
    begin = stack.levels[level, states.BEGIN]
    n_kept = np.int64(0)
    n_dropped, next_check = 0, 1
    asked = states.BELOW if stack.state[states.SURE] else states.NODE
    i = 0
    while i < n:
        at = desk.order[i]
        bound_scores(asked, i, desk)
        value = weigh(scores, desk.more, desk.asked_penalty, lookup.weighing, lookup.tables)
        goal.numbers[WORK] += 1
        hopeless = is_hopeless(asked, value, n, lookup, goal, stack, desk)
        if asked != states.BELOW:
            if hopeless:
                break
            asked = states.BELOW
        elif hopeless:
            i += 1
            n_dropped += 1
            if n_dropped == next_check and i < n:  # one question about all that are left
                asked = states.AFTER
                next_check *= 2
                if n_dropped == 1:
                    least_from(i, n, desk)
        else:
            for k in range(desk.more.shape[0]):
                change = desk.fresh[k, at]
                desk.more[k] = np.int64(change)
                stack.changes[k, begin + n_kept] = change
            flip(stack.words, desk.labels[at])
            exactly = ask_exactly(scores, lookup, goal, stack, desk)
            take_in(exactly, scores, lookup, goal, stack, desk)
            flip(stack.words, desk.labels[at])
            stack.entries[states.LABEL, begin + n_kept] = desk.labels[at]
            stack.entries[states.VALUE, begin + n_kept] = value if goal.ranked else exactly
            n_kept += 1
            i += 1
    stack.levels[level, states.CHILD] = 0
    stack.levels[level, states.LENGTH] = n_kept


@kernel_part
def bound_scores(asked: Integer, i: Integer, desk: Desk) -> None:
    """Write what flips in question add to scores at least, and their penalty.

    Twin : the minimum over the labelsets in question
    Requires : least_from before AFTER is asked
    Cost : O(K)
    """
    at = desk.order[i]
    for k in range(desk.more.shape[0]):
        more = desk.bounds[k]
        if asked == states.BELOW:
            more += np.int64(desk.forced[k, at])
        elif asked == states.AFTER:
            more += np.int64(desk.nearest[k, i])
        desk.more[k] = more
        desk.asked_penalty[k] = desk.penalty[k]


@kernel_part
def least_from(begin: Integer, n: Integer, desk: Desk) -> None:
    """Write the least of what single flips raise the bounds by, from each place on.

    Twin : numpy.minimum.accumulate
    Requires : begin < n
    Cost : O(n K)
    """
    for k in range(desk.nearest.shape[0]):
        lowest = desk.forced[k, desk.order[n - 1]]
        for later in range(n - 1, begin - 1, -1):
            lowest = min(lowest, desk.forced[k, desk.order[later]])
            desk.nearest[k, later] = lowest


@lean_kernel
def is_hopeless(
    asked: Integer,
    value: Integer,
    n: Integer,
    lookup: Lookup,
    goal: PairGoal,
    stack: PairStack,
    desk: Desk,
) -> bool:
    """Tell whether labelsets of at most this numerator hold none that is looked for.

    Where numerators tie, total scores decide, then the lowest code below a node.

    Twin : tuple comparison in labelset_reference.ranked
    Requires : bound_scores
    Cost : one comparison; O(K) where it is a tie, O(n + W) where totals tie too
    """
    keys, limit = goal.keys, stack.state[states.LIMIT]
    n_best = keys.shape[0] - 1
    if value != limit or not goal.ranked or goal.numbers[FOUND] < n_best:
        return bool(value < limit)
    if not goal.by_total:
        return True
    scores = stack.scores[stack.state[states.LEVEL]]
    total = total_of(scores, desk.more, desk.asked_penalty, lookup.tables)
    if total != keys[n_best - 1, TOTAL] or asked != states.NODE:
        return bool(total > keys[n_best - 1, TOTAL])
    lowest = desk.notes_of_words
    for w in range(lowest.shape[0]):
        lowest[w] = stack.words[w]
    for i in range(n):
        switch_off(lowest, desk.labels[i])
    write_key(value, total, lowest, True, n_best, keys)
    return not precedes(np.int64(n_best), np.int64(n_best - 1), keys, True)


@kernel_part
def penalise_exactly(
    penalties: Penalties, words: Words, numbers: IntArray, penalty: IntArray, notes: Words
) -> None:
    """Write the penalties of one labelset.

    Twin : measures._energy.Penalty.costs
    Requires : penalty (K,), notes (W,)
    Cost : see penalise, and counted as work
    """
    if penalties.present:
        penalise(words, numbers[:0], np.int64(0), penalties, penalty, notes)
        numbers[WORK] += penalties.anchors.size // ANCHORS_PER_EVALUATION


def run_pair_search(block: PairBlock, asked: Asked, found: Found, room: PairRoom | None) -> None:
    """Search objects with pairs, as walk does others; go on with ``room`` if it is given."""
    for search, columns in enumerate(asked.searches.tolist()):
        of_object = block.problems[columns[ROW]]
        problem, lookup = of_object.problem, of_object.lookup
        if columns[FORCED_POSITION] >= 0:
            problem = force_label(problem, columns[FORCED_POSITION], flipped=columns[FLIPPED] == 1)
        stack, desk = room or PairRoom.of(problem)
        stack.state[states.LIMIT] = max(stack.state[states.LIMIT], columns[SMALLEST])
        numbers, known = found.numbers[search], asked.known
        some = slice(0, 0)
        if len(known.begin) > 1:
            some = slice(known.begin[columns[ROW]], known.begin[columns[ROW] + 1])
        begin = np.array([0, len(known.words[some])])
        goal = PairGoal(
            asked.ranked, asked.by_total, known.words[some], begin, found.keys[search], numbers
        )
        before, lookup = -1, lookup._replace(allow_empty=asked.allow_empty)
        last_work = int(numbers[WORK]) + asked.budget
        while not numbers[FINISHED] and before < numbers[WORK] < last_work:
            stop_if_asked()
            before = int(numbers[WORK])
            left = min(CALL, last_work - before)
            search_pairs(problem.costs, lookup, goal, left, stack, desk)
        if not numbers[FINISHED] and asked.ranked:
            numbers[UPPER] = open_bound(stack)


def open_bound(stack: PairStack) -> int:
    """Return a bound of the numerators that an unfinished search may have missed."""
    level, listed = stack.state[[states.LEVEL, states.LISTED]].tolist()
    if listed == states.NEW or level + listed == 0:
        return FAR
    highest = -FAR
    for at in range(level + listed):
        begin, child, length = stack.levels[at, :3].tolist()
        # the list of the present node may still be to be made: then what is below its flip is open
        child -= not listed and at == level - 1
        values = stack.entries[states.VALUE, begin + child : begin + length]
        highest = max(highest, int(values.max(initial=-FAR)))
    return highest

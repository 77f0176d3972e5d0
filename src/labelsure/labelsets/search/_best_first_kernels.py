r"""Compiled best-first search: the k most plausible labelsets, whatever the number of labels.

An entry of the frontier stands for all labelsets that add at least one flip, from some position on, to given flips. It
is taken apart into the labelset with exactly that position flipped, what adds more flips to it, and what leaves that
position alone::

            flips F, one more from t on
           /             |             \
       F + {t}    F + {t}, one more    F, one more
       itself      from t + 1 on       from t + 1 on

Under rules each takes with it what has to be flipped then; if that is something in the last case, F with it is a
labelset of its own.

Entries are ordered by the best that they may hold: highest numerator, then lowest total score, then lowest code. The
search ends when no entry may hold anything better than the k-th labelset found.
"""

from typing import NamedTuple

import numpy as np

from labelsure._core.compilation import kernel_part, lean_kernel
from labelsure._core.labelset_bits import Words
from labelsure._core.types import IntArray
from labelsure.labelsets.arrays._fold_arrays import LINK, Lookup, ScoreTables
from labelsure.labelsets.arrays._lookup_kernels import Integer, final_score, total_of, weigh
from labelsure.labelsets.arrays._rule_kernels import BROKEN, FORCED, QUIET, Course, is_on, settle
from labelsure.labelsets.search import _states as states
from labelsure.labelsets.search._labelset_kernels import (
    NUMERATOR,
    TOTAL,
    flip,
    is_candidate,
    offer,
    penalise,
    precedes,
    sift,
    switch_off,
    write_key,
)
from labelsure.labelsets.search._states import Flips, Frontier, Ranked

# What an entry is taken apart into
EXACTLY, FLIPS_MORE, EXACTLY_FORCED, LEAVES_ALONE = range(4)


class Totals(NamedTuple):
    """What decides between equal numerators.

    Attributes
    ----------
    matter : bool
        Whether total scores and codes do; else anything may, and the others may be empty.
    additive : bool
        Whether no fold has a link, so that the next two count.
    cost : (p,)
        What each flip adds to the total of the additive scores.
    cheapest : (p + 1,)
        The least that a flip from each position on adds to it.
    """

    matter: bool
    additive: bool
    cost: IntArray
    cheapest: IntArray


class Node(NamedTuple):
    """The entry at hand.

    Attributes
    ----------
    words, scores : (W,), (K,)
        Its flips, and what they make of the additive scores.
    more, penalty : (K,)
        Lower bounds of what further flips add, and of the penalty.
    rank : (2,)
        The highest numerator of its labelsets, and a lower bound of their total scores.
    lowest : (W,)
        Room for the lowest of their codes, and for notes.
    before, scores_before : (W,), (K,)
        Its flips and scores without the one at hand.
    course : Course
        What settles what is forced.
    """

    words: Words
    scores: IntArray
    more: IntArray
    penalty: IntArray
    rank: IntArray
    lowest: Words
    before: Words
    scores_before: IntArray
    course: Course


@lean_kernel
def best_first(
    flips: Flips,
    totals: Totals,
    forced: Integer,
    lookup: Lookup,
    budget: Integer,
    node: Node,
    frontier: Frontier,
    best: Ranked,
) -> Integer:
    """Go on with a search for the best labelsets.

    Position ``forced`` (-1: none) is not flipped: it is already as it has to be in ``flips``.

    Reference : labelset_reference.ranked
    Requires : rules that do not rule out all labelsets at once; at the beginning numbers zero, heap and order
        ascending from 0, room for two entries, in the node the mode's words and scores
    Cost : about three evaluations of K look-ups per entry taken
    """
    n_positions, n_folds = flips.cost.shape
    numbers, rank, ruled = frontier.numbers, node.rank, lookup.rules.most.shape[0] > 0
    outcome = np.int64(QUIET)
    begin, flipped = np.int64(0), np.int64(0)
    n_parts = 0 if numbers[states.STARTED] else 2  # the root has no flip to leave alone
    numbers[states.STARTED] = 1
    last = numbers[states.WORK] + budget
    if ruled and n_parts == 2 and forced >= 0:
        outcome = settle(flips.label[forced], begin, node.words, node.scores, node.course, lookup.rules)
    while True:
        for part in range(n_parts):
            n_known = n_positions
            itself = part == EXACTLY or part == EXACTLY_FORCED  # noqa: PLR1714, numba compiles this faster
            if part == EXACTLY_FORCED:  # and what comes after it
                leave_alone(node)
                if ruled:
                    outcome = settle(
                        flips.label[flipped], flipped + 1, node.words, node.scores, node.course, lookup.rules
                    )
                begin = flipped + 1
            if itself:
                wanted = outcome != BROKEN and (part == EXACTLY or outcome == FORCED)
                wanted = wanted and is_candidate(node.words, lookup.allow_empty, lookup.rules)
            else:
                while begin < n_positions and (begin == forced or (ruled and is_flipped(begin, node.words, flips))):
                    begin += 1
                n_known = begin
                wanted = outcome != BROKEN and begin < n_positions
            if not wanted:
                continue
            for k in range(n_folds):
                node.more[k] = 0 if itself else flips.nearest[begin, k]
            if lookup.penalties.present:
                penalise(node.words, flips.label, n_known, lookup.penalties, node.penalty, node.lowest)
            rank[NUMERATOR] = weigh(node.scores, node.more, node.penalty, lookup.weighing, lookup.tables)
            numbers[states.WORK] += 1
            if totals.matter:
                rank[TOTAL] = total_of(node.scores, node.more, node.penalty, lookup.tables)
            if itself:
                n_found = numbers[states.FOUND]
                worst = -best.keys[best.order[0], NUMERATOR] if n_found == best.keys.shape[0] - 1 else -states.FAR
                if rank[NUMERATOR] >= worst:
                    n_found = offer(rank[NUMERATOR], rank[TOTAL], node.words, totals.matter, n_found, best)
                numbers[states.FOUND] = n_found
            else:
                push(begin, node, flips, totals, lookup.tables, frontier, best)
        ended = next_entry(frontier, best)
        if ended < 0 and numbers[states.WORK] >= last:
            ended = states.BUDGET_SPENT
        if ended >= 0:
            return ended
        flipped = pop(node, flips, frontier)
        if ruled:
            outcome = settle(flips.label[flipped], flipped + 1, node.words, node.scores, node.course, lookup.rules)
        begin = flipped + 1
        n_parts = 4


@kernel_part
def is_flipped(t: Integer, words: Words, flips: Flips) -> bool:
    """Tell whether position t is other than in the mode.

    Reference : the definition
    Requires : words (W,)
    Cost : one operation
    """
    return bool(is_on(words, flips.label[t]) != is_on(flips.mode, flips.label[t]))


@kernel_part
def leave_alone(node: Node) -> None:
    """Take back the flip at hand, and what it forced.

    Reference : the definition
    Requires : what pop has kept
    Cost : O(W + K)
    """
    for w in range(node.words.shape[0]):
        node.words[w] = node.before[w]
    for k in range(node.scores.shape[0]):
        node.scores[k] = node.scores_before[k]


@kernel_part
def next_entry(frontier: Frontier, best: Ranked) -> Integer:
    """Return why a search ends, or -1 where the entry on top of the frontier may hold something better than found.

    Reference : the definition
    Requires : as best_first
    Cost : O(W)
    """
    n_best, n_waiting = best.keys.shape[0] - 1, frontier.numbers[states.WAITING]
    best_on_top = n_best >= 0
    row, spare = frontier.heap[0], best.order[n_best]
    for column in range(best.keys.shape[1]):
        best.keys[spare, column] = frontier.keys[row, column]
    is_full = frontier.numbers[states.FOUND] == n_best
    if n_waiting == 0 or (is_full and not precedes(spare, best.order[0], best.keys, best_on_top)):
        return states.FINISHED
    return states.NO_ROOM if n_waiting == frontier.heap.shape[0] else -1


@kernel_part
def pop(node: Node, flips: Flips, frontier: Frontier) -> Integer:
    """Take the top entry off the frontier into ``node``, its position flipped; return that position.

    Reference : heapq.heappop
    Requires : an entry
    Cost : O(log n) comparisons
    """
    n_words, n_folds = node.words.shape[0], node.scores.shape[0]
    heap, entries, n_waiting = frontier.heap, frontier.entries, frontier.numbers[states.WAITING]
    best_on_top = n_folds >= 0  # no constant: numba would compile sift again for each
    row = heap[0]
    heap[0], heap[n_waiting - 1] = heap[n_waiting - 1], row
    frontier.numbers[states.WAITING] = n_waiting - 1
    sift(heap, n_waiting - 1, np.int64(0), best_on_top, frontier.keys)
    for w in range(n_words):
        node.words[w] = np.uint64(entries[row, w])
        node.before[w] = node.words[w]
    flipped = entries[row, n_words + n_folds]
    for k in range(n_folds):
        node.scores_before[k] = entries[row, n_words + k]
        node.scores[k] = node.scores_before[k] + flips.cost[flipped, k]
    flip(node.words, flips.label[flipped])
    return flipped


@kernel_part
def push(
    begin: Integer, node: Node, flips: Flips, totals: Totals, tables: ScoreTables, frontier: Frontier, best: Ranked
) -> None:
    """Put an entry that adds flips from ``begin`` on into the frontier, if it may hold something better than found.

    Reference : heapq.heappush
    Requires : the rank of the node
    Cost : O(p) where codes decide, O(log n) comparisons
    """
    n_best = best.keys.shape[0] - 1
    best_on_top = n_best >= 0  # no constant: numba would compile sift again for each
    is_full = frontier.numbers[states.FOUND] == n_best
    n_words, n_folds = node.words.shape[0], node.scores.shape[0]
    for w in range(n_words):
        node.lowest[w] = node.words[w]
    if totals.matter:
        lower_code(begin, is_full, node, flips, totals, tables, best)
    spare = best.order[n_best]
    write_key(node.rank[NUMERATOR], node.rank[TOTAL], node.lowest, totals.matter, spare, best.keys)
    if not is_full or precedes(spare, best.order[0], best.keys, best_on_top):
        n_waiting = frontier.numbers[states.WAITING]
        row = frontier.heap[n_waiting]
        for column in range(best.keys.shape[1]):
            frontier.keys[row, column] = best.keys[spare, column]
        for w in range(n_words):
            frontier.entries[row, w] = np.int64(node.words[w])
        for k in range(n_folds):
            frontier.entries[row, n_words + k] = node.scores[k]
        frontier.entries[row, n_words + n_folds] = begin
        frontier.numbers[states.WAITING] = n_waiting + 1
        sift(frontier.heap, n_waiting + 1, n_waiting, best_on_top, frontier.keys)


@kernel_part
def lower_code(
    begin: Integer, is_full: bool, node: Node, flips: Flips, totals: Totals, tables: ScoreTables, best: Ranked
) -> None:
    """Sharpen the total of an entry, and switch off in ``node.lowest`` what may be flipped: its lowest code.

    Where that code decides, flips that would raise the total are left alone.

    Reference : the minimum over all sets of flips
    Requires : node.lowest = node.words
    Cost : O(p)
    """
    rank = node.rank
    present = np.int64(0)
    for k in range(node.scores.shape[0]):
        present += node.scores[k] + node.penalty[k]
    if totals.additive:
        rank[TOTAL] = max(rank[TOTAL], present + totals.cheapest[begin])
    worst = best.order[0]
    tied = is_full and rank[NUMERATOR] == -best.keys[worst, NUMERATOR]
    tied &= rank[TOTAL] == best.keys[worst, TOTAL]  # so that codes decide
    for t in range(begin, flips.label.shape[0]):
        within = not tied or (totals.additive and totals.cost[t] <= rank[TOTAL] - present)
        if within or (not totals.additive and least_total(t, node, flips, tables) <= rank[TOTAL]):
            switch_off(node.lowest, flips.label[t])


@kernel_part
def least_total(t: Integer, node: Node, flips: Flips, tables: ScoreTables) -> Integer:
    """Return a lower bound of the total score of labelsets with position t flipped, among those of an entry.

    Reference : the minimum over all sets of flips
    Requires : node.more a lower bound of what flips add, at least one flip
    Cost : O(K)
    """
    total = np.int64(0)
    for k in range(node.scores.shape[0]):
        added = min(node.more[k], 0) + max(flips.cost[t, k], 0)
        total += final_score(node.scores[k] + added, node.penalty[k], tables.layout[k, LINK])
    return total

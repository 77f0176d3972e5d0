"""Compiled best-first search: the k most plausible labelsets, whatever the number of labels.

An entry of the frontier stands for all labelsets that add at least one flip, from some position on, to given flips. It
is taken apart into the labelset with exactly that position flipped, what adds more flips to it, and what leaves that
position alone. Entries are ordered by the best that they may hold: highest numerator, then lowest total score, then
lowest code. The search ends when no entry may hold anything better than the k-th labelset found.
"""

import numpy as np

from labelsure._core.compilation import kernel, kernel_part
from labelsure._core.types import IntArray
from labelsure.labelsets._lookup_kernels import LINK, Int32Array, Integer, final_score, weigh
from labelsure.labelsets._penalty_kernels import penalties
from labelsure.labelsets._ranking_kernels import NUMERATOR, TOTAL, offer, precedes, sift, write_key
from labelsure.labelsets._words import Words

# Entries of ``numbers``: labelsets found, entries of the frontier, whether the root was looked at
N_FOUND, N_FRONTIER, STARTED = range(3)

# What an entry is taken apart into
ITSELF, FLIPS_MORE, LEAVES_ALONE = range(3)

# What a call of ``best_first`` ends with
FINISHED, BUDGET_SPENT, FRONTIER_FULL = range(3)


@kernel
def best_first(
    label: IntArray,
    base: IntArray,
    cost: IntArray,
    nearest: IntArray,
    total_cost: IntArray,
    cheapest: IntArray,
    additive: bool,
    mode: Words,
    forced: Integer,
    by_cardinality: IntArray,
    anchors: Words,
    anchor_begin: IntArray,
    per_distance: IntArray,
    buckets: Int32Array,
    values: IntArray,
    counts: IntArray,
    layout: IntArray,
    factors: IntArray,
    weights: IntArray,
    multipliers: IntArray,
    penalised: bool,
    allow_empty: bool,
    by_total: bool,
    budget: Integer,
    numbers: IntArray,
    frontier: IntArray,
    entry_keys: IntArray,
    entries: IntArray,
    found: IntArray,
    keys: IntArray,
) -> Integer:
    """Go on with a search for the best labelsets, whose keys it writes in no order, and in ``found`` their rows.

    Position ``forced`` (-1: none) is not flipped: it is already as it has to be in ``base``, ``cost`` and ``mode``.
    ``total_cost`` is what each flip adds to the total of the additive scores, ``cheapest`` the least that a flip from
    each position on adds; they count if no fold has a link (``additive``). Without ``by_total`` only numerators are
    compared, and both may be empty. The state of the search is in ``numbers`` and ``frontier``, a heap of the rows of
    ``entry_keys`` and of ``entries`` (words, scores, and from where on flips are added).

    Reference : _reference.ranked
    Requires : one problem as in Problems, without pairs; at the beginning numbers zero, frontier and found (k + 1,)
        ascending from 0; keys (k + 1, 2 + W), room for two entries
    Cost : about three evaluations of K look-ups per entry taken
    """
    n_best = keys.shape[0] - 1
    best_on_top = n_best >= 0  # no constant: numba would compile sift again for each
    n_positions, n_folds = cost.shape
    n_words = mode.shape[0]
    more, penalty = np.zeros(n_folds, np.int64), np.zeros(n_folds, np.int64)
    scores = base.copy()
    words, lowest = mode.copy(), mode.copy()
    begin, flipped = np.int64(0), np.int64(0)
    n_parts = 0 if numbers[STARTED] else 2  # the root has no flip to leave alone
    numbers[STARTED] = 1
    while True:
        for part in range(n_parts):
            n_known = n_positions
            wanted = allow_empty
            for w in range(n_words):
                wanted |= words[w] != 0
            if part == LEAVES_ALONE:
                words[label[flipped] >> 6] ^= np.uint64(1) << np.uint64(label[flipped] & 63)
                for k in range(n_folds):
                    scores[k] -= cost[flipped, k]
            if part != ITSELF:
                begin += begin == forced
                n_known = begin
                wanted = begin < n_positions
            if not wanted:
                continue
            for k in range(n_folds):
                more[k] = 0 if part == ITSELF else nearest[begin, k]
            if penalised:
                penalties(words, label, n_known, by_cardinality, anchors, anchor_begin, per_distance, penalty)
            value = weigh(scores, more, penalty, factors, weights, multipliers, buckets, values, counts, layout)
            budget -= 1
            total = present_total = np.int64(0)
            for k in range(n_folds if by_total else 0):
                total += final_score(scores[k] + more[k], penalty[k], layout[k, LINK])
                present_total += scores[k] + penalty[k]
            if part == ITSELF:
                numbers[N_FOUND] = offer(value, total, words, by_total, numbers[N_FOUND], found, keys)
                continue
            is_full = numbers[N_FOUND] == n_best
            for w in range(n_words):
                lowest[w] = words[w]
            if by_total:  # the lowest code that the entry may hold: what may be flipped is off
                if additive:
                    total = max(total, present_total + cheapest[begin])
                tied = is_full and value == -keys[found[0], NUMERATOR]
                tied &= total == keys[found[0], TOTAL]  # so that codes decide
                for t in range(begin, n_positions):
                    within = not tied or (additive and total_cost[t] <= total - present_total)
                    if within or (not additive and least_total(t, scores, more, cost, penalty, layout) <= total):
                        lowest[label[t] >> 6] &= ~(np.uint64(1) << np.uint64(label[t] & 63))
            spare = found[n_best]
            write_key(value, total, lowest, by_total, spare, keys)
            if is_full and not precedes(spare, found[0], keys, best_on_top):
                continue
            row = frontier[numbers[N_FRONTIER]]
            for column in range(keys.shape[1]):
                entry_keys[row, column] = keys[spare, column]
            for w in range(n_words):
                entries[row, w] = np.int64(words[w])
            for k in range(n_folds):
                entries[row, n_words + k] = scores[k]
            entries[row, n_words + n_folds] = begin
            numbers[N_FRONTIER] += 1
            sift(frontier, numbers[N_FRONTIER], numbers[N_FRONTIER] - 1, best_on_top, entry_keys)
        n_frontier = numbers[N_FRONTIER]
        row, spare = frontier[0], found[n_best]
        for column in range(keys.shape[1]):
            keys[spare, column] = entry_keys[row, column]
        is_full = numbers[N_FOUND] == n_best
        if n_frontier == 0 or (is_full and not precedes(spare, found[0], keys, best_on_top)):
            return FINISHED
        if n_frontier == frontier.shape[0]:
            return FRONTIER_FULL
        if budget <= 0:
            return BUDGET_SPENT
        frontier[0], frontier[n_frontier - 1] = frontier[n_frontier - 1], row
        numbers[N_FRONTIER] = n_frontier - 1
        sift(frontier, n_frontier - 1, np.int64(0), best_on_top, entry_keys)
        for w in range(n_words):
            words[w] = np.uint64(entries[row, w])
        flipped = entries[row, n_words + n_folds]
        begin = flipped + 1
        for k in range(n_folds):
            scores[k] = entries[row, n_words + k] + cost[flipped, k]
        words[label[flipped] >> 6] ^= np.uint64(1) << np.uint64(label[flipped] & 63)
        n_parts = 3


@kernel_part
def least_total(
    t: Integer, scores: IntArray, following: IntArray, cost: IntArray, penalty: IntArray, layout: IntArray
) -> Integer:
    """Return a lower bound of the total score of labelsets with position t flipped, among those of an entry.

    Reference : the minimum over all sets of flips
    Requires : following (K,), a lower bound of what flips add, at least one flip; cost (p, K)
    Cost : O(K)
    """
    total = np.int64(0)
    for k in range(scores.shape[0]):
        added = min(following[k], 0) + max(cost[t, k], 0)
        total += final_score(scores[k] + added, penalty[k], layout[k, LINK])
    return total

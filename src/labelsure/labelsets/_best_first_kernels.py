"""Compiled best-first search: the k most plausible labelsets, whatever the number of labels.

An entry of the frontier stands for all labelsets that add at least one flip, from some position on, to given flips. It
is taken apart into the labelset with exactly that position flipped, what adds more flips to it, and what leaves that
position alone. Entries are ordered by the best that they may hold: highest numerator, then lowest total score, then
lowest code. The search ends when no entry may hold anything better than the k-th labelset found.
"""

import numpy as np

from labelsure._core.compilation import kernel
from labelsure._core.types import IntArray
from labelsure.labelsets._lookup_kernels import LINK, Int32Array, Integer, count_additive, final_score, weigh
from labelsure.labelsets._penalty_kernels import penalties
from labelsure.labelsets._words import Words

# Columns of the rows that are ranked
NUMERATOR, TOTAL = range(2)


@kernel
def comes_before(a: Integer, b: Integer, rank: IntArray, code: Words) -> bool:
    """Tell whether row a comes before row b: highest numerator, lowest total score, lowest code.

    Reference : tuple comparison in _reference.ranked
    Requires : rank (c, 2), code (c, W)
    Cost : O(W)
    """
    if rank[a, NUMERATOR] != rank[b, NUMERATOR]:
        return bool(rank[a, NUMERATOR] > rank[b, NUMERATOR])
    if rank[a, TOTAL] != rank[b, TOTAL]:
        return bool(rank[a, TOTAL] < rank[b, TOTAL])
    for w in range(code.shape[1] - 1, -1, -1):
        if code[a, w] != code[b, w]:
            return bool(code[a, w] < code[b, w])
    return False


@kernel
def sift(heap: IntArray, size: Integer, place: Integer, best_on_top: Integer, rank: IntArray, code: Words) -> None:
    """Restore a heap of ``size`` rows, the best (1) or the worst (0) on top, in which the entry at ``place`` is new.

    Reference : heapq
    Requires : a heap but for that entry
    Cost : O(log n) comparisons
    """
    while place > 0:
        parent = (place - 1) // 2
        upper, lower = (heap[place], heap[parent]) if best_on_top else (heap[parent], heap[place])
        if not comes_before(upper, lower, rank, code):
            break
        heap[place], heap[parent] = heap[parent], heap[place]
        place = parent
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size:
            upper, lower = (heap[child + 1], heap[child]) if best_on_top else (heap[child], heap[child + 1])
            if comes_before(upper, lower, rank, code):
                child += 1
        upper, lower = (heap[child], heap[place]) if best_on_top else (heap[place], heap[child])
        if not comes_before(upper, lower, rank, code):
            break
        heap[place], heap[child] = heap[child], heap[place]
        place = child


@kernel
def best_first(
    label: IntArray,
    base: IntArray,
    cost: IntArray,
    nearest: IntArray,
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
    plain: bool,
    penalised: bool,
    allow_empty: bool,
    by_total: bool,
    found: IntArray,
    found_words: Words,
    found_rank: IntArray,
) -> Integer:
    """Write the best labelsets, their numerators and total scores, and in ``found`` their order; return how many.

    Position ``forced`` (-1: none) is not flipped: it is already as it has to be in ``base``, ``cost`` and ``mode``.
    Without ``by_total`` only numerators are compared.

    Reference : _reference.ranked
    Requires : one problem as in Problems, without pairs; found (k + 1,) ascending from 0, found_words (k + 1, W) and
        found_rank (k + 1, 2)
    Cost : about three evaluations of K look-ups per entry taken; K + 2 W + 3 numbers per entry kept
    """
    # Numbers with a type, not constants: numba would compile what is called with each constant again
    zero, worst, best = np.int64(0), np.int64(0), np.int64(1)
    n_best = found_rank.shape[0] - 1
    n_positions, n_folds = cost.shape
    n_words = mode.shape[0]
    additive = True
    for k in range(n_folds):
        additive &= layout[k, LINK] < 0
    nothing = np.zeros(n_folds, np.int64)
    penalty = np.zeros(n_folds, np.int64)
    scores = np.empty(n_folds, np.int64)
    step = np.zeros(n_folds, np.int64)  # what the last flip added
    words = np.empty(n_words, np.uint64)
    total_cost = np.zeros(n_positions, np.int64)
    cheapest = np.empty(n_positions + 1, np.int64)  # the least that a flip from there on adds to the total score
    cheapest[n_positions] = np.int64(1) << 60
    for t in range(n_positions - 1, -1, -1):
        for k in range(n_folds):
            total_cost[t] += cost[t, k]
        cheapest[t] = min(cheapest[t + 1], total_cost[t])

    capacity = 64
    frontier = np.arange(capacity)  # a heap with the best on top; free rows follow
    rank = np.empty((capacity, 2), np.int64)
    code = np.empty((capacity, n_words), np.uint64)
    entry_words = np.empty((capacity, n_words), np.uint64)
    entry_scores = np.empty((capacity, n_folds + 1), np.int64)  # the last column: from where on flips are added
    n_frontier = np.int64(0)

    n_found = np.int64(0)
    for w in range(n_words):
        words[w] = mode[w]
    for k in range(n_folds):
        scores[k] = base[k]
    begin = np.int64(0)
    flipped = np.int64(-1)  # the position just flipped; the root has none
    while True:
        # The labelset reached
        candidate = allow_empty
        for w in range(n_words):
            candidate |= words[w] != 0
        if candidate:
            if penalised:
                penalties(words, label, n_positions, by_cardinality, anchors, anchor_begin, per_distance, penalty)
            if plain:
                value = 1 + count_additive(scores, nothing, buckets, values, counts, layout)
            else:
                value = weigh(scores, nothing, penalty, factors, weights, multipliers, buckets, values, counts, layout)
            total = np.int64(0)
            if by_total:
                for k in range(n_folds):
                    total += final_score(scores[k], penalty[k], layout[k, LINK])
            row = found[n_found]
            found_rank[row, NUMERATOR] = value
            found_rank[row, TOTAL] = total
            for w in range(n_words):
                found_words[row, w] = words[w] if by_total else np.uint64(0)
            if n_found < n_best:
                n_found += 1
                sift(found, n_found, n_found - 1, worst, found_rank, found_words)
            elif comes_before(row, found[0], found_rank, found_words):
                found[0], found[n_best] = row, found[0]
                sift(found, n_found, zero, worst, found_rank, found_words)
        # Two entries: what adds more flips to it, and what leaves the flipped position alone
        for leave in range(2 if flipped >= 0 else 1):
            if leave:
                words[label[flipped] >> 6] ^= np.uint64(1) << np.uint64(label[flipped] & 63)
                for k in range(n_folds):
                    scores[k] -= step[k]
            if begin == forced:
                begin += 1
            if begin >= n_positions:
                continue
            following = nearest[begin]
            if penalised:
                penalties(words, label, begin, by_cardinality, anchors, anchor_begin, per_distance, penalty)
            if plain:
                value = 1 + count_additive(scores, following, buckets, values, counts, layout)
            else:
                value = weigh(
                    scores, following, penalty, factors, weights, multipliers, buckets, values, counts, layout
                )
            total = np.int64(0)
            present_total = np.int64(0)
            if by_total:
                for k in range(n_folds):
                    total += final_score(scores[k] + following[k], penalty[k], layout[k, LINK])
                    present_total += scores[k] + penalty[k]
                if additive:
                    total = max(total, present_total + cheapest[begin])
            if n_frontier == capacity:
                capacity *= 2
                frontier = np.arange(capacity)  # every row is in use, in an order that is a heap again after sorting
                rank, entry_scores = more_rows(rank), more_rows(entry_scores)
                code, entry_words = more_words(code), more_words(entry_words)
                for place in range(n_frontier):
                    sift(frontier, place + 1, place, best, rank, code)
            row = frontier[n_frontier]
            rank[row, NUMERATOR] = value
            rank[row, TOTAL] = total
            for w in range(n_words):
                entry_words[row, w] = words[w]
                code[row, w] = words[w] if by_total else np.uint64(0)
            if by_total:  # the lowest code that the entry may hold: what may be flipped is off
                tied = n_found == n_best and value == found_rank[found[0], NUMERATOR]
                tied &= total == found_rank[found[0], TOTAL]  # so that codes decide
                for t in range(begin, n_positions):
                    within = not tied or (additive and total_cost[t] <= total - present_total)
                    if within or (not additive and least_total(t, scores, following, cost, penalty, layout) <= total):
                        code[row, label[t] >> 6] &= ~(np.uint64(1) << np.uint64(label[t] & 63))
            for k in range(n_folds):
                entry_scores[row, k] = scores[k]
            entry_scores[row, n_folds] = begin
            if n_found < n_best or may_improve(row, rank, code, found, found_rank, found_words):
                n_frontier += 1
                sift(frontier, n_frontier, n_frontier - 1, best, rank, code)
        # The next entry
        if n_frontier == 0:
            break
        row = frontier[0]
        if n_found == n_best and not may_improve(row, rank, code, found, found_rank, found_words):
            break
        n_frontier -= 1
        frontier[0], frontier[n_frontier] = frontier[n_frontier], row
        sift(frontier, n_frontier, zero, best, rank, code)
        for w in range(n_words):
            words[w] = entry_words[row, w]
        flipped = entry_scores[row, n_folds]
        begin = flipped + 1
        for k in range(n_folds):
            step[k] = cost[flipped, k]
            scores[k] = entry_scores[row, k] + step[k]
        words[label[flipped] >> 6] ^= np.uint64(1) << np.uint64(label[flipped] & 63)
    for place in range(n_found - 1, 0, -1):  # the worst is on top: a heap sort leaves the best first
        found[0], found[place] = found[place], found[0]
        sift(found, place, zero, worst, found_rank, found_words)
    return n_found


@kernel
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


@kernel
def more_rows(rows: IntArray) -> IntArray:
    """Return an array with the same rows and as many more.

    Reference : numpy.concatenate
    Requires : rows (c, p)
    Cost : O(c p)
    """
    more = np.empty((2 * rows.shape[0], rows.shape[1]), np.int64)
    for row in range(rows.shape[0]):
        for column in range(rows.shape[1]):
            more[row, column] = rows[row, column]
    return more


@kernel
def more_words(rows: Words) -> Words:
    """Return an array with the same words and as many more.

    Reference : numpy.concatenate
    Requires : rows (c, W)
    Cost : O(c W)
    """
    more = np.empty((2 * rows.shape[0], rows.shape[1]), np.uint64)
    for row in range(rows.shape[0]):
        for column in range(rows.shape[1]):
            more[row, column] = rows[row, column]
    return more


@kernel
def may_improve(
    row: Integer, rank: IntArray, code: Words, found: IntArray, found_rank: IntArray, found_words: Words
) -> bool:
    """Tell whether what an entry may hold comes before the worst labelset found.

    Reference : tuple comparison in _reference.ranked
    Requires : found a heap with the worst on top, and a spare row last
    Cost : O(W)
    """
    spare = found[found.shape[0] - 1]
    found_rank[spare, NUMERATOR] = rank[row, NUMERATOR]
    found_rank[spare, TOTAL] = rank[row, TOTAL]
    for w in range(code.shape[1]):
        found_words[spare, w] = code[row, w]
    return bool(comes_before(spare, found[0], found_rank, found_words))

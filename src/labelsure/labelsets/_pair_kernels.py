"""Compiled depth-first search where pairs of labels have costs of their own.

A node of the search tree is a set of flips together with a list of the labels that may still be flipped; its children
flip one of the list, and may flip what comes after it. A label leaves the list of a node, and of all nodes below, once
a bound tells that no labelset looked for has it flipped there: so lists become short soon, and the work per node
follows them and not the number of labels. What each flip adds is kept for every list, in floats that hold whole
numbers below 2^53 exactly.
"""

import numpy as np

from labelsure._core.compilation import kernel, kernel_part
from labelsure._core.types import BoolArray, FloatArray, IntArray
from labelsure.labelsets._lookup_kernels import LINK, Int32Array, Integer, final_score, weigh
from labelsure.labelsets._penalty_kernels import penalties
from labelsure.labelsets._ranking_kernels import NUMERATOR, TOTAL, offer, precedes, write_key
from labelsure.labelsets._relaxation_kernels import bound_flips
from labelsure.labelsets._words import Words

# Entries of ``numbers``: the level reached (-1: finished), members found, work done in evaluations, whether the root
# was looked at, whether the list of the present level was made, members in the buffer
LEVEL, FOUND, WORK, STARTED, LISTED, WRITTEN = range(6)

# Columns of ``levels``: the next child, where the list begins, its length, and the label flipped to come here
CHILD, BEGIN, LENGTH, FLIPPED = range(4)

# Columns of ``entries``: a label, the numerator with it flipped, and the highest one below that
LABEL, OWN, REACH = range(3)

# The entry of ``limit`` after those of a rank: whether as many labelsets as asked for were found
FULL = 2

# What a numerator is asked of: everything below a node; what flips one label more, at most; all that is left of a list;
# the labelset with one label more, at most, and exactly
NODE, BELOW, REST, OWN_BOUND, ITSELF = range(5)

# What a call of ``search_pairs`` ends with
FINISHED, BUDGET_SPENT, BUFFER_FULL, STACK_FULL = range(4)

WORK_PER_EVALUATION = 8
"""Entries of lists that take about as long as looking up one score."""

ANCHORS_PER_EVALUATION = 256
"""Words of anchors that a labelset is compared with while the scores of all folds are looked up."""


@kernel
def total_of(scores: IntArray, more: IntArray, penalty: IntArray, layout: IntArray) -> Integer:
    """Return the total score over the folds.

    Reference : the sum of _reference.score
    Requires : scores, more, penalty (K,)
    Cost : O(K)
    """
    total = np.int64(0)
    for k in range(scores.shape[0]):
        total += final_score(scores[k] + more[k], penalty[k], layout[k, LINK])
    return total


@kernel_part
def is_hopeless(
    value: Integer,
    scores: IntArray,
    more: IntArray,
    penalty: IntArray,
    layout: IntArray,
    ranked: bool,
    by_total: bool,
    limit: IntArray,
) -> bool:
    """Tell whether labelsets with at most this numerator and at least these scores are none of those looked for.

    Reference : tuple comparison in _reference.ranked
    Requires : scores, more, penalty (K,)
    Cost : one comparison, O(K) if it is a tie
    """
    if value != limit[NUMERATOR] or not ranked:
        return bool(value < limit[NUMERATOR])
    if limit[FULL] == 0 or not by_total:
        return bool(limit[FULL] != 0)
    return bool(total_of(scores, more, penalty, layout) > limit[TOTAL])


@kernel_part
def may_hold_better(
    value: Integer, total: Integer, words: Words, labels: IntArray, found: IntArray, keys: IntArray
) -> bool:
    """Tell whether a labelset that differs from ``words`` in some of ``labels`` only may come before the worst found.

    Reference : comparing the lowest of these codes
    Requires : at most this numerator, at least this total score; found and keys as in offer, all places taken
    Cost : O(W + number of labels)
    """
    lowest = words.copy()
    for j in labels:
        lowest[j >> 6] &= ~(np.uint64(1) << np.uint64(j & 63))
    spare = found[found.shape[0] - 1]
    best_first = found.shape[0] > 0  # True, but no constant: numba would compile precedes again for each
    write_key(value, total, lowest, True, spare, keys)
    return bool(precedes(spare, found[0], keys, best_first))


@kernel
def keep_if_best(
    value: Integer,
    total: Integer,
    words: Words,
    by_total: bool,
    numbers: IntArray,
    found: IntArray,
    keys: IntArray,
    limit: IntArray,
) -> None:
    """Offer a labelset to the best found, and raise the limit of what is looked for.

    Reference : heapq.heappushpop
    Requires : as offer
    Cost : O(log n) comparisons
    """
    numbers[FOUND] = offer(value, total, words, by_total, numbers[FOUND], found, keys)
    if numbers[FOUND] == keys.shape[0] - 1:
        limit[NUMERATOR] = -keys[found[0], NUMERATOR]
        limit[TOTAL] = keys[found[0], TOTAL]
        limit[FULL] = 1


@kernel
def search_pairs(
    sign: FloatArray,
    pairs: IntArray,
    diagonals: FloatArray,
    gains: FloatArray,
    slacks: FloatArray,
    charged: BoolArray,
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
    ranked: bool,
    by_total: bool,
    limit: IntArray,
    budget: Integer,
    numbers: IntArray,
    levels: IntArray,
    scores: IntArray,
    changes: FloatArray,
    entries: IntArray,
    words: Words,
    found: IntArray,
    keys: IntArray,
) -> Integer:
    """Go on with a search for all labelsets with a numerator of at least ``limit[0]``, or (ranked) for the best ones.

    The keys of all are written into ``keys``, in no order, until it is full but for one row; with no room they are only
    counted. The best are kept there as a heap whose order is in ``found``; without ``by_total`` only their numerators
    are compared. The state of the search is in ``numbers``, ``levels``, ``scores`` (the
    additive scores at each level), the lists of all levels one after the other in ``changes`` (what each flip adds)
    and ``entries``, and ``words`` (the present labelset).

    Reference : _reference.ranked
    Requires : sign (q,), -1. for labels that are on in the mode, else 1.; what is the same for both kinds of bounds as
        in bound_flips; everything in its state zero at the beginning but scores[0] = base, words = mode,
        levels[0, LENGTH] = n, and the first n columns of changes and of entries, with the labels and costs
    Cost : a few evaluations of K look-ups per member; O(n K) per list, n its length
    """
    zero = np.int64(0)
    n_folds, n_labels = slacks.shape
    n_words = words.shape[0]
    n_room = keys.shape[0] - 1
    nothing = np.zeros(n_folds, np.int64)
    penalty = np.zeros(n_folds, np.int64)
    asked_penalty = np.zeros(n_folds, np.int64)
    bounds = np.empty(n_folds, np.int64)
    more = np.empty(n_folds, np.int64)
    labels = np.empty(n_labels, np.int64)
    fresh = np.empty((n_folds, n_labels), np.float64)  # what each flip of the present list adds
    forced = np.empty((n_folds, n_labels), np.float64)
    nearest = np.empty((n_folds, n_labels), np.float64)
    work = np.empty((3, n_labels), np.float64)
    notes, order = np.empty(n_labels, np.int64), np.empty(n_labels, np.int64)
    totals = np.empty(n_labels, np.float64)
    penalty_work = anchors.size // ANCHORS_PER_EVALUATION
    last_work = numbers[WORK] + budget
    level = numbers[LEVEL]
    value = np.int64(0)
    arrived = numbers[STARTED] == 0  # at a labelset that may be one of those looked for
    sure = False  # whether a bound need not be asked if there is anything below
    if arrived:
        numbers[STARTED] = 1
        if penalised:
            penalties(words, labels[:0], zero, by_cardinality, anchors, anchor_begin, per_distance, asked_penalty)
            numbers[WORK] += penalty_work
        value = weigh(scores[0], nothing, asked_penalty, factors, weights, multipliers, buckets, values, counts, layout)
        numbers[WORK] += 1
    while level >= 0:
        if arrived:
            arrived = False
            some_on = allow_empty
            for w in range(n_words):
                some_on |= words[w] != 0
            if ranked and value >= limit[NUMERATOR] and some_on:  # the root; others are offered when they are listed
                total = total_of(scores[level], nothing, asked_penalty, layout) if by_total else zero
                keep_if_best(value, total, words, by_total, numbers, found, keys, limit)
            elif value >= limit[NUMERATOR] and some_on:
                numbers[FOUND] += 1
                if n_room > 0:
                    write_key(value, zero, words, True, numbers[WRITTEN], keys)
                    numbers[WRITTEN] += 1
            sure = value >= limit[NUMERATOR] and not ranked
        if numbers[WRITTEN] > 0 and numbers[WRITTEN] == n_room:
            numbers[LEVEL] = level
            return BUFFER_FULL
        if numbers[WORK] >= last_work:
            numbers[LEVEL] = level
            return BUDGET_SPENT
        if numbers[LISTED] == 0:
            # What may be flipped: at first everything, then what comes after the last flip in the list above
            source, begin = zero, zero
            n = levels[0, LENGTH]
            if level > 0:
                source = levels[level - 1, BEGIN] + levels[level - 1, CHILD]
                begin = levels[level - 1, BEGIN] + levels[level - 1, LENGTH]
                n = begin - source
            if begin + n > entries.shape[1]:
                numbers[LEVEL] = level
                return STACK_FULL
            numbers[LISTED] = 1
            numbers[WORK] += n * n_folds // WORK_PER_EVALUATION
            if ranked and level > 0:  # the limit may have risen since
                reach = entries[REACH, source - 1]
                if reach < limit[NUMERATOR] or (reach == limit[NUMERATOR] and limit[FULL] != 0 and not by_total):
                    n = zero
            flip = levels[level, FLIPPED]
            for i in range(n):
                labels[i] = entries[LABEL, source + i]
                totals[i] = 0.0
            for k in range(n_folds):
                for i in range(n):
                    fresh[k, i] = changes[k, source + i]
                    if level > 0:
                        fresh[k, i] += sign[flip] * sign[labels[i]] * pairs[k, flip, labels[i]]
                    totals[i] += fresh[k, i]
            if n > 0:
                bound_flips(
                    n, labels, fresh, pairs, sign, diagonals, gains, slacks, charged, work, notes, bounds, forced
                )
                if penalised:
                    penalties(words, labels[:n], zero, by_cardinality, anchors, anchor_begin, per_distance, penalty)
                    numbers[WORK] += penalty_work
            for i in range(n):  # cheap first: the list above was in order, so this one nearly is
                place = i
                while place > 0 and totals[order[place - 1]] > totals[i]:
                    order[place] = order[place - 1]
                    place -= 1
                order[place] = i
            n_kept = zero
            n_dropped = 0
            next_check = 1
            asked = BELOW if sure else NODE
            reach = zero
            i = 0
            # All questions in one place: numba compiles what is called once for each place
            while i < n:
                at = order[i]
                j = labels[at]
                for k in range(n_folds):
                    more[k] = bounds[k]
                    if asked == BELOW:
                        more[k] += np.int64(forced[k, at])
                    elif asked == REST:
                        more[k] += np.int64(nearest[k, i])
                    elif asked >= OWN_BOUND:
                        more[k] = np.int64(fresh[k, at])
                    if asked != ITSELF:
                        asked_penalty[k] = penalty[k]
                if asked == ITSELF:
                    words[j >> 6] ^= np.uint64(1) << np.uint64(j & 63)
                    if penalised:
                        penalties(
                            words, labels[:0], zero, by_cardinality, anchors, anchor_begin, per_distance, asked_penalty
                        )
                        numbers[WORK] += penalty_work
                value = weigh(
                    scores[level], more, asked_penalty, factors, weights, multipliers, buckets, values, counts, layout
                )
                numbers[WORK] += 1
                hopeless = is_hopeless(value, scores[level], more, asked_penalty, layout, ranked, by_total, limit)
                if asked == NODE:
                    if not hopeless and ranked and by_total and limit[FULL] != 0 and value == limit[NUMERATOR]:
                        total = total_of(scores[level], more, asked_penalty, layout)
                        hopeless = not may_hold_better(value, total, words, labels[:n], found, keys)
                    asked = BELOW
                    if hopeless:
                        break
                elif asked == REST:
                    asked = BELOW
                    if hopeless:
                        break
                elif asked == BELOW and not hopeless:
                    reach = value
                    asked = OWN_BOUND
                elif asked == BELOW:
                    i += 1
                    n_dropped += 1
                    if n_dropped == next_check and i < n:  # one question about all that are left
                        asked = REST
                        next_check *= 2
                        if n_dropped == 1:
                            for k in range(n_folds):
                                lowest = forced[k, order[n - 1]]
                                for later in range(n - 1, i - 1, -1):
                                    lowest = min(lowest, forced[k, order[later]])
                                    nearest[k, later] = lowest
                elif asked == OWN_BOUND and value >= limit[NUMERATOR] and (ranked or penalised):
                    asked = ITSELF
                else:
                    if asked == ITSELF:
                        some_on = allow_empty
                        for w in range(n_words):
                            some_on |= words[w] != 0
                        if ranked and value >= limit[NUMERATOR] and some_on:
                            total = total_of(scores[level], more, asked_penalty, layout) if by_total else zero
                            keep_if_best(value, total, words, by_total, numbers, found, keys, limit)
                        words[j >> 6] ^= np.uint64(1) << np.uint64(j & 63)
                    for k in range(n_folds):
                        changes[k, begin + n_kept] = fresh[k, at]
                    entries[LABEL, begin + n_kept] = j
                    entries[OWN, begin + n_kept] = value
                    entries[REACH, begin + n_kept] = reach
                    n_kept += 1
                    i += 1
                    asked = BELOW
            levels[level, CHILD] = 0
            levels[level, BEGIN] = begin
            levels[level, LENGTH] = n_kept
        child = levels[level, CHILD]
        if child == levels[level, LENGTH]:
            if level > 0:
                j = levels[level, FLIPPED]
                words[j >> 6] ^= np.uint64(1) << np.uint64(j & 63)
            level -= 1
            continue
        at = levels[level, BEGIN] + child
        levels[level, CHILD] = child + 1
        j = entries[LABEL, at]
        words[j >> 6] ^= np.uint64(1) << np.uint64(j & 63)
        for k in range(n_folds):
            scores[level + 1, k] = scores[level, k] + np.int64(changes[k, at])
        level += 1
        levels[level, FLIPPED] = j
        numbers[LISTED] = 0
        value = entries[OWN, at]
        sure = False
        arrived = not ranked and value >= limit[NUMERATOR]
    numbers[LEVEL] = -1
    return FINISHED

"""Compiled depth-first search: every labelset of a region, in time linear in their number and bounded memory.

A node of the search tree is a set of flips; its children add one flip at a later position. Flips come cheap first, so
the children of a node fail from some position on, and one look-up of what is nearest from there tells so. A position
that is not *hard* never lowers a score: below it, the bound of a subtree is the exact value of its root.
"""

import numpy as np

from labelsure._core.compilation import kernel
from labelsure._core.types import IntArray
from labelsure.labelsets._lookup_kernels import Int32Array, Integer, count_additive, weigh
from labelsure.labelsets._penalty_kernels import penalties
from labelsure.labelsets._words import Words

# Entries of ``numbers``: the level reached (-1: finished), members found, nodes looked at, whether the root was
LEVEL, FOUND, NODES, STARTED = range(4)

# What a numerator is asked of: the present labelset; everything with the next flip; everything with a later one
ITSELF, BELOW, AFTER = range(3)

# What a call of ``search`` ends with
FINISHED, BUDGET_SPENT, BUFFER_FULL = range(3)


@kernel
def search(
    label: IntArray,
    n_hard: Integer,
    cost: IntArray,
    rest: IntArray,
    nearest: IntArray,
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
    plain: bool,
    smallest: Integer,
    budget: Integer,
    numbers: IntArray,
    position: IntArray,
    flipped: IntArray,
    scores: IntArray,
    words: Words,
    found_words: Words,
    found_numerators: IntArray,
) -> Integer:
    """Go on with a depth-first search for labelsets with a numerator of at least ``smallest``.

    Members are written into ``found_words`` and ``found_numerators`` until these are full; with no room at all
    they are only counted. The state of the search is in ``numbers``, ``position`` and ``flipped`` (the next position
    to flip at each level, and the one flipped to reach it), ``scores`` (the additive scores at each level) and
    ``words`` (the present labelset).

    Reference : _reference.ranked
    Requires : one problem as in Problems, without pairs, with the positions that cannot be flipped left out; everything
        in its state zero at the beginning but scores[0] = base and words = mode
    Cost : about three evaluations of K look-ups per member; O(p K) memory
    """
    n_flips, n_folds = cost.shape
    counting = found_numerators.shape[0] == 0
    penalty = np.zeros(n_folds, np.int64)
    nothing = np.zeros(n_folds, np.int64)
    n_written = 0
    last_node = numbers[NODES] + budget
    level, t = numbers[LEVEL], np.int64(0)
    asked = ITSELF if numbers[STARTED] == 0 else BELOW
    numbers[STARTED] = 1
    while level >= 0:
        if asked == BELOW:
            t = position[level]
            if t >= n_flips:
                if level > 0:
                    last = label[flipped[level]]
                    words[last >> 6] ^= np.uint64(1) << np.uint64(last & 63)
                level -= 1
                continue
            if numbers[NODES] >= last_node:
                numbers[LEVEL] = level
                return BUDGET_SPENT
            for k in range(n_folds):
                scores[level + 1, k] = scores[level, k] + cost[t, k]
            position[level] = t + 1
            if penalised:  # the bound needs the flip already
                words[label[t] >> 6] ^= np.uint64(1) << np.uint64(label[t] & 63)
        # All questions in one place: numba compiles what is called once for each place
        present, more, n_known = level, nothing, n_flips
        if asked == BELOW:
            present, more, n_known = level + 1, rest[t + 1], t + 1
        elif asked == AFTER:
            more = nearest[t + 1]
        if plain:
            value = 1 + count_additive(scores[present], more, buckets, values, counts, layout)
        else:
            if asked == AFTER:
                for k in range(n_folds):
                    penalty[k] = 0
            elif penalised:
                penalties(words, label, n_known, by_cardinality, anchors, anchor_begin, per_distance, penalty)
            value = weigh(
                scores[present], more, penalty, factors, weights, multipliers, buckets, values, counts, layout
            )
        numbers[NODES] += 1
        if asked == AFTER:
            asked = BELOW
            if value < smallest:
                position[level] = n_flips
            continue
        if asked == BELOW:
            if penalised != (value >= smallest):  # go there, or take the flip back
                words[label[t] >> 6] ^= np.uint64(1) << np.uint64(label[t] & 63)
            if value < smallest:
                asked = AFTER if t + 1 < n_flips else BELOW
                continue
            level += 1
            position[level] = t + 1
            flipped[level] = t
            if t + 1 < n_hard or penalised:
                asked = ITSELF
                continue
        # Here ``value`` is the present labelset's own: nothing below is better where no position is hard
        asked = BELOW
        some_on = allow_empty
        for w in range(words.shape[0]):
            some_on |= words[w] != 0
        if value >= smallest and some_on:
            numbers[FOUND] += 1
            if not counting:
                for w in range(words.shape[0]):
                    found_words[n_written, w] = words[w]
                found_numerators[n_written] = value
                n_written += 1
                if n_written == found_numerators.shape[0]:
                    numbers[LEVEL] = level
                    return BUFFER_FULL
    numbers[LEVEL] = -1
    return FINISHED

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

# What a call of ``search`` ends with
FINISHED, BUDGET_SPENT, BUFFER_FULL = range(3)


@kernel
def toggle(
    t: Integer,
    direction: Integer,
    label: IntArray,
    sign: IntArray,
    pairs: IntArray,
    marginal: IntArray,
    words: Words,
) -> None:
    """Flip position t in ``words``, and add (1) or take back (-1) what that changes for the other positions.

    Reference : _problems.flip_costs of the flipped mode
    Requires : marginal (p, K); pairs (K, q, q) or (K, 0, 0)
    Cost : O(1), O(p K) where there are pairs
    """
    j = label[t]
    words[j >> 6] ^= np.uint64(1) << np.uint64(j & 63)
    if pairs.shape[1] > 0:
        for other in range(label.shape[0]):
            change = direction * sign[t] * sign[other]
            for k in range(pairs.shape[0]):
                marginal[other, k] += change * pairs[k, j, label[other]]


@kernel
def bound_rest(
    begin: Integer,
    n_hard: Integer,
    label: IntArray,
    sign: IntArray,
    pairs: IntArray,
    marginal: IntArray,
    bound: IntArray,
) -> None:
    """Write a lower bound of what flips from position ``begin`` on add, where there are pairs.

    A negative pair of two undecided positions is charged to the later one, so it no longer counts once either is
    decided; positions that are not hard cannot lower anything.

    Reference : the minimum over all sets of flips from there
    Requires : marginal (p, K), what flipping each position adds at present; bound (K,)
    Cost : O(K h^2), h the number of hard positions from begin on
    """
    for k in range(bound.shape[0]):
        bound[k] = 0
        for t in range(begin, n_hard):
            change = marginal[t, k]
            for before in range(begin, t):
                pair = sign[before] * sign[t] * pairs[k, label[before], label[t]]
                change += min(pair, 0)
            bound[k] += min(change, 0)


@kernel
def search(
    label: IntArray,
    n_hard: Integer,
    sign: IntArray,
    cost: IntArray,
    rest: IntArray,
    nearest: IntArray,
    pairs: IntArray,
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
    smallest: Integer,
    budget: Integer,
    numbers: IntArray,
    position: IntArray,
    flipped: IntArray,
    scores: IntArray,
    marginal: IntArray,
    words: Words,
    found_words: Words,
    found_numerators: IntArray,
) -> Integer:
    """Go on with a depth-first search for labelsets with a numerator of at least ``smallest``.

    Members are written into ``found_words`` and ``found_numerators`` until these are full; with no room at all
    they are only counted. The state of the search is in ``numbers``, ``position`` and ``flipped`` (the next position
    to flip at each level, and the one flipped to reach it), ``scores`` (the additive scores at each level),
    ``marginal`` (what flipping each position adds at present) and ``words`` (the present labelset).

    Reference : _reference.ranked
    Requires : one problem as in Problems, with the positions that cannot be flipped left out; everything in its state
        zero at the beginning but scores[0] = base, marginal = cost and words = mode
    Cost : about three evaluations of K look-ups per member; O(p K) memory
    """
    do, undo = np.int64(1), np.int64(-1)  # with a type: numba would compile toggle again for each constant
    n_flips, n_folds = cost.shape
    has_pairs = pairs.shape[1] > 0
    eager = has_pairs or penalised  # whether a bound needs the flip it is about to be made already
    counting = found_numerators.shape[0] == 0
    penalty = np.zeros(n_folds, np.int64)
    nothing = np.zeros(n_folds, np.int64)
    bound = np.empty(n_folds, np.int64)
    n_written = 0
    last_node = numbers[NODES] + budget
    level = numbers[LEVEL]
    value = np.int64(0)
    exact = False  # whether ``value`` is the present labelset's own
    arrived = numbers[STARTED] == 0  # at a labelset not looked at yet
    numbers[STARTED] = 1
    while level >= 0:
        if arrived:
            arrived = False
            if not exact:
                if penalised:
                    penalties(words, label, n_flips, by_cardinality, anchors, anchor_begin, per_distance, penalty)
                if plain:
                    value = 1 + count_additive(scores[level], nothing, buckets, values, counts, layout)
                else:
                    value = weigh(
                        scores[level], nothing, penalty, factors, weights, multipliers, buckets, values, counts, layout
                    )
                numbers[NODES] += 1
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
        t = position[level]
        if t >= n_flips:
            if level > 0:
                last = label[flipped[level]]
                if has_pairs:
                    toggle(flipped[level], undo, label, sign, pairs, marginal, words)
                else:
                    words[last >> 6] ^= np.uint64(1) << np.uint64(last & 63)
            level -= 1
            continue
        if numbers[NODES] >= last_node:
            numbers[LEVEL] = level
            return BUDGET_SPENT
        for k in range(n_folds):
            scores[level + 1, k] = scores[level, k] + marginal[t, k]
        position[level] = t + 1
        if eager:
            toggle(t, do, label, sign, pairs, marginal, words)
        exact = t + 1 >= n_hard and not penalised  # nothing below can be better than the node itself
        below = rest[t + 1]
        if has_pairs and not exact:
            bound_rest(t + 1, n_hard, label, sign, pairs, marginal, bound)
            below = bound
        if plain:
            value = 1 + count_additive(scores[level + 1], below, buckets, values, counts, layout)
        else:
            if penalised:
                penalties(words, label, t + 1, by_cardinality, anchors, anchor_begin, per_distance, penalty)
            value = weigh(
                scores[level + 1], below, penalty, factors, weights, multipliers, buckets, values, counts, layout
            )
        numbers[NODES] += 1
        if value >= smallest:
            if not eager:
                words[label[t] >> 6] ^= np.uint64(1) << np.uint64(label[t] & 63)
            level += 1
            position[level] = t + 1
            flipped[level] = t
            arrived = True
            continue
        if eager:
            toggle(t, undo, label, sign, pairs, marginal, words)
        if t + 1 >= n_flips:
            continue
        following = nearest[t + 1]
        if has_pairs and t + 1 < n_hard:
            bound_rest(t + 1, n_hard, label, sign, pairs, marginal, bound)
            following = bound
        if plain:
            value = 1 + count_additive(scores[level], following, buckets, values, counts, layout)
        else:
            for k in range(n_folds):
                penalty[k] = 0
            value = weigh(
                scores[level], following, penalty, factors, weights, multipliers, buckets, values, counts, layout
            )
        numbers[NODES] += 1
        if value < smallest:
            position[level] = n_flips
    numbers[LEVEL] = -1
    return FINISHED

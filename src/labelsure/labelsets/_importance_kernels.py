"""Compiled evaluation of labelsets drawn at random."""

import numpy as np

from labelsure._core.compilation import kernel
from labelsure._core.types import BoolArray, FloatArray, IntArray
from labelsure.labelsets._lookup_kernels import Int32Array, Integer, weigh
from labelsure.labelsets._penalty_kernels import penalties
from labelsure.labelsets._words import Words


@kernel
def weigh_flips(
    flips: BoolArray,
    base: IntArray,
    mode: Words,
    labels: IntArray,
    changes: FloatArray,
    sign: FloatArray,
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
    penalised: bool,
    allow_empty: bool,
    stranger: Integer,
    words: Words,
    numerators: IntArray,
) -> None:
    """Write the labelsets that rows of flips lead to, and their numerators; ``stranger`` for what is no candidate.

    Reference : _reference.numerator
    Requires : flips (m, n) of labels (n,), the others as in PairProblem; words (m, W), numerators (m,)
    Cost : O(n + K f^2) per row with f flips
    """
    n_folds, n_labels = changes.shape
    nothing, penalty, scores = np.zeros(n_folds, np.int64), np.zeros(n_folds, np.int64), np.empty(n_folds, np.int64)
    flipped = np.empty(n_labels, np.int64)
    for row in range(flips.shape[0]):
        n_flipped = 0
        for w in range(mode.shape[0]):
            words[row, w] = mode[w]
        for i in range(n_labels):
            if flips[row, i]:
                flipped[n_flipped] = i
                n_flipped += 1
                words[row, labels[i] >> 6] ^= np.uint64(1) << np.uint64(labels[i] & 63)
        for k in range(n_folds):
            added = 0.0
            for a in range(n_flipped):
                i = flipped[a]
                added += changes[k, i]
                for b in range(a if pairs.shape[1] > 0 else 0):
                    j = labels[flipped[b]]
                    added += sign[labels[i]] * sign[j] * pairs[k, labels[i], j]
            scores[k] = base[k] + np.int64(added)
        some_on = allow_empty
        for w in range(mode.shape[0]):
            some_on |= words[row, w] != 0
        if penalised:
            penalties(words[row], labels[:0], np.int64(0), by_cardinality, anchors, anchor_begin, per_distance, penalty)
        numerators[row] = stranger
        if some_on:
            numerators[row] = weigh(
                scores, nothing, penalty, factors, weights, multipliers, buckets, values, counts, layout
            )

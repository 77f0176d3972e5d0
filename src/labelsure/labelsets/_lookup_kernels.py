"""Compiled look-ups: how much the folds say for a labelset whose additive score in each fold is known."""

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from labelsure._core.compilation import kernel, kernel_part
from labelsure._core.types import IntArray

Int32Array = np.ndarray[tuple[int, ...], np.dtype[np.int32]]
UInt32Array = np.ndarray[tuple[int, ...], np.dtype[np.uint32]]
Integer: TypeAlias = Any
"""An int, or what numba makes of one."""

# Entries of ``factors``, the numbers of one object: what a calibration score >= its own adds, what a larger one adds
# on top, what the object adds itself, and the multiplier of the first fold's prefix
AT_LEAST, ABOVE, START, FIRST = range(4)

# Columns of FoldTables.layout
BUCKET_BEGIN, BUCKET_LAST, VALUE_BEGIN, VALUE_END, ORIGIN, SHIFT, LINK = range(7)


class FoldTables(NamedTuple):
    """What a look-up needs of K folds: a ScoreIndex with its numbers per fold in one array.

    Attributes
    ----------
    buckets, values, counts
        As in ScoreIndex.
    layout : int64 array of shape (K, 7)
        Where each fold's part of them lies, its origin and shift, and the shift of its square root link (-1: none).
    """

    buckets: Int32Array
    values: IntArray
    counts: IntArray
    layout: IntArray


@kernel_part
def integer_square_root(square: Integer) -> Integer:
    """Return the largest integer whose square is at most ``square``; 0 for negative ones.

    Reference : math.isqrt
    Requires : square < 2^62
    Cost : one float square root and two comparisons
    """
    if square <= 0:
        return 0
    root = np.int64(np.sqrt(np.float64(square)))
    while root * root > square:
        root -= 1
    while (root + 1) * (root + 1) <= square:
        root += 1
    return root


@kernel
def count_from(
    score: Integer, position: Integer, end: Integer, fold: Integer, values: IntArray, counts: IntArray
) -> Integer:
    """Return how many of a fold's calibration scores are at least ``score``, looking from ``position`` upwards.

    Reference : _core.calibration.Calibration.count_at_least
    Requires : the fold's values end at ``end`` and ascend; all before position are below score
    Cost : O(log d) comparisons, d the number of values passed
    """
    step = 1
    below = position - 1  # values[below] < score
    while position < end and values[position] < score:
        below = position
        position += step
        step *= 2
    above = min(position, end)  # values[above] >= score, or above is the end
    while above - below > 1:
        middle = (above + below) // 2
        if values[middle] < score:
            below = middle
        else:
            above = middle
    return counts[above + fold]


@kernel
def count_additive(
    scores: IntArray, more: IntArray, buckets: Int32Array, values: IntArray, counts: IntArray, layout: IntArray
) -> Integer:
    """Return how many calibration scores of all folds are at least ``scores + more``.

    Reference : the sum over the folds of Calibration.count_at_least
    Requires : scores, more (K,); tables as in FoldTables, no links
    Cost : one look-up per fold; the innermost step of every search, 2 to 3 ns per fold
    """
    total = np.int64(0)
    one = np.uint64(1)
    for k in range(np.uint64(scores.shape[0])):
        score = scores[k] + more[k]
        distance = np.uint64(max(score - layout[k, ORIGIN], 0))
        bucket = np.uint64(layout[k, BUCKET_BEGIN]) + (distance >> np.uint64(layout[k, SHIFT]))
        count = np.int64(buckets[min(bucket, np.uint64(layout[k, BUCKET_LAST]))])
        if count < 0:
            count = count_from(
                score, layout[k, VALUE_BEGIN] + ~count, layout[k, VALUE_END], np.int64(k * one), values, counts
            )
        total += count
    return total


@kernel
def final_score(additive: Integer, penalty: Integer, link: Integer) -> Integer:
    """Return link(additive) + penalty; link -1 is the identity, s >= 0 the integer root of additive * 2^s.

    Reference : _core.energy.Energy.scores
    Requires : additive * 2^s < 2^62
    Cost : at most one square root
    """
    if link >= 0:
        additive = integer_square_root(additive << link)
    return additive + penalty


@kernel
def weigh(
    scores: IntArray,
    more: IntArray,
    penalty: IntArray,
    factors: IntArray,
    weights: IntArray,
    multipliers: IntArray,
    buckets: Int32Array,
    values: IntArray,
    counts: IntArray,
    layout: IntArray,
) -> Integer:
    """Return the numerator of the p-value of a labelset with additive scores ``scores + more``.

    Reference : _reference.numerator; with weights, _rule.Rule.numerators
    Requires : scores, more, penalty (K,); factors (4,); weights and multipliers as in Rule, or empty; tables as in
        FoldTables
    Cost : one look-up per fold, two where smoothed
    """
    total = factors[START]
    lowest = np.int64(0)
    n_looks = 2 if factors[ABOVE] > 0 else 1
    for k in range(scores.shape[0]):
        score = final_score(scores[k] + more[k], penalty[k], layout[k, LINK])
        for strict in range(n_looks):  # written out: numba counts references to arrays at every call
            distance = np.uint64(max(score + strict - layout[k, ORIGIN], 0))
            bucket = np.uint64(layout[k, BUCKET_BEGIN]) + (distance >> np.uint64(layout[k, SHIFT]))
            count = np.int64(buckets[min(bucket, np.uint64(layout[k, BUCKET_LAST]))])
            if count < 0:
                first, end = layout[k, VALUE_BEGIN] + ~count, layout[k, VALUE_END]
                count = count_from(score + strict, first, end, k, values, counts)
            if strict:
                total += factors[ABOVE] * count
            else:
                total += weights[k, count] if weights.shape[0] > 0 else factors[AT_LEAST] * count
        if multipliers.shape[0] > 0:
            prefix = total * (factors[FIRST] if k == 0 else multipliers[k])
            lowest = prefix if k == 0 else min(lowest, prefix)
    return lowest if multipliers.shape[0] > 0 else total


@kernel
def weigh_rows(
    scores: IntArray,
    factors: IntArray,
    weights: IntArray,
    multipliers: IntArray,
    buckets: Int32Array,
    values: IntArray,
    counts: IntArray,
    layout: IntArray,
    numerators: IntArray,
) -> None:
    """Write the numerators of labelsets with the additive scores in each row and no penalty.

    Reference : _reference.numerator
    Requires : scores (m, K), numerators (m,)
    Cost : see weigh
    """
    nothing = np.zeros(scores.shape[1], np.int64)
    for row in range(scores.shape[0]):
        numerators[row] = weigh(
            scores[row], nothing, nothing, factors, weights, multipliers, buckets, values, counts, layout
        )

"""Compiled look-ups: how much the folds say for a labelset whose additive scores are known.

A fold's calibration scores lie in equal buckets, which hold counts; only where a score shares its
bucket with calibration scores is it compared with these::

    scores          3     5 5        9
    buckets   [ 4 | ~0 | ~1  |  1  | ~2 | 0 ]      ~p: compare, from the p-th distinct value on
"""

from typing import Any, TypeAlias

import numpy as np

from labelsure._checks import IntArray
from labelsure._compile import kernel_part, lean_kernel
from labelsure.engine import _fold_arrays as columns
from labelsure.engine._fold_arrays import FAR, ScoreTables
from labelsure.engine._weighing import ObjectWeighing, ObjectWeighings

Integer: TypeAlias = Any
"""An int, or what numba makes of one."""

BELOW = 2**50 - 1
"""The highest additive score; a link shifts by at most twelve bits."""


@kernel_part
def integer_square_root(square: Integer) -> Integer:
    """Return the largest integer whose square is at most ``square``; 0 for negative ones.

    Twin : math.isqrt
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


@lean_kernel
def count_from(score: Integer, position: Integer, k: Integer, tables: ScoreTables) -> Integer:
    """Return how many of fold k's scores are at least ``score``, searching from ``position`` on.

    Twin : labelsets._p_values.count_at_least
    Requires : all of the fold's values before position are below score
    Cost : O(log d) comparisons, d the number of values passed
    """
    values, end = tables.values, tables.layout[k, columns.VALUE_END]
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
    return tables.counts[above + tables.layout[k, columns.COUNT_SHIFT]]


@lean_kernel
def count_additive(scores: IntArray, more: IntArray, tables: ScoreTables) -> Integer:
    """Return how many calibration scores of all folds are at least ``scores + more``.

    Twin : the sum over the folds of count_at_least
    Requires : scores, more (K,); no links
    Cost : one look-up per fold; the innermost step of every search, 2 to 3 ns per fold
    """
    buckets, layout = tables.buckets, tables.layout
    total = np.int64(0)
    one = np.uint64(1)
    for k in range(np.uint64(scores.shape[0])):
        score = scores[k] + more[k]
        distance = np.uint64(max(score - layout[k, columns.ORIGIN], 0))
        bucket = np.uint64(layout[k, columns.BUCKET_BEGIN]) + (
            distance >> np.uint64(layout[k, columns.SHIFT])
        )
        count = np.int64(buckets[min(bucket, np.uint64(layout[k, columns.BUCKET_LAST]))])
        if count < 0:
            count = count_from(
                score, layout[k, columns.VALUE_BEGIN] + ~count, np.int64(k * one), tables
            )
        total += count
    return total


@kernel_part
def final_score(additive: Integer, penalty: Integer, link: Integer) -> Integer:
    """Return link(additive) + penalty; link s >= 0 is the integer root of additive * 2^s.

    Twin : measures._energy.Energy.scores
    Requires : additive below 2^50, or so far beyond that the root of 2^50 can stand for it
    Cost : at most one square root
    """
    if link >= 0:
        additive = integer_square_root(min(additive, BELOW) << link)
    return additive + penalty


@kernel_part
def total_of(scores: IntArray, more: IntArray, penalty: IntArray, tables: ScoreTables) -> Integer:
    """Return the total score over the folds of a labelset with additive scores ``scores + more``.

    Twin : the sum of labelset_reference.score
    Requires : scores, more, penalty (K,)
    Cost : O(K)
    """
    total = np.int64(0)
    for k in range(scores.shape[0]):
        total += final_score(scores[k] + more[k], penalty[k], tables.layout[k, columns.LINK])
    return total


@lean_kernel
def weigh(
    scores: IntArray,
    more: IntArray,
    penalty: IntArray,
    weighing: ObjectWeighing,
    tables: ScoreTables,
) -> Integer:
    """Return the numerator of the p-value of a labelset with additive scores ``scores + more``.

    Twin : labelset_reference.numerator; with weights, _weighing.Weighing.numerators
    Requires : scores, more, penalty (K,)
    Cost : one look-up per fold, two where smoothed
    """
    buckets, layout = tables.buckets, tables.layout
    weights = weighing.weights
    total = np.int64(weighing.start)
    n_looks = 2 if weighing.above > 0 else 1
    for k in range(scores.shape[0]):
        score = final_score(scores[k] + more[k], penalty[k], layout[k, columns.LINK])
        # written out: numba counts references to arrays at every call
        for strict in range(n_looks):
            distance = np.uint64(max(score + strict - layout[k, columns.ORIGIN], 0))
            bucket = np.uint64(layout[k, columns.BUCKET_BEGIN]) + (
                distance >> np.uint64(layout[k, columns.SHIFT])
            )
            count = np.int64(buckets[min(bucket, np.uint64(layout[k, columns.BUCKET_LAST]))])
            if count < 0:
                count = count_from(
                    score + strict, layout[k, columns.VALUE_BEGIN] + ~count, k, tables
                )
            if weights.shape[0] > 0:
                count = weights[k, count]
            total += count * (weighing.above if strict else weighing.at_least)
    return total


@kernel_part
def only_counts(weighing: ObjectWeighing, tables: ScoreTables) -> bool:
    """Tell whether numerators are a start and counts: ``count_additive`` is three times as fast.

    Twin : the definition
    Requires : nothing
    Cost : O(K)
    """
    plain = weighing.weights.shape[0] == 0 and weighing.at_least == 1 and weighing.above == 0
    for k in range(tables.layout.shape[0]):
        plain &= tables.layout[k, columns.LINK] < 0
    return bool(plain)


@kernel_part
def value_of(
    scores: IntArray,
    more: IntArray,
    penalty: IntArray,
    plain: bool,
    weighing: ObjectWeighing,
    tables: ScoreTables,
) -> Integer:
    """Return the numerator of additive scores ``scores + more``.

    Twin : weigh
    Requires : scores, more, penalty (K,), the last zeros where plain is, as only_counts tells
    Cost : that of count_additive or weigh
    """
    if plain:
        return weighing.start + count_additive(scores, more, tables)
    return weigh(scores, more, penalty, weighing, tables)


@kernel_part
def weighing_of(i: Integer, weighings: ObjectWeighings) -> ObjectWeighing:
    """Return the weighing of one of several objects.

    Twin : Weighing.of
    Requires : as ObjectWeighings
    Cost : one number
    """
    start: Integer = weighings.start[i]
    at_least: Integer = weighings.at_least[i]
    above: Integer = weighings.above[i]
    return ObjectWeighing(start, at_least, above, weighings.weights)


@kernel_part
def score_with(count: Integer, merged: IntArray) -> Integer:
    """Return the highest score that at least this many calibration scores are at least as large as.

    FAR where all scores are such, -FAR where none is.

    Twin : the definition
    Requires : merged ascending
    Cost : one look-up
    """
    if count <= 0:
        return np.int64(FAR)
    return merged[merged.shape[0] - count] if count <= merged.shape[0] else np.int64(-FAR)


@lean_kernel
def highest_score(
    numerator: Integer,
    scores: IntArray,
    nothing: IntArray,
    weighing: ObjectWeighing,
    tables: ScoreTables,
) -> Integer:
    """Return the highest score that, in all folds alike, gives at least this numerator.

    A labelset with a higher score in every fold has a lower numerator. FAR where all scores have
    the numerator, -FAR where none has. Numerators change at calibration scores and right after them
    only.

    Twin : the definition
    Requires : scores (K,), for notes, and nothing (K,), zeros; no links
    Cost : one look-up where counts are added up, else K for each halving of the scores
    """
    merged = tables.merged
    if weighing.weights.shape[0] == 0 and weighing.above == 0:
        return score_with(
            (numerator - weighing.start + weighing.at_least - 1) // weighing.at_least, merged
        )
    # merged[low] reaches the numerator, merged[high] does not; neither if outside
    low, high = -1, merged.shape[0]
    while high - low > 1:
        middle = (low + high) // 2
        for k in range(scores.shape[0]):
            scores[k] = merged[middle]
        if weigh(scores, nothing, nothing, weighing, tables) >= numerator:
            low = middle
        else:
            high = middle
    # smoothed p-values weigh the next score too
    next_score = merged[high] - 1 if high < merged.shape[0] else np.int64(FAR)
    for k in range(scores.shape[0]):
        scores[k] = next_score
    if weigh(scores, nothing, nothing, weighing, tables) >= numerator:
        return next_score
    return merged[low] if low >= 0 else np.int64(-FAR)

"""Compiled kernels of the engine: plain arrays in and out, no global state."""

import numpy as np

from labelsure._core.compilation import kernel
from labelsure._core.types import IntArray

Integer = int | np.int64
Int32Array = np.ndarray[tuple[int, ...], np.dtype[np.int32]]


@kernel
def subset_sums(start: int, costs: IntArray, sums: IntArray) -> None:
    """Write start + the sum of each subset of ``costs`` into ``sums``, by the subset's code.

    Reference : _reference.subset_sums
    Requires : sums of length 2^len(costs)
    Cost : one addition per subset
    """
    sums[0] = start
    size = 1
    for j in range(costs.shape[0]):
        for code in range(size):
            sums[size + code] = sums[code] + costs[j]
        size *= 2


@kernel
def count_among_values(score: Integer, position: Integer, values: IntArray, counts: IntArray) -> int:
    """Return how many calibration scores are at least ``score``, looking from ``position`` upwards.

    Reference : _core.calibration.Calibration.count_at_least
    Requires : values ascending; all values before position below score; counts as in ScoreIndex
    Cost : O(log d) comparisons, d the number of values passed
    """
    step = 1
    below = position - 1  # values[below] < score
    while position < values.shape[0] and values[position] < score:
        below = position
        position += step
        step *= 2
    above = min(position, values.shape[0])  # values[above] >= score, or above is the end
    while above - below > 1:
        middle = (above + below) // 2
        if values[middle] < score:
            below = middle
        else:
            above = middle
    return counts[above]  # type: ignore[no-any-return]


@kernel
def add_counts(
    base: int,
    low_sums: IntArray,
    buckets: Int32Array,
    values: IntArray,
    counts: IntArray,
    origin: int,
    shift: int,
    row: Int32Array,
) -> None:
    """Add to ``row`` the number of one fold's calibration scores >= base + low_sums.

    Reference : _reference.count_table
    Requires : base + low_sums >= origin; an index as in ScoreIndex; row as long as low_sums
    Cost : one look-up per score, and a comparison for those that share a bucket with a calibration score
    """
    # Unsigned numbers as indices spare numba's test for negative ones; 40 % of the time of this loop.
    offset = base - origin
    bits = np.uint64(shift)
    last = np.uint64(buckets.shape[0] - 1)
    for code in range(np.uint64(low_sums.shape[0])):
        distance = np.uint64(offset + low_sums[code])
        count = buckets[min(distance >> bits, last)]
        if count < 0:
            position = np.int64(~count)
            count = count_among_values(np.int64(distance) + origin, position, values, counts)
        row[code] += count


@kernel
def count_rows(
    constant: IntArray,
    unary: IntArray,
    pairwise: IntArray,
    buckets: Int32Array,
    bucket_start: IntArray,
    values: IntArray,
    counts: IntArray,
    value_start: IntArray,
    origin: IntArray,
    shift: IntArray,
    rows: Int32Array,
) -> None:
    """Write, for each object and labelset code, #{calibration scores of all folds >= the labelset's score there}.

    The labels are cut in two halves. Given the labels of the high half, the score of the low half is a table of
    subset sums, so each score costs one addition.

    Reference : _reference.count_table
    Requires : constant (K, n), unary (K, n, q), pairwise (K, q, q) above the diagonal or (K, 0, 0) for none,
        an index as in ScoreIndex, rows (n, 2^q)
    Cost : one addition and one look-up per object, labelset and fold; O(2^(q/2)) memory
    """
    n_folds, n_objects, n_labels = unary.shape
    n_low = (n_labels + 1) // 2
    has_pairs = pairwise.shape[1] > 0
    low_sums = np.empty(1 << n_low, np.int64)
    high_sums = np.empty(1 << (n_labels - n_low), np.int64)
    low_pairs = np.zeros((n_folds, low_sums.shape[0]), np.int64)
    high_pairs = np.zeros((n_folds, high_sums.shape[0]), np.int64)
    low_costs = np.empty(n_low, np.int64)
    if has_pairs:
        for k in range(n_folds):
            pair_sums(pairwise[k, :n_low, :n_low], low_pairs[k])
            pair_sums(pairwise[k, n_low:, n_low:], high_pairs[k])
    for i in range(n_objects):
        rows[i] = 0
        for k in range(n_folds):
            index = buckets[bucket_start[k] : bucket_start[k + 1]]
            fold_values = values[value_start[k] : value_start[k + 1]]
            fold_counts = counts[value_start[k] + k : value_start[k + 1] + k + 1]
            subset_sums(constant[k, i], unary[k, i, n_low:], high_sums)
            subset_sums(0, unary[k, i, :n_low], low_sums)
            for high in range(high_sums.shape[0]):
                if has_pairs:
                    add_cross_costs(unary[k, i, :n_low], pairwise[k, :n_low, n_low:], high, low_costs)
                    subset_sums(0, low_costs, low_sums)
                    low_sums += low_pairs[k]
                begin = high * low_sums.shape[0]
                add_counts(
                    high_sums[high] + high_pairs[k, high],
                    low_sums,
                    index,
                    fold_values,
                    fold_counts,
                    origin[k],
                    shift[k],
                    rows[i, begin : begin + low_sums.shape[0]],
                )


@kernel
def pair_sums(pairwise: IntArray, sums: IntArray) -> None:
    """Write the sum of the pairwise costs inside each subset of the labels into ``sums``, by the subset's code.

    Reference : _reference.count_table
    Requires : pairwise (p, p), only entries above the diagonal count; sums of length 2^p
    Cost : O(p 2^p)
    """
    n_labels = pairwise.shape[0]
    sums[0] = 0
    for top in range(n_labels):
        for rest in range(1 << top):
            total = sums[rest]
            for j in range(top):
                if rest >> j & 1:
                    total += pairwise[j, top]
            sums[(1 << top) + rest] = total


@kernel
def add_cross_costs(unary: IntArray, cross: IntArray, high: int, costs: IntArray) -> None:
    """Write into ``costs`` what each low label adds when the labels of the high half with code ``high`` are on.

    Reference : _reference.count_table
    Requires : unary (p,), cross (p, r): costs of pairs of a low and a high label; costs (p,)
    Cost : O(p r)
    """
    for j in range(unary.shape[0]):
        total = unary[j]
        for r in range(cross.shape[1]):
            if high >> r & 1:
                total += cross[j, r]
        costs[j] = total

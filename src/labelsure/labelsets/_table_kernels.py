"""Compiled tables: the counts of all labelsets of some objects, one by one."""

import numpy as np

from labelsure._core.compilation import kernel
from labelsure._core.types import IntArray
from labelsure.labelsets._lookup_kernels import (
    BUCKET_BEGIN,
    BUCKET_LAST,
    LINK,
    ORIGIN,
    SHIFT,
    VALUE_BEGIN,
    VALUE_END,
    Int32Array,
    Integer,
    count_from,
    final_score,
)


@kernel
def subset_sums(start: Integer, costs: IntArray, sums: IntArray) -> None:
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
def pair_sums(pairs: IntArray, sums: IntArray) -> None:
    """Write the sum of the pairwise costs inside each subset of the labels into ``sums``, by the subset's code.

    Reference : _reference.pair_sums
    Requires : pairs (p, p), only entries above the diagonal count; sums of length 2^p
    Cost : O(p 2^p)
    """
    sums[0] = 0
    for top in range(pairs.shape[0]):
        for rest in range(1 << top):
            total = sums[rest]
            for j in range(top):
                if rest >> j & 1:
                    total += pairs[j, top]
            sums[(1 << top) + rest] = total


@kernel
def add_cross_costs(unary: IntArray, cross: IntArray, high: Integer, costs: IntArray) -> None:
    """Write into ``costs`` what each low label adds when the labels of the high half with code ``high`` are on.

    Reference : _reference.add_cross_costs
    Requires : unary (p,), cross (p, r): costs of pairs of a low and a high label; costs (p,)
    Cost : O(p r)
    """
    for j in range(unary.shape[0]):
        total = unary[j]
        for r in range(cross.shape[1]):
            if high >> r & 1:
                total += cross[j, r]
        costs[j] = total


@kernel
def add_counts(
    base: Integer,
    sums: IntArray,
    k: Integer,
    buckets: Int32Array,
    values: IntArray,
    counts: IntArray,
    layout: IntArray,
    row: Int32Array,
) -> None:
    """Add to ``row`` the number of fold k's calibration scores >= base + sums.

    Reference : _core.calibration.Calibration.count_at_least
    Requires : base + sums >= the fold's origin; tables as in FoldTables; row as long as sums
    Cost : one look-up per score, and a comparison for those that share a bucket with a calibration score
    """
    # Unsigned numbers as indices spare numba's test for negative ones; 40 % of the time of this loop.
    origin = layout[k, ORIGIN]
    offset = base - origin
    bits = np.uint64(layout[k, SHIFT])
    own = buckets[layout[k, BUCKET_BEGIN] : layout[k, BUCKET_LAST] + 1]
    last = np.uint64(own.shape[0] - 1)
    for code in range(np.uint64(sums.shape[0])):
        distance = np.uint64(offset + sums[code])
        count = np.int64(own[min(distance >> bits, last)])
        if count < 0:
            score = np.int64(distance) + origin
            count = count_from(score, layout[k, VALUE_BEGIN] + ~count, layout[k, VALUE_END], k, values, counts)
        row[code] += count


@kernel
def count_rows(
    constant: IntArray,
    unary: IntArray,
    pairs: IntArray,
    penalty_rows: IntArray,
    buckets: Int32Array,
    values: IntArray,
    counts: IntArray,
    layout: IntArray,
    strict: Integer,
    rows: Int32Array,
) -> None:
    """Write, for each object and labelset code, #{calibration scores of all folds >= the labelset's score + strict}.

    The labels are cut in two halves. Given the labels of the high half, the additive score of the low half is a table
    of subset sums, so each score costs one addition.

    Reference : _reference.count_table, but for exceptions
    Requires : constant (K, n), unary (K, n, q), pairs (K, q, q) or (K, 0, 0), penalty_rows (K, 2^q) or (K, 0), tables
        as in FoldTables, rows (n, 2^q)
    Cost : one addition and one look-up per object, labelset and fold; O(K 2^(q/2)) memory
    """
    n_folds, n_objects, n_labels = unary.shape
    n_low = (n_labels + 1) // 2
    has_pairs = pairs.shape[1] > 0
    low_sums = np.empty(1 << n_low, np.int64)
    final = np.empty(1 << n_low, np.int64)
    high_sums = np.empty(1 << (n_labels - n_low), np.int64)
    low_pairs = np.zeros((n_folds, low_sums.shape[0]), np.int64)
    high_pairs = np.zeros((n_folds, high_sums.shape[0]), np.int64)
    low_costs = np.empty(n_low, np.int64)
    if has_pairs:
        for k in range(n_folds):
            pair_sums(pairs[k, :n_low, :n_low], low_pairs[k])
            pair_sums(pairs[k, n_low:, n_low:], high_pairs[k])
    for i in range(n_objects):
        rows[i] = 0
        for k in range(n_folds):
            plain = layout[k, LINK] < 0 and penalty_rows.shape[1] == 0
            subset_sums(constant[k, i] + (strict if plain else 0), unary[k, i, n_low:], high_sums)
            subset_sums(0, unary[k, i, :n_low], low_sums)
            for high in range(high_sums.shape[0]):
                if has_pairs:
                    add_cross_costs(unary[k, i, :n_low], pairs[k, :n_low, n_low:], high, low_costs)
                    subset_sums(0, low_costs, low_sums)
                    low_sums += low_pairs[k]
                base = high_sums[high] + high_pairs[k, high]
                begin = high * low_sums.shape[0]
                row = rows[i, begin : begin + low_sums.shape[0]]
                if plain:
                    add_counts(base, low_sums, k, buckets, values, counts, layout, row)
                    continue
                for code in range(low_sums.shape[0]):
                    penalty = penalty_rows[k, begin + code] if penalty_rows.shape[1] > 0 else 0
                    final[code] = final_score(base + low_sums[code], penalty, layout[k, LINK])
                add_counts(strict, final, k, buckets, values, counts, layout, row)

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

LOW_LABELS = 9
"""Their 2^9 sums stay in the first-level cache, and are enough to make the work per high part worth its start."""


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
    Cost : two additions per subset
    """
    sums[0] = 0
    for top in range(pairs.shape[0]):
        with_top = sums[1 << top : 2 << top]
        with_top[0] = 0
        for j in range(top):
            for rest in range(1 << j):
                with_top[(1 << j) + rest] = with_top[rest] + pairs[j, top]
        for rest in range(1 << top):
            with_top[rest] += sums[rest]


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
    pair_rows: IntArray,
    own_pairs: IntArray,
    penalty_rows: IntArray,
    buckets: Int32Array,
    values: IntArray,
    counts: IntArray,
    layout: IntArray,
    strict: Integer,
    rows: Int32Array,
) -> None:
    """Write, for each object and labelset code, #{calibration scores of all folds >= the labelset's score + strict}.

    The labels are cut in two parts. Given the labels of the high part, the additive scores of the low part are a table
    of subset sums, so each score costs one addition; pairs cost one more.

    Reference : _reference.count_table, but for exceptions
    Requires : constant (K, n), unary (K, n, q), pair_rows and penalty_rows (K, 2^q) or (K, 0), own_pairs (n, K, q, q)
        where objects have their own, else (1, K, 0, 0), tables as in FoldTables, rows (n, 2^q)
    Cost : one addition and one look-up per object, labelset and fold; O(2^max(q - 9, 9)) memory, O(2^q) and three
        additions more where objects have their own pairs
    """
    n_folds, n_objects, n_labels = unary.shape
    n_low = min(n_labels, LOW_LABELS)
    n_codes = 1 << n_low
    # Objects that share a fold's pairwise costs while these are in cache; else one at a time, to keep its row there
    group = n_objects if pair_rows.shape[1] > 0 else 1
    nothing = np.empty(0, np.int64)
    has_own = own_pairs.shape[2] > 0
    own_row = np.empty((1 << n_labels) if has_own else 0, np.int64)
    sums = np.empty(n_codes, np.int64)
    low_sums = np.empty((n_objects, n_codes), np.int64)
    high_sums = np.empty((n_objects, 1 << (n_labels - n_low)), np.int64)
    rows[:] = 0
    for first in range(0, n_objects, group):
        for k in range(n_folds):
            plain = layout[k, LINK] < 0 and penalty_rows.shape[1] == 0
            for i in range(first, first + group):
                subset_sums(constant[k, i] + (strict if plain else 0), unary[k, i, n_low:], high_sums[i])
                subset_sums(0, unary[k, i, :n_low], low_sums[i])
                if has_own:
                    pair_sums(own_pairs[i, k], own_row)
            for high in range(high_sums.shape[1]):
                begin, end = high * n_codes, (high + 1) * n_codes
                pairs = nothing
                if has_own:
                    pairs = own_row[begin:end]
                elif pair_rows.shape[1] > 0:
                    pairs = pair_rows[k, begin:end]
                for i in range(first, first + group):
                    base = high_sums[i, high]
                    row = rows[i, begin:end]
                    if plain and pairs.shape[0] == 0:
                        add_counts(base, low_sums[i], k, buckets, values, counts, layout, row)
                        continue
                    for code in range(pairs.shape[0]):
                        sums[code] = low_sums[i, code] + pairs[code]
                    if not plain:
                        for code in range(n_codes):
                            additive = base + (sums[code] if pairs.shape[0] > 0 else low_sums[i, code])
                            penalty = penalty_rows[k, begin + code] if penalty_rows.shape[1] > 0 else 0
                            sums[code] = final_score(additive, penalty, layout[k, LINK])
                        base = strict
                    add_counts(base, sums, k, buckets, values, counts, layout, row)

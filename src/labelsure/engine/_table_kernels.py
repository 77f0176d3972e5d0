"""Compiled tables: the counts of all labelsets of some objects, one by one.

The row of one object, with the labels of the high part chosen by block::

    high part  000              001              010            ...
              [low codes 0..511|low codes 0..511|low codes 0..511 ...]
    score      base(high) + low_sums[low], and what the code costs all objects
"""

from typing import NamedTuple

import numpy as np

from labelsure._checks import Int32Array, IntArray
from labelsure._compile import kernel, kernel_part
from labelsure.engine import _fold_arrays as columns
from labelsure.engine._fold_arrays import ScoreTables
from labelsure.engine._lookup_kernels import Integer, count_from

UInt32Array = np.ndarray[tuple[int, ...], np.dtype[np.uint32]]

LOW_LABELS = 9
"""Their 2^9 sums stay in the first-level cache, and are worth the start of each high part."""

GROUP = 8
"""Objects that share a fold's rows of codes while these are in the second-level cache."""


class AdditiveScores(NamedTuple):
    """What the scores of n objects' labelsets under K folds are sums of.

    Attributes
    ----------
    constant, unary : int64 arrays of shape (K, n) and (K, n, q)
    rows : int64 array of shape (K, 2^q) or (K, 0)
        Of every code, the same for all objects.
    least : int64 array of shape (K, 2^max(q - 9, 0))
        The least of ``rows`` in each high part, or zeros.
    """

    constant: IntArray
    unary: IntArray
    rows: IntArray
    least: IntArray


class Notes(NamedTuple):
    """Room for what ``add_counts`` notes: the bucket of each score, and which are shared."""

    places: UInt32Array
    shared: UInt32Array


@kernel_part
def subset_sums(start: Integer, costs: IntArray, sums: IntArray) -> None:
    """Write start + the sum of each subset of ``costs`` into ``sums``, by the subset's code.

    Twin : _numpy_rows.subset_sums
    Requires : sums of length 2^len(costs)
    Cost : one addition per subset
    """
    sums[0] = start
    size = 1
    for j in range(costs.shape[0]):
        for code in range(size):
            sums[size + code] = sums[code] + costs[j]
        size *= 2


@kernel_part
def add_rows(one: IntArray, other: IntArray, total: IntArray) -> None:
    """Write one + other into ``total``.

    Twin : numpy.add
    Requires : all of the same length
    Cost : one addition per entry, several at a time
    """
    for code in range(total.shape[0]):
        total[code] = one[code] + other[code]


@kernel_part
def add_counts(
    base: Integer, sums: IntArray, k: Integer, tables: ScoreTables, notes: Notes, row: Int32Array
) -> None:
    """Add to ``row`` the number of fold k's calibration scores >= base + sums.

    The buckets of all scores come first, in a loop without branches, which the processor does
    several at a time; it is a third faster so. Scores that share a bucket with a calibration score
    are noted, and compared at the end.

    Twin : labelsets._p_values.count_at_least
    Requires : notes and row as long as sums
    Cost : one look-up per score, and a comparison for those in a shared bucket
    """
    # Unsigned numbers as indices spare numba's test for negative ones
    layout = tables.layout
    places = notes.places
    shared = notes.shared
    offset = base - layout[k, columns.ORIGIN]
    bits = np.uint64(layout[k, columns.SHIFT])
    own = tables.buckets[layout[k, columns.BUCKET_BEGIN] : layout[k, columns.BUCKET_LAST] + 1]
    last = np.uint64(own.shape[0] - 1)
    for code in range(sums.shape[0]):
        places[code] = min(np.uint64(max(offset + sums[code], 0)) >> bits, last)
    n_shared = np.uint64(0)
    for code in range(np.uint64(sums.shape[0])):
        count = own[np.uint64(places[code])]
        if count < 0:
            shared[n_shared] = code
            n_shared += np.uint64(1)
        row[code] += count
    for i in range(n_shared):
        noted = np.uint64(shared[i])
        position = np.int64(~own[np.uint64(places[noted])])
        count = count_from(base + sums[noted], layout[k, columns.VALUE_BEGIN] + position, k, tables)
        row[noted] += count + position + 1  # not ~position


@kernel
def count_rows(
    additive: AdditiveScores, tables: ScoreTables, strict: Integer, rows: Int32Array
) -> None:
    """Add #{calibration scores of all folds >= score + strict} for each object and code.

    The labels are cut in two parts. Given the labels of the high part, the additive scores of the
    low part are a table of subset sums, so each score costs one addition; pairs cost one more.

    Twin : NumpyTable.count
    Requires : tables of the same folds, rows (n, 2^q)
    Cost : one addition and one look-up per object, labelset and fold, but for high parts
        stranger than all calibration examples; O(2^max(q - 9, 9)) memory
    """
    # typed, not a constant: numba would recompile callees for each constant
    zero = np.int64(0)
    unary = additive.unary
    code_rows = additive.rows
    layout = tables.layout
    n_folds, n_objects, n_labels = unary.shape
    n_low = min(n_labels, LOW_LABELS)
    n_codes, n_high = 1 << n_low, 1 << (n_labels - n_low)
    low_sums, sums = np.empty(n_codes, np.int64), np.empty(n_codes, np.int64)
    high_sums = np.empty(n_high, np.int64)
    notes = Notes(np.empty(n_codes, np.uint32), np.empty(n_codes, np.uint32))
    for first in range(0, n_objects, GROUP):
        for k in range(n_folds):
            most = tables.values[layout[k, columns.VALUE_END] - 1]
            for i in range(first, min(first + GROUP, n_objects)):
                subset_sums(additive.constant[k, i] + strict, unary[k, i, n_low:], high_sums)
                subset_sums(zero, unary[k, i, :n_low], low_sums)
                least = zero
                for j in range(n_low):
                    least += min(unary[k, i, j], 0)
                for high in range(n_high):
                    base = high_sums[high]
                    if base + least + additive.least[k, high] > most:
                        continue  # stranger than all calibration examples
                    begin, end = high * n_codes, (high + 1) * n_codes
                    own_sums = low_sums
                    if code_rows.shape[1] > 0:
                        add_rows(low_sums, code_rows[k, begin:end], sums)
                        own_sums = sums
                    add_counts(base, own_sums, k, tables, notes, rows[i, begin:end])

"""What a look-up needs: tables in front of the calibration scores, penalties, and how counts are weighed.

The range of a fold's calibration scores is cut into equal buckets. A bucket without a calibration score inside has
one count for every score that falls into it; only scores that share a bucket with a calibration score are compared,
exactly, with the few values there. So a count is one look-up instead of a binary search.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from labelsure._core.calibration import Calibration
from labelsure._core.energy_parts import Penalty
from labelsure._core.labelset_bits import Words, pack
from labelsure._core.types import IntArray
from labelsure.labelsets.arrays._weighing import ObjectWeighing

Int32Array = np.ndarray[tuple[int, ...], np.dtype[np.int32]]

BUCKET_BITS = 13
"""2^13 four-byte buckets are 32 KiB: the first-level cache of today's processors, so look-ups do not wait."""

MAX_BUCKET_BITS = 17
"""Many calibration scores would share so few buckets; up to 2^17 of them still are in the second-level cache."""

# Columns of ScoreTables.layout
BUCKET_BEGIN, BUCKET_LAST, VALUE_BEGIN, VALUE_END, COUNT_SHIFT, ORIGIN, SHIFT, LINK = range(8)


class ScoreTables(NamedTuple):
    """The calibration scores of K folds, concatenated.

    Attributes
    ----------
    buckets : int32 array
        The number of calibration scores at least as large as any score in the bucket or, where that differs within the
        bucket, ``~p`` with p the position among the fold's values of the first calibration score there.
    values : int64 array
        The distinct calibration scores, ascending within each fold.
    counts : int64 array
        How many calibration scores are >= each value, and a 0 after those of each fold.
    layout : int64 array of shape (K, 8)
        Where the fold's buckets begin, which is its last, where its values begin and end, by how much further its
        counts lie, the origin and shift of its buckets (score s falls into bucket ``(s - origin) >> shift``, larger
        ones than all into the last), and the shift of its square root link (-1: none).
    """

    buckets: Int32Array
    values: IntArray
    counts: IntArray
    layout: IntArray

    @classmethod
    def of(
        cls, calibrations: Sequence[Calibration], lowest_scores: Sequence[int], links: Sequence[int]
    ) -> "ScoreTables":
        """Return the tables of several folds.

        Parameters
        ----------
        calibrations : sequence of Calibration
            None empty.
        lowest_scores : sequence of int
            A lower bound of every score of the fold's labelsets.
        links : sequence of int
            Shifts of square roots, -1 where there is none.
        """
        buckets, values, counts, rows = [], [], [], []
        n_buckets = n_values = 0
        for k, (calibration, low, link) in enumerate(zip(calibrations, lowest_scores, links, strict=True)):
            own_values, own_counts = calibration.distinct
            origin = min(int(own_values[0]), low)
            own, shift = _buckets(own_values, own_counts, origin)
            ends = n_buckets + len(own), n_values + len(own_values)
            rows.append([n_buckets, ends[0] - 1, n_values, ends[1], k, origin, shift, link])
            n_buckets, n_values = ends
            buckets.append(own)
            values.append(own_values)
            counts.append(own_counts)
        layout = np.array(rows, dtype=np.int64)
        return cls(np.concatenate(buckets), np.concatenate(values), np.concatenate(counts), layout)


def _buckets(values: IntArray, counts: IntArray, origin: int) -> tuple[Int32Array, int]:
    """Return the buckets of one fold, and the shift that leads to them."""
    span = int(values[-1]) - origin
    bits = min(max(BUCKET_BITS, (16 * len(values)).bit_length()), MAX_BUCKET_BITS)
    shift = max(0, span.bit_length() - bits)
    n_buckets = (span >> shift) + 2  # the last one: above every calibration score
    occupied = (values - origin) >> shift
    first_value = np.searchsorted(occupied, np.arange(n_buckets))
    buckets = counts[first_value].astype(np.int32)
    buckets[occupied] = ~first_value[occupied].astype(np.int32)
    return buckets, shift


class Penalties(NamedTuple):
    """The penalties of K folds.

    Attributes
    ----------
    by_cardinality : int64 array of shape (K, levels, q + 1)
        The least penalty by number of labels over 1, 2, 4, ... numbers from each on.
    anchors : uint64 array of shape (A, W)
        Labelsets as words, fold k's from ``anchor_begin[k]`` on.
    anchor_begin : int64 array of shape (K + 1,)
    per_distance : int64 array of shape (K,)
        What each unit of Hamming distance to the nearest of them costs.
    present : bool
        Whether any fold has a penalty.
    """

    by_cardinality: IntArray
    anchors: Words
    anchor_begin: IntArray
    per_distance: IntArray
    present: bool

    @classmethod
    def of(cls, penalties: Sequence[Penalty | None], n_labels: int) -> "Penalties":
        """Return the penalties of several folds, None where a fold has none."""
        by_cardinality = np.zeros((len(penalties), n_labels + 1), dtype=np.int64)
        per_distance = np.zeros(len(penalties), dtype=np.int64)
        anchors: list[Words] = [np.empty((0, (n_labels + 63) // 64), dtype=np.uint64)] * len(penalties)
        for k, penalty in enumerate(penalties):
            if penalty is not None and penalty.by_cardinality is not None:
                by_cardinality[k] = penalty.by_cardinality
            if penalty is not None and penalty.per_distance > 0 and penalty.anchors is not None:
                per_distance[k] = penalty.per_distance
                anchors[k] = pack(penalty.anchors)
        return cls(
            by_cardinality=_range_minima(by_cardinality),
            anchors=np.concatenate(anchors),
            anchor_begin=np.cumsum([0, *map(len, anchors)], dtype=np.int64),
            per_distance=per_distance,
            present=any(penalty is not None for penalty in penalties),
        )

    def rows(self, n_labels: int) -> IntArray:
        """Return the penalty of every labelset code in each fold, (K, 2^q), or (K, 0) where there is none."""
        if not self.present:
            return np.empty((len(self.per_distance), 0), dtype=np.int64)
        cardinality = np.bitwise_count(np.arange(2**n_labels)).astype(np.int64)
        rows = np.stack([of_fold[0, cardinality] for of_fold in self.by_cardinality])
        for k, per_distance in enumerate(self.per_distance):
            if per_distance > 0:
                own = self.anchors[self.anchor_begin[k] : self.anchor_begin[k + 1], 0]
                rows[k] += per_distance * _distances(own.astype(np.int64), n_labels)
        return rows


class Lookup(NamedTuple):
    """All that the numerator of one object's labelset follows from, once its additive scores are known.

    Attributes
    ----------
    tables : ScoreTables
    penalties : Penalties
    weighing : ObjectWeighing
    allow_empty : bool
        Whether the empty labelset is a candidate.
    """

    tables: ScoreTables
    penalties: Penalties
    weighing: ObjectWeighing
    allow_empty: bool


def _range_minima(rows: IntArray) -> IntArray:
    """Return the minima of 2^level entries from each on, (K, levels, p); ranges beyond the end are cut off."""
    levels = [rows]
    while (1 << len(levels)) <= rows.shape[1]:
        half = 1 << (len(levels) - 1)
        last = levels[-1]
        levels.append(np.concatenate([np.minimum(last[:, :-half], last[:, half:]), last[:, -half:]], axis=1))
    return np.ascontiguousarray(np.stack(levels, axis=1))


def _distances(codes: IntArray, n_labels: int) -> IntArray:
    """Return the Hamming distance from every code to the nearest of ``codes``, one label at a time."""
    distances = np.full(2**n_labels, n_labels + 1, dtype=np.int64)
    distances[codes] = 0
    for j in range(n_labels):
        pairs = distances.reshape(-1, 2, 2**j)
        flipped = pairs[:, ::-1, :] + 1
        np.minimum(pairs, flipped, out=pairs)
    return distances

"""Folds as the plain arrays that kernels take."""

from collections.abc import Sequence

import numpy as np

from labelsure._core.types import IntArray
from labelsure.labelsets._fold import Fold
from labelsure.labelsets._fold_pairs import FoldPairs
from labelsure.labelsets._index import index_calibrations
from labelsure.labelsets._lookup_kernels import FoldTables
from labelsure.labelsets._words import Words, pack


def fold_tables(folds: Sequence[Fold]) -> FoldTables:
    """Return the folds' calibration scores, ready to be looked up."""
    index = index_calibrations([fold.calibration for fold in folds], [fold.energy.lower_bound() for fold in folds])
    links = [-1 if fold.energy.link is None else fold.energy.link.shift for fold in folds]
    layout = np.column_stack(
        [
            index.bucket_start[:-1],
            index.bucket_start[1:] - 1,
            index.value_start[:-1],
            index.value_start[1:],
            index.origin,
            index.shift,
            links,
        ]
    )
    return FoldTables(index.buckets, index.values, index.counts, np.ascontiguousarray(layout, dtype=np.int64))


class FoldParts:
    """What is the same for all objects of the folds: pairwise costs and penalties, stacked once.

    Attributes
    ----------
    pairs : FoldPairs
        Pairwise costs; where objects have their own, these are stacked when asked for.
    by_cardinality, anchors, anchor_begin, per_distance
        The least penalty by number of labels over 1, 2, 4, ... numbers from each on, (K, levels, q + 1); labelsets as
        words, fold k's from ``anchor_begin[k]`` on; and what each unit of Hamming distance to the nearest of them
        costs, (K,).
    has_penalty, has_link : bool
        Whether any fold has one.
    """

    def __init__(self, folds: Sequence[Fold]) -> None:
        n_labels = folds[0].energy.n_labels
        self.pairs = FoldPairs(folds)
        penalties = [fold.energy.penalty for fold in folds]
        self.has_penalty = any(penalty is not None for penalty in penalties)
        self.has_link = any(fold.energy.link is not None for fold in folds)
        by_cardinality = np.zeros((len(folds), n_labels + 1), dtype=np.int64)
        self.per_distance = np.zeros(len(folds), dtype=np.int64)
        anchors: list[Words] = []
        for k, penalty in enumerate(penalties):
            anchors.append(np.empty((0, (n_labels + 63) // 64), dtype=np.uint64))
            if penalty is not None:
                if penalty.by_cardinality is not None:
                    by_cardinality[k] = penalty.by_cardinality
                if penalty.per_distance > 0 and penalty.anchors is not None:
                    self.per_distance[k] = penalty.per_distance
                    anchors[k] = pack(penalty.anchors)
        self.by_cardinality = _range_minima(by_cardinality)
        self.anchors = np.concatenate(anchors)
        self.anchor_begin = np.cumsum([0, *map(len, anchors)], dtype=np.int64)


def penalty_rows(folds: Sequence[Fold], parts: FoldParts) -> IntArray:
    """Return the penalty of every labelset code in each fold, (K, 2^q), or (K, 0) where there is none."""
    n_labels = folds[0].energy.n_labels
    if not parts.has_penalty:
        return np.empty((len(folds), 0), dtype=np.int64)
    cardinality = np.bitwise_count(np.arange(2**n_labels)).astype(np.int64)
    rows = np.stack([of_fold[0, cardinality] for of_fold in parts.by_cardinality])
    for k, per_distance in enumerate(parts.per_distance):
        if per_distance > 0:
            own = parts.anchors[parts.anchor_begin[k] : parts.anchor_begin[k + 1], 0]
            rows[k] += per_distance * _distances(own.astype(np.int64), n_labels)
    return rows


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

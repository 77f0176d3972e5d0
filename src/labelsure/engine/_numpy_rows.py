"""Rows of all codes in plain numpy: what kernels are compared with, and the first to answer."""

import numpy as np

from labelsure._checks import Int32Array, IntArray
from labelsure.engine._fold_arrays import ScoreTables
from labelsure.measures._energy import Energy, Penalty
from labelsure.measures._labelset_bits import encode

SCORE_SECONDS = 3e-9
"""What a score takes with its look-up, up to 14 labels."""


def scores_of_codes(energy: Energy, objects: IntArray) -> IntArray:
    """Return the scores of every code of some objects, (n, 2^q).

    Examples
    --------
    >>> pairwise = np.array([[0, 10], [0, 0]])
    >>> energy = Energy(np.array([3]), np.array([[-1, 4]]), pairwise)
    >>> scores_of_codes(energy, np.array([0])).tolist()
    [[3, 2, 7, 16]]
    """
    scores = subset_sums(energy.constant[objects], energy.unary[objects])
    if energy.pairwise is not None:
        scores += pair_sums(
            energy.pairwise[None] if energy.pairwise.ndim == 2 else energy.pairwise[objects]
        )
    if energy.link is not None:
        scores = energy.link(scores)
    for maximum in energy.maxima:
        scores += subset_maxima(maximum.off[objects], maximum.on[objects])
    if energy.penalty is not None:
        scores += penalties_of_codes(energy.penalty, energy.n_labels)
    if energy.discounts is not None:
        spared = np.zeros(2**energy.n_labels, dtype=np.int64)
        spared[encode(energy.discounts.labelsets)] = energy.discounts.amounts
        scores -= spared
    if energy.overrides is not None:
        own = energy.overrides.take(objects)
        scores[own.owners(), encode(own.labelsets)] = own.scores
    return scores


def count_scores(scores: IntArray, k: int, tables: ScoreTables, *, strict: bool) -> Int32Array:
    """Return how many of fold k's calibration scores are >= (> if strict) each of some scores."""
    begin, last, first, end, shift, origin, bits, _ = tables.layout[k].tolist()
    buckets = tables.buckets[begin : last + 1]
    counts: Int32Array = buckets.take((scores - (origin - strict)) >> bits, mode="clip")
    compared = np.flatnonzero(counts < 0)  # these share a bucket with a calibration score
    places = np.searchsorted(tables.values[first:end], scores.flat[compared] + strict)
    counts.flat[compared] = tables.counts[places + first + shift]
    return counts


def subset_sums(start: IntArray, costs: IntArray) -> IntArray:
    """Return start + the sums of all subsets of each row of costs, (n, 2^q), by the subsets' codes.

    Examples
    --------
    >>> subset_sums(np.array([1]), np.array([[10, 100]])).tolist()
    [[1, 11, 101, 111]]
    """
    sums = np.empty((len(costs), 2 ** costs.shape[1]), dtype=np.int64)
    sums[:, 0] = start
    for j, cost in enumerate(costs.T):
        np.add(sums[:, : 2**j], cost[:, None], out=sums[:, 2**j : 2 << j])
    return sums


def pair_sums(pairs: IntArray) -> IntArray:
    """Return the sums of the costs of pairs inside each subset of the labels, (n, 2^q)."""
    sums = np.zeros((len(pairs), 2 ** pairs.shape[1]), dtype=np.int64)
    for r in range(pairs.shape[1]):
        np.add(
            sums[:, : 2**r], subset_sums(sums[:, 0], pairs[:, :r, r]), out=sums[:, 2**r : 2 << r]
        )
    return sums


def subset_maxima(off: IntArray, on: IntArray) -> IntArray:
    """Return the largest cost of any label, which is off or on, (n, 2^q)."""
    maxima = np.full((len(off), 1), np.iinfo(np.int64).min)
    for j in range(off.shape[1]):
        maxima = np.concatenate(
            [np.maximum(maxima, costs[:, j, None]) for costs in (off, on)], axis=1
        )
    return maxima


def penalties_of_codes(penalty: Penalty, n_labels: int) -> IntArray:
    """Return what every code pays, (2^q,)."""
    costs = np.zeros(2**n_labels, dtype=np.int64)
    if penalty.by_cardinality is not None:
        costs += penalty.by_cardinality[np.bitwise_count(np.arange(2**n_labels))]
    if penalty.per_distance and penalty.anchors is not None:
        costs += penalty.per_distance * distances_of_codes(encode(penalty.anchors), n_labels)
    return costs


def distances_of_codes(anchors: IntArray, n_labels: int) -> IntArray:
    """Return the Hamming distance from every code to the nearest anchor, one label at a time."""
    distances: IntArray = np.full(2**n_labels, n_labels + 1)
    distances[anchors] = 0
    for j in range(n_labels):
        halves = distances.reshape(-1, 2, 2**j)
        np.minimum(halves, halves[:, ::-1] + 1, out=halves)
    return distances

"""Non-negative penalties on labelsets, the same for all objects of a fold."""

from dataclasses import dataclass

import numpy as np

from labelsure._core.labelset_keys import labelset_keys, labelset_words
from labelsure._core.types import IntArray, LabelMatrix

BLOCK_DISTANCES = 2**21
"""Distances worked out at a time, 16 MiB of them."""


@dataclass(frozen=True, eq=False)
class Penalty:
    """A cost by number of labels, plus a cost per unit of Hamming distance to the nearest of given labelsets.

    Attributes
    ----------
    by_cardinality : int64 array of shape (q + 1,) or None
        What labelsets with 0, 1, ... labels pay; not negative.
    anchors : int8 array of shape (A, q) or None
        Labelsets; each other one pays for its distance to the nearest of them.
    per_distance : int
        What a distance of one label costs; not negative.

    Examples
    --------
    >>> import numpy as np
    >>> penalty = Penalty(np.array([5, 0, 0]), anchors=np.array([[1, 0]], dtype=np.int8), per_distance=2)
    >>> penalty.costs(np.array([[0, 0], [1, 0], [0, 1]])).tolist()
    [7, 0, 4]
    """

    by_cardinality: IntArray | None = None
    anchors: LabelMatrix | None = None
    per_distance: int = 0

    def __post_init__(self) -> None:
        if self.by_cardinality is not None and (self.by_cardinality < 0).any():
            raise ValueError("by_cardinality must not be negative: a penalty only makes labelsets stranger.")
        if self.per_distance < 0:
            raise ValueError(f"per_distance must not be negative, got {self.per_distance}.")
        if self.per_distance > 0 and (self.anchors is None or not len(self.anchors)):
            raise ValueError("per_distance needs at least one labelset in anchors to measure the distance from.")

    def costs(self, Y: LabelMatrix | IntArray) -> IntArray:
        """Return the penalty of each row of ``Y``."""
        on = np.asarray(Y, dtype=np.int64)
        costs = np.zeros(len(on), dtype=np.int64)
        if self.by_cardinality is not None:
            costs += self.by_cardinality[on.sum(axis=1)]
        if self.per_distance > 0 and self.anchors is not None:
            _, first, which = np.unique(labelset_keys(on), return_index=True, return_inverse=True)
            costs += self.per_distance * _nearest(on[first], self.anchors)[which]
        return costs

    def largest_cost(self, n_labels: int) -> int:
        """Return a number that no labelset pays more than."""
        by_cardinality = 0 if self.by_cardinality is None else int(self.by_cardinality.max())
        return by_cardinality + self.per_distance * n_labels

    def flat_cost(self) -> int | None:
        """Return what all labelsets pay alike; None where they pay differently."""
        if self.per_distance > 0:
            return None
        if self.by_cardinality is None:
            return 0
        first = int(self.by_cardinality[0])
        return first if (self.by_cardinality == first).all() else None

    def __add__(self, other: "Penalty") -> "Penalty":
        """Return the penalty that costs what both cost together; distances must be to the same labelsets."""
        by_cardinality = other.by_cardinality
        if self.by_cardinality is not None:
            by_cardinality = self.by_cardinality if by_cardinality is None else self.by_cardinality + by_cardinality
        anchors = self.anchors if self.per_distance > 0 else other.anchors
        lists = [part.anchors for part in (self, other) if part.per_distance > 0 and part.anchors is not None]
        if len({frozenset(labelset_keys(one).tolist()) for one in lists}) > 1:
            raise ValueError("Two penalties by distance can only be added where they measure it to the same labelsets.")
        return Penalty(by_cardinality, anchors=anchors, per_distance=self.per_distance + other.per_distance)


def _nearest(on: IntArray, anchors: LabelMatrix) -> IntArray:
    """Return the Hamming distance of each row of ``on`` to the nearest row of ``anchors``."""
    points, others = labelset_words(on), labelset_words(anchors)
    n_rows = max(1, BLOCK_DISTANCES // len(others))
    nearest = np.empty(len(points), dtype=np.int64)
    for start in range(0, len(points), n_rows):
        block = points[start : start + n_rows]
        distances = np.zeros((len(block), len(others)), dtype=np.int64)
        for word in range(points.shape[1]):
            distances += np.bitwise_count(block[:, word, None] ^ others[:, word])
        nearest[start : start + n_rows] = distances.min(axis=1)
    return nearest

"""What an energy may have beside sums over labels and pairs: link, maximum, penalty, discounts, overrides."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add

import numpy as np

from labelsure._core.labelset_bits import Keys, find_keys, labelset_keys, pack
from labelsure._core.types import IntArray, LabelMatrix


@dataclass(frozen=True)
class SquareRoot:
    """The square root of the additive part, rounded down to an integer: floor(sqrt(a 2^shift)).

    With a in units of 2^-e the result is in units of 2^-(e + shift)/2. Negative a count as 0.

    Attributes
    ----------
    shift : int
        From 0 to 12, so that a < 2^50 leaves room for it.

    Examples
    --------
    >>> import numpy as np
    >>> SquareRoot(shift=2)(np.array([-1, 4, 5])).tolist()
    [0, 4, 4]
    """

    shift: int

    def __post_init__(self) -> None:
        if not 0 <= self.shift <= 12:
            raise ValueError(f"shift must lie between 0 and 12, got {self.shift!r}.")

    def __call__(self, additive: IntArray) -> IntArray:
        """Return the integer square roots."""
        square = np.maximum(additive, 0) << self.shift
        root: IntArray = np.sqrt(square.astype(np.float64)).astype(np.int64)
        root -= root * root > square
        root += (root + 1) * (root + 1) <= square
        return root


@dataclass(frozen=True, eq=False)
class Maximum:
    """For each of n objects, what every label costs when it is off and when it is on; only the largest cost counts.

    Attributes
    ----------
    off, on : int64 arrays of shape (n, q)
        The costs.

    Examples
    --------
    >>> import numpy as np
    >>> maximum = Maximum(off=np.array([[1, 5]]), on=np.array([[7, 2]]))
    >>> maximum.costs(np.array([[0, 1]]), np.array([0])).tolist()
    [2]
    """

    off: IntArray
    on: IntArray

    def take(self, objects: IntArray | slice) -> "Maximum":
        """Return the costs of some of the objects."""
        return Maximum(self.off[objects], self.on[objects])

    def costs(self, Y: LabelMatrix | IntArray, objects: IntArray) -> IntArray:
        """Return the largest cost in labelset ``Y[r]`` of object ``objects[r]``, or of one object for all."""
        largest: IntArray = np.where(Y == 1, self.on[objects], self.off[objects]).max(axis=1)
        return largest

    def extremes(self, extreme: np.ufunc) -> IntArray:
        """Return what the largest cost of each object's labelsets is at least (np.minimum) or at most (np.maximum)."""
        bounds: IntArray = extreme(self.off, self.on).max(axis=1)
        return bounds


def join_maxima(parts: Sequence[Maximum]) -> Maximum:
    """Return the costs of the objects of all parts."""
    return Maximum(np.concatenate([part.off for part in parts]), np.concatenate([part.on for part in parts]))


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
        costs = np.zeros(1, dtype=np.int64) if self.by_cardinality is None else self.by_cardinality
        return int(costs[0]) if self.per_distance == 0 and (costs == costs[0]).all() else None

    def __add__(self, other: "Penalty") -> "Penalty":
        """Return the penalty that costs what both cost together; distances must be to the same labelsets."""
        tables = [part.by_cardinality for part in (self, other) if part.by_cardinality is not None]
        lists = [part.anchors for part in (self, other) if part.per_distance > 0 and part.anchors is not None]
        if len({frozenset(labelset_keys(one).tolist()) for one in lists}) > 1:
            raise ValueError("Two penalties by distance can only be added where they measure it to the same labelsets.")
        by_cardinality = reduce(add, tables) if tables else None
        return Penalty(by_cardinality, lists[0] if lists else None, self.per_distance + other.per_distance)


def _nearest(on: IntArray, anchors: LabelMatrix) -> IntArray:
    """Return the Hamming distance of each row of ``on`` to the nearest row of ``anchors``."""
    points, others = pack(on), pack(anchors)
    nearest = []
    for block in np.array_split(points, 1 + len(points) * len(others) // BLOCK_DISTANCES):
        words = (np.bitwise_count(block[:, [word]] ^ others[:, word]) for word in range(points.shape[1]))
        nearest.append(sum(words, start=np.zeros(1, dtype=np.int64)).min(axis=1))
    return np.concatenate(nearest)


@dataclass(frozen=True, eq=False)
class Discounts:
    """Some labelsets, and what each is spared of the general score: the same for all objects of a fold.

    A penalty on every labelset that was not seen in training is a constant for all and a discount for the seen ones.

    Attributes
    ----------
    labelsets : int8 array of shape (S, q)
        None twice.
    amounts : int64 array of shape (S,)
        Not negative.

    Examples
    --------
    >>> import numpy as np
    >>> discounts = Discounts(np.array([[1, 1]], dtype=np.int8), np.array([3]))
    >>> discounts.of(np.array([[1, 1], [0, 1]])).tolist()
    [3, 0]
    """

    labelsets: LabelMatrix
    amounts: IntArray

    def of(self, Y: LabelMatrix | IntArray) -> IntArray:
        """Return the discount of each row of ``Y``."""
        keys, amounts = self._sorted
        if not len(keys):
            return np.zeros(len(Y), dtype=np.int64)
        wanted = labelset_keys(Y)
        places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[places] == wanted, amounts[places], 0)

    @cached_property
    def _sorted(self) -> tuple[Keys, IntArray]:
        """The keys in ascending order, with their amounts: looked up for every object of a fit."""
        keys = labelset_keys(self.labelsets)
        order = np.argsort(keys, kind="stable")
        return keys[order], self.amounts[order]

    def __add__(self, other: "Discounts") -> "Discounts":
        """Return the discounts of both together."""
        labelsets = np.unique(np.concatenate([self.labelsets, other.labelsets]), axis=0)
        return Discounts(labelsets, self.of(labelsets) + other.of(labelsets))


@dataclass(frozen=True, eq=False)
class Overrides:
    """For each of n objects, some labelsets with their own scores instead of the energy's.

    Attributes
    ----------
    begin : int64 array of shape (n + 1,)
        Object i's are rows begin[i] to begin[i + 1] of the others.
    labelsets : int8 array of shape (E, q)
        No labelset twice for one object.
    scores : int64 array of shape (E,)
        Their scores, whole: neither link nor penalty is applied to them.

    Examples
    --------
    >>> import numpy as np
    >>> overrides = Overrides(np.array([0, 1, 1]), np.array([[1, 1]], dtype=np.int8), np.array([7]))
    >>> overrides.override(np.array([4, 4]), np.array([[1, 1], [1, 1]]), np.array([0, 1])).tolist()
    [7, 4]
    """

    begin: IntArray
    labelsets: LabelMatrix
    scores: IntArray

    def override(self, scores: IntArray, Y: LabelMatrix | IntArray, objects: IntArray) -> IntArray:
        """Return the scores of labelset ``Y[r]`` for object ``objects[r]``, overrides replaced by their own."""
        if not len(self.scores) or not len(scores):
            return scores
        asked, whose = np.unique(objects, return_inverse=True)
        listed = self.take(asked)  # searches ask about one object at a time
        distinct, number = np.unique(labelset_keys(listed.labelsets), return_inverse=True)
        wanted = find_keys(labelset_keys(Y), distinct)
        own = listed.owners() * len(distinct) + number
        places = find_keys(np.where(wanted >= 0, whose * len(distinct) + wanted, -1), own)
        return np.where(places >= 0, np.append(listed.scores, 0)[places], scores)

    def owners(self) -> IntArray:
        """Return the object of each row."""
        return np.repeat(np.arange(len(self.begin) - 1), np.diff(self.begin))

    def take(self, objects: IntArray | slice) -> "Overrides":
        """Return the overrides of some of the objects, repeated ones allowed."""
        sizes = np.diff(self.begin)[objects]
        begin = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        rows = np.repeat(self.begin[:-1][objects] - begin[:-1], sizes) + np.arange(begin[-1])
        return Overrides(begin, self.labelsets[rows], self.scores[rows])

    def __add__(self, other: "Overrides") -> "Overrides":
        """Return the labelsets in either list, each object's once; their scores, 0, are for energies to fill in."""
        rows = np.concatenate([np.column_stack([part.owners(), part.labelsets]) for part in (self, other)])
        once = np.unique(rows, axis=0)
        begin = np.searchsorted(once[:, 0], np.arange(len(self.begin))).astype(np.int64)
        return Overrides(begin, once[:, 1:].astype(np.int8), np.zeros(len(once), dtype=np.int64))


def join_overrides(parts: Sequence[Overrides]) -> Overrides:
    """Return the overrides of the objects of all parts."""
    begin = np.cumsum(np.concatenate([[0], *(np.diff(part.begin) for part in parts)]))
    labelsets = np.concatenate([part.labelsets for part in parts])
    return Overrides(begin, labelsets, np.concatenate([part.scores for part in parts]))

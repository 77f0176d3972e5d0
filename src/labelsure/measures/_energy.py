"""The one idea: every nonconformity measure is an energy over labelsets."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np

from labelsure._checks import IntArray, LabelMatrix
from labelsure.measures._labelset_bits import Keys, find_keys, labelset_keys, pack


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

    def __call__(self, additive: IntArray) -> IntArray:
        """Return the integer square roots."""
        square = np.maximum(additive, 0) << self.shift
        root: IntArray = np.sqrt(square.astype(np.float64)).astype(np.int64)
        root -= root * root > square
        root += (root + 1) * (root + 1) <= square
        return root


@dataclass(frozen=True, eq=False)
class Maximum:
    """Costs of labels of n objects, off and on, of which only the largest counts.

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
        """Return the largest cost in labelset ``Y[r]`` of ``objects[r]``, or of one for all."""
        largest: IntArray = np.where(Y == 1, self.on[objects], self.off[objects]).max(axis=1)
        return largest

    def extremes(self, extreme: np.ufunc) -> IntArray:
        """Return bounds of each object's largest cost, lower (np.minimum) or upper (np.maximum)."""
        bounds: IntArray = extreme(self.off, self.on).max(axis=1)
        return bounds


def join_maxima(parts: Sequence[Maximum]) -> Maximum:
    """Return the costs of the objects of all parts."""
    return Maximum(
        np.concatenate([part.off for part in parts]), np.concatenate([part.on for part in parts])
    )


BLOCK_DISTANCES = 2**21
"""Distances worked out at a time, 16 MiB of them."""


@dataclass(frozen=True, eq=False)
class Penalty:
    """A cost by number of labels, plus one per unit of distance to the nearest given labelset.

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
    >>> anchors = np.array([[1, 0]], dtype=np.int8)
    >>> penalty = Penalty(np.array([5, 0, 0]), anchors=anchors, per_distance=2)
    >>> penalty.costs(np.array([[0, 0], [1, 0], [0, 1]])).tolist()
    [7, 0, 4]
    """

    by_cardinality: IntArray | None = None
    anchors: LabelMatrix | None = None
    per_distance: int = 0

    def __post_init__(self) -> None:
        if self.by_cardinality is not None and (self.by_cardinality < 0).any():
            raise ValueError(
                "by_cardinality must not be negative: a penalty only makes labelsets stranger."
            )
        if self.per_distance < 0:
            raise ValueError(f"per_distance must not be negative, got {self.per_distance}.")
        if self.per_distance > 0 and (self.anchors is None or not len(self.anchors)):
            raise ValueError(
                "per_distance needs at least one labelset in anchors to measure the distance from."
            )

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

    def flat_cost(self) -> int | None:
        """Return what all labelsets pay alike; None where they pay differently."""
        costs = np.zeros(1, dtype=np.int64) if self.by_cardinality is None else self.by_cardinality
        return int(costs[0]) if self.per_distance == 0 and (costs == costs[0]).all() else None

    def __add__(self, other: "Penalty") -> "Penalty":
        """Return the sum of both penalties; distances must be to the same labelsets."""
        tables = [part.by_cardinality for part in (self, other) if part.by_cardinality is not None]
        lists = [
            part.anchors
            for part in (self, other)
            if part.per_distance > 0 and part.anchors is not None
        ]
        if len({frozenset(labelset_keys(one).tolist()) for one in lists}) > 1:
            raise ValueError(
                "Two penalties by distance can only be added where they measure it to the same"
                " labelsets."
            )
        by_cardinality = reduce(add, tables) if tables else None
        return Penalty(
            by_cardinality, lists[0] if lists else None, self.per_distance + other.per_distance
        )


def _nearest(on: IntArray, anchors: LabelMatrix) -> IntArray:
    """Return the Hamming distance of each row of ``on`` to the nearest row of ``anchors``."""
    points, others = pack(on), pack(anchors)
    nearest = []
    for block in np.array_split(points, 1 + len(points) * len(others) // BLOCK_DISTANCES):
        words = (
            np.bitwise_count(block[:, [word]] ^ others[:, word]) for word in range(points.shape[1])
        )
        nearest.append(sum(words, start=np.zeros(1, dtype=np.int64)).min(axis=1))
    return np.concatenate(nearest)


@dataclass(frozen=True, eq=False)
class Discounts:
    """Discounts from the general score for some labelsets, the same for all objects of a fold.

    A penalty on every labelset that was not seen in training is a constant for all and a discount
    for the seen ones.

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
        """Return the scores of labelset ``Y[r]`` for object ``objects[r]``, overrides replaced."""
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
        """Return the labelsets in either list, each object's once, with scores 0 to fill in."""
        rows = np.concatenate(
            [np.column_stack([part.owners(), part.labelsets]) for part in (self, other)]
        )
        once = np.unique(rows, axis=0)
        begin = np.searchsorted(once[:, 0], np.arange(len(self.begin))).astype(np.int64)
        return Overrides(begin, once[:, 1:].astype(np.int8), np.zeros(len(once), dtype=np.int64))


def join_overrides(parts: Sequence[Overrides]) -> Overrides:
    """Return the overrides of the objects of all parts."""
    begin = np.cumsum(np.concatenate([[0], *(np.diff(part.begin) for part in parts)]))
    labelsets = np.concatenate([part.labelsets for part in parts])
    return Overrides(begin, labelsets, np.concatenate([part.scores for part in parts]))


@dataclass(frozen=True, eq=False)
class Energy:
    """The nonconformity scores of every labelset of n objects, as integers.

    The score of the labelset psi with indicator t in {0, 1}^q for object i is::

        link(constant_i + sum_j unary_ij t_j + sum_{j<r} pairwise_jr t_j t_r) + penalty(psi) -
        discount(psi)

    plus max_j of the costs in each of ``maxima``, but for the labelsets among object i's overrides,
    which have scores of their own.

    Attributes
    ----------
    constant : int64 array of shape (n,)
        The additive part of the empty labelset.
    unary : int64 array of shape (n, q)
        What switching label j on adds; of any sign.
    pairwise : int64 array of shape (q, q) or (n, q, q), or None
        What labels j < r add when both are on, the same for all objects or one matrix for each;
        only entries above the diagonal count.
    link : SquareRoot or None
        A monotone map of the additive part; None is the identity.
    penalty : Penalty or None
        Not negative, the same for all objects.
    overrides : Overrides or None
        Labelsets with scores of their own.
    discounts : Discounts or None
        What a list of labelsets is spared, the same for all objects.
    maxima : tuple of Maximum
        Costs of labels of which only the largest is added. Only tables of all labelsets answer for
        them.

    Examples
    --------
    >>> import numpy as np
    >>> pairwise = np.array([[0, 10], [0, 0]])
    >>> energy = Energy(np.array([3]), np.array([[-1, 4]]), pairwise)
    >>> energy.scores(np.array([[1, 1]])).tolist()
    [16]
    """

    constant: IntArray
    unary: IntArray
    pairwise: IntArray | None = None
    link: SquareRoot | None = None
    penalty: Penalty | None = None
    overrides: Overrides | None = None
    discounts: Discounts | None = None
    maxima: tuple[Maximum, ...] = ()

    @property
    def n_objects(self) -> int:
        """The number of objects."""
        return int(self.unary.shape[0])

    @property
    def n_labels(self) -> int:
        """The number of labels."""
        return int(self.unary.shape[1])

    def scores(self, Y: LabelMatrix, *, objects: IntArray | None = None) -> IntArray:
        """Return the scores of labelsets.

        Parameters
        ----------
        Y : array of shape (m, q)
            Zeros and ones.
        objects : int64 array of shape (m,) or None
            The object that each row is a labelset of; None: one row per object.
        """
        objects = np.arange(len(self.constant)) if objects is None else objects
        on = np.asarray(Y, dtype=np.int64)
        # one row for all where they are of one object: costs need not be copied for each labelset
        whose = objects[:1] if len(objects) and (objects == objects[0]).all() else objects
        scores: IntArray = self.constant[objects] + np.einsum("ij,ij->i", self.unary[whose], on)
        if self.pairwise is not None:
            scores += self._pair_sums(on, whose)
        if self.link is not None:
            scores = self.link(scores)
        for maximum in self.maxima:
            scores = scores + maximum.costs(on, whose)
        if self.penalty is not None:
            scores = scores + self.penalty.costs(on)
        if self.discounts is not None:
            scores = scores - self.discounts.of(on)
        if self.overrides is not None:
            scores = self.overrides.override(scores, on, objects)
        return scores

    def _pair_sums(self, on: IntArray, objects: IntArray) -> IntArray:
        """Return the costs of pairs in each row of ``on``, for one object or one per row."""
        assert self.pairwise is not None
        if self.pairwise.ndim == 2 or len(objects) == 1:
            shared = np.triu(
                self.pairwise if self.pairwise.ndim == 2 else self.pairwise[objects[0]], 1
            )
            sums: IntArray = np.einsum("ij,ij->i", on @ shared, on)
            return sums
        # row by row: the matrices of all objects asked for, once more, may be too large
        rows = zip(on, objects, strict=True)
        return np.array(
            [row @ np.triu(self.pairwise[i], 1) @ row for row, i in rows], dtype=np.int64
        )

    def _extremes(self, extreme: np.ufunc) -> IntArray:
        """Return bounds of each object's sums: lower for np.minimum, upper for np.maximum."""
        sums: IntArray = self.constant + extreme(self.unary, 0).sum(axis=1)
        if self.pairwise is not None:
            sums = sums + extreme(np.triu(self.pairwise, 1), 0).sum(axis=(-2, -1))
        if self.link is not None:
            sums = self.link(sums)
        return sum((maximum.extremes(extreme) for maximum in self.maxima), start=sums)

    def lower_bound(self) -> int:
        """Return a lower bound of all scores but discounts and overrides (0 without objects)."""
        return int(self._extremes(np.minimum).min()) if len(self.constant) else 0

    def upper_bound(self) -> int:
        """Return a number that no score rises above (0 objects: 0)."""
        if self.n_objects == 0:
            return 0
        bound = int(self._extremes(np.maximum).max())
        if self.penalty is not None:
            bound += self.penalty.per_distance * self.n_labels
            if self.penalty.by_cardinality is not None:
                bound += int(self.penalty.by_cardinality.max())
        return bound if self.overrides is None else int(self.overrides.scores.max(initial=bound))

    def take(self, objects: IntArray | slice) -> "Energy":
        """Return the energy of some of the objects, repeated ones allowed."""
        per_object = self.pairwise is not None and self.pairwise.ndim == 3
        return replace(
            self,
            constant=self.constant[objects],
            unary=self.unary[objects],
            pairwise=self.pairwise[objects]
            if self.pairwise is not None and per_object
            else self.pairwise,
            overrides=self.overrides and self.overrides.take(objects),
            maxima=tuple(maximum.take(objects) for maximum in self.maxima),
        )

    def override_empty(self, score: int) -> "Energy":
        """Return the energy in which the empty labelset has this score, whatever the object.

        Examples
        --------
        >>> import numpy as np
        >>> energy = Energy(constant=np.array([3]), unary=np.array([[-1, 4]])).override_empty(9)
        >>> energy.scores(np.array([[0, 0], [1, 0]]), objects=np.array([0, 0])).tolist()
        [9, 2]
        """
        empty = np.zeros(self.unary.shape, dtype=np.int8)
        own = Overrides(
            np.arange(len(empty) + 1), empty, np.full(len(empty), score, dtype=np.int64)
        )
        listed = own if self.overrides is None else self.overrides + own
        scores = self.scores(listed.labelsets, objects=listed.owners())
        return replace(
            self,
            overrides=replace(listed, scores=np.where(listed.labelsets.any(axis=1), scores, score)),
        )

    def general_form(self) -> "Energy":
        """Return the energy that discounts and overrides are discounts and overrides from.

        A penalty that all labelsets pay alike joins the constant, where no link stands between.
        """
        general = replace(self, discounts=None, overrides=None)
        flat = None if self.link is not None or self.penalty is None else self.penalty.flat_cost()
        return (
            general
            if flat is None
            else replace(general, constant=self.constant + flat, penalty=None)
        )

    def __add__(self, other: "Energy") -> "Energy":
        """Return the energy whose scores are the sums of both.

        A sum with a link needs the other energy to have no sums over labels or pairs.
        """
        if (self.link or other.link) and self._has_additive_part and other._has_additive_part:
            raise ValueError(
                "A measure with a square root can only be added to penalties, not to another"
                " measure of the outputs: the sum would not be one energy that can be searched."
            )
        parts: dict[str, Any] = {}
        for name in (field.name for field in fields(self)):
            there = [
                part for part in (getattr(self, name), getattr(other, name)) if part is not None
            ]
            parts[name] = reduce(add, there) if there else None
        listed = parts["overrides"]
        if listed is not None:
            own = [
                energy.scores(listed.labelsets, objects=listed.owners()) for energy in (self, other)
            ]
            parts["overrides"] = replace(listed, scores=own[0] + own[1])
        return Energy(**parts)

    @property
    def _has_additive_part(self) -> bool:
        return bool(
            self.link is not None
            or self.constant.any()
            or self.unary.any()
            or self.pairwise is not None
        )


def join_energies(parts: Sequence[Energy]) -> Energy:
    """Return the energy of the objects of all parts, which share what is not per object.

    Examples
    --------
    >>> import numpy as np
    >>> part = Energy(constant=np.array([3]), unary=np.array([[-1, 4]]))
    >>> join_energies([part, part]).constant.tolist()
    [3, 3]
    """
    first = parts[0]
    pairwise, overrides = first.pairwise, first.overrides
    if pairwise is not None and pairwise.ndim == 3:
        pairwise = np.concatenate([part.pairwise for part in parts if part.pairwise is not None])
    if overrides is not None:
        overrides = join_overrides([part.overrides for part in parts if part.overrides is not None])
    return replace(
        first,
        constant=np.concatenate([part.constant for part in parts]),
        unary=np.concatenate([part.unary for part in parts]),
        pairwise=pairwise,
        overrides=overrides,
        maxima=tuple(map(join_maxima, zip(*(part.maxima for part in parts), strict=True))),
    )

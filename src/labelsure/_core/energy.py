"""The one idea: every nonconformity measure is an energy over labelsets."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from labelsure._core.energy_parts import Discounts, Maximum, Overrides, Penalty, SquareRoot, join_maxima, join_overrides
from labelsure._core.types import IntArray, LabelMatrix


@dataclass(frozen=True, eq=False)
class Energy:
    """The nonconformity scores of every labelset of n objects, as integers.

    The score of the labelset psi with indicator t in {0, 1}^q for object i is::

        link(constant_i + sum_j unary_ij t_j + sum_{j<r} pairwise_jr t_j t_r) + penalty(psi) - discount(psi)

    plus max_j of the costs in each of ``maxima``, but for the labelsets among object i's overrides, which have scores
    of their own.

    Attributes
    ----------
    constant : int64 array of shape (n,)
        The additive part of the empty labelset.
    unary : int64 array of shape (n, q)
        What switching label j on adds; of any sign.
    pairwise : int64 array of shape (q, q) or (n, q, q), or None
        What labels j < r add when both are on, the same for all objects or one matrix for each; only entries above
        the diagonal count.
    link : SquareRoot or None
        A monotone map of the additive part; None is the identity.
    penalty : Penalty or None
        Not negative, the same for all objects.
    overrides : Overrides or None
        Labelsets with scores of their own.
    discounts : Discounts or None
        What a list of labelsets is spared, the same for all objects.
    maxima : tuple of Maximum
        Costs of labels of which only the largest is added. Only tables of all labelsets answer for them.

    Examples
    --------
    >>> import numpy as np
    >>> energy = Energy(constant=np.array([3]), unary=np.array([[-1, 4]]), pairwise=np.array([[0, 10], [0, 0]]))
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
        """Return what the pairs of labels in each row of ``on`` add, for one object or one for each row."""
        assert self.pairwise is not None
        if self.pairwise.ndim == 2 or len(objects) == 1:
            shared = np.triu(self.pairwise if self.pairwise.ndim == 2 else self.pairwise[objects[0]], 1)
            sums: IntArray = np.einsum("ij,ij->i", on @ shared, on)
            return sums
        # row by row: the matrices of all objects asked for, once more, may be too large
        rows = zip(on, objects, strict=True)
        return np.array([row @ np.triu(self.pairwise[i], 1) @ row for row, i in rows], dtype=np.int64)

    def _extremes(self, extreme: np.ufunc) -> IntArray:
        """Return what no sum of each object's costs falls below (np.minimum) or rises above (np.maximum)."""
        sums: IntArray = self.constant + extreme(self.unary, 0).sum(axis=1)
        if self.pairwise is not None:
            sums = sums + extreme(np.triu(self.pairwise, 1), 0).sum(axis=(-2, -1))
        if self.link is not None:
            sums = self.link(sums)
        return sum((maximum.extremes(extreme) for maximum in self.maxima), start=sums)

    def lower_bound(self) -> int:
        """Return a number that no score outside discounts and overrides falls below (0 objects: 0)."""
        return int(self._extremes(np.minimum).min()) if len(self.constant) else 0

    def upper_bound(self) -> int:
        """Return a number that no score rises above (0 objects: 0)."""
        if self.n_objects == 0:
            return 0
        bound = int(self._extremes(np.maximum).max())
        if self.penalty is not None:
            bound += self.penalty.largest_cost(self.n_labels)
        return bound if self.overrides is None else int(self.overrides.scores.max(initial=bound))

    def take(self, objects: IntArray | slice) -> "Energy":
        """Return the energy of some of the objects, repeated ones allowed."""
        per_object = self.pairwise is not None and self.pairwise.ndim == 3
        return replace(
            self,
            constant=self.constant[objects],
            unary=self.unary[objects],
            pairwise=self.pairwise[objects] if self.pairwise is not None and per_object else self.pairwise,
            overrides=self.overrides and self.overrides.take(objects),
            maxima=tuple(maximum.take(objects) for maximum in self.maxima),
        )

    def override_empty(self, score: int) -> "Energy":
        """Return the energy in which the empty labelset has one score of its own, whatever the object.

        Examples
        --------
        >>> import numpy as np
        >>> energy = Energy(constant=np.array([3]), unary=np.array([[-1, 4]])).override_empty(9)
        >>> energy.scores(np.array([[0, 0], [1, 0]]), objects=np.array([0, 0])).tolist()
        [9, 2]
        """
        empty = np.zeros(self.unary.shape, dtype=np.int8)
        own = Overrides(np.arange(len(empty) + 1), empty, np.full(len(empty), score, dtype=np.int64))
        listed = own if self.overrides is None else self.overrides + own
        scores = self.scores(listed.labelsets, objects=listed.owners())
        return replace(self, overrides=replace(listed, scores=np.where(listed.labelsets.any(axis=1), scores, score)))

    def general_form(self) -> "Energy":
        """Return the energy that discounts and overrides are discounts and overrides from.

        A penalty that all labelsets pay alike joins the constant, where no link stands between.
        """
        general = replace(self, discounts=None, overrides=None)
        flat = None if self.link is not None or self.penalty is None else self.penalty.flat_cost()
        return general if flat is None else replace(general, constant=self.constant + flat, penalty=None)

    def __add__(self, other: "Energy") -> "Energy":
        """Return the energy whose scores are the sums of both.

        A sum with a link needs the other energy to have no sums over labels or pairs.
        """
        if (self.link or other.link) and self._has_additive_part and other._has_additive_part:
            raise ValueError(
                "A measure with a square root can only be added to penalties, not to another measure of the outputs:"
                " the sum would not be one energy that can be searched."
            )
        parts: dict[str, Any] = {}
        for name in (field.name for field in fields(self)):
            there = [part for part in (getattr(self, name), getattr(other, name)) if part is not None]
            parts[name] = reduce(add, there) if there else None
        listed = parts["overrides"]
        if listed is not None:
            own = [energy.scores(listed.labelsets, objects=listed.owners()) for energy in (self, other)]
            parts["overrides"] = replace(listed, scores=own[0] + own[1])
        return Energy(**parts)

    @property
    def _has_additive_part(self) -> bool:
        return bool(self.link is not None or self.constant.any() or self.unary.any() or self.pairwise is not None)


def join_energies(parts: Sequence[Energy]) -> Energy:
    """Return the energy of the objects of all parts, which are alike in what is the same for all objects.

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

"""The one idea: every nonconformity measure is an energy over labelsets."""

from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from labelsure._core.discounts import Discounts
from labelsure._core.exceptions import Exceptions
from labelsure._core.link import SquareRoot
from labelsure._core.penalty import Penalty
from labelsure._core.types import IntArray, LabelMatrix

Part = TypeVar("Part", IntArray, Penalty, Discounts)


@dataclass(frozen=True, eq=False)
class Energy:
    """The nonconformity scores of every labelset of n objects, as integers.

    The score of the labelset psi with indicator t in {0, 1}^q for object i is::

        link(constant_i + sum_j unary_ij t_j + sum_{j<r} pairwise_jr t_j t_r) + penalty(psi) - discount(psi)

    but for the labelsets among object i's exceptions, which have scores of their own.

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
    exceptions : Exceptions or None
        Labelsets with scores of their own.
    discounts : Discounts or None
        What a list of labelsets is spared, the same for all objects.

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
    exceptions: Exceptions | None = None
    discounts: Discounts | None = None

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
        objects = np.arange(self.n_objects) if objects is None else objects
        on = np.asarray(Y, dtype=np.int64)
        one_object = len(objects) > 1 and bool((objects == objects[0]).all())
        if one_object:
            scores: IntArray = self.constant[objects] + on @ self.unary[objects[0]]
        else:
            scores = self.constant[objects] + np.einsum("ij,ij->i", self.unary[objects], on)
        if self.pairwise is not None:
            scores += self._pair_sums(on, objects, one_object=one_object)
        if self.link is not None:
            scores = self.link(scores)
        if self.penalty is not None:
            scores = scores + self.penalty.costs(on)
        if self.discounts is not None:
            scores = scores - self.discounts.of(on)
        if self.exceptions is not None:
            scores = self.exceptions.override(scores, on, objects)
        return scores

    def _pair_sums(self, on: IntArray, objects: IntArray, *, one_object: bool) -> IntArray:
        """Return what the pairs of labels in each row of ``on`` add."""
        assert self.pairwise is not None
        if self.pairwise.ndim == 2 or one_object:
            shared = np.triu(self.pairwise if self.pairwise.ndim == 2 else self.pairwise[objects[0]], 1)
            sums: IntArray = np.einsum("ij,ij->i", on @ shared, on)
            return sums
        # row by row: the matrices of all objects asked for, once more, may be too large
        rows = zip(on, objects, strict=True)
        return np.array([row @ np.triu(self.pairwise[i], 1) @ row for row, i in rows], dtype=np.int64)

    def lower_bound(self) -> int:
        """Return a number that no score outside discounts and exceptions falls below (0 objects: 0)."""
        if self.n_objects == 0:
            return 0
        lowest = self.constant + np.minimum(self.unary, 0).sum(axis=1)
        if self.pairwise is not None:
            lowest = lowest + np.minimum(np.triu(self.pairwise, 1), 0).sum(axis=(-2, -1))
        bound = int(lowest.min())
        return bound if self.link is None else int(self.link(np.array([bound]))[0])

    def upper_bound(self) -> int:
        """Return a number that no score rises above (0 objects: 0)."""
        if self.n_objects == 0:
            return 0
        highest = self.constant + np.maximum(self.unary, 0).sum(axis=1)
        if self.pairwise is not None:
            highest = highest + np.maximum(np.triu(self.pairwise, 1), 0).sum(axis=(-2, -1))
        bound = int(highest.max())
        bound = bound if self.link is None else int(self.link(np.array([bound]))[0])
        if self.penalty is not None:
            bound += self.penalty.largest_cost(self.n_labels)
        return bound if self.exceptions is None else max(bound, int(self.exceptions.scores.max(initial=bound)))

    def take(self, objects: IntArray | slice) -> "Energy":
        """Return the energy of some of the objects, repeated ones allowed."""
        chosen = np.arange(self.n_objects)[objects]
        per_object = self.pairwise is not None and self.pairwise.ndim == 3
        return replace(
            self,
            constant=self.constant[objects],
            unary=self.unary[objects],
            pairwise=self.pairwise[objects] if self.pairwise is not None and per_object else self.pairwise,
            exceptions=None if self.exceptions is None else self.exceptions.take(chosen),
        )

    def general_form(self) -> "Energy":
        """Return the energy that discounts and exceptions are discounts and exceptions from.

        A penalty that all labelsets pay alike joins the constant, where no link stands between.
        """
        general = replace(self, discounts=None, exceptions=None)
        flat = None if self.link is not None or self.penalty is None else self.penalty.flat_cost()
        return general if flat is None else replace(general, constant=self.constant + flat, penalty=None)

    def __add__(self, other: "Energy") -> "Energy":
        """Return the energy whose scores are the sums of both.

        A sum with a link needs the other energy to be nothing but penalty, discounts and exceptions.
        """
        link = self.link or other.link
        if link is not None and self._has_additive_part and other._has_additive_part:
            raise ValueError(
                "A measure with a square root can only be added to penalties, not to another measure of the outputs:"
                " the sum would not be one energy that can be searched."
            )
        general = Energy(
            constant=self.constant + other.constant,
            unary=self.unary + other.unary,
            pairwise=_add(self.pairwise, other.pairwise),
            link=link,
            penalty=_add(self.penalty, other.penalty),
            discounts=_add(self.discounts, other.discounts),
        )
        return replace(general, exceptions=self._added_exceptions(other))

    @property
    def _has_additive_part(self) -> bool:
        return bool(self.link is not None or self.constant.any() or self.unary.any() or self.pairwise is not None)

    def _added_exceptions(self, other: "Energy") -> Exceptions | None:
        listed = _union(self.exceptions, other.exceptions)
        if listed is None:
            return None
        labelsets, owners = listed.labelsets, listed.owners()
        scores = self.scores(labelsets, objects=owners) + other.scores(labelsets, objects=owners)
        return replace(listed, scores=scores)


def _add(a: Part | None, b: Part | None) -> Part | None:
    """Return the sum of two parts of energies, either of which may be missing."""
    if a is None or b is None:
        return b if a is None else a
    return a + b


def _union(a: Exceptions | None, b: Exceptions | None) -> Exceptions | None:
    """Return the labelsets in either list, each object's once; their scores mean nothing yet."""
    if a is None or b is None:
        return b if a is None else a
    rows = np.concatenate([np.column_stack([part.owners(), part.labelsets]) for part in (a, b)])
    once = np.unique(rows, axis=0)
    begin = np.searchsorted(once[:, 0], np.arange(len(a.begin))).astype(np.int64)
    return Exceptions(begin, once[:, 1:].astype(np.int8), np.zeros(len(once), dtype=np.int64))

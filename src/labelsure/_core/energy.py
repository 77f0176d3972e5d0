"""The one idea: every nonconformity measure is an energy over labelsets."""

from dataclasses import dataclass, replace

import numpy as np

from labelsure._core.exceptions import Exceptions
from labelsure._core.link import SquareRoot
from labelsure._core.penalty import Penalty
from labelsure._core.types import IntArray, LabelMatrix


@dataclass(frozen=True, eq=False)
class Energy:
    """The nonconformity scores of every labelset of n objects, as integers.

    The score of the labelset psi with indicator t in {0, 1}^q for object i is::

        link(constant_i + sum_j unary_ij t_j + sum_{j<r} pairwise_jr t_j t_r) + penalty(psi)

    but for the labelsets among object i's exceptions, which have scores of their own.

    Attributes
    ----------
    constant : int64 array of shape (n,)
        The additive part of the empty labelset.
    unary : int64 array of shape (n, q)
        What switching label j on adds; of any sign.
    pairwise : int64 array of shape (q, q) or None
        What labels j < r add when both are on, the same for all objects; only entries above the diagonal count.
    link : SquareRoot or None
        A monotone map of the additive part; None is the identity.
    penalty : Penalty or None
        Not negative, the same for all objects.
    exceptions : Exceptions or None
        Labelsets with scores of their own.

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
        if len(objects) > 1 and (objects == objects[0]).all():  # many labelsets of one object
            scores: IntArray = self.constant[objects] + on @ self.unary[objects[0]]
        else:
            scores = self.constant[objects] + np.einsum("ij,ij->i", self.unary[objects], on)
        if self.pairwise is not None:
            scores += np.einsum("ij,ij->i", on @ np.triu(self.pairwise, 1), on)
        if self.link is not None:
            scores = self.link(scores)
        if self.penalty is not None:
            scores = scores + self.penalty.costs(on)
        if self.exceptions is not None:
            scores = self.exceptions.override(scores, on, objects)
        return scores

    def lower_bound(self) -> int:
        """Return a number that no score outside the exceptions falls below (0 objects: 0)."""
        if self.n_objects == 0:
            return 0
        pairs = 0 if self.pairwise is None else int(np.minimum(np.triu(self.pairwise, 1), 0).sum())
        bound = int((self.constant + np.minimum(self.unary, 0).sum(axis=1)).min()) + pairs
        return bound if self.link is None else int(self.link(np.array([bound]))[0])

    def take(self, objects: IntArray | slice) -> "Energy":
        """Return the energy of some of the objects, repeated ones allowed."""
        chosen = np.arange(self.n_objects)[objects]
        exceptions = None if self.exceptions is None else self.exceptions.take(chosen)
        return Energy(self.constant[objects], self.unary[objects], self.pairwise, self.link, self.penalty, exceptions)

    def without_exceptions(self) -> "Energy":
        """Return the energy that the exceptions are exceptions from."""
        return replace(self, exceptions=None)

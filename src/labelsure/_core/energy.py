"""The one idea: every nonconformity measure is an energy over labelsets."""

from dataclasses import dataclass

import numpy as np

from labelsure._core.types import IntArray, LabelMatrix


@dataclass(frozen=True, eq=False)
class Energy:
    """The nonconformity scores of every labelset of n objects, as integers.

    The score of the labelset with indicator t in {0, 1}^q for object i is::

        constant_i + sum_j unary_ij t_j + sum_{j<r} pairwise_jr t_j t_r

    Attributes
    ----------
    constant : int64 array of shape (n,)
        The score of the empty labelset.
    unary : int64 array of shape (n, q)
        What switching label j on adds; of any sign.
    pairwise : int64 array of shape (q, q) or None
        What labels j < r add when both are on, the same for all objects; only entries above the diagonal count.

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

    @property
    def n_objects(self) -> int:
        """The number of objects."""
        return int(self.unary.shape[0])

    @property
    def n_labels(self) -> int:
        """The number of labels."""
        return int(self.unary.shape[1])

    def scores(self, Y: LabelMatrix) -> IntArray:
        """Return the score of one labelset per object.

        Parameters
        ----------
        Y : array of shape (n, q)
            Zeros and ones.
        """
        on = np.asarray(Y, dtype=np.int64)
        scores: IntArray = self.constant + np.einsum("ij,ij->i", self.unary, on)
        if self.pairwise is not None:
            scores += np.einsum("ij,ij->i", on @ np.triu(self.pairwise, 1), on)
        return scores

    def lower_bound(self) -> int:
        """Return a number that no score of any object and labelset falls below (0 objects: 0)."""
        if self.n_objects == 0:
            return 0
        pairs = 0 if self.pairwise is None else int(np.minimum(np.triu(self.pairwise, 1), 0).sum())
        return int((self.constant + np.minimum(self.unary, 0).sum(axis=1)).min()) + pairs

    def take(self, objects: IntArray | slice) -> "Energy":
        """Return the energy of some of the objects, repeated ones allowed."""
        return Energy(self.constant[objects], self.unary[objects], self.pairwise)

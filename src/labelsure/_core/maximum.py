"""The largest of costs that labels have one by one."""

from dataclasses import dataclass

import numpy as np

from labelsure._core.types import IntArray, LabelMatrix


@dataclass(frozen=True, eq=False)
class Maximum:
    """For each of n objects, what every label costs when it is off and when it is on; only the worst one counts.

    Attributes
    ----------
    off, on : int64 arrays of shape (n, q)
        The costs.

    Examples
    --------
    >>> import numpy as np
    >>> maximum = Maximum(off=np.array([[1, 5]]), on=np.array([[7, 2]]))
    >>> maximum.scores(np.array([[0, 0], [0, 1], [1, 1]]), np.array([0, 0, 0])).tolist()
    [5, 2, 7]
    """

    off: IntArray
    on: IntArray

    def scores(self, Y: LabelMatrix | IntArray, objects: IntArray) -> IntArray:
        """Return the largest cost of the labels of ``Y[r]`` for object ``objects[r]``."""
        if len(objects) and (objects == objects[0]).all():
            objects = objects[:1]  # one row for all: the costs need not be copied for each labelset
        scores: IntArray = np.where(np.asarray(Y, dtype=bool), self.on[objects], self.off[objects]).max(axis=1)
        return scores

    def lowest(self) -> IntArray:
        """Return a number for each object that none of its labelsets falls below, and one of them may reach."""
        lowest: IntArray = np.minimum(self.off, self.on).max(axis=1)
        return lowest

    def highest(self) -> IntArray:
        """Return the largest cost of each object."""
        highest: IntArray = np.maximum(self.off, self.on).max(axis=1)
        return highest

    def forbid(self, label: int, *, on: bool, cost: int) -> "Maximum":
        """Return the costs with at least ``cost`` more for every labelset that has one label on, or off."""
        forbidden = Maximum(self.off.copy(), self.on.copy())
        (forbidden.on if on else forbidden.off)[:, label] = self.highest() + cost
        return forbidden

    def take(self, objects: IntArray | slice) -> "Maximum":
        """Return the costs of some of the objects, repeated ones allowed."""
        return Maximum(self.off[objects], self.on[objects])

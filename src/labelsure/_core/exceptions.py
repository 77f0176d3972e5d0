"""Labelsets that a measure knows more about: a short list per object, with scores of their own."""

from dataclasses import dataclass

import numpy as np

from labelsure._core.labelset_keys import find_keys, labelset_keys
from labelsure._core.types import IntArray, LabelMatrix


@dataclass(frozen=True, eq=False)
class Exceptions:
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
    >>> exceptions = Exceptions(np.array([0, 1, 1]), np.array([[1, 1]], dtype=np.int8), np.array([7]))
    >>> exceptions.override(np.array([4, 4]), np.array([[1, 1], [1, 1]]), np.array([0, 1])).tolist()
    [7, 4]
    """

    begin: IntArray
    labelsets: LabelMatrix
    scores: IntArray

    def override(self, scores: IntArray, Y: LabelMatrix | IntArray, objects: IntArray) -> IntArray:
        """Return the scores of labelset ``Y[r]`` for object ``objects[r]``, exceptions replaced by their own."""
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

    def take(self, objects: IntArray) -> "Exceptions":
        """Return the exceptions of some of the objects, repeated ones allowed."""
        sizes = np.diff(self.begin)[objects]
        begin = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        rows = np.repeat(self.begin[:-1][objects] - begin[:-1], sizes) + np.arange(begin[-1])
        return Exceptions(begin, self.labelsets[rows], self.scores[rows])

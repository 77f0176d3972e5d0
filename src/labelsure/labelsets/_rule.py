"""How the folds' counts become one number per labelset, where that is not their plain sum."""

from dataclasses import dataclass

import numpy as np

from labelsure._core.types import IntArray

Counts = np.ndarray[tuple[int, ...], np.dtype[np.signedinteger]]


@dataclass(frozen=True, eq=False)
class Rule:
    """Weights of the folds' counts, added up or followed fold by fold.

    With c_k the number of fold k's calibration scores at least as large as a labelset's own, the labelset's numerator
    for object i is ``start_i + sum_k weights[k, c_k]`` or, where there are multipliers, the smallest over t of
    ``(start_i + sum_{k <= t} weights[k, c_k]) multipliers[t]``, with ``first_i`` instead of ``multipliers[0]``.
    It never falls when a count rises, so a search bounds it as it bounds a sum of counts. Numerators of 0 or less are
    those of no member of any region.

    Attributes
    ----------
    weights : int64 array of shape (K, m + 1)
        Not descending along rows; m the size of the largest fold.
    start : int64 array of shape (n,)
        What each object adds itself.
    denominators : int64 array of shape (n,)
        The p-value is the numerator divided by this, at most 1.
    multipliers : int64 array of shape (K,) or (0,)
        Not negative.
    first : int64 array of shape (n,)
        Not negative; only looked at where there are multipliers.
    """

    weights: IntArray
    start: IntArray
    denominators: IntArray
    multipliers: IntArray
    first: IntArray

    def take(self, objects: IntArray) -> "Rule":
        """Return the rule for some of the objects."""
        return Rule(
            self.weights, self.start[objects], self.denominators[objects], self.multipliers, self.first[objects]
        )

    def numerators(self, counts: Counts, objects: IntArray) -> IntArray:
        """Return numerators.

        Parameters
        ----------
        counts : signed integer array of shape (K, m, ...)
            Counts of each fold; row r belongs to object ``objects[r]``.
        objects : int64 array of shape (m,)
        """
        shape = (-1,) + (1,) * (counts.ndim - 2)
        total = np.broadcast_to(self.start[objects].reshape(shape), counts.shape[1:])
        lowest = None
        for k, fold_counts in enumerate(counts):
            total = total + self.weights[k][fold_counts]
            if len(self.multipliers):
                prefix = total * (self.first[objects].reshape(shape) if k == 0 else self.multipliers[k])
                lowest = prefix if lowest is None else np.minimum(lowest, prefix)
        return total if lowest is None else lowest

"""What engines answer with: the best labelsets, and sizes of regions, each with what is certain about it."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log2

import numpy as np

from labelsure._core.types import BoolArray, IntArray, LabelMatrix


@dataclass(frozen=True, eq=False)
class BestLabelsets:
    """The k most plausible labelsets of each object, in order.

    Attributes
    ----------
    labelsets : int8 array of shape (n, k, q)
        By highest p-value; ties by lowest total score over the folds, then by lowest code.
    numerators : int64 array of shape (n, k)
        Of their p-values; 0 where an object has fewer candidates.
    upper : int64 array of shape (n, k)
        What the numerator of each place is at most; the numerator itself wherever that is certain.
    certain : bool array of shape (n,)
        Whether the search was finished; where its budget was spent before, these are the best labelsets found.

    Examples
    --------
    >>> best = BestLabelsets.nothing(n_objects=1, n_best=1, n_labels=2)
    >>> best.write(0, np.array([[1, 0]], dtype=np.int8), np.array([7]), missed=9)
    >>> best.numerators.tolist(), best.upper.tolist(), best.certain.tolist()
    ([[7]], [[9]], [False])
    """

    labelsets: LabelMatrix
    numerators: IntArray
    upper: IntArray
    certain: BoolArray

    @classmethod
    def nothing(cls, n_objects: int, n_best: int, n_labels: int) -> "BestLabelsets":
        """Return room for the answers about some objects."""
        numerators, upper = np.zeros((2, n_objects, n_best), dtype=np.int64)
        labelsets = np.zeros((n_objects, n_best, n_labels), dtype=np.int8)
        return cls(labelsets, numerators, upper, np.ones(n_objects, dtype=bool))

    def write(self, i: int, labelsets: LabelMatrix, numerators: IntArray, missed: int | None = None) -> None:
        """Set the best labelsets of object ``i``; ``missed`` is the highest numerator of any that was not found."""
        self.labelsets[i, : len(numerators)] = labelsets
        self.numerators[i, : len(numerators)] = numerators
        self.upper[i] = self.numerators[i] if missed is None else np.maximum(self.numerators[i], missed)
        self.certain[i] = missed is None


@dataclass(frozen=True)
class RegionSize:
    """How many labelsets are in a region.

    Attributes
    ----------
    value : int
        The size or, where it was not counted, an estimate; a whole number because floats end at 2^1024.
    low, high : int
        The interval that holds the size with the probability ``coverage_level``.
    coverage_level : float
        That probability, over the random draws of the estimate alone; 1 where the size was counted.
    at_least, at_most : int
        Certified bounds: the members that were found, and a count that no region can exceed.
    approximate : bool
        Whether that is the probability of a normal approximation instead of a proven one.

    Examples
    --------
    >>> print(RegionSize(27 * 10**11, 26 * 10**11, 28 * 10**11, coverage_level=0.99, at_least=500_000, at_most=2**45))
    2^41.3 (+-0.1)
    >>> print(RegionSize.counted(12))
    12
    """

    value: int
    low: int
    high: int
    coverage_level: float
    at_least: int
    at_most: int
    approximate: bool = False

    @classmethod
    def counted(cls, size: int) -> "RegionSize":
        """Return a size that is known."""
        return cls(size, size, size, coverage_level=1.0, at_least=size, at_most=size)

    @property
    def exact(self) -> bool:
        """Whether the size is known."""
        return self.at_least == self.at_most

    def __int__(self) -> int:
        return self.value

    def __float__(self) -> float:
        return float(self.value)

    def __str__(self) -> str:
        if self.exact:
            return str(self.value)
        if self.low <= 0:
            return f"between 2^{log2(max(self.at_least, 1)):.1f} and 2^{log2(max(self.high, 1)):.1f}"
        farthest = max(log2(self.high) - log2(self.value), log2(self.value) - log2(self.low))
        return f"2^{log2(self.value):.1f} (+-{max(ceil(10 * farthest), 1) / 10:.1f})"


def sum_sizes(sizes: Sequence[RegionSize]) -> RegionSize:
    """Return the size of a region that is made of disjoint parts; intervals hold together by Bonferroni's inequality.

    Examples
    --------
    >>> sum_sizes([RegionSize.counted(2), RegionSize.counted(3)]).value
    5
    """
    return RegionSize(
        value=sum(one.value for one in sizes),
        low=sum(one.low for one in sizes),
        high=sum(one.high for one in sizes),
        coverage_level=max(1 - sum(1 - one.coverage_level for one in sizes), 0.0),
        at_least=sum(one.at_least for one in sizes),
        at_most=sum(one.at_most for one in sizes),
        approximate=any(one.approximate for one in sizes),
    )

"""What engines may spend, and their answers: best labelsets and sizes of regions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, log2

import numpy as np

from labelsure._checks import BoolArray, IntArray, LabelMatrix


@dataclass(frozen=True)
class EngineOptions:
    """Limits of time and memory; answers depend on the budgets alone.

    Attributes
    ----------
    table_labels : int
        Up to this many labels, rows of all labelsets cost less than setting up a search.
    max_table_labels : int
        With more labels one object's row of counts no longer fits in 64 MiB.
    block_bytes : int
        Costs of the objects that one thread searches at a time; a problem takes about six times as
        much.
    count_budget : int
        Evaluations that counting one region may take before an estimate is its size, about 0.1 s.
    first_budget, best_budget : int
        Evaluations of one object's search for the best before a climb tells what is good, and after
        it. When these are spent, the best found are the answer, with an upper bound of all that may
        have been missed. The latter also limits one object's searches for the highest numerators
        of all labels.
    chunk : int
        Members yielded at a time.
    list_bytes : int
        A list of a region's members may take this much memory; larger regions are iterated.
    list_budget : int
        Evaluations that listing or iterating a region may take, a second or two, beside some for
        each member that it finds. Beyond them an error says how many were found.

    Examples
    --------
    >>> EngineOptions(table_labels=0).table_labels  # searches only
    0
    """

    table_labels: int = 8
    max_table_labels: int = 24
    block_bytes: int = 2**22
    count_budget: int = 4_000_000
    first_budget: int = 20_000
    best_budget: int = 8_000_000
    chunk: int = 4096
    list_bytes: int = 2**30
    list_budget: int = 20_000_000


def check_listable(n_labels: int, options: EngineOptions) -> None:
    """Raise ValueError where there are too many labelsets to list."""
    if n_labels > options.max_table_labels:
        raise ValueError(
            f"This lists the p-values of all 2^{n_labels} labelsets of {n_labels} labels, one by"
            f" one; that is possible for up to {options.max_table_labels} labels. Predictions,"
            " top(k), regions and p_value(Y) work for any number of labels."
        )


class NotAllListedError(ValueError):
    """Raised by a search for all members of a region that has spent its budget."""

    def __init__(self, n_found: int) -> None:
        super().__init__(
            "This region's labelsets are far apart, as where models disagree about an object: a"
            f" search for all of them found {n_found}, spent its budget, and may have missed"
            " others. members(limit=) returns the most plausible ones."
        )


Members = tuple[LabelMatrix, IntArray]
"""Labelsets and their numerators."""


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
        Whether the search was finished; where its budget was spent before, these are the best
        labelsets found.

    Examples
    --------
    >>> best = BestLabelsets.nothing(n_objects=1, n_best=1, n_labels=2)
    >>> best.write(0, np.array([7]), missed=9)
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

    @classmethod
    def join(cls, blocks: Sequence["BestLabelsets"], n_best: int, n_labels: int) -> "BestLabelsets":
        """Return the answers about the objects of all blocks."""
        every = [cls.nothing(0, n_best, n_labels), *blocks]
        names = ("labelsets", "numerators", "upper", "certain")
        return cls(*(np.concatenate([getattr(one, name) for one in every]) for name in names))

    def insert_empty(self, i: int, place: int, numerator: int) -> None:
        """Put the empty labelset at one place of object ``i``; the last labelset is dropped."""
        for rows in (self.labelsets[i], self.numerators[i]):
            rows[place + 1 :] = rows[place:-1].copy()
        self.labelsets[i, place], self.numerators[i, place] = 0, numerator
        # a search that was stopped may have missed a better one
        upper = max(numerator, int(self.upper[i, place]))
        self.upper[i, place + 1 :] = self.upper[i, place:-1].copy()
        self.upper[i, place] = upper

    def write(
        self,
        i: int,
        numerators: IntArray,
        labelsets: LabelMatrix | None = None,
        missed: int | None = None,
    ) -> None:
        """Set the best of object ``i``; ``missed`` bounds the numerators of all others."""
        self.numerators[i, : len(numerators)] = self.upper[i, : len(numerators)] = numerators
        if missed is not None:
            np.maximum(self.upper[i], missed, out=self.upper[i])
            self.certain[i] = False
        if labelsets is not None:
            self.labelsets[i, : len(labelsets)] = labelsets


@dataclass(frozen=True)
class RegionSize:
    """How many labelsets are in a region.

    Attributes
    ----------
    value : int
        The size or, where it was not counted, an estimate; a whole number because floats end at
        2^1024.
    low, high : int
        The interval that holds the size with probability ``coverage_level``.
    coverage_level : float
        How sure the interval is, from the random draws of the estimate alone; 1 where the size was
        counted.
    at_least, at_most : int
        Certified bounds: the members that were found, and a count that no region can exceed.
    approximate : bool
        Whether that is the probability of a normal approximation instead of a proven one.

    Examples
    --------
    >>> bounds = {"coverage_level": 0.99, "at_least": 500_000, "at_most": 2**45}
    >>> print(RegionSize(27 * 10**11, 26 * 10**11, 28 * 10**11, **bounds))
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

    def raised(self, at_least: int) -> "RegionSize":
        """Return the same where at least so many members are known."""
        names = ("value", "low", "high", "at_least", "at_most")
        return replace(self, **{name: max(getattr(self, name), at_least) for name in names})

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
            return (
                f"between 2^{log2(max(self.at_least, 1)):.1f} and 2^{log2(max(self.high, 1)):.1f}"
            )
        farthest = max(log2(self.high) - log2(self.value), log2(self.value) - log2(self.low))
        return f"2^{log2(self.value):.1f} (+-{max(ceil(10 * farthest), 1) / 10:.1f})"


def sum_sizes(sizes: Sequence[RegionSize]) -> RegionSize:
    """Return the size of disjoint parts together; intervals by Bonferroni's inequality.

    Examples
    --------
    >>> sum_sizes([RegionSize.counted(2), RegionSize.counted(3)]).value
    5
    """
    counts = ("value", "low", "high", "at_least", "at_most")
    return RegionSize(
        **{name: sum(getattr(one, name) for one in sizes) for name in counts},
        coverage_level=max(1 - sum(1 - one.coverage_level for one in sizes), 0.0),
        approximate=any(one.approximate for one in sizes),
    )

"""What engines may spend, and what they answer with: the best labelsets, sizes of regions, and how sure these are."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, log2
from typing import TypeVar

import numpy as np

from labelsure._checks import BoolArray, IntArray, LabelMatrix
from labelsure._parallel import map_in_threads


@dataclass(frozen=True)
class EngineOptions:
    """Limits of time and memory, and where tables give way to searches; answers do not depend on them but for budgets.

    Attributes
    ----------
    table_labels : int
        Up to this many labels the whole table costs less than setting up a search.
    max_table_labels : int
        With more labels one object's row of counts no longer fits in 64 MiB.
    table_share : int
        A search that could be replaced by a table may spend one evaluation per this many entries
        before it is. An evaluation costs as much as four or five entries, so that adds at most a
        tenth to the cost.
    table_block_bytes : int
        Rows worked on at a time by one thread: small enough to stay in the processor's cache.
    block_bytes, block_objects : int
        Costs of the objects that one thread searches at a time, a problem takes about six times as
        much; and at most this many objects, so that an interrupt is heard soon.
    count_budget, rough_budget : int
        Evaluations that counting one region may take before an estimate is its size, about 0.1 s;
        and before it is known whether there are so many members that this would be in vain.
    first_budget, best_budget : int
        Evaluations of one object's search for the best before a climb tells what is good, and after
        it. When these are spent, the best found are the answer, with an upper bound of all that may
        have been missed.
    label_budget : int
        Evaluations of one object's searches for the highest numerators of all labels; then bounds
        are the answer.
    start_budget : int
        Evaluations in search of the labelset that draws start from, which need not be the best of
        all.
    chunk : int
        Members handed over at a time.
    few_members : int
        Up to this many members of a region are searched for as the best; more are listed and
        sorted.
    list_bytes : int
        A list of a region's members may take this much memory; larger regions are iterated.
    list_budget, member_budget : int
        Evaluations that listing or iterating a region may take, a second or two, and how many more
        for each member that it finds. Beyond them an error says how many were found.
    override_bytes : int
        Answers about overrides are kept for further questions, as long as they take no more than
        this.

    Examples
    --------
    >>> EngineOptions(table_labels=0).table_labels  # searches only
    0
    """

    table_labels: int = 8
    max_table_labels: int = 24
    table_share: int = 5
    table_block_bytes: int = 2**20
    block_bytes: int = 2**22
    block_objects: int = 128
    count_budget: int = 4_000_000
    rough_budget: int = 60_000
    first_budget: int = 20_000
    best_budget: int = 8_000_000
    label_budget: int = 8_000_000
    start_budget: int = 100_000
    chunk: int = 4096
    few_members: int = 4096
    list_bytes: int = 2**30
    list_budget: int = 20_000_000
    member_budget: int = 50
    override_bytes: int = 2**28


def check_listable(n_labels: int, options: EngineOptions) -> None:
    """Raise ValueError where there are too many labelsets to list."""
    if n_labels > options.max_table_labels:
        raise ValueError(
            f"This lists the p-values of all 2^{n_labels} labelsets of {n_labels} labels, one by"
            f" one;"
            f" that is possible for up to {options.max_table_labels} labels."
            " Predictions, top(k), regions and p_value(Y) work for any number of labels."
        )


class NotAllListedError(ValueError):
    """Raised by a search for all members of a region that has spent its budget."""

    def __init__(self, n_found: int) -> None:
        super().__init__(
            f"This region's labelsets are far apart, as where models disagree about an object: a"
            f" search for all of them"
            f" found {n_found}, spent its budget, and may have missed others."
            " members(limit=) returns the most plausible ones."
        )


Answer = TypeVar("Answer")

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

    def write(
        self,
        i: int,
        numerators: IntArray,
        labelsets: LabelMatrix | None = None,
        missed: int | None = None,
    ) -> None:
        """Set the best of object ``i``; ``missed`` is the highest numerator of any labelset that was not found."""
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
    """Return the size of a region that is made of disjoint parts; intervals hold together by Bonferroni's inequality.

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


class Answers(ABC):
    """One way to answer questions about all labelsets of n objects: block by block of objects, in threads.

    Attributes
    ----------
    n_objects, n_labels, n_block : int
        How many there are, and how many objects are worked on at a time by one thread.
    n_jobs : int or None
        Threads to work with.
    """

    n_objects: int
    n_labels: int
    n_block: int
    n_jobs: int | None

    @abstractmethod
    def best(self, objects: IntArray, n_best: int) -> BestLabelsets:
        """Return the ``n_best`` most plausible labelsets of each object."""

    @abstractmethod
    def label_maxima(self, objects: IntArray) -> IntArray:
        """Return the highest numerators of each object with each label off and on, (n, q, 2)."""

    @abstractmethod
    def count_members(self, smallest: IntArray) -> Sequence[int | None]:
        """Return the exact sizes of all regions, None for those that are counted sooner in another way."""

    @abstractmethod
    def iterate_members(self, i: int, smallest: int) -> Iterator[Members]:
        """Yield the labelsets of object ``i`` with a numerator of at least ``smallest``, some at a time."""

    @abstractmethod
    def region_sizes(self, smallest: IntArray, *, bits: float = 1.0) -> list[RegionSize]:
        """Return the sizes of all regions, estimated where counting takes long."""

    def top(self, n_best: int, objects: IntArray | None = None) -> BestLabelsets:
        """Return the ``n_best`` most plausible labelsets of some objects (None: of all)."""
        blocks = self.map_blocks(partial(self.best, n_best=n_best), "best labelsets", objects)
        nothing = BestLabelsets.nothing(0, n_best, self.n_labels)
        parts = ("labelsets", "numerators", "upper", "certain")
        return BestLabelsets(
            *(np.concatenate([getattr(one, part) for one in [nothing, *blocks]]) for part in parts)
        )

    def label_numerators(self) -> IntArray:
        """Return the highest numerator among the labelsets with each label off and on, (n, q, 2)."""
        blocks = self.map_blocks(self.label_maxima, "p-values of labels")
        return np.concatenate([np.empty((0, self.n_labels, 2), dtype=np.int64), *blocks])

    def map_blocks(
        self,
        answer: Callable[[IntArray], Answer],
        description: str,
        objects: IntArray | None = None,
    ) -> list[Answer]:
        """Return the answers for blocks of some objects (None: of all)."""
        chosen = np.arange(self.n_objects) if objects is None else objects
        blocks = [
            chosen[start : start + self.n_block] for start in range(0, len(chosen), self.n_block)
        ]
        return list(map_in_threads(answer, blocks, n_jobs=self.n_jobs, description=description))

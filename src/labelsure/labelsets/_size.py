"""The size of a region: a number where it was counted, an estimate where it was not."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log2
from typing import TypeAlias


@dataclass(frozen=True)
class SizeEstimate:
    """The size of a region too large to be counted one by one.

    Attributes
    ----------
    value : int
        The estimate; a whole number because floats end at 2^1024.
    low, high : int
        The interval that holds the size with the stated confidence.
    confidence : float
        Its confidence, from the random draws of the estimate alone.
    at_least, at_most : int
        Certified bounds: the members that were found, and a count that no region can exceed.
    approximate : bool
        Whether the confidence is that of a normal approximation instead of a proven one.

    Examples
    --------
    >>> print(SizeEstimate(27 * 10**11, 26 * 10**11, 28 * 10**11, confidence=0.99, at_least=500_000, at_most=2**45))
    2^41.3 (+-0.1)
    """

    value: int
    low: int
    high: int
    confidence: float
    at_least: int
    at_most: int
    approximate: bool = False

    def __int__(self) -> int:
        return self.value

    def __float__(self) -> float:
        return float(self.value)

    def __str__(self) -> str:
        if self.low <= 0:
            return f"between 2^{log2(max(self.at_least, 1)):.1f} and 2^{log2(max(self.high, 1)):.1f}"
        farthest = max(log2(self.high) - log2(self.value), log2(self.value) - log2(self.low))
        return f"2^{log2(self.value):.1f} (+-{max(ceil(10 * farthest), 1) / 10:.1f})"


RegionSize: TypeAlias = int | SizeEstimate


def sum_sizes(sizes: Sequence[RegionSize]) -> RegionSize:
    """Return the size of a region that is made of disjoint parts; intervals hold together by Bonferroni's inequality.

    Examples
    --------
    >>> sum_sizes([2, 3])
    5
    """
    estimates = [size for size in sizes if isinstance(size, SizeEstimate)]
    counted = sum(size for size in sizes if not isinstance(size, SizeEstimate))
    if not estimates:
        return counted
    return SizeEstimate(
        value=counted + sum(one.value for one in estimates),
        low=counted + sum(one.low for one in estimates),
        high=counted + sum(one.high for one in estimates),
        confidence=max(1 - sum(1 - one.confidence for one in estimates), 0.0),
        at_least=counted + sum(one.at_least for one in estimates),
        at_most=counted + sum(one.at_most for one in estimates),
        approximate=any(one.approximate for one in estimates),
    )

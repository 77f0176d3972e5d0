"""Prediction regions: how often they miss the true labelset, and how large they are."""

import math
from collections import Counter
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from labelsure._core.types import FloatArray
from labelsure._core.validation import check_count
from labelsure.labelsets import RegionSize

EMPTY = "empty"
# Beyond a million the ends of a bin are written as powers of two: those of a 159-label problem have 48 digits.
LAST_BIN_IN_DIGITS = 20


def region_errors(contains: ArrayLike) -> float:
    r"""Return the percentage of objects whose region misses the true labelset.

    .. math:: \frac{100}{n} \, |\{i : \psi_i \notin \Gamma_i\}|

    where :math:`\Gamma_i` is the region of object i [1]_. At significance :math:`\varepsilon` a valid predictor stays
    near or below :math:`100\,\varepsilon`.

    Parameters
    ----------
    contains : array-like of bool of shape (n,)
        Whether each region holds the object's true labelset.

    Returns
    -------
    float
        Between 0 and 100.

    References
    ----------
    .. [1] Papadopoulos, H. (2014). A cross-conformal predictor for multi-label classification. AIAI 2014 Workshops,
       IFIP AICT 437, 241-250.

    Examples
    --------
    >>> region_errors([True, True, False, True])
    25.0
    """
    array = _one_per_object(contains, "contains")
    wrong = ~((array == 0) | (array == 1))
    if np.any(wrong):
        index = int(np.argmax(wrong))
        raise ValueError(
            f"contains must hold True or False, got {array.tolist()[index]!r} for object {index}."
            " Pass whether each region holds the true labelset, not p-values or sizes."
        )
    return 100 * int(np.sum(array == 0)) / len(array)


@dataclass(frozen=True)
class SizeHistogram:
    """How many regions have one labelset, two, 3 to 4, 5 to 8, and so on in powers of two.

    Made by :func:`size_histogram`.

    Parameters
    ----------
    n_empty : int
        The number of regions with no labelset at all.
    counts : tuple of int
        ``counts[i]`` is the number of regions with a size above 2^(i-1) and at most 2^i; ``counts[0]`` of those with
        one labelset.

    Examples
    --------
    >>> histogram = SizeHistogram(n_empty=1, counts=(2, 0, 1))
    >>> histogram.n_objects, histogram.bins, histogram.percentages.tolist(), histogram.empty_percentage
    (4, ('1', '2', '3-4'), [50.0, 0.0, 25.0], 25.0)
    >>> print(histogram)
    labelsets  objects      %
    empty            1  25.00
    1                2  50.00
    2                0   0.00
    3-4              1  25.00
    """

    n_empty: int
    counts: tuple[int, ...]

    def __post_init__(self) -> None:
        if min((self.n_empty, *self.counts)) < 0 or self.n_objects == 0:
            raise ValueError(
                "A SizeHistogram must count at least one region and none negatively,"
                f" got n_empty={self.n_empty} and counts={self.counts}. Make one with size_histogram(sizes)."
            )

    @property
    def n_objects(self) -> int:
        """The number of regions, empty ones included."""
        return self.n_empty + sum(self.counts)

    @property
    def bins(self) -> tuple[str, ...]:
        """The names of the bins: "1", "2", "3-4", ..., and from 2^20 on "2^20+1-2^21", ..."""
        return tuple(_bin_name(index) for index in range(len(self.counts)))

    @property
    def percentages(self) -> FloatArray:
        """The percentage of regions in each bin; with ``empty_percentage`` they add up to 100."""
        return 100 * np.array(self.counts, dtype=np.float64) / self.n_objects

    @property
    def empty_percentage(self) -> float:
        """The percentage of regions with no labelset at all."""
        return 100 * self.n_empty / self.n_objects

    def to_dict(self) -> dict[str, float]:
        """Return percentages by bin name, those of the paper's tables, after the empty regions.

        Examples
        --------
        >>> SizeHistogram(n_empty=0, counts=(2, 0, 2)).to_dict()
        {'empty': 0.0, '1': 50.0, '2': 0.0, '3-4': 50.0}
        """
        return {EMPTY: self.empty_percentage, **dict(zip(self.bins, self.percentages.tolist(), strict=True))}

    def __str__(self) -> str:
        """Write the table from the first bin in use to the last, under the empty regions."""
        used = [index for index, count in enumerate(self.counts) if count]
        shown = range(used[0], used[-1] + 1) if used else range(0)
        rows = [("labelsets", "objects", "%"), (EMPTY, str(self.n_empty), f"{self.empty_percentage:.2f}")]
        percentages = self.percentages
        rows += [(_bin_name(index), str(self.counts[index]), f"{percentages[index]:.2f}") for index in shown]
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        return "\n".join(f"{name:<{widths[0]}}  {n:>{widths[1]}}  {share:>{widths[2]}}" for name, n, share in rows)


def size_histogram(sizes: ArrayLike, *, max_size: int | None = None) -> SizeHistogram:
    """Count regions by size in bins 1, 2, 3-4, 5-8, ...: the rows of the paper's region tables.

    Bin i holds the sizes in (2^(i-1), 2^i] [1]_. Empty regions, which the paper has no row for, are kept apart.

    Parameters
    ----------
    sizes : array-like of int of shape (n,)
        The number of labelsets in each region. Python integers of any length are binned exactly.
    max_size : int or None
        The largest size possible, to get the same bins from every run: the last bin is the one it falls in, so
        ``2**n_labels`` gives n_labels + 1 bins. Without it the last bin is that of the largest region.

    Returns
    -------
    SizeHistogram
        Counts and percentages; printing it gives a table.

    References
    ----------
    .. [1] Papadopoulos, H. (2014). A cross-conformal predictor for multi-label classification. AIAI 2014 Workshops,
       IFIP AICT 437, 241-250.

    Examples
    --------
    >>> print(size_histogram([1, 1, 3, 4, 7, 0, 1, 2]))
    labelsets  objects      %
    empty            1  12.50
    1                3  37.50
    2                1  12.50
    3-4              2  25.00
    5-8              1  12.50
    >>> size_histogram([2], max_size=2**3).to_dict()
    {'empty': 0.0, '1': 0.0, '2': 100.0, '3-4': 0.0, '5-8': 0.0}
    """
    checked = _check_sizes(sizes)
    largest = max(checked)
    if max_size is not None:
        limit = check_count(max_size, name="max_size")
        if largest > limit:
            raise ValueError(
                f"sizes must be at most max_size, got {_shown(largest)} for object {checked.index(largest)} where"
                f" max_size is {_shown(limit)}. Pass max_size=2**n_labels, or leave it out."
            )
        largest = limit
    found = Counter(_bin_of(size) for size in checked if size)
    n_bins = _bin_of(max(largest, 1)) + 1
    return SizeHistogram(n_empty=checked.count(0), counts=tuple(found[index] for index in range(n_bins)))


def mean_region_size(sizes: ArrayLike) -> float:
    r"""Return the mean number of labelsets in a region: criterion N of [1]_, smaller is better.

    .. math:: \frac{1}{n} \sum_{i=1}^{n} |\Gamma_i|

    Parameters
    ----------
    sizes : array-like of int of shape (n,)
        The number of labelsets in each region. Python integers of any length are added exactly.

    Returns
    -------
    float
        The mean; infinity where it is beyond the largest float, about 2^1024.

    References
    ----------
    .. [1] Vovk, V., Fedorova, V., Nouretdinov, I., Gammerman, A. (2016). Criteria of efficiency for conformal
       prediction. COPA 2016, LNCS 9653, 23-39.

    Examples
    --------
    >>> mean_region_size([1, 4, 0, 3])
    2.0
    """
    checked = _check_sizes(sizes)
    return _divide(sum(checked), len(checked))


def median_region_size(sizes: ArrayLike) -> float:
    """Return the median number of labelsets in a region.

    With many labels a few huge regions make the mean say little about the others.

    Parameters
    ----------
    sizes : array-like of int or RegionSize of shape (n,)
        The number of labelsets in each region; Python integers of any length, estimates by their value.

    Returns
    -------
    float
        The middle size, or the mean of the two middle ones; infinity where it is beyond the largest float.

    Examples
    --------
    >>> median_region_size([1, 2**90, 4, 3])
    3.5
    """
    ordered = sorted(_check_sizes(sizes))
    return _divide(ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2], 2)


def _bin_of(size: int) -> int:
    """Return the i for which 2^(i-1) < size <= 2^i."""
    return (size - 1).bit_length()


def _bin_name(index: int) -> str:
    if index <= 1:
        return str(index + 1)
    if index <= LAST_BIN_IN_DIGITS:
        return f"{2 ** (index - 1) + 1}-{2**index}"
    return f"2^{index - 1}+1-2^{index}"


def _check_sizes(sizes: ArrayLike) -> list[int]:
    values = _one_per_object(sizes, "sizes").tolist()
    for index, size in enumerate(values):
        if not isinstance(size, Integral | RegionSize) or isinstance(size, bool) or int(size) < 0:
            raise ValueError(
                f"sizes must be whole numbers of at least 0, got {size!r} for object {index}."
                " Pass the number of labelsets in each region as integers."
            )
    return [int(size) for size in values]


def _one_per_object(values: ArrayLike, name: str) -> np.ndarray[Any, Any]:
    # Lists become arrays of Python objects: numpy would make floats of [1, 2**63].
    array = np.asarray(values) if hasattr(values, "dtype") else np.asarray(values, dtype=object)
    if array.ndim != 1 or len(array) == 0:
        raise ValueError(
            f"{name} must have shape (n_objects,) with at least one object, got shape {array.shape}."
            " Pass one entry per region."
        )
    return array


def _divide(total: int, n: int) -> float:
    try:
        return total / n
    except OverflowError:
        return math.inf


def _shown(size: int) -> str:
    """Write a size so that a message stays readable when it has hundreds of digits."""
    return (
        str(size)
        if size.bit_length() <= 64
        else f"a number between 2^{size.bit_length() - 1} and 2^{size.bit_length()}"
    )

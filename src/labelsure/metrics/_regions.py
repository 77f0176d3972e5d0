"""Prediction regions: how often they miss the true labelset, and how large they are."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from labelsure._checks import FloatArray, check_count, find_entry, find_no_number, is_number
from labelsure.predictions import LabelsetRegion, RegionSize

Sizes: TypeAlias = ArrayLike | Sequence[RegionSize]

EMPTY = "empty"
# Beyond a million the ends of a bin are written as powers of two: those of a 159-label problem have
# 48 digits.
LAST_BIN_IN_DIGITS = 20


def error_rate(contains: ArrayLike) -> float:
    r"""Return the share of objects whose region misses the true labelset.

    .. math:: \frac{1}{n} \, |\{i : \psi_i \notin \Gamma_i\}|

    where :math:`\Gamma_i` is the region of object i [1]_. At significance :math:`\varepsilon` a
    valid predictor stays near or below :math:`\varepsilon`.

    Parameters
    ----------
    contains : array-like of bool of shape (n,)
        Whether each region holds the object's true labelset: ``region.contains(Y_true)``.

    Returns
    -------
    float
        Between 0 and 1.

    References
    ----------
    .. [1] Papadopoulos, H. (2014). A cross-conformal predictor for multi-label classification. AIAI
       2014 Workshops, IFIP AICT 437, 241-250.

    Examples
    --------
    >>> error_rate([True, True, False, True])
    0.25
    """
    array = _one_per_object(contains, "contains")
    wrong = find_no_number(contains, array) or find_entry((array != 0) & (array != 1), array)
    if wrong:
        raise ValueError(
            f"contains must hold True or False, got {wrong}."
            " Pass whether each region holds the true labelset, not p-values or sizes."
        )
    return int(np.sum(array == 0)) / len(array)


@dataclass(frozen=True)
class SizeHistogram:
    """How many regions have one labelset, two, 3 to 4, 5 to 8, and so on in powers of two.

    Made by :func:`size_histogram`.

    Parameters
    ----------
    n_empty : int
        The number of regions with no labelset at all.
    counts : tuple of int
        ``counts[i]`` is the number of regions with a size above 2^(i-1) and at most 2^i;
        ``counts[0]`` of those with one labelset.

    Examples
    --------
    >>> histogram = SizeHistogram(n_empty=1, counts=(2, 0, 1))
    >>> histogram.n_objects, histogram.bins, histogram.shares.tolist(), histogram.empty_share
    (4, ('1', '2', '3-4'), [0.5, 0.0, 0.25], 0.25)
    >>> print(histogram)
    labelsets  objects   share
    empty            1  0.2500
    1                2  0.5000
    2                0  0.0000
    3-4              1  0.2500
    """

    n_empty: int
    counts: tuple[int, ...]

    def __post_init__(self) -> None:
        if min((self.n_empty, *self.counts)) < 0 or self.n_objects == 0:
            raise ValueError(
                "A SizeHistogram must count at least one region and none negatively,"
                f" got n_empty={self.n_empty} and counts={self.counts}. Make one with"
                f" size_histogram(sizes)."
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
    def shares(self) -> FloatArray:
        """The share of regions in each bin; with ``empty_share`` they add up to 1."""
        return np.array(self.counts, dtype=np.float64) / self.n_objects

    @property
    def empty_share(self) -> float:
        """The share of regions with no labelset at all."""
        return self.n_empty / self.n_objects

    def to_dict(self) -> dict[str, float]:
        """Return shares by bin name, the rows of the paper's tables, after the empty regions.

        Examples
        --------
        >>> SizeHistogram(n_empty=0, counts=(2, 0, 2)).to_dict()
        {'empty': 0.0, '1': 0.5, '2': 0.0, '3-4': 0.5}
        """
        return {EMPTY: self.empty_share, **dict(zip(self.bins, self.shares.tolist(), strict=True))}

    def __str__(self) -> str:
        """Write the table from the first bin in use to the last, under the empty regions."""
        used = [index for index, count in enumerate(self.counts) if count]
        shown = range(used[0], used[-1] + 1) if used else range(0)
        rows = [
            ("labelsets", "objects", "share"),
            (EMPTY, str(self.n_empty), f"{self.empty_share:.4f}"),
        ]
        shares = self.shares
        rows += [
            (_bin_name(index), str(self.counts[index]), f"{shares[index]:.4f}") for index in shown
        ]
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        return "\n".join(
            f"{name:<{widths[0]}}  {n:>{widths[1]}}  {share:>{widths[2]}}"
            for name, n, share in rows
        )


def size_histogram(sizes: Sizes, *, max_size: int | None = None) -> SizeHistogram:
    """Count regions by size in bins 1, 2, 3-4, 5-8, ...: the rows of the paper's region tables.

    Bin i holds the sizes in (2^(i-1), 2^i] [1]_. Empty regions, which the paper has no row for, are
    kept apart.

    Parameters
    ----------
    sizes : array-like of shape (n,)
        The number of labelsets in each region: ``region.sizes``, or ``region.size_estimates``,
        which are binned exactly for any number of labels. Whole numbers, floats among them.
    max_size : int or None
        The largest size possible, to get the same bins from every run: the last bin is the one it
        falls in, so ``2**n_labels`` gives n_labels + 1 bins. Without it the last bin is that of the
        largest region.

    Returns
    -------
    SizeHistogram
        Counts and shares; printing it gives a table.

    References
    ----------
    .. [1] Papadopoulos, H. (2014). A cross-conformal predictor for multi-label classification. AIAI
       2014 Workshops, IFIP AICT 437, 241-250.

    Examples
    --------
    >>> print(size_histogram([1, 1, 3, 4, 7, 0, 1, 2]))
    labelsets  objects   share
    empty            1  0.1250
    1                3  0.3750
    2                1  0.1250
    3-4              2  0.2500
    5-8              1  0.1250
    >>> size_histogram([2], max_size=2**3).to_dict()
    {'empty': 0.0, '1': 0.0, '2': 1.0, '3-4': 0.0, '5-8': 0.0}
    """
    checked = [int(size) for size in _check_sizes(sizes, finite=True)]
    largest = max(checked)
    if max_size is not None:
        limit = check_count(max_size, name="max_size")
        if largest > limit:
            raise ValueError(
                f"sizes must be at most max_size, got {_shown(largest)} for object"
                f" {checked.index(largest)} where"
                f" max_size is {_shown(limit)}. Pass max_size=2**n_labels, or leave it out."
            )
        largest = limit
    found = Counter(_bin_of(size) for size in checked if size)
    n_bins = _bin_of(max(largest, 1)) + 1
    return SizeHistogram(
        n_empty=checked.count(0), counts=tuple(found[index] for index in range(n_bins))
    )


def mean_region_size(sizes: Sizes) -> float:
    r"""Return the mean number of labelsets in a region: criterion N of [1]_, smaller is better.

    .. math:: \frac{1}{n} \sum_{i=1}^{n} |\Gamma_i|

    Parameters
    ----------
    sizes : array-like of shape (n,)
        The number of labelsets in each region, as in :func:`size_histogram`.

    Returns
    -------
    float
        The mean; infinity where it is beyond the largest float, about 2^1024.

    References
    ----------
    .. [1] Vovk, V., Fedorova, V., Nouretdinov, I., Gammerman, A. (2016). Criteria of efficiency for
       conformal prediction. COPA 2016, LNCS 9653, 23-39.

    Examples
    --------
    >>> mean_region_size([1, 4, 0, 3])
    2.0
    """
    return _mean(_check_sizes(sizes))


def median_region_size(sizes: Sizes) -> float:
    """Return the median number of labelsets in a region.

    With many labels a few huge regions make the mean say little about the others.

    Parameters
    ----------
    sizes : array-like of shape (n,)
        The number of labelsets in each region, as in :func:`size_histogram`.

    Returns
    -------
    float
        The middle size, or the mean of the two middle ones; infinity where it is beyond the largest
        float.

    Examples
    --------
    >>> median_region_size([1, 2**90, 4, 3])
    3.5
    """
    ordered = sorted(_check_sizes(sizes))
    return _mean(ordered[(len(ordered) - 1) // 2 : len(ordered) // 2 + 1])


def sizes_of(region: LabelsetRegion, less: ArrayLike = 0) -> list[int]:
    """Return the sizes of regions as whole numbers of any length, estimates by their value; made smaller by ``less``.

    Not below 0, though: an estimate may have missed the few members of a region.
    """
    fewer = np.broadcast_to(less, len(region)).astype(int)
    return [
        max(size.value - int(by), 0) for size, by in zip(region.size_estimates, fewer, strict=True)
    ]


def share_above(sizes: Sequence[int], limit: int) -> float:
    """Return the share of sizes above ``limit``."""
    return float(np.mean([size > limit for size in sizes]))


def _bin_of(size: int) -> int:
    """Return the i for which 2^(i-1) < size <= 2^i."""
    return (size - 1).bit_length()


def _bin_name(index: int) -> str:
    if index <= 1:
        return str(index + 1)
    if index <= LAST_BIN_IN_DIGITS:
        return f"{2 ** (index - 1) + 1}-{2**index}"
    return f"2^{index - 1}+1-2^{index}"


def _check_sizes(sizes: Sizes, *, finite: bool = False) -> list[int | float]:
    """Return sizes as whole numbers of any length, or infinity."""
    array = _one_per_object(sizes, "sizes")
    odd = None if array.dtype == object else find_no_number(sizes, array)
    checked: list[int | float] = []
    for index, size in enumerate([] if odd else array.tolist()):
        value = int(size) if isinstance(size, RegionSize) else size
        valid = is_number(value) and not isinstance(value, bool | np.bool_) and value >= 0
        endless = valid and value == math.inf
        if not valid or (finite if endless else int(value) != value):
            odd = f"{value!r} for object {index}"
            break
        checked.append(value if endless else int(value))
    if odd:
        raise ValueError(
            f"sizes must be {'finite ' if finite else ''}whole numbers of at least 0, got {odd}."
            " Pass the number of labelsets in each region: region.sizes, or region.size_estimates"
            " where those are"
            " infinite."
        )
    return checked


def _one_per_object(values: Sizes, name: str) -> np.ndarray[Any, Any]:
    # Lists become arrays of Python objects: numpy would make floats of [1, 2**63].
    array = np.asarray(values) if hasattr(values, "dtype") else np.asarray(values, dtype=object)
    if array.ndim != 1 or len(array) == 0:
        raise ValueError(
            f"{name} must have shape (n_objects,) with at least one object, got shape"
            f" {array.shape}."
            " Pass one entry per region."
        )
    return array


def _mean(sizes: Sequence[int | float]) -> float:
    try:
        return sum(sizes) / len(sizes)
    except OverflowError:
        return math.inf


def _shown(size: int) -> str:
    """Write a size so that a message stays readable when it has hundreds of digits."""
    return (
        str(size)
        if size.bit_length() <= 64
        else f"a number between 2^{size.bit_length() - 1} and 2^{size.bit_length()}"
    )

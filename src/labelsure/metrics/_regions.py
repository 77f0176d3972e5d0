"""Prediction regions: how often they miss the true labelset, how large and informative they are."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from labelsure._checks import (
    BoolArray,
    FloatArray,
    LabelMatrix,
    LabelMatrixLike,
    check_count,
    check_label_matrix,
    check_same_length,
    check_significance,
    find_entry,
    find_no_number,
    is_list,
    is_number,
    shown,
)
from labelsure.predictions import LabelsetPredictions, LabelsetRegion, RegionSize

Sizes: TypeAlias = ArrayLike | Sequence[RegionSize]

EMPTY = "empty"

# Beyond a million the ends of a bin are written as powers of two: those of a 159-label problem have
# 48 digits.
LAST_BIN_IN_DIGITS = 20

BLOCK_BYTES = 2**26
"""P-values held at a time while they are added up."""


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
    covered = check_contains(contains)
    return int(np.sum(~covered)) / len(covered)


def check_contains(contains: ArrayLike) -> BoolArray:
    """Return whether each region holds the truth, or raise ValueError."""
    array = _one_per_object(contains, "contains")
    wrong = find_no_number(contains, array) or find_entry((array != 0) & (array != 1), array)
    if wrong:
        raise ValueError(
            f"contains must hold True or False, got {wrong}. Pass whether each region holds the"
            " true labelset, not p-values or sizes."
        )
    covered: BoolArray = array == 1
    return covered


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
        rows = [("labelsets", "objects", "share")]
        rows += [(EMPTY, str(self.n_empty), f"{self.empty_share:.4f}")]
        for index in shown:
            rows += [(_bin_name(index), str(self.counts[index]), f"{self.shares[index]:.4f}")]
        return write_table(rows)


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
                f"sizes must be at most max_size, got {shown(largest)} for object"
                f" {checked.index(largest)} where max_size is {shown(limit)}. Pass"
                " max_size=2**n_labels, or leave it out."
            )
        largest = limit
    counts = Counter(bin_of(size) for size in checked if size)
    n_bins = bin_of(max(largest, 1)) + 1
    return SizeHistogram(checked.count(0), tuple(counts[index] for index in range(n_bins)))


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


@dataclass(frozen=True)
class EfficiencyCriteria:
    """The ten criteria of efficiency of one set of predictions, smaller is better.

    Made by :func:`efficiency_criteria`; ``dataclasses.asdict`` turns it into a mapping.

    Attributes
    ----------
    significance : tuple of float
        The levels of N, M, E, OM and OE.
    S, F, OF : float or None
        Sums of p-values: of all labelsets, of all but the most plausible, of the false ones; None
        with more labels than can be listed.
    U, OU : float
        The second largest p-value; the largest of a false labelset.
    N, M, E : tuple of float
        By level: the size of a region, the share of regions with more than one labelset, the
        labelsets beyond the first.
    OM, OE : tuple of float
        By level: the share of regions with a false labelset, the number of false labelsets in a
        region.
    n_estimated : tuple of int
        By level: of how many regions the size is an estimate, which N, E and OE then rest on.

    Examples
    --------
    >>> criteria = EfficiencyCriteria(
    ...     significance=(0.05, 0.2), S=1.25, U=0.25, F=0.5, OU=0.25, OF=0.5,
    ...     N=(3.0, 1.5), M=(1.0, 0.5), E=(2.0, 0.5), OM=(1.0, 0.5), OE=(2.0, 0.5),
    ...     n_estimated=(0, 0),
    ... )
    >>> print(criteria)
    significance     any    0.05     0.2
    S               1.25
    N                          3     1.5
    U               0.25
    F                0.5
    M                          1     0.5
    E                          2     0.5
    OU              0.25
    OF               0.5
    OM                         1     0.5
    OE                         2     0.5
    """

    significance: tuple[float, ...]
    S: float | None
    N: tuple[float, ...]
    U: float
    F: float | None
    M: tuple[float, ...]
    E: tuple[float, ...]
    OU: float
    OF: float | None
    OM: tuple[float, ...]
    OE: tuple[float, ...]
    n_estimated: tuple[int, ...]

    def __str__(self) -> str:
        """Write a table with one row per criterion and one column per level."""
        lines = [
            f"{'significance':<12}{'any':>8}"
            + "".join(f"{level:>8g}" for level in self.significance)
        ]
        for name in ("S", "N", "U", "F", "M", "E", "OU", "OF", "OM", "OE"):
            value = getattr(self, name)
            figures = "".join(f" {one:>7.4g}" for one in value) if isinstance(value, tuple) else ""
            whole = "" if isinstance(value, tuple) else "-" if value is None else f"{value:.4g}"
            lines.append(f"{name:<12}{whole:>8}{figures}".rstrip())
        if any(self.n_estimated):
            lines.append(f"{'estimated':<20}" + "".join(f"{n:>8}" for n in self.n_estimated))
        return "\n".join(lines)


def efficiency_criteria(
    Y_true: LabelMatrixLike,
    predictions: LabelsetPredictions,
    significance: float | Iterable[float] = (0.05, 0.1, 0.2),
) -> EfficiencyCriteria:
    r"""Return the ten criteria of efficiency of [1]_: how little predictions leave open.

    Means over objects, with :math:`p(\psi)` the p-value of a labelset, :math:`\psi_i` the true one
    and :math:`\Gamma` the region at a level:

    ==  ======================================  ==  ===========================================
    S   :math:`\sum_\psi p(\psi)`               OF  :math:`\sum_{\psi \neq \psi_i} p(\psi)`
    F   :math:`\sum p - \max p`
    U   the second largest p                    OU  :math:`\max_{\psi \neq \psi_i} p(\psi)`
    N   :math:`|\Gamma|`                        OE  :math:`|\Gamma \setminus \{\psi_i\}|`
    E   :math:`\max(|\Gamma| - 1, 0)`
    M   :math:`[|\Gamma| > 1]`                  OM  :math:`[|\Gamma \setminus \{\psi_i\}| > 0]`
    ==  ======================================  ==  ===========================================

    S, N, OF and OE are the *probabilistic* criteria: in the idealised setting of [1]_ nothing beats
    scores that are the true probabilities of labelsets. For the others something may, so prefer
    these four to compare measures. True labels that are no candidate, the empty labelset where it
    is excluded, make all candidates false.

    Parameters
    ----------
    Y_true : array-like, sparse matrix or DataFrame of shape (n, q)
        Zeros and ones: true labels.
    predictions : LabelsetPredictions
        Of the n objects.
    significance : float or iterable of float, default=(0.05, 0.1, 0.2)
        The levels of the regions for N, M, E, OM and OE.

    Returns
    -------
    EfficiencyCriteria
        With more than 24 labels S, F and OF, which list all labelsets, are None.

    References
    ----------
    .. [1] Vovk, V., Fedorova, V., Nouretdinov, I., Gammerman, A. (2016). Criteria of efficiency for
       conformal prediction. COPA 2016, LNCS 9653, 23-39.

    Examples
    --------
    >>> from labelsure import calibrate_outputs
    >>> outputs, Y = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]]
    >>> predictor = calibrate_outputs(outputs, Y, empty_labelset="exclude")
    >>> predictions = predictor.predict_labelsets([[0.8, 0.3], [0.8, 0.3]])
    >>> criteria = efficiency_criteria([[1, 0], [1, 1]], predictions, significance=(0.2, 0.3))
    >>> criteria.S, criteria.OF, criteria.N, criteria.OE
    (1.25, 0.75, (3.0, 1.0), (2.0, 0.5))
    """
    labels = check_true_labels(Y_true, predictions)
    levels = check_levels(significance)
    top = predictions.top(2)
    best_is_true = (top.labelsets[:, 0] == labels).all(axis=1)
    largest_false = np.where(best_is_true, top.p_values[:, 1], top.p_values[:, 0])
    sums = _sums_of_p_values(predictions)
    regions = [predictions.region(level, size_precision=0.1) for level in levels]
    sizes = [sizes_of(region) for region in regions]
    false = [sizes_of(region, less=region.contains(labels)) for region in regions]
    return EfficiencyCriteria(
        significance=tuple(float(check_significance(level)) for level in levels),
        S=None if sums is None else float(np.mean(sums)),
        N=tuple(mean_region_size(size) for size in sizes),
        U=float(np.mean(top.p_values[:, 1])),
        F=None if sums is None else float(np.mean(sums - top.p_values[:, 0])),
        M=tuple(float(np.mean([n > 1 for n in size])) for size in sizes),
        E=tuple(mean_region_size(sizes_of(region, less=1)) for region in regions),
        OU=float(np.mean(largest_false)),
        OF=None if sums is None else float(np.mean(sums - predictions.p_value(labels))),
        OM=tuple(float(np.mean([n > 0 for n in size])) for size in false),
        OE=tuple(mean_region_size(size) for size in false),
        n_estimated=tuple(
            sum(one.at_least < one.at_most for one in region.size_estimates) for region in regions
        ),
    )


def _sums_of_p_values(predictions: LabelsetPredictions) -> FloatArray | None:
    """Return each object's sum of the p-values of all labelsets, by blocks of objects, or None."""
    try:
        predictions[:0].p_values()
    except ValueError:  # too many labels to list all labelsets
        return None
    n_at_once = max(1, BLOCK_BYTES // (8 * 2 ** len(predictions.label_names)))
    starts = range(0, len(predictions), n_at_once)
    return np.concatenate(
        [predictions[start : start + n_at_once].p_values().sum(axis=1) for start in starts]
    )


def write_table(rows: Sequence[tuple[str, ...]]) -> str:
    """Return rows of cells as text, the first column to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *cells]))
    return "\n".join(lines)


def sizes_of(region: LabelsetRegion, less: ArrayLike = 0) -> list[int]:
    """Return the sizes of regions as whole numbers, estimates by their value, reduced by ``less``.

    Not below 0, though: an estimate may have missed the few members of a region.
    """
    fewer = np.broadcast_to(less, len(region)).tolist()
    pairs = zip(region.size_estimates, fewer, strict=True)
    return [max(size.value - int(by), 0) for size, by in pairs]


def bin_of(size: int) -> int:
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
            " where those are infinite."
        )
    return checked


def _one_per_object(values: Sizes, name: str) -> np.ndarray[Any, Any]:
    # Lists become arrays of Python objects: numpy would make floats of [1, 2**63].
    array = np.asarray(values) if hasattr(values, "dtype") else np.asarray(values, dtype=object)
    if array.ndim != 1 or len(array) == 0:
        raise ValueError(
            f"{name} must have shape (n_objects,) with at least one object, got shape"
            f" {array.shape}. Pass one entry per region."
        )
    return array


def _mean(sizes: Sequence[int | float]) -> float:
    try:
        return sum(sizes) / len(sizes)
    except OverflowError:
        return math.inf


def check_predictions(predictions: Any, *others: type) -> Any:
    """Return predictions of labelsets, or of other types, of at least one object.

    Examples
    --------
    >>> check_predictions([[1, 0]])
    Traceback (most recent call last):
    ...
    ValueError: predictions must be what predict_labelsets returns, got a list. ...
    """
    allowed: Any = (LabelsetPredictions, *others)
    if not isinstance(predictions, allowed):
        or_labels = " or predict_labels" if others else ""
        raise ValueError(
            f"predictions must be what predict_labelsets{or_labels} returns, got a"
            f" {type(predictions).__name__}. Pass model.predict_labelsets(X), not what predict"
            " returns; where true labels are needed, they come first."
        )
    if len(predictions) == 0:
        raise ValueError("predictions must be of at least one object, got none.")
    return predictions


def check_true_labels(Y_true: LabelMatrixLike, predictions: LabelsetPredictions) -> LabelMatrix:
    """Return the true labels of the predicted objects as a label matrix, or raise ValueError.

    Examples
    --------
    >>> from labelsure import calibrate_outputs
    >>> predictions = calibrate_outputs([[0.9, 0.2]], [[1, 0]]).predict_labelsets([[0.8, 0.3]])
    >>> check_true_labels([[1, 0], [0, 1]], predictions)
    Traceback (most recent call last):
    ...
    ValueError: the predictions and Y_true must have the same number of rows, got 1 and 2. ...
    """
    names = check_predictions(predictions).label_names
    labels = check_label_matrix(Y_true, name="Y_true", n_labels=len(names), label_names=names)
    check_same_length(range(len(predictions)), labels, names=("the predictions", "Y_true"))
    return labels


def check_levels(significance: float | Iterable[float]) -> tuple[float, ...]:
    """Return one or several significance levels as a tuple, or raise ValueError.

    Examples
    --------
    >>> check_levels([0.05, 0.05])
    Traceback (most recent call last):
    ...
    ValueError: significance must hold different levels, got 0.05 twice.
    """
    levels: tuple[Any, ...] = tuple(significance) if is_list(significance) else (significance,)
    exact = [check_significance(level) for level in levels]
    if not levels:
        raise ValueError(
            "significance must hold at least one level, got none. Pass for instance (0.05, 0.1,"
            " 0.2)."
        )
    twice = [level for n, level in enumerate(levels) if exact[n] in exact[:n]]
    if twice:
        raise ValueError(f"significance must hold different levels, got {twice[0]} twice.")
    return levels

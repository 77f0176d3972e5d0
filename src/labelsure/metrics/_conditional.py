"""For whom do regions hold the truth less often? Coverage by group, number of labels, label and size of region."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from labelsure._core.optional import import_optional
from labelsure._core.types import BoolArray, FloatArray, IntArray, LabelMatrixLike
from labelsure._core.validation import (
    check_label_matrix,
    check_label_names,
    check_number,
    check_same_length,
    made_up_names,
)
from labelsure.metrics._regions import EMPTY, Sizes, error_rate, size_histogram

ROWS_SHOWN = 30
"""Of a printed table; those with the lowest upper limits where there are more groups."""


class GroupCoverage(NamedTuple):
    """One group's coverage, see :attr:`ConditionalCoverage.worst`."""

    group: str
    n_objects: int
    coverage: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Slab:
    """The objects between two parallel planes: those with ``low <= X @ direction <= high``.

    Attributes
    ----------
    direction : array of shape (n_features,)
        What the planes are perpendicular to.
    low, high : float
        Where they are.

    Examples
    --------
    >>> Slab(np.array([1.0, -1.0]), low=0.0, high=2.0).holds([[3.0, 2.0], [1.0, 4.0]]).tolist()
    [True, False]
    """

    direction: FloatArray
    low: float
    high: float

    def holds(self, X: ArrayLike) -> BoolArray:
        """Tell which objects lie in the slab."""
        places = np.asarray(X, dtype=np.float64) @ self.direction
        inside: BoolArray = (places >= self.low) & (places <= self.high)
        return inside


@dataclass(frozen=True, eq=False)
class ConditionalCoverage:
    """How often regions hold the truth in each of several groups of objects; ``print`` it.

    Made by :func:`coverage_by_group` and its relatives.

    Attributes
    ----------
    by : str
        What the groups are made by.
    groups : tuple of str
        Their names. Groups may overlap.
    n_objects, n_covered : int arrays, one entry per group
        The objects of each group, and how many of their regions hold the truth.
    n_objects_in_all, n_covered_in_all : int
        The same for all objects.
    coverage_level : float
        The probability with which an interval holds the coverage.
    slab : Slab or None
        Where the groups are a slab and the rest, the slab.

    Examples
    --------
    >>> table = coverage_by_group([True, True, True, False, False], ["a", "a", "a", "a", "b"])
    >>> table.coverage.tolist()
    [0.75, 0.0]
    >>> table.worst.group, round(table.worst.high, 4)
    ('b', 0.9875)
    """

    by: str
    groups: tuple[str, ...]
    n_objects: IntArray
    n_covered: IntArray
    n_objects_in_all: int
    n_covered_in_all: int
    coverage_level: float
    slab: Slab | None = None

    @property
    def coverage(self) -> FloatArray:
        """The share of each group's regions that hold the truth; NaN for a group without objects."""
        return np.where(self.n_objects > 0, self.n_covered / np.maximum(self.n_objects, 1), np.nan)

    @property
    def low(self) -> FloatArray:
        """The lower limits of the coverage of each group, taken alone."""
        return clopper_pearson(self.n_covered, self.n_objects, self.coverage_level)[0]

    @property
    def high(self) -> FloatArray:
        """The upper limits of the coverage of each group, taken alone."""
        return clopper_pearson(self.n_covered, self.n_objects, self.coverage_level)[1]

    @property
    def n_compared(self) -> int:
        """How many groups the worst is the worst of; a slab was chosen with other objects and is not compared."""
        return int(np.sum(self.n_objects > 0)) if self.slab is None else 1

    @property
    def worst(self) -> GroupCoverage:
        """The group that is most surely covered less than others: that with the lowest upper limit.

        Its limits, and those it is chosen by, are those of all groups at once (Bonferroni): the worst of many groups
        looks bad by chance alone.
        """
        level = 1 - (1 - self.coverage_level) / max(self.n_compared, 1)
        low, high = clopper_pearson(self.n_covered, self.n_objects, level)
        candidates = range(len(self.groups)) if self.slab is None else range(1)
        i = min(candidates, key=lambda i: (high[i], self.coverage[i]))
        return GroupCoverage(
            self.groups[i], int(self.n_objects[i]), float(self.coverage[i]), float(low[i]), float(high[i])
        )

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row per group.

        Examples
        --------
        >>> print(coverage_by_group([True, True, False, True], ["a", "a", "b", "b"]).to_frame().round(3))
               n_objects  coverage    low   high
        group
        a              2       1.0  0.158  1.000
        b              2       0.5  0.013  0.987
        """
        pandas = import_optional("pandas", extra="pandas", purpose="to_frame")
        columns = {name: getattr(self, name) for name in ("n_objects", "coverage", "low", "high")}
        return pandas.DataFrame(columns, index=pandas.Index(self.groups, name=self.by))

    def __str__(self) -> str:
        """Write the table under a line about all objects, and the worst group below it."""
        low, high = self.low, self.high
        n_shown = min(len(self.groups), ROWS_SHOWN)
        shown = np.sort(np.argsort(high, kind="stable")[:n_shown])
        rows = [(self.by, "objects", "coverage", "low", "high")]
        rows += [
            (self.groups[i], str(self.n_objects[i]), *(f"{x:.4f}" for x in (self.coverage[i], low[i], high[i])))
            for i in shown
        ]
        widths = [max(len(row[column]) for row in rows) for column in range(5)]
        lines = [
            "  ".join(cell.ljust(width) if not k else cell.rjust(width) for k, (cell, width) in enumerate(cells))
            for cells in (list(zip(row, widths, strict=True)) for row in rows)
        ]
        if n_shown < len(self.groups):
            lines.append(f"... and {len(self.groups) - n_shown} groups with higher upper limits")
        return "\n".join([self._headline(), *lines, self._last_line()])

    def _headline(self) -> str:
        covered, n = self.n_covered_in_all, self.n_objects_in_all
        ((low,), (high,)) = clopper_pearson(np.array([covered]), np.array([n]), self.coverage_level)
        return f"Coverage of {n} objects: {covered / n:.4f} ({low:.4f} to {high:.4f})"

    def _last_line(self) -> str:
        worst, percent = self.worst, f"{100 * self.coverage_level:g} %"
        if self.slab is not None:
            return f"Limits at {percent}; the slab was chosen with other objects."
        together = f" for all {self.n_compared} groups at once" if self.n_compared > 1 else ""
        return (
            f"Worst: {worst.group}, {worst.coverage:.4f} ({worst.low:.4f} to {worst.high:.4f}, at {percent}{together};"
            f" limits in the table: {percent} each)."
        )


def coverage_by_group(
    contains: ArrayLike, groups: ArrayLike, *, name: str = "group", coverage_level: float = 0.95
) -> ConditionalCoverage:
    """Return how often regions hold the truth in each group of objects, with exact intervals.

    A predictor that is right about 90 % of all objects may be right about 99 % of some and 60 % of others: what is
    guaranteed is the average. Where groups are known beforehand, :class:`~labelsure.ByObject` keeps the level in each.

    Parameters
    ----------
    contains : array-like of bool of shape (n,)
        Whether each region holds the object's true labelset: ``region.contains(Y_true)``. For a label j taken by
        itself pass ``~region.wrong(Y_true)[:, j]``, and ``Y_true[:, j]`` as the groups.
    groups : array-like of shape (n,)
        What group each object belongs to: numbers or texts.
    name : str, default="group"
        What the groups are made by, for the table.
    coverage_level : float, default=0.95
        The probability with which each interval is to hold the group's coverage, strictly between 0 and 1.

    Returns
    -------
    ConditionalCoverage
        ``print`` it, or ``to_frame()``; ``worst`` is the group to look at, with limits that allow for the choice.

    Notes
    -----
    Intervals are those of Clopper and Pearson [1]_, exact for the coverage of *this fitted predictor* where, given the
    predictor, objects are drawn independently from one distribution. The groups must not be made by looking at
    ``contains``.

    References
    ----------
    .. [1] Clopper, C. J., Pearson, E. S. (1934). The use of confidence or fiducial limits illustrated in the case of
       the binomial. Biometrika 26, 404-413.

    Examples
    --------
    >>> contains = [True] * 95 + [False] * 5 + [True] * 30 + [False] * 10
    >>> print(coverage_by_group(contains, ["day"] * 100 + ["night"] * 40, name="taken at"))
    Coverage of 140 objects: 0.8929 (0.8294 to 0.9388)
    taken at  objects  coverage     low    high
    day           100    0.9500  0.8872  0.9836
    night          40    0.7500  0.5880  0.8731
    Worst: night, 0.7500 (0.5656 to 0.8860, at 95 % for all 2 groups at once; limits in the table: 95 % each).
    """
    covered = check_contains(contains)
    values = np.asarray(groups)
    check_same_length(covered, values, names=("contains", "groups"))
    if values.ndim != 1:
        raise ValueError(f"groups must have shape (n_objects,), one group per object, got shape {values.shape}.")
    missing = [value is None or value != value for value in values.tolist()]  # noqa: PLR0124
    if any(missing):
        raise ValueError(
            f"groups must name a group for each object, got {values[missing][0]} for object {missing.index(True)}."
            " Give objects without one a group of their own."
        )
    found, which = np.unique(values.astype(str) if values.dtype == object else values, return_inverse=True)
    return count_covered(
        covered, [which == g for g in range(len(found))], [str(g) for g in found.tolist()], name, coverage_level
    )


def coverage_by_cardinality(
    contains: ArrayLike, Y_true: LabelMatrixLike, *, coverage_level: float = 0.95
) -> ConditionalCoverage:
    """Return how often regions hold the truth among objects with no label, one label, two labels, and so on.

    :class:`~labelsure.ByCardinality` keeps the level for each number of labels.

    Parameters
    ----------
    contains : array-like of bool of shape (n,)
        Whether each region holds the object's true labelset: ``region.contains(Y_true)``.
    Y_true : array-like, sparse matrix or DataFrame of shape (n, q)
        Zeros and ones: true labels.
    coverage_level : float, default=0.95
        As in :func:`coverage_by_group`.

    Examples
    --------
    >>> table = coverage_by_cardinality([True, True, False], [[1, 0, 0], [0, 1, 0], [1, 1, 1]])
    >>> table.groups, table.coverage.tolist()
    (('1', '3'), [1.0, 0.0])
    """
    labels = check_label_matrix(Y_true, name="Y_true")
    check_same_length(check_contains(contains), labels, names=("contains", "Y_true"))
    return coverage_by_group(
        contains, labels.sum(axis=1, dtype=np.int64), name="number of labels", coverage_level=coverage_level
    )


def coverage_by_label(
    contains: ArrayLike,
    Y_true: LabelMatrixLike,
    *,
    label_names: Sequence[str] | None = None,
    coverage_level: float = 0.95,
) -> ConditionalCoverage:
    """Return how often regions hold the truth among the objects that have each label.

    An object with several labels counts for each of them. :class:`~labelsure.ByLabel` keeps the level for one label.

    Parameters
    ----------
    contains : array-like of bool of shape (n,)
        Whether each region holds the object's true labelset: ``region.contains(Y_true)``.
    Y_true : array-like, sparse matrix or DataFrame of shape (n, q)
        Zeros and ones: true labels.
    label_names : sequence of str or None, default=None
        The labels' names; those of ``Y_true`` if it is a DataFrame.
    coverage_level : float, default=0.95
        As in :func:`coverage_by_group`.

    Examples
    --------
    >>> table = coverage_by_label([True, True, False], [[1, 0], [1, 0], [1, 1]], label_names=["sea", "city"])
    >>> dict(zip(table.groups, table.coverage.round(3).tolist()))
    {'sea': 0.667, 'city': 0.0}
    """
    labels = check_label_matrix(Y_true, name="Y_true")
    covered = check_contains(contains)
    check_same_length(covered, labels, names=("contains", "Y_true"))
    names = check_label_names(label_names, Y_true, labels.shape[1]) or made_up_names(labels.shape[1])
    return count_covered(covered, labels.T == 1, names, "label", coverage_level)


def coverage_by_size(contains: ArrayLike, sizes: Sizes, *, coverage_level: float = 0.95) -> ConditionalCoverage:
    """Return how often regions hold the truth by how large they are, in the bins of :func:`size_histogram`.

    Small regions are what people act on, so they should not be wrong more often than large ones [1]_.

    Parameters
    ----------
    contains : array-like of bool of shape (n,)
        Whether each region holds the object's true labelset: ``region.contains(Y_true)``.
    sizes : array-like of shape (n,)
        The number of labelsets in each region: ``region.sizes`` or ``region.size_estimates``.
    coverage_level : float, default=0.95
        As in :func:`coverage_by_group`.

    References
    ----------
    .. [1] Angelopoulos, A., Bates, S., Malik, J., Jordan, M. (2021). Uncertainty sets for image classifiers using
       conformal prediction. ICLR 2021.

    Examples
    --------
    >>> table = coverage_by_size([True, False, True, True], [1, 0, 3, 4])
    >>> dict(zip(table.groups, table.coverage.tolist()))
    {'empty': 0.0, '1': 1.0, '3-4': 1.0}
    """
    covered = check_contains(contains)
    names = (EMPTY, *size_histogram(sizes).bins)
    places = np.array([int(size) and (int(size) - 1).bit_length() + 1 for size in np.asarray(sizes, dtype=object)])
    check_same_length(covered, places, names=("contains", "sizes"))
    used = np.unique(places)
    members = [places == place for place in used]
    return count_covered(covered, members, [names[place] for place in used], "labelsets", coverage_level)


def count_covered(
    covered: BoolArray, members: Any, names: Sequence[str], by: str, coverage_level: float, slab: Slab | None = None
) -> ConditionalCoverage:
    """Return the coverage of groups given by a mask of objects each."""
    if not 0 < check_number(coverage_level, name="coverage_level", above=0) < 1:
        raise ValueError(f"coverage_level must lie strictly between 0 and 1, got {coverage_level!r}.")
    return ConditionalCoverage(
        by,
        tuple(names),
        np.array([int(of_group.sum()) for of_group in members], dtype=np.int64),
        np.array([int((of_group & covered).sum()) for of_group in members], dtype=np.int64),
        len(covered),
        int(covered.sum()),
        float(coverage_level),
        slab,
    )


def check_contains(contains: ArrayLike) -> BoolArray:
    """Return whether each region holds the truth, or say what is wrong."""
    error_rate(contains)  # knows what may be wrong with it
    covered: BoolArray = np.asarray(contains, dtype=np.float64) == 1
    return covered


def clopper_pearson(successes: IntArray, trials: IntArray, level: float) -> tuple[FloatArray, FloatArray]:
    r"""Return exact limits of probabilities from numbers of successes: those of [1]_.

    With k of n, the lower limit is the :math:`\alpha / 2` quantile of Beta(k, n - k + 1), the upper one the
    :math:`1 - \alpha / 2` quantile of Beta(k + 1, n - k), with :math:`\alpha = 1 -` ``level``; 0 and 1 where these are
    not defined.

    References
    ----------
    .. [1] Clopper, C. J., Pearson, E. S. (1934). The use of confidence or fiducial limits illustrated in the case of
       the binomial. Biometrika 26, 404-413.

    Examples
    --------
    >>> [limits.round(3).tolist() for limits in clopper_pearson(np.array([0, 5]), np.array([10, 10]), 0.95)]
    [[0.0, 0.187], [0.308, 0.813]]
    """
    tail, failures = (1 - level) / 2, trials - successes
    low = betaincinv(np.maximum(successes, 1), failures + 1, tail)
    high = betaincinv(successes + 1, np.maximum(failures, 1), 1 - tail)
    return np.where(successes > 0, low, 0.0), np.where(failures > 0, high, 1.0)

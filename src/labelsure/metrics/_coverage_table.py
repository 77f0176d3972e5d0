"""Coverage by group as a table: shares, exact intervals, the worst group."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from labelsure._checks import BoolArray, FloatArray, IntArray, as_numbers
from labelsure._errors import import_optional

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
        objects = as_numbers(X, name="X", shape=f"(n_objects, {len(self.direction)})")
        if objects.ndim != 2 or objects.shape[1] != len(self.direction):
            raise ValueError(
                f"X must have shape (n_objects, {len(self.direction)}), got {objects.shape}."
            )
        places = objects.astype(np.float64) @ self.direction
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
    >>> from labelsure.metrics import coverage_by_group
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

        Its limits, and those it is chosen by, are those of all groups at once (Bonferroni): the
        worst of many groups looks bad by chance alone.
        """
        level = 1 - (1 - self.coverage_level) / max(self.n_compared, 1)
        low, high = clopper_pearson(self.n_covered, self.n_objects, level)
        candidates = range(len(self.groups)) if self.slab is None else range(1)
        i = min(candidates, key=lambda i: (high[i], self.coverage[i]))
        return GroupCoverage(
            self.groups[i],
            int(self.n_objects[i]),
            float(self.coverage[i]),
            float(low[i]),
            float(high[i]),
        )

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row per group.

        Examples
        --------
        >>> from labelsure.metrics import coverage_by_group
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
            (
                self.groups[i],
                str(self.n_objects[i]),
                *(f"{x:.4f}" for x in (self.coverage[i], low[i], high[i])),
            )
            for i in shown
        ]
        widths = [max(len(row[column]) for row in rows) for column in range(5)]
        lines = [
            "  ".join(
                cell.ljust(width) if not k else cell.rjust(width)
                for k, (cell, width) in enumerate(cells)
            )
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
            f"Worst: {worst.group}, {worst.coverage:.4f} ({worst.low:.4f} to {worst.high:.4f}, at"
            f" {percent}{together};"
            f" limits in the table: {percent} each)."
        )


def clopper_pearson(
    successes: IntArray, trials: IntArray, level: float
) -> tuple[FloatArray, FloatArray]:
    r"""Return exact limits of probabilities from numbers of successes: those of [1]_.

    With k of n, the lower limit is the :math:`\alpha / 2` quantile of Beta(k, n - k + 1), the upper
    one the :math:`1 - \alpha / 2` quantile of Beta(k + 1, n - k), with :math:`\alpha = 1 -`
    ``level``; 0 and 1 where these are not defined.

    References
    ----------
    .. [1] Clopper, C. J., Pearson, E. S. (1934). The use of confidence or fiducial limits
       illustrated in the case of the binomial. Biometrika 26, 404-413.

    Examples
    --------
    >>> [limits.round(3).tolist() for limits in clopper_pearson(np.array([0, 5]), np.array([10, 10]), 0.95)]
    [[0.0, 0.187], [0.308, 0.813]]
    """
    tail, failures = float(1 - level) / 2, trials - successes
    low = betaincinv(np.maximum(successes, 1), failures + 1, tail)
    high = betaincinv(successes + 1, np.maximum(failures, 1), 1 - tail)
    return np.where(successes > 0, low, 0.0), np.where(failures > 0, high, 1.0)

"""The rows of a results file of ``labelsure compare``, as far as the page needs them."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean
from typing import Any

LEVELS = ("95", "90", "80")
"""Confidence levels in percent, in the order of all tables here."""

MIDDLE = "90"
"""The level that rows are ranked by."""

OPEN_BITS = 0.5
"""By how much an estimated median of log2 of the size may be open before it is marked."""

AUTO = "auto"

BASELINE = "frequency"
"""The measure of the baseline, the most frequent labelsets whatever the object, which no learner changes."""


@dataclass(frozen=True)
class Row:
    """A learner, a measure and a guarantee on a data set.

    Attributes
    ----------
    n_test : int
        Test objects in a resplit.
    figures : dict
        Of every resplit, by its number.
    means, sds : dict
        Over the resplits, as in the results file.
    """

    dataset: str
    learner: str
    measure: str
    guarantee: str
    n_test: int
    figures: dict[int, dict[str, Any]]
    means: dict[str, Any]
    sds: dict[str, Any]

    @property
    def family(self) -> str:
        """The measure, whether it learns from out-of-fold outputs or not."""
        return self.measure.replace("-oof", "")

    @property
    def is_fixed(self) -> bool:
        """Whether the measure was named beforehand."""
        return self.measure != AUTO

    @property
    def logarithmic(self) -> bool:
        """Whether sizes are medians of log2 instead of means."""
        return "log2_sizes" in self.means

    @property
    def sizes(self) -> tuple[float, ...]:
        """Mean sizes, or medians of their log2, at all levels."""
        sizes = self.means["log2_sizes" if self.logarithmic else "sizes"]
        return tuple(sizes[level] for level in LEVELS)

    @property
    def errors(self) -> tuple[float, ...]:
        """Percentages of regions that miss the truth, at all levels."""
        return tuple(self.means["errors"][level] for level in LEVELS)

    def is_open(self, level: str) -> bool:
        """Tell whether the estimated sizes leave their median open."""
        return self.logarithmic and self.means["log2_high"][level] - self.means["log2_low"][level] > OPEN_BITS

    def is_valid(self, level: str) -> bool:
        """Tell whether the error is at most two binomial standard deviations, of one test part, above nominal."""
        share = 1 - float(level) / 100
        limit = share + 2 * math.sqrt(share * (1 - share) / self.n_test)
        return bool(self.means["errors"][level] <= 100 * limit)

    def size(self, resplits: Iterable[int] | None = None) -> float:
        """Return the mean size at the middle level, over some resplits or all; of many labels the geometric mean."""
        figures = [self.figures[r] for r in (self.figures if resplits is None else resplits)]
        if self.logarithmic:
            return float(2 ** fmean(one["log2_mean"][MIDDLE] for one in figures))
        return fmean(one["sizes"][MIDDLE] for one in figures)


def read_rows(document: dict[str, Any]) -> list[Row]:
    """Return the rows that have figures."""
    names = ("dataset", "learner", "measure", "guarantee")
    figures: dict[tuple[str, ...], dict[int, dict[str, Any]]] = {}
    for cell in document["cells"]:
        if "figures" in cell:
            figures.setdefault(tuple(cell[name] for name in names), {})[cell["resplit"]] = cell["figures"]
    return [
        Row(
            **{name: row[name] for name in names},
            n_test=document["datasets"][row["dataset"]]["n_test"],
            figures=figures[tuple(row[name] for name in names)],
            means=row["means"],
            sds=row["sds"],
        )
        for row in document["rows"]
        if row["resplits"]
    ]


def best(rows: Iterable[Row], resplits: Iterable[int] | None = None) -> Row | None:
    """Return the row with the smallest regions at the middle level, over some resplits or all of each row.

    Rows whose sizes are open are left out.
    """
    return min((row for row in rows if not row.is_open(MIDDLE)), key=lambda row: row.size(resplits), default=None)


def best_rival(row: Row, rows: Iterable[Row]) -> Row | None:
    """Return the best on the resplits of a row, of those that have them all."""
    return best((other for other in rows if other.figures.keys() >= row.figures.keys()), row.figures)


def select(rows: Iterable[Row], **wanted: str) -> list[Row]:
    """Return the rows with these names."""
    return [row for row in rows if all(getattr(row, name) == value for name, value in wanted.items())]


def groups(rows: Iterable[Row]) -> dict[tuple[str, str], list[Row]]:
    """Return the cross-conformal rows with measures named beforehand, by data set and learner."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in select(rows, guarantee="cross"):
        if row.is_fixed:
            found.setdefault((row.dataset, row.learner), []).append(row)
    return found

"""The rows of a results file of ``labelsure compare``, as far as the page needs them."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

LEVELS = ("95", "90", "80")
"""Confidence levels in percent, in the order of all tables here."""

MIDDLE = "90"
"""The level that rows are ranked by."""

OPEN_BITS = 0.5
"""By how much an estimated median of log2 of the size may be open and still be ranked."""


@dataclass(frozen=True)
class Row:
    """A learner, a measure and a guarantee on a data set, with means over the resplits.

    Attributes
    ----------
    n_test, n_resplits : int
        Test objects in a resplit, and resplits.
    means, sds : dict
        As in the results file.
    """

    dataset: str
    learner: str
    measure: str
    guarantee: str
    n_test: int
    n_resplits: int
    means: dict[str, Any]
    sds: dict[str, Any]

    @property
    def family(self) -> str:
        """The measure, whether its covariance comes from out-of-fold outputs or not."""
        return self.measure.replace("-oof", "")

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


def read_rows(document: dict[str, Any]) -> list[Row]:
    """Return the rows that have figures."""
    return [
        Row(
            dataset=row["dataset"],
            learner=row["learner"],
            measure=row["measure"],
            guarantee=row["guarantee"],
            n_test=document["datasets"][row["dataset"]]["n_test"],
            n_resplits=len(row["resplits"]),
            means=row["means"],
            sds=row["sds"],
        )
        for row in document["rows"]
        if row["resplits"]
    ]


def best(rows: Iterable[Row]) -> Row | None:
    """Return the row with the smallest regions at the middle level, those left out whose sizes are open."""
    ranked = [row for row in rows if not row.is_open(MIDDLE)]
    place = LEVELS.index(MIDDLE)
    return min(ranked, key=lambda row: row.sizes[place], default=None)


def ratio(one: Row, other: Row) -> float:
    """Return how many times as large the regions of one row are as those of another, at the middle level."""
    place = LEVELS.index(MIDDLE)
    if one.logarithmic:
        return float(2 ** (one.sizes[place] - other.sizes[place]))
    return float(one.sizes[place] / other.sizes[place])

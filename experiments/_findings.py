"""What the results say about what was asked for: bars, ``auto``, and which measure to use when none is named."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import fmean

from experiments._rows import AUTO, Row, best_rival, groups, select

Bar = tuple[float, float, float]
BARS: dict[str, tuple[Bar, Bar]] = {
    "scene": ((3.3, 2.2, 1.5), (2.2, 1.5, 1.15)),
    "yeast": ((170.0, 90.0, 42.0), (100.0, 45.0, 20.0)),
}
"""What the best measure with ML-RBF must not exceed, and what is aimed at with the best learner and measure."""

DEFAULT = {"few labels": "log-loss+prior", "more than 20 labels": "log-loss+unseen:3"}
"""The library's default measure, by the number of labels."""

AUTO_AT_MOST = 1.10
"""How many times as large as the best fixed measure's the regions of ``auto`` may be, at the middle level."""


@dataclass(frozen=True)
class BarFinding:
    """The row that comes nearest to a bar at its worst level."""

    dataset: str
    what: str
    bar: Bar
    row: Row

    @property
    def times(self) -> float:
        """How many times the bar its sizes are, at the worst level."""
        return _times(self.row, self.bar)

    @property
    def met(self) -> bool:
        """Whether no level is above the bar."""
        return self.times <= 1


@dataclass(frozen=True)
class AutoFinding:
    """``auto`` beside the best measure named beforehand, on the resplits of the first."""

    auto: Row
    fixed: Row

    @property
    def ratio(self) -> float:
        """How many times as large the regions of ``auto`` are."""
        return self.auto.size() / self.fixed.size(self.auto.figures)

    @property
    def met(self) -> bool:
        """Whether ``auto`` is good enough."""
        return self.ratio <= AUTO_AT_MOST


@dataclass(frozen=True)
class MeasureFinding:
    """How a measure does over all data sets and learners: sizes relative to the best measure for each.

    Attributes
    ----------
    ratios : dict
        By data set and learner.
    """

    measure: str
    ratios: dict[tuple[str, str], float]

    @property
    def mean(self) -> float:
        """The geometric mean of the ratios."""
        return exp(fmean(map(log, self.ratios.values())))

    @property
    def worst(self) -> tuple[str, str]:
        """Data set and learner with the largest ratio."""
        return max(self.ratios, key=self.ratios.__getitem__)


def judge_bars(rows: Sequence[Row]) -> list[BarFinding]:
    """Return for each bar the row that exceeds it least, or stays farthest below it."""
    found = []
    for name, (bar, aim) in BARS.items():
        fixed = [row for row in select(rows, dataset=name, guarantee="cross") if row.is_fixed]
        for what, candidates, limit in (
            ("best measure with ML-RBF", _most_resplits(select(fixed, learner="ml-rbf")), bar),
            ("best learner and measure", fixed, aim),
        ):
            if candidates:
                nearest = min(candidates, key=lambda row: _times(row, limit))
                found.append(BarFinding(name, what, limit, nearest))
    return found


def judge_auto(rows: Sequence[Row]) -> list[AutoFinding]:
    """Return ``auto`` beside its best rival for each data set and learner that it was measured with."""
    found = []
    for (dataset, learner), fixed in groups(rows).items():
        for auto in select(rows, dataset=dataset, learner=learner, measure=AUTO, guarantee="cross"):
            rival = best_rival(auto, fixed)
            if rival is not None:
                found.append(AutoFinding(auto, rival))
    return found


def judge_measures(rows: Sequence[Row]) -> list[MeasureFinding]:
    """Return how each measure does that was tried on all data sets, the best on average first."""
    ratios: dict[str, dict[tuple[str, str], float]] = {}
    fixed = groups(rows)
    for place, group in fixed.items():
        for row in group:
            rival = best_rival(row, group)
            if rival is not None:
                ratios.setdefault(row.family, {})[place] = row.size() / rival.size(row.figures)
                if row.measure == DEFAULT["more than 20 labels" if row.logarithmic else "few labels"]:
                    ratios.setdefault("the default", {})[place] = ratios[row.family][place]
    datasets = {dataset for dataset, _ in fixed}
    everywhere = [name for name, found in ratios.items() if {dataset for dataset, _ in found} == datasets]
    return sorted((MeasureFinding(name, ratios[name]) for name in everywhere), key=lambda finding: finding.mean)


def _most_resplits(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with as many resplits as any has."""
    most = max((len(row.figures) for row in rows), default=0)
    return [row for row in rows if len(row.figures) == most]


def _times(row: Row, bar: Bar) -> float:
    return max(size / most for size, most in zip(row.sizes, bar, strict=True))

"""What the results say: the smallest regions, the default, ``auto``, the costs of guarantees, measures on the whole."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import fmean

from experiments._rows import AUTO, LEVELS, Row, best, best_rival, groups, select

LOG_LOSS = {"few labels": "log-loss+prior", "more than 20 labels": "log-loss+unseen:3"}
"""Log loss and the frequencies of labelsets, by the number of labels: the simplest measure that knows both."""

POOL, POSTERIOR = "pool", "posterior"
"""The learner and the measure that the library recommends for tables."""


@dataclass(frozen=True)
class SmallestFinding:
    """The row with the smallest regions of a data set, of some learners."""

    what: str
    row: Row


@dataclass(frozen=True)
class AutoFinding:
    """``auto`` beside the best measure named beforehand, on the resplits of the first."""

    auto: Row
    fixed: Row

    @property
    def ratio(self) -> float:
        """How many times as large the regions of ``auto`` are."""
        return self.auto.size() / self.fixed.size(self.auto.figures)


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
        return geometric_mean(self.ratios.values())

    @property
    def worst(self) -> tuple[str, str]:
        """Data set and learner with the largest ratio."""
        return max(self.ratios, key=self.ratios.__getitem__)


@dataclass(frozen=True)
class DefaultFinding:
    """The default measure beside log loss and frequencies, with a learner on a data set."""

    posterior: Row
    log_loss: Row

    @property
    def ratio(self) -> float:
        """How many times as large the regions of the posterior are."""
        return self.posterior.size() / self.log_loss.size(self.posterior.figures)

    @property
    def ratios(self) -> list[float]:
        """How many times as large the regions of the posterior are, at all levels."""
        return compare_sizes(self.posterior, self.log_loss)


@dataclass(frozen=True)
class GuaranteeFinding:
    """A guarantee beside the paper's p-value with the same learner and measure, on the resplits of the first."""

    row: Row
    cross: Row

    @property
    def ratios(self) -> list[float]:
        """How many times as large its regions are, at all levels."""
        return compare_sizes(self.row, self.cross)


def compare_sizes(row: Row, other: Row) -> list[float]:
    """Return how many times as large a row's regions are as another's on the same resplits, at all levels."""
    return [
        fmean(figures["sizes"][level] for figures in row.figures.values())
        / fmean(other.figures[resplit]["sizes"][level] for resplit in row.figures)
        for level in LEVELS
    ]


def find_smallest(rows: Sequence[Row]) -> list[SmallestFinding]:
    """Return for each data set the smallest regions with ML-RBF, of those with most resplits, and with any learner."""
    found = []
    for name in dict.fromkeys(row.dataset for row in rows):
        fixed = [row for row in select(rows, dataset=name, guarantee="cross") if row.is_fixed]
        for what, candidates in (("ML-RBF", _most_resplits(select(fixed, learner="ml-rbf"))), ("any learner", fixed)):
            smallest = best(candidates)
            if smallest is not None:
                found.append(SmallestFinding(what, smallest))
    return found


def judge_guarantees(rows: Sequence[Row]) -> list[GuaranteeFinding]:
    """Return the guarantees that were measured beside the paper's p-value, not those of many labels."""
    found = []
    for row in rows:
        same = select(rows, dataset=row.dataset, learner=row.learner, measure=row.measure, guarantee="cross")
        if row.guarantee != "cross" and not row.logarithmic:
            found += [GuaranteeFinding(row, cross) for cross in same if cross.figures.keys() >= row.figures.keys()]
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


def judge_default(rows: Sequence[Row]) -> list[DefaultFinding]:
    """Return the default measure beside log loss and frequencies wherever both were measured."""
    found = []
    for row in select(rows, measure=POSTERIOR, guarantee="cross"):
        rivals = select(rows, dataset=row.dataset, learner=row.learner, measure=_log_loss_for(row), guarantee="cross")
        found += [DefaultFinding(row, other) for other in rivals if other.figures.keys() >= row.figures.keys()]
    return found


def geometric_mean(ratios: Iterable[float]) -> float:
    """Return the geometric mean."""
    return exp(fmean(map(log, ratios)))


def judge_measures(rows: Sequence[Row]) -> list[MeasureFinding]:
    """Return how each measure does that was tried on all data sets, the best on average first.

    The pool is left out: few measures were tried with it.
    """
    ratios: dict[str, dict[tuple[str, str], float]] = {}
    fixed = groups(row for row in rows if row.learner != POOL)
    for place, group in fixed.items():
        for row in group:
            rival = best_rival(row, group)
            if rival is not None:
                ratios.setdefault(row.family, {})[place] = row.size() / rival.size(row.figures)
                if row.measure == _log_loss_for(row):
                    ratios.setdefault("log loss and frequencies", {})[place] = ratios[row.family][place]
    datasets = {dataset for dataset, _ in fixed}
    everywhere = [name for name, found in ratios.items() if {dataset for dataset, _ in found} == datasets]
    return sorted((MeasureFinding(name, ratios[name]) for name in everywhere), key=lambda finding: finding.mean)


def _log_loss_for(row: Row) -> str:
    """Return what the default was with as many labels."""
    return LOG_LOSS["more than 20 labels" if row.logarithmic else "few labels"]


def _most_resplits(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with as many resplits as any has."""
    most = max((len(row.figures) for row in rows), default=0)
    return [row for row in rows if len(row.figures) == most]

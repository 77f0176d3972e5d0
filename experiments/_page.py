"""The results as a block of docs/reproduction.md: five findings and one table."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from statistics import fmean
from typing import Any

LEVELS = ("95", "90", "80")
"""Confidence levels in percent."""

POSTERIOR, AUTO, BASELINE = "posterior", "auto", "frequency"
LOG_LOSS = ("log-loss+prior", "log-loss+unseen:3")
"""Log loss and the frequencies of labelsets, the second with more than 20 labels."""

ACCURACIES = ("subset_accuracy", "macro_f")

SLACK = 0.01
"""How far subset accuracy and macro F may fall below the learner's."""

READING = (
    "Of each set the learner with the smallest regions: mean number of labelsets in a region at"
    " 90 %, with more\n"
    "than 20 labels 2 to the median of its binary logarithm, of the default measure, of log loss"
    " with the\n"
    "frequencies of labelsets (`{}`, with more than 20 labels `{}`), and of the most\n"
    "frequent labelsets whatever the object; the share of regions of the default measure that miss,"
    " in percent;\n"
    "then how good `predict` is beside the learner alone.\n"
)


@dataclass(frozen=True, eq=False)
class Row:
    """A learner, a measure and a guarantee on a data set, with the figures of each resplit."""

    dataset: str
    learner: str
    measure: str
    guarantee: str
    n_test: int
    figures: dict[int, dict[str, Any]]

    @property
    def many_labels(self) -> bool:
        """Whether sizes are kept as logarithms."""
        return any("log2_sizes" in figures for figures in self.figures.values())

    def mean(self, *keys: str) -> float:
        """Return the mean over the resplits of the figure at some keys within keys."""
        return fmean(look_up(figures, keys) for figures in self.figures.values())

    def size(self, resplits: Iterable[int] | None = None, level: str = "90") -> float:
        """Return the mean size over some resplits or all, with many labels the geometric mean."""
        figures = [
            self.figures[number] for number in (self.figures if resplits is None else resplits)
        ]
        if self.many_labels:
            return float(2 ** fmean(one["log2_mean"][level] for one in figures))
        return fmean(one["sizes"][level] for one in figures)

    def exceeds(self, level: str) -> bool:
        """Tell whether the error exceeds nominal by two binomial standard deviations."""
        share = 1 - float(level) / 100
        return self.mean("errors", level) > 100 * (
            share + 2 * sqrt(share * (1 - share) / self.n_test)
        )


def look_up(figures: Any, keys: Sequence[str]) -> float:
    """Return the figure at some keys within keys."""
    for key in keys:
        figures = figures[key]
    return float(figures)


def write_findings(documents: dict[str, dict[str, Any]], *, n_missing: int = 0) -> str:
    """Return the Markdown block for results files by name; cells of the plan may be missing."""
    by_name = {name: read_rows(document) for name, document in documents.items()}
    default = [
        row for name, rows in by_name.items() if name.startswith(("new-", "pool-")) for row in rows
    ]
    everything = [row for rows in by_name.values() for row in rows]
    missing = (
        [f"Unfinished: {n_missing} cells of the plan are still to be measured."]
        if n_missing
        else []
    )
    findings = [
        *default_findings(default),
        *exact_findings(everything),
        counted(everything),
        *missing,
    ]
    lines = "\n".join(f"- {line}" for line in findings)
    return f"{lines}\n\n{READING.format(*LOG_LOSS)}\n{summary(default)}"


def read_rows(document: dict[str, Any]) -> list[Row]:
    """Return the rows of a results file that have figures."""
    figures: dict[tuple[str, str, str, str], dict[int, dict[str, Any]]] = {}
    for cell in document["cells"]:
        if "figures" in cell:
            key = (cell["dataset"], cell["learner"], cell["measure"], cell["guarantee"])
            figures.setdefault(key, {})[cell["resplit"]] = cell["figures"]
    return [
        Row(*key, document["datasets"][key[0]]["n_test"], found) for key, found in figures.items()
    ]


def rivals(row: Row, rows: Iterable[Row], wanted: Callable[[Row], bool]) -> list[Row]:
    """Return the rows on the same data and at least the same resplits that are wanted."""
    same = [
        other
        for other in rows
        if other.dataset == row.dataset and other.figures.keys() >= row.figures.keys()
    ]
    return [other for other in same if wanted(other)]


def log_loss_of(row: Row, rows: Iterable[Row]) -> Row:
    """Return log loss and frequencies with the same learner."""
    name = LOG_LOSS[row.many_labels]
    (found,) = rivals(
        row, rows, lambda other: other.measure == name and other.learner == row.learner
    )
    return found


def default_findings(rows: Sequence[Row]) -> list[str]:
    """Return what there is to say about the default measure, ``auto`` and single predictions."""
    default = [row for row in rows if row.measure == POSTERIOR]
    ratios = {row: row.size() / log_loss_of(row, rows).size(row.figures) for row in default}
    worst = max(ratios, key=ratios.__getitem__)
    autos = {}
    for row in rows:
        if row.measure == AUTO:
            fixed = rivals(
                row,
                rows,
                lambda other, row=row: other.learner == row.learner and other.measure != AUTO,
            )
            autos[row] = row.size() / min(other.size(row.figures) for other in fixed)
    worst_auto = max(autos, key=autos.__getitem__)
    lower = [
        f"{row.dataset}, {row.learner}"
        for row in default
        if any(row.mean(name) < row.mean("learner", name) - SLACK for name in ACCURACIES)
    ]
    return [
        "Regions of the default measure at 90 % are in the geometric mean"
        f" {exp(fmean(map(log, ratios.values()))):.2f} times as large as those of log loss and"
        f" frequencies, in {len(ratios)} cases, at most {ratios[worst]:.2f} times ({worst.dataset},"
        f" {worst.learner}).",
        f'Regions of `measure="auto"` at 90 % are at most {autos[worst_auto]:.2f} times as large'
        f" as those of the best measure named beforehand, in {len(autos)} cases"
        f" ({worst_auto.dataset}, {worst_auto.learner}).",
        f"`predict` with the default measure has a subset accuracy or macro F more than {SLACK}"
        f" below the learner's in"
        f" {len(lower)} of {len(default)} cases ({'; '.join(lower) or 'none'}).",
    ]


def exact_findings(rows: Sequence[Row]) -> list[str]:
    """Return what ``guarantee="exact"`` costs."""
    ratios = []
    for row in rows:
        if row.guarantee == "exact" and row.measure != BASELINE:
            names = (row.learner, row.measure, "cross")
            same = rivals(
                row,
                rows,
                lambda other, n=names: (other.learner, other.measure, other.guarantee) == n,
            )
            ratios += [
                row.size(level=level) / same[0].size(row.figures, level) for level in ("90", "80")
            ]
    cost = f"{min(ratios):.2f} to {max(ratios):.2f} times as large as those of the paper's p-value"
    return [f'Regions of `guarantee="exact"` at 90 and 80 % are {cost} on the same resplits.']


def counted(rows: Sequence[Row]) -> str:
    """Return how many errors are above nominal, once per data set, learner, measure, guarantee."""
    distinct = {
        (row.dataset, row.learner, row.measure, row.guarantee): row for row in rows
    }.values()
    n_above = sum(row.exceeds(level) for row in distinct for level in LEVELS)
    return (
        f"Of {len(distinct) * len(LEVELS)} error rates, all data sets, learners, measures,"
        f" guarantees and levels,"
        f" {n_above} are more than two binomial standard deviations above nominal."
    )


def summary(rows: Sequence[Row]) -> str:
    """Return the table: a row per data set, with the learner that has the smallest regions."""
    head = [
        "set",
        "learner",
        "default",
        "log loss",
        "frequent",
        "errors",
        "subset accuracy",
        "learner's",
        "macro F",
    ]
    lines = [[*head, "learner's"], ["---"] * (len(head) + 1)]
    best: dict[str, Row] = {}
    for row in (row for row in rows if row.measure == POSTERIOR):
        if row.dataset not in best or row.size() < best[row.dataset].size():
            best[row.dataset] = row
    for row in best.values():
        frequent = rivals(row, rows, lambda other: other.measure == BASELINE)[0]
        sizes = [write_size(one) for one in (row, log_loss_of(row, rows), frequent)]
        shares = [
            f"{row.mean(*keys):.3f}" for name in ACCURACIES for keys in ((name,), ("learner", name))
        ]
        lines.append([row.dataset, row.learner, *sizes, f"{row.mean('errors', '90'):.1f}", *shares])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def write_size(row: Row) -> str:
    """Return the size to three digits."""
    size = 2 ** row.mean("log2_sizes", "90") if row.many_labels else row.mean("sizes", "90")
    return (
        f"{size:,.0f}".replace(",", " ")
        if size >= 100
        else f"{size:.1f}"
        if size >= 10
        else f"{size:.2f}"
    )

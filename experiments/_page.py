"""The results as a page of the documentation."""

from collections.abc import Callable, Sequence
from typing import Any

from experiments._rows import LEVELS, MIDDLE, Row, best, ratio, read_rows

HEAD = """\
# Experiments

Written by `make experiments` (`.venv/bin/python -m experiments`) from the files in
[experiments/results](../experiments/results), which `labelsure compare` made; do not edit by hand. Which runs they are
is said in [experiments/_plan.py](../experiments/_plan.py), and how to read the figures in [Compare](compare.md).

Sizes and errors are given at 95 / 90 / 80 % confidence, as means over random resplits of the pooled data: the mean
number of labelsets in a region and, for sets with more than 20 labels, the median of its base-2 logarithm (with a
tilde: estimated, and open by more than half a bit). An error with a star is more than two binomial standard deviations,
of one test part, above nominal. Distances of ML-kNN, random forests and gradient boosting have their covariances from
out-of-fold outputs. **Bold**: the smallest regions of a learner at 90 %; it was chosen after the fact, on the test
objects, which a user cannot do: `auto` chooses on the training part alone.
"""

Bar = tuple[float, float, float]
BARS: dict[str, tuple[Bar, Bar]] = {
    "scene": ((3.3, 2.2, 1.5), (2.2, 1.5, 1.15)),
    "yeast": ((170.0, 90.0, 42.0), (100.0, 45.0, 20.0)),
}
"""What the best measure with ML-RBF must not exceed, and what is aimed at with the best learner and measure."""

REFERENCE: dict[tuple[str, str], Bar] = {
    ("scene", "power"): (5.14, 3.00, 1.63),
    ("scene", "power+pairs"): (3.77, 2.44, 1.46),
    ("yeast", "power"): (4006.0, 2194.0, 790.0),
    ("yeast", "power+pairs"): (3369.0, 1964.0, 754.0),
}
"""Sizes that were measured independently of this package with the paper's measures and ML-RBF."""

AUTO = "auto"
AUTO_AT_MOST = 1.10


def write_page(documents: dict[str, dict[str, Any]], *, n_missing: int = 0) -> str:
    """Return the page in Markdown for results files as they are, by name, in this order.

    Parameters
    ----------
    documents : dict
        The files.
    n_missing : int
        How many cells of the plan they do not have yet.
    """
    rows = [row for document in documents.values() for row in read_rows(document)]
    missing = f"Unfinished: {n_missing} cells of the plan are still to be measured." if n_missing else ""
    parts = [HEAD, missing, "## What was asked for", *_bars(rows), *_reference(rows), *_auto(rows), _validity(rows)]
    parts += [_section(name, document) for name, document in documents.items()]
    return "\n\n".join(part.rstrip() for part in parts if part) + "\n"


def table(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _bars(rows: Sequence[Row]) -> list[str]:
    body = []
    for name, (bar, aim) in BARS.items():
        cross = _of(rows, dataset=name, guarantee="cross")
        for what, candidates, limit in (
            ("best measure with ML-RBF", _of(cross, learner="ml-rbf"), bar),
            ("best learner and measure", cross, aim),
        ):
            found = _nearest([row for row in candidates if row.measure != AUTO], limit)
            if found is not None:
                met = all(size <= most for size, most in zip(found.sizes, limit, strict=True))
                verdict = "met" if met else "missed"
                who = f"{found.learner}, {found.measure}"
                body.append([name, what, who, _joined(limit, _size), _sizes(found), _errors(found), verdict])
    head = ["set", "what", "which", "at most", "sizes", "errors", ""]
    return [table(head, body)] if body else []


def _nearest(rows: Sequence[Row], limit: Bar) -> Row | None:
    """Return the row that exceeds the limit least, or stays farthest below it, at its worst level."""
    return min(rows, key=lambda row: max(s / most for s, most in zip(row.sizes, limit, strict=True)), default=None)


def _reference(rows: Sequence[Row]) -> list[str]:
    body = []
    for (name, measure), expected in REFERENCE.items():
        for row in _of(rows, dataset=name, measure=measure, learner="ml-rbf", guarantee="cross"):
            sds = "-" if row.n_resplits < 2 else _joined([row.sds["sizes"][level] for level in LEVELS], _size)
            body.append([name, measure, _joined(expected, _size), _sizes(row), sds])
    if not body:
        return []
    head = ["set", "measure", "measured elsewhere", "sizes", "standard deviations"]
    return ["The paper's measures with ML-RBF, beside independent figures:", table(head, body)]


def _auto(rows: Sequence[Row]) -> list[str]:
    body = []
    for row in _of(rows, measure=AUTO, guarantee="cross"):
        others = _of(rows, dataset=row.dataset, learner=row.learner, guarantee="cross")
        fixed = best(other for other in others if other.measure != AUTO)
        if fixed is not None:
            times = ratio(row, fixed)
            verdict = "met" if times <= AUTO_AT_MOST else "missed"
            body.append([row.dataset, row.learner, fixed.measure, f"{times:.2f}", _errors(row), verdict])
    if not body:
        return []
    head = ["set", "learner", "best fixed measure", "size of auto / best", "errors of auto", ""]
    return [
        f'`measure="auto"` at {MIDDLE} %, at most {AUTO_AT_MOST:.2f} times the best fixed measure:',
        table(head, body),
    ]


def _validity(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    checks = [(row, level) for row in rows for level in LEVELS]
    above = [(row, level) for row, level in checks if not row.is_valid(level)]
    listed = "".join(
        f"\n- {row.dataset}, {row.learner}, {row.measure}, {row.guarantee}:"
        f" {row.means['errors'][level]:.2f} % at {level} %"
        for row, level in above
    )
    return f"{len(above)} of {len(checks)} errors are more than two binomial standard deviations above nominal.{listed}"


def _section(name: str, document: dict[str, Any]) -> str:
    rows = read_rows(document)
    (data,) = document["datasets"].values()
    cross = _of(rows, guarantee="cross")
    numbers = sorted({row.n_resplits for row in rows})
    resplits = str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
    about = (
        f"{data['n_labels']} labels, {data['n_objects']} objects: {data['n_train']} train, {data['n_test']} test,"
        f" {resplits} resplits, {document['settings']['folds']} folds."
    )
    parts = [f"## {name}", about, "Sizes:", _matrix(cross, _sizes), "Errors in %:", _matrix(cross, _errors)]
    parts += ["For each learner its best measure:", _details(cross)]
    others = sorted({row.measure for row in rows if row.guarantee != "cross"})
    for measure in others:
        parts += [f"Guarantees, {measure}:", _guarantees(_of(rows, measure=measure))]
    return "\n\n".join(parts)


def _matrix(rows: Sequence[Row], write: Callable[[Row], str]) -> str:
    """Return a table with a line for each measure and a column for each learner."""
    learners = list(dict.fromkeys(row.learner for row in rows))
    measures = list(dict.fromkeys(row.family for row in rows))
    winners = {learner: best(row for row in _of(rows, learner=learner) if row.measure != AUTO) for learner in learners}
    body = []
    for measure in measures:
        line = [measure]
        for learner in learners:
            row = next((row for row in rows if (row.learner, row.family) == (learner, measure)), None)
            text = "" if row is None else write(row)
            line.append(f"**{text}**" if row is not None and row is winners[learner] else text)
        body.append(line)
    return table(["measure", *learners], body)


def _details(rows: Sequence[Row]) -> str:
    body = []
    for learner in dict.fromkeys(row.learner for row in rows):
        row = best(_of(rows, learner=learner))
        if row is not None:
            seconds = row.means["seconds"]
            sums = [_size(row.means[name]) if name in row.means else "-" for name in ("S", "OF")]
            accuracy = f"{row.means['subset_accuracy']:.3f}"
            times = [_size(seconds["fit"]), _size(seconds["answer"])]
            body.append([learner, row.measure, _sizes(row), _errors(row), *sums, accuracy, *times])
    head = ["learner", "measure", "sizes", "errors in %", "S", "OF", "subset accuracy", "fit s", "answer s"]
    return table(head, body)


def _guarantees(rows: Sequence[Row]) -> str:
    body = [[row.learner, row.guarantee, _sizes(row), _errors(row)] for row in rows]
    return table(["learner", "guarantee", "sizes", "errors in %"], body)


def _of(rows: Sequence[Row], **wanted: str) -> list[Row]:
    return [row for row in rows if all(getattr(row, name) == value for name, value in wanted.items())]


def _sizes(row: Row) -> str:
    marks = ["~" if row.is_open(level) else "" for level in LEVELS]
    return " / ".join(f"{mark}{_size(size)}" for mark, size in zip(marks, row.sizes, strict=True))


def _errors(row: Row) -> str:
    marks = ["" if row.is_valid(level) else "*" for level in LEVELS]
    return " / ".join(f"{error:.1f}{mark}" for error, mark in zip(row.errors, marks, strict=True))


def _joined(values: Sequence[float], write: Callable[[float], str]) -> str:
    return " / ".join(map(write, values))


def _size(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"

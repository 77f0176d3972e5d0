"""The results as a page of the documentation."""

from collections.abc import Callable, Sequence
from typing import Any

from experiments import _plan
from experiments._default import default_findings, write_auto, write_default
from experiments._findings import (
    LOG_LOSS,
    POOL,
    find_smallest,
    judge_auto,
    judge_default,
    judge_guarantees,
    judge_measures,
)
from experiments._rows import BASELINE, LEVELS, MIDDLE, Row, best, read_rows, select
from experiments._text import table, write_errors, write_joined, write_size, write_sizes

HEAD = """\
<!-- written by `make experiments` from experiments/results -->

# Experiments

Measures, learners and guarantees on seven public data sets: which gives the smallest regions, are the levels kept, and
what does it cost? [Data sets](datasets.md) says what the sets are, [Compare](compare.md) what the words for measures
and learners stand for. The same tables for your own data are one command away: `labelsure compare`."""

READING = """\
## How to read the tables

Sizes and errors are given at 95 / 90 / 80 % confidence, as means over random resplits of the pooled data: the mean
number of labelsets in a region and, for sets with more than 20 labels, the median of its base-2 logarithm (with a
tilde: estimated, and open by more than half a bit). An error with a star is more than two binomial standard deviations,
of one test part, above nominal; all measures and learners share a resplit's test objects, so their errors are high or
low together where there is one resplit. Measures that learn from outputs have them out of fold, but for ML-RBF.
Measures are ranked, and ratios taken, by the mean size at 90 %, with more than 20 labels by the geometric mean.
**Bold**: the smallest regions of a learner; it was chosen after the fact, on the test objects, which a user cannot do:
`auto` chooses on the training part alone. Proven guarantees hold on average over data sets; on one resplit errors also
vary with the calibration examples."""

ABOUT_POOL = f"""\
`table_pool()` with the default measure, the posterior, is what labelsure recommends for tables to those who have no
learner of their own. Beside it stands log loss with the frequencies of labelsets (`{LOG_LOSS["few labels"]}`). The
most frequent labelsets show what the prior alone is worth: a region not much smaller owes little
to the object. On yeast about one labelset in 23 is not in the training part, so that its sizes at 95 % jump from
resplit to resplit; those at 90 and 80 % tell more."""

NEW = "new-"
"""What the names of the results begin with that the section about the default measure is made of."""

RATIOS = "Sizes of the posterior, as multiples of those of log loss and frequencies on the same resplits:"

REFERENCE: dict[tuple[str, str], tuple[float, float, float]] = {
    ("scene", BASELINE): (6.8, 5.9, 5.3),
    ("yeast", BASELINE): (156.0, 79.0, 39.0),
    ("scene", "power"): (5.14, 3.00, 1.63),
    ("scene", "power+pairs"): (3.77, 2.44, 1.46),
    ("yeast", "power"): (4006.0, 2194.0, 790.0),
    ("yeast", "power+pairs"): (3369.0, 1964.0, 754.0),
}
"""Sizes that were measured independently of this package: the baseline, and the paper's measures with ML-RBF."""

FREQUENT = "the most frequent labelsets, whatever the object"
"""What the baseline is called."""


def write_page(documents: dict[str, dict[str, Any]], *, n_missing: int = 0) -> str:
    """Return the page in Markdown for results files as they are, by name, in this order.

    Parameters
    ----------
    documents : dict
        The files.
    n_missing : int
        How many cells of the plan they do not have yet.
    """
    new, older = (
        [row for name in documents if name.startswith(NEW) == is_new for row in read_rows(documents[name])]
        for is_new in (True, False)
    )
    rows = [row for row in older if row.measure != BASELINE]
    # the same in the pool's results and in those of the set, where both are there
    baselines = list({(row.dataset, row.guarantee): row for row in older if row.measure == BASELINE}.values())
    known = {(row.dataset, row.learner, row.measure, row.guarantee) for row in older}
    added = [row for row in new if (row.dataset, row.learner, row.measure, row.guarantee) not in known]
    missing = f"Unfinished: {n_missing} cells of the plan are still to be measured." if n_missing else ""
    parts = [
        HEAD,
        missing,
        "## Findings",
        _findings(rows, new, [*baselines, *added]),
        "## What was run",
        _what_was_run(),
        READING,
    ]
    parts += [*_pool(rows, baselines), *write_default(new), "## All data sets", *_smallest([*rows, *added], baselines)]
    parts += [
        *_reference([*baselines, *rows]),
        *write_auto(rows),
        *_measures(rows),
        *_costs(rows),
        _validity([*rows, *baselines, *added]),
    ]
    parts += [_section(name, document) for name, document in documents.items() if not name.startswith((POOL, NEW))]
    return "\n\n".join(part.rstrip() for part in parts if part) + "\n"


def _what_was_run() -> str:
    """Return what the plan says about itself, as Markdown."""
    _, _, explanation = (_plan.__doc__ or "").partition("\n\n")
    return explanation.replace("``", "`")


def _findings(rows: Sequence[Row], new: Sequence[Row], others: Sequence[Row]) -> str:
    lines = default_findings(new)
    if autos := judge_auto(rows):
        worst, least = (choose(autos, key=lambda one: one.ratio) for choose in (max, min))
        n_valid = sum(one.auto.is_valid(MIDDLE) for one in autos)
        lines.append(
            f'Choosing among more measures, but not the posterior, regions of `measure="auto"` at {MIDDLE} % are'
            f" {least.ratio:.2f} to {worst.ratio:.2f} times as large as those of the best of these, in {len(autos)}"
            f" cases; the largest ratio is that of {worst.auto.dataset}, {worst.auto.learner}. In {n_valid} of them"
            " errors are at most two binomial standard deviations above nominal."
        )
    if exact := [ratio for one in judge_guarantees(rows) if one.row.guarantee == "exact" for ratio in one.ratios[1:]]:
        lines.append(
            f'Regions of `guarantee="exact"` at 90 and 80 % are {min(exact):.2f} to {max(exact):.2f} times as large as'
            " those of the paper's p-value on the same resplits."
        )
    if measures := judge_measures(rows):
        calmest = min(measures, key=lambda one: one.ratios[one.worst])
        findings = [("smallest on average", measures[0]), ("least bad where it is worst", calmest)]
        if calmest is measures[0]:
            findings = [("smallest on average and least bad where it is worst", calmest)]
        for what, one in findings:
            lines.append(
                f"Among measures of outputs and training labels alone, {one.measure} is {what}: {one.mean:.2f} times"
                f" the best measure for the data set and learner, {one.ratios[one.worst]:.2f} at worst"
                f" ({', '.join(one.worst)})."
            )
        lines.append(
            f"Log loss and frequencies is `{LOG_LOSS['few labels']}`, with more than 20 labels"
            f" `{LOG_LOSS['more than 20 labels']}`. The posterior, the default, is compared with it in a section of its"
            " own; the tables of single data sets are without the posterior, and `auto` does not choose it there."
        )
    return "\n".join(f"- {line}" for line in [*lines, _counted([*rows, *others])])


def _pool(rows: Sequence[Row], baselines: Sequence[Row]) -> list[str]:
    """Return the section about the pool, nothing where it was not measured."""
    measured = select(rows, learner=POOL, guarantee="cross")
    body = []
    for name in dict.fromkeys(row.dataset for row in measured):
        body += [_pool_line(row, FREQUENT) for row in select(baselines, dataset=name, guarantee="cross")]
        body += [_pool_line(row, f"`table_pool()`, {row.measure}") for row in select(measured, dataset=name)]
    if not body:
        return []
    head = ["set", "learner, measure", "resplits", "sizes", "errors in %", "subset accuracy"]
    ratios = [
        f"- {one.posterior.dataset}: {write_joined(one.ratios, '{:.2f}'.format)},"
        f" on {len(one.posterior.figures)} resplits"
        for one in judge_default(measured)
    ]
    return ["## The recommended pool", ABOUT_POOL, table(head, body), *([RATIOS, "\n".join(ratios)] if ratios else [])]


def _pool_line(row: Row, what: str) -> list[str]:
    accuracy = f"{row.means['subset_accuracy']:.3f}"
    return [row.dataset, what, str(len(row.figures)), write_sizes(row), write_errors(row), accuracy]


def _smallest(rows: Sequence[Row], baselines: Sequence[Row]) -> list[str]:
    found = [(one.row, one.what, f"{one.row.learner}, {one.row.measure}") for one in find_smallest(rows)]
    for row in select(baselines, guarantee="cross"):
        place = max((n for n, (other, *_) in enumerate(found) if other.dataset == row.dataset), default=len(found))
        found.insert(place + 1, (row, "no learner", FREQUENT))
    body = [
        [row.dataset, what, name, str(len(row.figures)), write_sizes(row), write_errors(row)]
        for row, what, name in found
    ]
    head = ["set", "of", "learner, measure", "resplits", "sizes", "errors in %"]
    return ["The smallest regions, by a measure named beforehand:", table(head, body)] if body else []


def _reference(rows: Sequence[Row]) -> list[str]:
    body = []
    for (name, measure), expected in REFERENCE.items():
        learner = "none" if measure == BASELINE else "ml-rbf"
        for row in select(rows, dataset=name, measure=measure, learner=learner, guarantee="cross"):
            sds = (
                "-" if len(row.figures) < 2 else write_joined([row.sds["sizes"][level] for level in LEVELS], write_size)
            )
            body.append([name, measure, write_joined(expected, write_size), write_sizes(row), sds])
    if not body:
        return []
    head = ["set", "measure", "independent implementation", "sizes", "standard deviations"]
    about = "The most frequent labelsets and the paper's measures with ML-RBF, next to an implementation independent of"
    return [f"{about} labelsure:", table(head, body)]


def _measures(rows: Sequence[Row]) -> list[str]:
    body = [
        [one.measure, str(len(one.ratios)), f"{one.mean:.2f}", f"{one.ratios[one.worst]:.2f}", ", ".join(one.worst)]
        for one in judge_measures(rows)
    ]
    if not body:
        return []
    return [
        "Which measure on the whole? These need outputs and training labels only. The table compares regions at"
        f" {MIDDLE} % with those of the best of all measures for the data set and learner: the geometric mean of the"
        " ratios over data sets and learners, and the largest. The posterior is not in it: it learns from"
        " out-of-fold outputs.",
        table(["measure", "sets and learners", "mean ratio", "worst ratio", "where"], body),
    ]


def _costs(rows: Sequence[Row]) -> list[str]:
    """Return how large the regions of each guarantee are, as multiples of those of the paper's p-value."""
    found = {(f"{one.row.dataset}, {one.row.measure}", one.row.guarantee): one.ratios for one in judge_guarantees(rows)}
    if not found:
        return []
    columns, guarantees = (list(dict.fromkeys(key[i] for key in found)) for i in (0, 1))
    body = [
        [guarantee, *(write_joined(found.get((column, guarantee), []), "{:.2f}".format) for column in columns)]
        for guarantee in guarantees
    ]
    return [
        "What guarantees cost: sizes at 95 / 90 / 80 %, as multiples of those of `cross` on the same resplits, with"
        " ML-RBF:",
        table(["guarantee", *columns], body),
    ]


def _counted(rows: Sequence[Row]) -> str:
    levels = [(row, level) for row in rows for level in LEVELS]
    n_above = sum(not row.is_valid(level) for row, level in levels)
    return f"{n_above} of {len(levels)} errors are more than two binomial standard deviations above nominal."


def _validity(rows: Sequence[Row]) -> str:
    listed = "".join(
        f"\n- {row.dataset}, {row.learner}, {row.measure}, {row.guarantee}:"
        f" {row.means['errors'][level]:.2f} % at {level} %"
        for row in rows
        for level in LEVELS
        if not row.is_valid(level)
    )
    return f"Errors more than two binomial standard deviations above nominal:\n{listed}" if listed else ""


def _section(name: str, document: dict[str, Any]) -> str:
    rows = read_rows(document)
    (data,) = document["datasets"].values()
    cross = select(rows, guarantee="cross")
    numbers = sorted({len(row.figures) for row in rows})
    resplits = str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
    sized = "" if data["n_sized"] == data["n_test"] else f" (regions sized for {data['n_sized']})"
    about = (
        f"{data['n_labels']} labels, {data['n_objects']} objects: {data['n_train']} train, {data['n_test']} test"
        f"{sized}, {resplits} resplit{'' if resplits == '1' else 's'}, {document['settings']['folds']} folds."
    )
    parts = [f"## {name}", about, "Sizes:", _matrix(cross, write_sizes), "Errors in %:", _matrix(cross, write_errors)]
    parts += ["For each learner its best measure:", _details(cross)]
    baselines = select(rows, measure=BASELINE)
    others = sorted({row.measure for row in rows if row.guarantee != "cross" and row.measure != BASELINE})
    for measure in others:
        parts += [f"Guarantees, {measure}:", _guarantees([*select(rows, measure=measure), *baselines])]
    return "\n\n".join(parts)


def _matrix(rows: Sequence[Row], write: Callable[[Row], str]) -> str:
    """Return a table with a line for each measure and a column for each learner."""
    baselines = [write(row) for row in select(rows, measure=BASELINE)]
    rows = [row for row in rows if row.measure != BASELINE]
    learners = list(dict.fromkeys(row.learner for row in rows))
    measures = list(dict.fromkeys(row.family for row in rows))
    winners = {learner: best(row for row in select(rows, learner=learner) if row.is_fixed) for learner in learners}
    body = []
    for measure in measures:
        line = [measure]
        for learner in learners:
            row = next(iter(select(rows, learner=learner, family=measure)), None)
            text = "" if row is None else write(row)
            line.append(f"**{text}**" if row is not None and row is winners[learner] else text)
        body.append(line)
    body += [[FREQUENT, *[text] * len(learners)] for text in baselines]
    return table(["measure", *learners], body)


def _details(rows: Sequence[Row]) -> str:
    body = []
    for learner in dict.fromkeys(row.learner for row in rows):
        row = best(select(rows, learner=learner))
        if row is not None:
            seconds = row.means["seconds"]
            sums = [write_size(row.means[name]) if name in row.means else "-" for name in ("S", "OF")]
            accuracy = f"{row.means['subset_accuracy']:.3f}"
            times = [write_size(seconds["fit"]), write_size(seconds["answer"])]
            body.append([learner, row.measure, write_sizes(row), write_errors(row), *sums, accuracy, *times])
    head = ["learner", "measure", "sizes", "errors in %", "S", "OF", "subset accuracy", "fit s", "answer s"]
    return table(head, body)


def _guarantees(rows: Sequence[Row]) -> str:
    learners = {row.learner for row in rows if row.guarantee != "cross"}
    body = [
        [row.learner, row.guarantee, str(len(row.figures)), write_sizes(row), write_errors(row)]
        for row in rows
        if row.learner in learners
    ]
    return table(["learner", "guarantee", "resplits", "sizes", "errors in %"], body)

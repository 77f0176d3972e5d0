"""``labelsure explain``: what is said about one row, and why."""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from labelsure._errors import CommandError
from labelsure.cli import _arguments as words
from labelsure.cli._evaluate import aligned
from labelsure.cli._models import (
    add_jobs,
    add_model_and_data,
    add_predict_for,
    answer_rows,
    in_one_line,
    note_unseen,
    open_data,
    open_trained,
)
from labelsure.cli._writing import say

LOW = 0.05
"""A credibility of at most this wants an explanation."""


def add_parser(commands: Any) -> None:
    """Add the command to ``commands``, argparse's subparsers."""
    parser = commands.add_parser(
        "explain",
        help="say in words what is predicted for one row, and why",
        description=(
            "Say in words what is predicted for one row: the labels that are sure, possible and"
            " ruled out, the most"
            " plausible labelsets, a line per label, and what each fold contributes to credibility."
        ),
    )
    add_model_and_data(parser)
    parser.add_argument(
        "--row",
        type=words.count,
        required=True,
        metavar="N",
        help="counted from 1, below the header",
    )
    parser.add_argument(
        "--confidence",
        type=words.confidence_level,
        default="95",
        metavar="C",
        help="in percent (default: 95)",
    )
    parser.add_argument(
        "--top", type=words.count, default=5, metavar="K", help="labelsets listed (default: 5)"
    )
    add_jobs(parser)
    add_predict_for(parser)
    parser.set_defaults(run=run)


def run(options: Namespace) -> None:
    """Find the row, predict it alone, and say why."""
    trained = open_trained(options)
    with in_one_line():
        table = open_data(options.data, trained.schema, labels=None)
        x, y = _find_row(table, options.row)
    note_unseen(table)
    say("\n\n".join(_paragraphs(trained.model, x, y, options)))


def _find_row(table: Any, row: int) -> tuple[Any, Any]:
    """Return the features of one row, and its labels where they are known."""
    n_rows = 0
    for batch in table:
        n_rows += batch.n_rows
        if row <= n_rows:
            i = row - 1 - batch.start
            return batch.X[i : i + 1], None if batch.Y is None else batch.Y[i : i + 1]
    raise CommandError(
        f"{table.file.path} has {n_rows} rows, so there is no row {row}. Rows are counted from 1."
    )


def _paragraphs(model: Any, x: Any, y: Any, options: Namespace) -> list[str]:
    import numpy as np

    significance = words.significance_of(options.confidence)
    answers = answer_rows(model, x)
    predictions = replace(answers.predictions, index=np.array([options.row]))
    summaries = predictions.summary(significance, top=options.top)
    summary = summaries[0]
    said = [_first_lines(summary, answers)]
    said.append("\n".join(_label_lines(predictions, summary)))
    said.append(_credibility(summary))
    if len(model.models_) > 1 or summary.credibility <= LOW:
        said.append("\n".join(_fold_lines(model, x, answers)))
    if y is not None:
        said.append(_truth(predictions, summaries.region, y))
    return said


def _first_lines(summary: Any, answers: Any) -> str:
    """Return what is predicted, beside the most plausible labelset where that is another one, and what is left."""
    _, *others = str(summary).splitlines()
    told = f"confidence {summary.confidence:.3g}, credibility {summary.credibility:.3g}"
    names, (row,) = answers.predictions.label_names, answers.labels.tolist()
    labels = tuple(name for name, on in zip(names, row, strict=True) if on)
    if labels == summary.labels:
        first = f"{_in_words(labels)}, which is the most plausible labelset ({told})."
    else:
        p_value = answers.predictions.p_value(answers.labels)[0]
        first = (
            f"{_in_words(labels)} (p-value {p_value:.3g}). The most plausible labelset is another:"
            f" {_in_words(summary.labels)} ({told})."
        )
    return "\n".join([f"Row {summary.name}: {first}", *others])


def _in_words(labels: Sequence[str]) -> str:
    return ", ".join(labels) or "no label"


def _label_lines(predictions: Any, summary: Any) -> list[str]:
    """Return a line per label: the highest p-value of a labelset with it, and of one without it."""
    verdicts = {
        name: word for word in ("sure", "possible", "ruled_out") for name in getattr(summary, word)
    }
    rows = [("label", "highest p with it", "without it", f"at {summary.confidence_level}")]
    for name, (off, on) in zip(
        predictions.label_names, predictions.label_p_values[0].tolist(), strict=True
    ):
        rows.append((name, f"{on:.4f}", f"{off:.4f}", verdicts.get(name, "-").replace("_", " ")))
    return ["Label by label:", *aligned(rows)]


def _credibility(summary: Any) -> str:
    share = f"{100 * summary.credibility:.3g} %"
    if summary.credibility > LOW:
        return (
            f"Credibility {summary.credibility:.3g}: about {share} of the examples that"
            f" calibrated the model are at"
            " least as strange as this row with its most plausible labelset. That is nothing"
            " unusual."
        )
    return (
        f"Credibility {summary.credibility:.3g} is low: only about {share} of the examples that"
        f" calibrated the model"
        " are at least as strange as this row, even with its most plausible labelset. It may be"
        " unlike them (check its"
        " cells for errors, and whether it comes from elsewhere), or the model may know too"
        " little about such rows."
    )


def _fold_lines(model: Any, x: Any, answers: Any) -> list[str]:
    """Return how each fold counts its calibration examples against the most plausible labelset."""
    calibrator, labelset = model.calibrator_, answers.predictions.labelsets
    rows: list[Sequence[str]] = [("fold", "examples", "as strange or stranger", "share")]
    for k, part in enumerate(answers.outputs):
        fold = calibrator.meet(k, part, x)
        (score,) = fold.energy.scores(labelset)
        n_examples, stranger = len(fold.calibration), int((fold.calibration >= score).sum())
        rows.append((str(k + 1), str(n_examples), str(stranger), f"{stranger / n_examples:.3f}"))
    total = [sum(int(row[column]) for row in rows[1:]) for column in (1, 2)]
    rows.append(("all", *map(str, total), f"{total[1] / total[0]:.3f}"))
    return [
        "Its most plausible labelset, as the model of each fold sees them beside its examples:",
        *aligned(rows),
    ]


def _truth(predictions: Any, region: Any, y: Any) -> str:
    names = [name for name, on in zip(predictions.label_names, y[0].tolist(), strict=True) if on]
    p_value = predictions.p_value(y)[0]
    inside = "is" if region.contains(y)[0] else "is not"
    return f"The file says: {_in_words(names)}. That labelset has the p-value {p_value:.4g} and {inside} in the region."

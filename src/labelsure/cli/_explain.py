"""``labelsure explain``: what is said about one row, and why."""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from labelsure.cli import _arguments as words
from labelsure.cli._errors import CommandError
from labelsure.cli._evaluate import aligned
from labelsure.cli._models import (
    add_device,
    add_jobs,
    add_model_and_data,
    in_one_line,
    note_unseen,
    open_data,
    open_trained,
    predict_rows,
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
            "Say in words what is predicted for one row: the labels that are sure, possible and ruled out, the most"
            " plausible labelsets, a line per label, and what each fold contributes to credibility."
        ),
    )
    add_model_and_data(parser)
    parser.add_argument("--row", type=words.count, required=True, metavar="N", help="counted from 1, below the header")
    parser.add_argument(
        "--confidence", type=words.confidence_level, default="95", metavar="C", help="in percent (default: 95)"
    )
    parser.add_argument("--top", type=words.count, default=5, metavar="K", help="labelsets listed (default: 5)")
    add_jobs(parser)
    add_device(parser)
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
    raise CommandError(f"{table.file.path} has {n_rows} rows, so there is no row {row}. Rows are counted from 1.")


def _paragraphs(model: Any, x: Any, y: Any, options: Namespace) -> list[str]:
    import numpy as np

    significance = words.significance_of(options.confidence)
    predictions = replace(predict_rows(model, x), index=np.array([options.row]))
    summaries = predictions.summary(significance, top=options.top)
    summary = summaries[0]
    said = [str(summary).replace("Object ", "Row ", 1)]
    said.append("\n".join(_label_lines(predictions, summary)))
    said.append(_credibility(summary))
    if len(model.models_) > 1 or summary.credibility <= LOW:
        said.append("\n".join(_fold_lines(model, x, predictions.labelsets)))
    if y is not None:
        said.append(_truth(predictions, summaries.region, y))
    return said


def _label_lines(predictions: Any, summary: Any) -> list[str]:
    """Return a line per label: the highest p-value of a labelset with it, and of one without it."""
    verdicts = {name: word for word in ("sure", "possible", "ruled_out") for name in getattr(summary, word)}
    rows = [("label", "highest p with it", "without it", f"at {summary.confidence_level}")]
    for name, (off, on) in zip(predictions.label_names, predictions.label_p_values[0].tolist(), strict=True):
        rows.append((name, f"{on:.4f}", f"{off:.4f}", verdicts.get(name, "-").replace("_", " ")))
    return ["Label by label:", *aligned(rows)]


def _credibility(summary: Any) -> str:
    share = f"{100 * summary.credibility:.3g} %"
    if summary.credibility > LOW:
        return (
            f"Credibility {summary.credibility:.3g}: about {share} of the examples that calibrated the model are at"
            " least as strange as this row with its most plausible labels. That is nothing unusual."
        )
    return (
        f"Credibility {summary.credibility:.3g} is low: only about {share} of the examples that calibrated the model"
        " are at least as strange as this row, even with its most plausible labels. It may be unlike them (check its"
        " cells for errors, and whether it comes from elsewhere), or the model may know too little about such rows."
    )


def _fold_lines(model: Any, x: Any, labelset: Any) -> list[str]:
    """Return how each fold counts its calibration examples against the most plausible labelset."""
    from labelsure.conformal import outputs_of_models

    calibrator = model.calibrator_
    outputs = outputs_of_models(model.models_, x, model.n_labels_, n_jobs=calibrator.n_jobs)
    rows: list[Sequence[str]] = [("fold", "examples", "as strange or stranger", "share")]
    for k, part in enumerate(outputs):
        fold = calibrator.meet(k, part, x)
        (score,) = fold.energy.scores(labelset)
        n_examples, stranger = len(fold.calibration), int((fold.calibration >= score).sum())
        rows.append((str(k + 1), str(n_examples), str(stranger), f"{stranger / n_examples:.3f}"))
    total = [sum(int(row[column]) for row in rows[1:]) for column in (1, 2)]
    rows.append(("all", *map(str, total), f"{total[1] / total[0]:.3f}"))
    return ["Its most plausible labels, as the model of each fold sees them beside its examples:", *aligned(rows)]


def _truth(predictions: Any, region: Any, y: Any) -> str:
    names = [name for name, on in zip(predictions.label_names, y[0].tolist(), strict=True) if on]
    p_value = predictions.p_value(y)[0]
    inside = "is" if region.contains(y)[0] else "is not"
    said = ", ".join(names) or "no label"
    return f"The file says: {said}. That labelset has the p-value {p_value:.4g} and {inside} in the region."

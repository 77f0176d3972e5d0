"""``labelsure explain``: what is said about one row, and why."""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from labelsure._errors import CommandError
from labelsure.cli import _arguments as arguments
from labelsure.cli import _common as common

LOW = 0.05  # a credibility of at most this needs an explanation


def add_parser(commands: Any) -> None:
    """Add the command to ``commands``, argparse's subparsers."""
    parser = commands.add_parser(
        "explain",
        help="say in words what is predicted for one row, and why",
        description="Say in words what is predicted for one row: the labels that are sure, possible"
        " and ruled out, the most plausible labelsets, a line per label, and what each fold"
        " contributes to credibility.",
    )
    arguments.add_model_and_data(parser)
    about = "counted from 1, below the header"
    arguments.option(parser, "--row", "N", about, arguments.count, required=True)
    arguments.add_confidence(parser)
    arguments.add_jobs(parser)
    arguments.add_predict_for(parser)
    parser.set_defaults(run=run)


def run(options: Namespace) -> None:
    """Find the row, predict it alone, and say why."""
    trained = common.open_trained(options)
    with common.in_one_line():
        table = common.open_data(options.data, trained.schema, labels=None)
        x, y = _find_row(table, options.row)
    common.note_unseen(table)
    common.say("\n\n".join(_paragraphs(trained.model, x, y, options)))


def _find_row(table: Any, row: int) -> tuple[Any, Any]:
    """Return the features of one row, and its labels if they are known."""
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

    significance = arguments.significance_of(options.confidence)
    answers = common.answer_rows(model, x)
    predictions = replace(answers.predictions, index=np.array([options.row]))
    summaries = predictions.summary(significance, top=options.top)
    summary = summaries[0]
    said = [_first_lines(summary, answers), _label_lines(predictions, summary)]
    said.append(_credibility(summary.credibility))
    if len(model.models_) > 1 or summary.credibility <= LOW:
        said.append(_fold_lines(model, x, answers))
    if y is not None:
        names = _in_words(_names_of(predictions.label_names, y))
        p_value = f"{predictions.p_value(y)[0]:.4g}"
        inside = "is" if summaries.region.contains(y)[0] else "is not"
        said.append(
            f"The file says: {names}. That labelset has the p-value {p_value} and {inside} in the"
            " region."
        )
    return said


def _names_of(label_names: Sequence[str], labelset: Any) -> tuple[str, ...]:
    return tuple(name for name, on in zip(label_names, labelset[0].tolist(), strict=True) if on)


def _in_words(labels: Sequence[str]) -> str:
    return ", ".join(labels) or "no label"


def _first_lines(summary: Any, answers: Any) -> str:
    """Return the prediction, the most plausible labelset if it differs, and what is left."""
    _, *others = str(summary).splitlines()
    told = f"confidence {summary.confidence:.3g}, credibility {summary.credibility:.3g}"
    labels = _names_of(answers.predictions.label_names, answers.labels)
    first = f"{_in_words(labels)}, which is the most plausible labelset ({told})."
    if labels != summary.labels:
        p_value = answers.predictions.p_value(answers.labels)[0]
        first = (
            f"{_in_words(labels)} (p-value {p_value:.3g}). The most plausible labelset is another:"
            f" {_in_words(summary.labels)} ({told})."
        )
    return "\n".join([f"Row {summary.name}: {first}", *others])


def _label_lines(predictions: Any, summary: Any) -> str:
    """Return a line per label: the highest p-value of a labelset with it, and of one without it."""
    verdicts = {
        name: word for word in ("sure", "possible", "ruled_out") for name in getattr(summary, word)
    }
    rows = [("label", "highest p with it", "without it", f"at {summary.confidence_level}")]
    p_values = predictions.label_p_values[0].tolist()
    for name, (off, on) in zip(predictions.label_names, p_values, strict=True):
        rows.append((name, f"{on:.4f}", f"{off:.4f}", verdicts.get(name, "-").replace("_", " ")))
    return "\n".join(["Label by label:", *common.aligned(rows)])


def _credibility(credibility: float) -> str:
    share = f"{100 * credibility:.3g} %"
    if credibility > LOW:
        return (
            f"Credibility {credibility:.3g}: about {share} of the calibration examples are at least"
            " as strange as this row with its most plausible labelset. That is nothing unusual."
        )
    return (
        f"Credibility {credibility:.3g} is low: only about {share} of the calibration examples are"
        " at least as strange as this row, even with its most plausible labelset. It may be unlike"
        " them (check its cells for errors, and whether it comes from elsewhere), or the model may"
        " know too little about such rows."
    )


def _fold_lines(model: Any, x: Any, answers: Any) -> str:
    """Return how each fold counts its calibration examples against the most plausible labelset."""
    labelset, counts = answers.predictions.labelsets, list[tuple[int, int]]()
    for k, outputs in enumerate(answers.outputs):
        fold = model.calibrator_.meet(k, outputs, x)
        (score,) = fold.energy.scores(labelset)
        counts.append((len(fold.calibration), int((fold.calibration >= score).sum())))
    names = [*(str(k + 1) for k in range(len(counts))), "all"]
    counts.append((sum(n for n, _ in counts), sum(stranger for _, stranger in counts)))
    rows: list[Sequence[str]] = [("fold", "examples", "as strange or stranger", "share")]
    for name, (n, stranger) in zip(names, counts, strict=True):
        rows.append((name, str(n), str(stranger), f"{stranger / n:.3f}"))
    intro = "Its most plausible labelset, as the model of each fold sees them beside its examples:"
    return "\n".join([intro, *common.aligned(rows)])

"""``labelsure evaluate``: does the model keep its promise on a table with known labels, and how much does it say?"""

import json
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from labelsure.cli import _arguments as words
from labelsure.cli._models import (
    add_jobs,
    add_model_and_data,
    add_predict_for,
    answer_rows,
    in_one_line,
    labels_in_words,
    note_unseen,
    open_data,
    open_trained,
    refuse_to_overwrite,
)
from labelsure.cli._writing import printable, say, versions, write_whole

MOSTLY = 0.8
UNDECIDED = """
At {level} % confidence {share:.0f} % of the labels are left undecided: one statement about all labels at once is much
to ask of these data. A lower level, another learner or another question may say more:
labelsure.decisions.advise in Python finds one, and docs/which-question.md explains it."""
"""What to do where regions say next to nothing about single labels."""

SINGLE = {
    "learner_alone": "learner alone",
    "exact_match": "exact-match",
    "hamming": "hamming",
    "f1": "f1",
}
"""Single answers, as in files and as printed: the learner's, and those for each metric."""


def add_parser(commands: Any) -> None:
    """Add the command to ``commands``, argparse's subparsers."""
    parser = commands.add_parser(
        "evaluate",
        help="compare predictions with known labels",
        description=(
            "Compare the model's answers with the labels of a table that it was not fitted on:"
            " how often regions hold"
            " the truth, with exact intervals, how large they are, how good its single answers"
            " are beside those of the"
            " learner alone, and all of it label by label."
        ),
    )
    add_model_and_data(parser)
    levels = ["80", "90", "95"]
    parser.add_argument(
        "--confidence",
        nargs="+",
        type=words.confidence_level,
        default=levels,
        metavar="C",
        help=f"in percent; labels are listed for the last (default: {' '.join(levels)})",
    )
    parser.add_argument(
        "--json", type=words.output_file, metavar="FILE", help="also write all figures to FILE"
    )
    add_jobs(parser)
    add_predict_for(parser)
    parser.set_defaults(run=run)


def run(options: Namespace) -> None:
    """Predict all rows, and print the figures."""
    refuse_to_overwrite(options.json, options.model, options.data)
    trained = open_trained(options)
    with in_one_line():
        table = open_data(options.data, trained.schema, labels=True)
        batch = table.read()
    note_unseen(table)
    answers = answer_rows(trained.model, batch.X)
    figures = judge(trained.model, answers, batch.Y, list(dict.fromkeys(options.confidence)))
    if options.json is not None:
        document = {
            "model": str(options.model),
            "data": str(options.data),
            **figures,
            "versions": versions(),
        }
        write_whole(options.json, json.dumps(document, indent=1) + "\n")
    say("\n".join(_lines(f"{options.data}", figures, labels_in_words(trained.model))))


def judge(model: Any, answers: Any, Y: Any, levels: Sequence[str]) -> dict[str, Any]:
    """Return how good predictions are, given the true labels.

    Parameters
    ----------
    model : fitted predictor
        What made them.
    answers : Answers
        For n objects.
    Y : array of shape (n, q)
        Their labels.
    levels : sequence of str
        Confidence levels in percent.
    """
    import warnings

    from labelsure.report._singles import count_answers

    predictions = answers.predictions
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a level that cannot be reached shows in the sizes
        regions = {level: predictions.region(words.significance_of(level)) for level in levels}
    significances = [words.significance_of(level) for level in levels]
    person = count_answers(predictions, Y, significances[-1], min(significances))
    return {
        "n_objects": len(Y),
        "n_labels": Y.shape[1],
        "levels": {level: _judge_region(region, Y) for level, region in regions.items()},
        "single": _judge_singles(model, answers, Y),
        "predict_for": model.predict_for,
        "predict_is": model.calibrator_.choose_answers(model.predict_for).replace(" ", "_"),
        "answers_of_a_person": None if person is None else person._asdict(),
        "confidence": float(predictions.confidence.mean()),
        "credibility": float(predictions.credibility.mean()),
        "labels": _judge_labels(regions[levels[-1]], answers.labels, Y, predictions.label_names),
    }


def _judge_singles(model: Any, answers: Any, Y: Any) -> dict[str, dict[str, float]]:
    """Return the figures of the learner alone, of the answers for each metric and of those that ``predict`` gives."""
    from labelsure.conformal._calibrator import labels_of_outputs
    from labelsure.metrics._point import point_measures
    from labelsure.report._singles import brier_score

    names = ("subset_accuracy", "hamming_loss", "f1_macro", "f1_micro")
    outputs, predictions = answers.outputs, answers.predictions
    single = {"learner_alone": labels_of_outputs(outputs)}
    for metric in ("exact match", "hamming", "f1"):
        single[metric.replace(" ", "_")] = model.calibrator_.single_answers(
            predictions, outputs, metric
        )
    single["predict"] = answers.labels
    measures = {key: point_measures(Y, labels) for key, labels in single.items()}
    figures = {key: {name: row[name] for name in names} for key, row in measures.items()}
    brier, of_learner = (
        brier_score(Y, predictions.probabilities),
        brier_score(Y, sum(outputs) / len(outputs)),
    )
    for key, row in figures.items():
        row["brier_score"] = of_learner if key == "learner_alone" else brier
    return figures


def _judge_region(region: Any, Y: Any) -> dict[str, float]:
    from labelsure.metrics import coverage_by_group, mean_region_size, median_region_size

    covered = coverage_by_group(region.contains(Y), [0] * len(Y))
    sizes = region.size_estimates
    return {
        "coverage": float(covered.coverage[0]),
        "low": float(covered.low[0]),
        "high": float(covered.high[0]),
        "mean_size": float(mean_region_size(sizes)),
        "median_size": float(median_region_size(sizes)),
        "single": sum(size.at_most == 1 for size in sizes) / len(Y),
        "empty": sum(size.at_most == 0 for size in sizes) / len(Y),
        "undecided": float(region.undecided.sum(axis=1).mean()),
    }


def _judge_labels(region: Any, labels: Any, Y: Any, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return for each label how often it is there, predicted, sure and ruled out, and how often wrongly so."""
    sure, ruled_out = region.inner, ~region.outer & region.outer.any(axis=1, keepdims=True)
    right = ((labels == 1) & (Y == 1)).sum(axis=0)
    counted = {
        "objects": Y.sum(axis=0),
        "predicted": labels.sum(axis=0),
        "right": right,
        "sure": sure.sum(axis=0),
        "sure_wrong": (sure & (Y == 0)).sum(axis=0),
        "ruled_out": ruled_out.sum(axis=0),
        "ruled_out_wrong": (ruled_out & (Y == 1)).sum(axis=0),
    }
    rows = []
    for j, name in enumerate(names):
        row = {key: int(values[j]) for key, values in counted.items()}
        there = row["objects"] + row["predicted"]
        rows.append({"label": name, **row, "f1": 2 * row["right"] / there if there else None})
    return rows


def _lines(data: str, figures: dict[str, Any], labels_are: str) -> list[str]:
    """Return the figures in words and tables."""
    from labelsure.report._singles import AnswersOfPerson

    level = list(figures["levels"])[-1]
    levels = [
        (
            "confidence",
            "coverage",
            "95 % interval",
            "labelsets: mean",
            "median",
            "one",
            "none",
            "undecided",
        )
    ]
    for name, row in figures["levels"].items():
        interval = f"{100 * row['low']:.1f} to {100 * row['high']:.1f} %"
        sizes = f"{row['mean_size']:.4g}", f"{row['median_size']:.4g}"
        shares = (
            f"{100 * row['single']:.1f} %",
            f"{100 * row['empty']:.1f} %",
            f"{row['undecided']:.2f}",
        )
        levels.append((f"{name} %", f"{100 * row['coverage']:.1f} %", interval, *sizes, *shares))
    labels = [
        ("label", "rows", "predicted", "right", "F1", "sure", "wrongly", "ruled out", "wrongly")
    ]
    for row in figures["labels"]:
        f1 = "-" if row["f1"] is None else f"{row['f1']:.3f}"
        counts = [str(row[key]) for key in ("objects", "predicted", "right")]
        decided = [str(row[key]) for key in ("sure", "sure_wrong", "ruled_out", "ruled_out_wrong")]
        labels.append((row["label"], *counts, f1, *decided))
    person, undecided = figures["answers_of_a_person"], figures["levels"][level]["undecided"]
    hint = [UNDECIDED.format(level=level, share=100 * undecided / figures["n_labels"])]
    return [
        f"{data}: {figures['n_objects']} rows, {figures['n_labels']} labels",
        "",
        "Regions: how often they hold the true labelset, how many labelsets they have, labels"
        " left undecided",
        *aligned(levels),
        "",
        *_single_lines(figures, labels_are),
        f"Most plausible labelset: mean confidence {figures['confidence']:.3f}, credibility"
        f" {figures['credibility']:.3f}",
        *([] if person is None else [str(AnswersOfPerson(**person))]),
        "",
        f"Labels as predicted, and sure and ruled out at {level} %",
        *aligned(labels),
        *(hint if undecided > MOSTLY * figures["n_labels"] else []),
    ]


def _single_lines(figures: dict[str, Any], labels_are: str) -> list[str]:
    """Return single answers as a table, those that ``predict`` gives with a star, and what wrapping did."""
    from labelsure.report._singles import say_what_wrapping_did

    single, answered = figures["single"], figures["predict_is"]
    shown = dict(SINGLE)
    if single["predict"] == single[answered] | {"brier_score": single["predict"]["brier_score"]}:
        shown[answered] += " *"
    else:  # some of these answers were no candidates
        shown["predict"] = "labels *"
    rows: list[tuple[str, ...]] = [
        ("single answer", "exact match", "Hamming loss", "F1 macro", "F1 micro", "Brier score")
    ]
    for key, name in shown.items():
        exact, *others = single[key].values()
        rows.append((name, f"{100 * exact:.1f} %", *(f"{value:.4f}" for value in others)))
    ours, alone = single["predict"], single["learner_alone"]
    did = say_what_wrapping_did(
        ours["brier_score"], alone["brier_score"], ours["f1_macro"], alone["f1_macro"]
    )
    more = (
        ""
        if answered == "f1"
        else f" With --predict-for f1 macro F is {single['f1']['f1_macro']:.3f}."
    )
    return [*aligned(rows), f"* {labels_are}", did + more]


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table as lines, the first column flush left and the others flush right.

    Examples
    --------
    >>> aligned([("label", "rows"), ("sea", "12")])
    ['label  rows', 'sea      12']
    """
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *cells]))
    return lines

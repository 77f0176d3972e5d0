"""``labelsure evaluate``: does the model keep its promise on known labels? How much does it say?"""

import json
import warnings
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from labelsure.cli import _arguments as arguments
from labelsure.cli import _common as common

LEVELS = ("80", "90", "95")
MOSTLY = 0.8
# printed if regions say next to nothing about single labels
UNDECIDED = (
    "\nAt {level} % confidence {share:.0f} % of the labels are left undecided:"
    " one statement about all labels at once is much\n"
    "to ask of these data. A lower level, another learner or another question may say more:\n"
    "labelsure.decisions.advise in Python finds one, and docs/many-labels.md explains it."
)
# single answers, as in files and as printed: the learner's, and those for each metric
SINGLE = {
    "learner_alone": "learner alone",
    "exact_match": "exact-match",
    "hamming": "hamming",
    "f1": "f1",
}
REGION_COLUMNS = [
    "confidence",
    "coverage",
    "95 % interval",
    "labelsets: mean",
    "median",
    "one",
    "none",
    "undecided",
]
SINGLE_COLUMNS = [
    "single answer",
    "exact match",
    "Hamming loss",
    "F1 macro",
    "F1 micro",
    "Brier score",
]
LABEL_COLUMNS = [
    "label",
    "rows",
    "predicted",
    "right",
    "F1",
    "sure",
    "wrongly",
    "ruled out",
    "wrongly",
]


def add_parser(commands: Any) -> None:
    """Add the command to ``commands``, argparse's subparsers."""
    parser = commands.add_parser(
        "evaluate",
        help="compare predictions with known labels",
        description="Compare the model's answers with the labels of a table that it was not fitted"
        " on: how often regions hold the truth, with exact intervals, how large they are, how good"
        " its single answers are beside those of the learner alone, and all of it label by label.",
    )
    arguments.add_model_and_data(parser)
    option, level = arguments.option, arguments.confidence_option
    about = f"in percent; labels are listed for the last (default: {' '.join(LEVELS)})"
    option(parser, "--confidence", "C", about, level, nargs="+", default=LEVELS)
    about, file = "also write all figures to FILE", arguments.output_file
    option(parser, "--json", "FILE", about, file, dest="output")
    arguments.add_jobs(parser)
    arguments.add_predict_for(parser)
    parser.set_defaults(run=run)


def run(options: Namespace) -> None:
    """Predict all rows, and print the figures."""
    trained = common.open_trained(options)
    with common.in_one_line():
        table = common.open_data(options.data, trained.schema, labels=True)
        rows = table.read()
    common.note_unseen(table)
    answers = common.answer_rows(trained.model, rows.X)
    figures = judge(trained.model, answers, rows.Y, list(dict.fromkeys(options.confidence)))
    if options.output is not None:
        about = {"model": str(options.model), "data": str(options.data)}
        document = {**about, **figures, "versions": common.versions()}
        common.write_whole(options.output, json.dumps(document, indent=1) + "\n")
    common.say("\n".join(_lines(f"{options.data}", figures, common.labels_in_words(trained.model))))


def judge(model: Any, answers: Any, Y: Any, levels: Sequence[str]) -> dict[str, Any]:
    """Return how good predictions are, given the true labels.

    Parameters
    ----------
    model : fitted predictor
        What made them.
    answers : BatchAnswers
        For n objects.
    Y : array of shape (n, q)
        Their labels.
    levels : sequence of str
        Confidence levels in percent.
    """
    from labelsure.report._singles import count_answers

    predictions = answers.predictions
    significances = [arguments.significance_of(level) for level in levels]
    with warnings.catch_warnings():  # a level that cannot be reached shows in the sizes
        warnings.simplefilter("ignore")
        regions = [predictions.region(significance) for significance in significances]
    person = count_answers(predictions, Y, significances[-1], min(significances))
    judged = zip(levels, regions, strict=True)
    return {
        "n_objects": len(Y),
        "n_labels": Y.shape[1],
        "levels": {level: _judge_region(region, Y) for level, region in judged},
        "single": _judge_singles(model, answers, Y),
        "predict_for": model.predict_for,
        "predict_is": model.calibrator_.choose_answers(model.predict_for).replace(" ", "_"),
        "answers_of_a_person": None if person is None else person._asdict(),
        "confidence": float(predictions.confidence.mean()),
        "credibility": float(predictions.credibility.mean()),
        "labels": _judge_labels(regions[-1], answers.labels, Y, predictions.label_names),
    }


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


def _judge_singles(model: Any, answers: Any, Y: Any) -> dict[str, dict[str, float]]:
    """Return the metrics of the learner alone, of the answers per metric and of ``predict``."""
    from labelsure.conformal._calibrator import labels_of_outputs
    from labelsure.metrics._point import point_measures
    from labelsure.report._singles import brier_score

    outputs, predictions = answers.outputs, answers.predictions
    of_learner = brier_score(Y, sum(outputs) / len(outputs))
    ours = brier_score(Y, predictions.probabilities)
    single = {"learner_alone": labels_of_outputs(outputs)}
    for metric in ("exact match", "hamming", "f1"):
        name = metric.replace(" ", "_")
        single[name] = model.calibrator_.single_answers(predictions, outputs, metric)
    single["predict"] = answers.labels
    figures = {}
    for name, labels in single.items():
        found = point_measures(Y, labels)
        chosen = ("subset_accuracy", "hamming_loss", "f1_macro", "f1_micro")
        figures[name] = {measure: found[measure] for measure in chosen}
        figures[name]["brier_score"] = of_learner if name == "learner_alone" else ours
    return figures


def _judge_labels(region: Any, labels: Any, Y: Any, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return how often each label is true, predicted, certain and ruled out, with errors."""
    sure, ruled_out = region.inner, ~region.outer & region.outer.any(axis=1, keepdims=True)
    members = {
        "objects": Y == 1,
        "predicted": labels == 1,
        "right": (labels == 1) & (Y == 1),
        "sure": sure,
        "sure_wrong": sure & (Y == 0),
        "ruled_out": ruled_out,
        "ruled_out_wrong": ruled_out & (Y == 1),
    }
    counts = {key: matrix.sum(axis=0).tolist() for key, matrix in members.items()}
    rows = []
    for j, name in enumerate(names):
        row = {key: of_labels[j] for key, of_labels in counts.items()}
        either = row["objects"] + row["predicted"]
        rows.append({"label": name, **row, "f1": 2 * row["right"] / either if either else None})
    return rows


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _lines(data: str, figures: dict[str, Any], labels_are: str) -> list[str]:
    """Return the figures in words and tables."""
    from labelsure.report._singles import AnswersOfPerson

    *_, (level, last) = figures["levels"].items()
    person, undecided = figures["answers_of_a_person"], last["undecided"] / figures["n_labels"]
    hint = UNDECIDED.format(level=level, share=100 * undecided)
    return [
        f"{data}: {figures['n_objects']} rows, {figures['n_labels']} labels",
        "",
        "Regions: how often they hold the true labelset, how many labelsets they have, labels left"
        " undecided",
        *common.aligned([REGION_COLUMNS, *map(_region_cells, figures["levels"].items())]),
        "",
        *_single_lines(figures, labels_are),
        f"Most plausible labelset: mean confidence {figures['confidence']:.3f}, credibility"
        f" {figures['credibility']:.3f}",
        *([] if person is None else [str(AnswersOfPerson(**person))]),
        "",
        f"Labels as predicted, and sure and ruled out at {level} %",
        *common.aligned([LABEL_COLUMNS, *map(_label_cells, figures["labels"])]),
        *([hint] if undecided > MOSTLY else []),
    ]


def _region_cells(judged: tuple[str, dict[str, float]]) -> list[str]:
    level, row = judged
    interval = f"{100 * row['low']:.1f} to {100 * row['high']:.1f} %"
    sizes = f"{row['mean_size']:.4g}", f"{row['median_size']:.4g}"
    shares = _percent(row["single"]), _percent(row["empty"])
    undecided = f"{row['undecided']:.2f}"
    return [f"{level} %", _percent(row["coverage"]), interval, *sizes, *shares, undecided]


def _label_cells(row: dict[str, Any]) -> list[str]:
    f1 = "-" if row["f1"] is None else f"{row['f1']:.3f}"
    counts = [str(value) for name, value in row.items() if name not in ("label", "f1")]
    return [row["label"], *counts[:3], f1, *counts[3:]]


def _single_lines(figures: dict[str, Any], labels_are: str) -> list[str]:
    """Return a table of single answers, those of ``predict`` starred, and what wrapping changed."""
    from labelsure.report._singles import say_what_wrapping_did

    single, answered = figures["single"], figures["predict_is"]
    ours, alone = single["predict"], single["learner_alone"]
    shown = dict(SINGLE)
    if ours == single[answered] | {"brier_score": ours["brier_score"]}:
        shown[answered] += " *"
    else:  # some of these answers were no candidates
        shown["predict"] = "labels *"
    rows: list[Sequence[str]] = [SINGLE_COLUMNS]
    for key, name in shown.items():
        exact, *others = single[key].values()
        rows.append((name, _percent(exact), *(f"{value:.4f}" for value in others)))
    briers = (ours["brier_score"], alone["brier_score"])
    did = say_what_wrapping_did(*briers, ours["f1_macro"], alone["f1_macro"])
    if answered != "f1":
        did += f" With --predict-for f1 macro F is {single['f1']['f1_macro']:.3f}."
    return [*common.aligned(rows), f"* {labels_are}", did]

"""The questions themselves: each is asked of some objects at a level, and says how much its answers tell."""

import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from labelsure._core.types import IntArray, LabelMatrix
from labelsure.decisions._advice import Answer
from labelsure.decisions._advise_sample import MOST_LABELSETS, Sample
from labelsure.decisions._cover import control_cover
from labelsure.decisions._precision import control_precision
from labelsure.decisions._recall import control_recall
from labelsure.decisions._selection import select_objects
from labelsure.predictions import LabelsetPredictions, LabelWisePredictions

FEW_LABELSETS = 10
"""As many labelsets as a person may want to read."""

MOST_WRONG = 10
"""Wrong labels that may still be called few."""

ENOUGH_DECIDED, ENOUGH_FOUND, ENOUGH_OBJECTS, ENOUGH_ACCEPTED = 0.5, 0.5, 0.5, 0.2
"""Shares of the labels that may stay undecided, of the true labels left in, of the objects with a label, of the objects
without review."""


def ask_labelsets(sample: Sample, level: float) -> Answer | None:
    """Ask which labelsets cannot be ruled out."""
    if sample.joint is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", UserWarning
        )  # with too few examples regions hold everything: the figures say so
        region = sample.joint.region(level)
    sizes = [sum(1 for _ in islice(one, MOST_LABELSETS + 1)) for one in region]
    median = float(np.median(sizes))
    undecided = float(region.undecided.mean())
    many = f"more than {MOST_LABELSETS}" if median > MOST_LABELSETS else f"at most {math.ceil(median)}"
    held = f"{many} labelset{'s' if median > 1 else ''}"
    return Answer(
        "labelsets",
        level,
        informative=median <= FEW_LABELSETS and undecided <= ENOUGH_DECIDED,
        words=f"half of the regions hold {held}, and {_percent(undecided)} of the labels are undecided",
        code=f"{_joint_code(sample)}.region({level:g})",
        figures={"median_size": median, "undecided": undecided},
    )


def ask_few_wrong(sample: Sample, level: float) -> Answer | None:
    """Ask what each label is, with the fewest wrong labels allowed that make the answer worth it."""
    if sample.by_label is None:
        return None
    answers = [_few_wrong(sample, sample.by_label, level, h) for h in range(min(MOST_WRONG + 1, sample.n_labels))]
    best = next((answer for answer in answers if answer.informative), answers[0])
    without = _wrong_without_a_model(sample)
    if best.figures["h"] <= without / 2:
        return best
    words = f"{best.words}; but calling each label as most objects have it gets {without:.1f} wrong on average"
    return replace(best, informative=False, words=words)


def _few_wrong(sample: Sample, predictions: LabelWisePredictions, level: float, h: int) -> Answer:
    region = predictions.region(level, at_most_wrong=h)
    left = float((region.undecided | region.empty).sum(axis=1).mean())
    allowed = {0: "no label wrong", 1: "at most 1 label wrong"}.get(h, f"at most {h} labels wrong")
    found, words = _found(sample, region.outer)
    return Answer(
        "few wrong",
        level,
        informative=left <= sample.few and found >= ENOUGH_FOUND,
        words=f"with {allowed}, {left:.1f} labels of an object are left undecided{words}",
        code=f"{_label_code(sample)}.region({level:g}, at_most_wrong={h})",
        figures={"h": h, "labels": left, "found": found},
    )


def ask_each_label(sample: Sample, level: float) -> Answer | None:
    """Ask what each label is by itself, among examples with the same value of the label where that says enough."""
    asked = [
        _each_label(sample, predictions, level, conditional)
        for predictions, conditional in ((sample.by_label_conditional, True), (sample.by_label, False))
        if predictions is not None
    ]
    return next((answer for answer in asked if answer.informative), asked[-1] if asked else None)


def _each_label(sample: Sample, predictions: LabelWisePredictions, level: float, conditional: bool) -> Answer:
    region = predictions.region(level, per_label=True)
    left, undecided = (float(part.sum(axis=1).mean()) for part in (region.outer, region.undecided))
    found, more = _found(sample, region.outer)
    return Answer(
        "each label",
        level,
        informative=left <= sample.few and found >= ENOUGH_FOUND,
        words=f"{left:.1f} labels of an object are sure or possible, {undecided:.1f} of these undecided{more}",
        code=f"{_label_code(sample, conditional)}.region({level:g}, per_label=True)",
        figures={"labels": left, "found": found},
    )


def ask_cover(sample: Sample, level: float) -> Answer | None:
    """Ask for labels that hold all true ones: the same number for every object, or as many as it needs."""
    if sample.outputs is None or sample.Y is None:
        return None
    target = round(1 - level, 10)
    sets = {
        form: control_cover(*sample.calibration_outputs, target=target, form=form).predict(sample.outputs)
        for form in ("count", "chance")
    }
    sizes = {form: _size(predicted) for form, predicted in sets.items()}
    form = "count" if sizes["count"] <= sizes["chance"] else "chance"
    option = "" if form == "count" else ', form="chance"'
    covered = {form: float((predicted >= sample.Y).all(axis=1).mean()) for form, predicted in sets.items()}
    return Answer(
        "cover",
        level,
        informative=sizes[form] <= sample.few,
        words=f"the {sizes['count']:.0f} most probable labels hold all true ones of {_percent(covered['count'])} of the"
        f" objects; as many as each object needs, {sizes['chance']:.1f} on average, those of"
        f" {_percent(covered['chance'])}",
        code=f"CoverController(classifier, target={target:g}{option}).fit(X, y).predict(X_new)",
        figures={"labels": sizes[form], "k": sizes["count"], "reached": covered[form]},
    )


def ask_recall(sample: Sample, level: float) -> Answer | None:
    """Ask for labels that hold nearly all true ones on average."""
    if sample.outputs is None or sample.Y is None:
        return None
    target = round(1 - level, 10)
    predictor = control_recall(*sample.calibration_outputs, target=target)
    predicted = predictor.predict(sample.outputs)
    size, recall = _size(predicted), _mean_share(predicted & sample.Y, sample.Y)
    return Answer(
        "recall",
        level,
        informative=predictor.reached and size <= sample.few,
        words=f"{size:.1f} labels of an object hold {_percent(recall)} of its true ones on average",
        code=f"RecallController(classifier, target={target:g}).fit(X, y).predict(X_new)",
        figures={"labels": size, "reached": recall},
    )


def ask_precision(sample: Sample, level: float) -> Answer | None:
    """Ask for labels that are nearly all true."""
    if sample.outputs is None or sample.Y is None:
        return None
    target = round(1 - level, 10)
    predictor = control_precision(*sample.calibration_outputs, target=target)
    predicted = predictor.predict(sample.outputs)
    some, precision = float(predicted.any(axis=1).mean()), _mean_share(predicted & sample.Y, predicted)
    found, _ = _found(sample, predicted)
    return Answer(
        "precision",
        level,
        informative=predictor.reached and some >= ENOUGH_OBJECTS,
        words=f"{_percent(some)} of the objects get labels, {_percent(precision)} of these true on average; they are"
        f" {_percent(found)} of all true labels",
        code=f"PrecisionController(classifier, target={target:g}).fit(X, y).predict(X_new)",
        figures={"labels": _size(predicted), "found": found, "reached": precision},
    )


def ask_review(sample: Sample, level: float) -> Answer | None:
    """Ask which predictions need no review, with as few wrong labels allowed as lets enough of them through."""
    if sample.calibration is None or sample.outputs is None:
        return None
    answers = (_review(sample, level, h) for h in range(min(3, sample.n_labels)))
    strictest = next(answers)
    if strictest.informative:
        return strictest
    return next((answer for answer in answers if answer.informative), strictest)


def _review(sample: Sample, level: float, h: int) -> Answer:
    selector, sureness = sample.selector(h)
    selection = select_objects(selector.sureness_, selector.right_, sureness, alpha=level)
    share = float(selection.accepted.mean())
    option = f", at_most={h}" if h else ""
    return Answer(
        "review",
        level,
        informative=share >= ENOUGH_ACCEPTED,
        words=f"{_percent(share)} of the objects need no review, at most {_percent(level)} of them in expectation with"
        f" {selector.question_.fault}",
        code=f"ReviewSelector(model{option}).calibrate(X, y).select(X_new, alpha={level:g})",
        figures={"accepted": share, "h": h},
    )


ASKING: dict[str, Callable[[Sample, float], Answer | None]] = {
    "labelsets": ask_labelsets,
    "few wrong": ask_few_wrong,
    "each label": ask_each_label,
    "cover": ask_cover,
    "recall": ask_recall,
    "precision": ask_precision,
    "review": ask_review,
}
"""What asks each question."""


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _found(sample: Sample, left_in: Any) -> tuple[float, str]:
    """Return the share of the true labels that an answer leaves in, and words for it where they are known."""
    if sample.Y is None or not sample.Y.any():
        return 1.0, ""
    found = float(left_in[sample.Y == 1].mean())
    return found, f"; {_percent(found)} of the true labels are sure or possible"


def _mean_share(parts: IntArray, wholes: IntArray | LabelMatrix) -> float:
    """Return the mean over objects of a share of labels, 1 where there are none."""
    n_wholes = wholes.sum(axis=1)
    return float(np.where(n_wholes > 0, parts.sum(axis=1) / np.maximum(n_wholes, 1), 1.0).mean())


def _size(predicted: IntArray) -> float:
    return float(predicted.sum(axis=1).mean())


def _wrong_without_a_model(sample: Sample) -> float:
    """Return how many labels are wrong on average where each is called as most objects have it."""
    if sample.Y is None:
        return float(sample.n_labels)
    usual = sample.Y.mean(axis=0) > 0.5
    return float((usual != sample.Y).sum(axis=1).mean())


def _joint_code(sample: Sample) -> str:
    if isinstance(sample.model, LabelsetPredictions):
        return "predictions"
    made = hasattr(sample.model, "predict_labelsets")
    return f"{'model' if made else 'InductiveConformalClassifier(classifier).fit(X, y)'}.predict_labelsets(X_new)"


def _label_code(sample: Sample, conditional: bool = False) -> str:
    if isinstance(sample.model, LabelWisePredictions):
        return "predictions"
    option = ", conditional=True" if conditional else ""
    made = hasattr(sample.model, "predict_labels")
    model = "model" if made else f"LabelWiseConformalClassifier(classifier{option}).fit(X, y)"
    return f"{model}.predict_labels(X_new)"

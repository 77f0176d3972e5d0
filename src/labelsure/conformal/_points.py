"""Single answers: the most plausible labelset, or labels by their probabilities, for the metric that counts."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from labelsure._checks import FloatArray, IntArray
from labelsure.conformal._calibrator import Calibrator
from labelsure.predictions import LabelsetPredictions

PREDICT_FOR = ("auto", "exact match", "hamming", "f1")
"""What answers may be for."""


class Answers(NamedTuple):
    """What a predictor says of a batch of objects, all of it from outputs that are computed once.

    Attributes
    ----------
    predictions : LabelsetPredictions
        What ``predict_labelsets`` returns.
    labels : int array of shape (n, q)
        What ``predict`` returns.
    outputs : list of arrays of shape (n, q)
        Of each model; none where the predictor has no models.
    """

    predictions: LabelsetPredictions
    labels: IntArray
    outputs: list[FloatArray]


def answer_batch(model: Any, X: Any) -> Answers:
    """Return what a fitted predictor of labelsets says of objects."""
    if hasattr(model, "models_"):
        answers: Answers = model._answer(X)
        return answers
    predictions = model.predict_labelsets(X)
    return Answers(predictions, predictions.labelsets.astype(np.int64), [])


def labels_of_outputs(outputs: Sequence[FloatArray]) -> IntArray:
    """Return the labels that models find more likely than not in the mean: the answer of the learner alone."""
    labels: IntArray = (np.asarray(sum(outputs)) > len(outputs) / 2).astype(
        np.int64
    )  # without a copy of all outputs
    return labels


ANSWERS = {
    "exact match": "the most plausible labelset",
    "learner alone": "each label that the models find more likely than not in the mean",
    "hamming": "each label with a probability above one half",
    "f1": "each label whose probability is above the label's own threshold",
}
"""What answers are."""


def choose_answers(calibrator: Calibrator, predict_for: str) -> str:
    """Return which of ``ANSWERS`` are given: "auto" goes by what training showed."""
    if predict_for != "auto":
        return predict_for
    return "learner alone" if calibrator.labels_are_better else "exact match"


def describe_answers(calibrator: Calibrator, predict_for: str) -> str:
    """Return what is answered instead of the most plausible labelset, "" where that is."""
    chosen = choose_answers(calibrator, predict_for)
    if chosen == "exact match":
        return ""
    why = ": better than labelsets on training parts" if predict_for == "auto" else ""
    return f'predict(X) answers with predict_for="{predict_for}": {ANSWERS[chosen]}{why}.'


def single_answers(
    predictions: LabelsetPredictions,
    calibrator: Calibrator,
    outputs: Sequence[FloatArray],
    predict_for: str = "auto",
) -> IntArray:
    """Return one labelset for each object, of shape (n, q); where it would be no candidate, the most plausible one.

    Parameters
    ----------
    predictions : LabelsetPredictions
        For the objects.
    calibrator : Calibrator
        What made them; its folds' measures vote on which answers are better.
    outputs : sequence of arrays of shape (n, q)
        What they were made of.
    predict_for : {"auto", "exact match", "hamming", "f1"}
        The metric.
    """
    chosen = choose_answers(calibrator, predict_for)
    if chosen == "exact match":
        return predictions.labelsets.astype(np.int64)  # the int of scikit-learn's own classifiers
    answers: IntArray
    if chosen == "learner alone":
        answers = labels_of_outputs(outputs)
    elif chosen == "f1" and calibrator.thresholds is not None:
        answers = (predictions.probabilities > calibrator.thresholds).astype(np.int64)
    else:
        answers = (predictions.probabilities > 0.5).astype(np.int64)
    impossible = np.flatnonzero(predictions.p_value(answers) == 0)  # no candidate, or none at all
    if len(impossible):
        answers[impossible] = predictions[impossible].labelsets
    return answers

"""Single answers: the most plausible labelset, or labels one by one where training showed that these are better."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from labelsure._core.types import FloatArray, IntArray
from labelsure.conformal._calibrator import Calibrator
from labelsure.predictions import LabelsetPredictions


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
    labels: IntArray = (np.asarray(sum(outputs)) > len(outputs) / 2).astype(np.int64)  # without a copy of all outputs
    return labels


def single_answers(predictions: LabelsetPredictions, calibrator: Calibrator, outputs: Sequence[FloatArray]) -> IntArray:
    """Return one labelset for each object, of shape (n, q).

    Parameters
    ----------
    predictions : LabelsetPredictions
        For the objects.
    calibrator : Calibrator
        What made them; its folds' measures vote on which answers are better.
    outputs : sequence of arrays of shape (n, q)
        What they were made of.
    """
    votes = [fold.measure.labels_are_better_ for fold in calibrator.folds]
    if 2 * sum(votes) <= len(votes):
        return predictions.labelsets.astype(np.int64)  # the int of scikit-learn's own classifiers
    answers = labels_of_outputs(outputs)
    impossible = np.flatnonzero(predictions.p_value(answers) == 0)  # no candidate, or none at all
    if len(impossible):
        answers[impossible] = predictions[impossible].labelsets
    return answers

"""Single answers: the most plausible labelset, or labels one by one where training showed that these are better."""

from collections.abc import Sequence

import numpy as np

from labelsure._core.types import FloatArray, IntArray
from labelsure.conformal._calibrator import Calibrator
from labelsure.predictions import LabelsetPredictions


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
    in_mean = np.asarray(sum(outputs)) > len(outputs) / 2  # more likely than not, without a copy of all outputs
    answers: IntArray = in_mean.astype(np.int64)
    impossible = np.flatnonzero(predictions.p_value(answers) == 0)  # no candidate, or none at all
    if len(impossible):
        answers[impossible] = predictions[impossible].labelsets
    return answers

"""The task of all rivals: inductive ML-RBF on yeast, 1050 training, 450 calibration, 917 test."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler

from labelsure import MLRBFClassifier, PowerMeasure, calibrate_outputs, load_dataset
from labelsure.conformal import OutputsPredictor
from labelsure.learners import fit_base, outputs_of

Array = np.ndarray[Any, Any]


class InductiveTask(NamedTuple):
    """Outputs between 0 and 1, and labels.

    Attributes
    ----------
    training_outputs, training_labels : (1050, 14)
        For what a rival learns from the training part.
    calibration_outputs, calibration_labels : (450, 14)
    test_outputs : (917, 14)
    """

    training_outputs: Array
    training_labels: Array
    calibration_outputs: Array
    calibration_labels: Array
    test_outputs: Array


@cache
def inductive_yeast() -> InductiveTask:
    """Return the outputs of one ML-RBF model; its scores are the same for all rivals."""
    data = load_dataset("yeast")
    scaler = MinMaxScaler().fit(data.X_train)
    X, held_out, Y, held_out_Y = train_test_split(
        scaler.transform(data.X_train), data.Y_train, test_size=0.3, random_state=0
    )
    model = fit_base(MLRBFClassifier(random_state=0), X, Y)
    training, calibration, test = (
        outputs_of(model, part, Y.shape[1]) for part in (X, held_out, scaler.transform(data.X_test))
    )
    return InductiveTask(training, Y, calibration, held_out_Y, test)


def calibrated(task: InductiveTask) -> OutputsPredictor:
    """Return labelsure's predictor: squared errors, all labelsets candidates, on one thread."""
    return calibrate_outputs(
        task.calibration_outputs,
        task.calibration_labels,
        measure=PowerMeasure(d=2),
        empty_labelset="allow",
        n_jobs=1,
    )

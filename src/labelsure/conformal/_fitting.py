"""One fold: a model and a measure learned from its training part, scores from its calibration part."""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from labelsure._core.running import one_thread
from labelsure._core.types import FloatArray, IntArray, LabelMatrix, MatrixLike
from labelsure.conformal._calibrated import CalibratedMeasure, TrainingPart, calibrate, copy_measure
from labelsure.conformal._inside import fit_inside
from labelsure.estimators import FittedBase, outputs_of
from labelsure.measures import AutoMeasure, Measure, Need

INNER_FOLDS = 5
"""Models that give a training part its out-of-fold outputs."""


def fit_fold(
    estimator: Any,
    measure: Measure | AutoMeasure | str | None,
    X: MatrixLike,
    Y: LabelMatrix,
    *,
    train: IntArray,
    calibration: IntArray,
    seed: int,
) -> tuple[FittedBase, CalibratedMeasure]:
    """Fit one fold's model and measure on its training part, and score its calibration part.

    Parameters
    ----------
    estimator : classifier
        Unfitted; a copy is fitted.
    measure : Measure, AutoMeasure, "auto" or None
        Unfitted; a copy is fitted.
    X, Y : all examples
    train, calibration : int64 arrays
        Which of them train and which calibrate.
    seed : int
        For splits inside the training part, and for every ``random_state`` inside the measure that is None.
    """
    with one_thread():  # sums in BLAS depend on its number of threads; results must not
        X_train, X_calibration = _safe_indexing(X, train), _safe_indexing(X, calibration)
        model = fit_inside(estimator, X_train, Y[train])
        outputs = outputs_of(model, X_calibration, Y.shape[1])
        seeded = copy_measure(measure, seed, Y.shape[1], training_labels=True)
        training = training_part(seeded, estimator, model, X_train, Y[train], seed)
        return model, calibrate(seeded, outputs, Y[calibration], training=training, X=X_calibration)


def training_part(
    measure: Measure | AutoMeasure, estimator: Any, model: FittedBase, X: MatrixLike, Y: LabelMatrix, seed: int
) -> TrainingPart:
    """Return what the measure needs to know of a model's training examples."""
    outputs = None
    if Need.OUT_OF_FOLD_OUTPUTS in measure.needs:
        outputs = out_of_fold_outputs(estimator, X, Y, n_folds=INNER_FOLDS, seed=seed)
    elif Need.TRAINING_OUTPUTS in measure.needs:
        outputs = outputs_of(model, X, Y.shape[1])
    return TrainingPart(Y, outputs, X)


def out_of_fold_outputs(estimator: Any, X: MatrixLike, Y: LabelMatrix, *, n_folds: int, seed: int) -> FloatArray:
    """Return outputs for every example from a model that was not trained on it."""
    from sklearn.model_selection import KFold

    if len(Y) < 2:
        raise ValueError(f"Out-of-fold outputs need at least 2 training examples, got {len(Y)}.")
    outputs = np.empty(Y.shape)
    for train, rest in KFold(min(n_folds, len(Y)), shuffle=True, random_state=seed).split(Y):
        model = fit_inside(clone(estimator), _safe_indexing(X, train), Y[train])
        outputs[rest] = outputs_of(model, _safe_indexing(X, rest), Y.shape[1])
    return outputs

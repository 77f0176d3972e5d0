"""The paper's predictor on yeast: ML-RBF in 15 folds, 1500 training and 917 test objects."""

from functools import cache
from typing import Any

import numpy as np
from sklearn.preprocessing import MinMaxScaler

from labelsure import (
    CrossConformalClassifier,
    LabelsetPredictions,
    MLRBFClassifier,
    PowerMeasure,
    load_dataset,
)
from labelsure.engine._fold_arrays import Fold
from labelsure.learners import outputs_of

N_FOLDS = 15


@cache
def _scaled() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    data = load_dataset("yeast")
    scaler = MinMaxScaler().fit(data.X_train)
    return scaler.transform(data.X_train), data.Y_train, scaler.transform(data.X_test)


@cache
def fitted_model(pair_penalty: float) -> CrossConformalClassifier:
    """Return the paper's predictor, fitted with seed 0."""
    X, Y, _ = _scaled()
    measure = PowerMeasure(d=4, pair_penalty=pair_penalty)
    model = CrossConformalClassifier(
        MLRBFClassifier(),
        measure=measure,
        cv=N_FOLDS,
        empty_labelset="exclude",
        random_state=0,
        n_jobs=1,
    )
    return model.fit(X, Y)


def predict_yeast(pair_penalty: float, *, n_jobs: int) -> LabelsetPredictions:
    """Return the predictions for the test objects, which work with ``n_jobs`` threads."""
    X, Y, X_test = _scaled()
    return fitted_model(pair_penalty).recalibrate(X, Y, n_jobs=n_jobs).predict_labelsets(X_test)


def folds_of_yeast(pair_penalty: float) -> list[Fold]:
    """Return the input of predictions: each fold's calibration scores and labelset scores."""
    model, X = fitted_model(pair_penalty), _scaled()[2]
    outputs = (outputs_of(fitted, X, model.n_labels_) for fitted in model.models_)
    return [model.calibrator_.meet(k, o) for k, o in enumerate(outputs)]

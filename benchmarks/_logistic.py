"""Cross-conformal logistic regression on many labels: the outputs, fitted once per run."""

import warnings
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.multiclass import OneVsRestClassifier

from benchmarks._data import load_if_there
from labelsure.learners import fit_base, outputs_of

Array = np.ndarray[Any, Any]
N_FOLDS = 10
N_OBJECTS = 128


class Outputs(NamedTuple):
    """What the folds' models say.

    Attributes
    ----------
    fold_of : (n,)
        The fold that each training example calibrates.
    calibration : (n, q)
        Outputs for the training examples, each of the model that did not see it.
    Y : (n, q)
        Their labels.
    test : (K, m, q)
        Outputs of all models for the first ``N_OBJECTS`` test objects.
    """

    fold_of: Array
    calibration: Array
    Y: Array
    test: Array


@cache
def logistic_outputs(name: str) -> Outputs:
    """Return the outputs of one-vs-rest logistic regression in ten folds; bibtex takes a minute."""
    data = load_if_there(name)
    splits = list(KFold(N_FOLDS, shuffle=True, random_state=0).split(data.X_train))
    X, n_labels = data.X_test[:N_OBJECTS], data.Y_train.shape[1]
    parts = Parallel(n_jobs=-1)(
        delayed(_fit_and_say)(
            data.X_train[train], data.Y_train[train], [data.X_train[held_out], X], n_labels
        )
        for train, held_out in splits
    )
    fold_of = np.empty(len(data.Y_train), dtype=np.int64)
    calibration = np.empty(data.Y_train.shape)
    for k, ((_, held_out), (own, _)) in enumerate(zip(splits, parts, strict=True)):
        fold_of[held_out], calibration[held_out] = k, own
    return Outputs(
        fold_of, calibration, data.Y_train.astype(np.int8), np.stack([new for _, new in parts])
    )


def _fit_and_say(X: Array, Y: Array, objects: list[Array], n_labels: int) -> list[Array]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # labels that a fold's training part has never, or always
        model = fit_base(OneVsRestClassifier(LogisticRegression(solver="liblinear")), X, Y)
    return [outputs_of(model, part, n_labels) for part in objects]

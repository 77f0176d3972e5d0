"""Made-up outputs with a fixed number of undecided labels among any number of labels."""

from typing import Any, NamedTuple

import numpy as np

from labelsure import LabelsetPredictions, PowerMeasure, calibrate_outputs

Array = np.ndarray[Any, Any]
LOW, HIGH = 0.3, 0.5
"""Outputs of undecided labels. That all of ten are wrong costs less than one label whose output is
0."""

FOLD_NOISE = 0.02


class Task(NamedTuple):
    """The size of a made-up task.

    Attributes
    ----------
    n_labels, n_undecided : int
        Labels, and those of them whose output is not 0.
    n_folds, n_calibration, n_objects : int
        Folds of the cross-conformal predictor, calibration examples in all of them together, new
        objects.
    """

    n_labels: int
    n_undecided: int = 10
    n_folds: int = 10
    n_calibration: int = 1000
    n_objects: int = 8


def predict(task: Task) -> LabelsetPredictions:
    """Return predictions on one thread; undecided outputs do not depend on the number of labels."""
    rng = np.random.default_rng(0)
    shape = (task.n_calibration, task.n_undecided)
    outputs = rng.uniform(LOW, HIGH, shape)
    Y = (rng.random(shape) < outputs).astype(np.int8)
    Y[:, 0] |= ~Y.any(axis=1)  # as in most data sets, no example without a label
    new = rng.uniform(LOW, HIGH, (task.n_objects, task.n_undecided))
    of_folds = new + rng.normal(0, FOLD_NOISE, (task.n_folds, *new.shape))
    columns = np.sort(rng.permutation(task.n_labels)[: task.n_undecided])
    folds = None if task.n_folds == 1 else np.arange(task.n_calibration) % task.n_folds
    predictor = calibrate_outputs(
        spread(outputs, columns, task.n_labels),
        spread(Y, columns, task.n_labels),
        folds=folds,
        measure=PowerMeasure(d=4),
        n_jobs=1,
    )
    spread_new = [spread(part, columns, task.n_labels) for part in of_folds]
    return predictor.predict_labelsets(spread_new[0] if folds is None else spread_new)


def spread(values: Array, columns: Array, n_columns: int) -> Array:
    """Return values in some columns of a matrix that holds zeros elsewhere."""
    wide = np.zeros((len(values), n_columns), dtype=values.dtype)
    wide[:, columns] = values
    return wide

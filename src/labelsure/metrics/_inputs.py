"""What the measures of regions and of p-values accept."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from labelsure._checks import (
    FloatArray,
    LabelMatrix,
    LabelMatrixLike,
    as_numbers,
    check_label_matrix,
    check_same_length,
    check_significance,
    find_entry,
    is_list,
)
from labelsure.predictions import LabelsetPredictions


def check_labelset_predictions(predictions: LabelsetPredictions) -> LabelsetPredictions:
    """Return predictions of labelsets if there are any, or say what is wrong.

    Examples
    --------
    >>> check_labelset_predictions([[1, 0]])
    Traceback (most recent call last):
    ...
    ValueError: predictions must be what predict_labelsets returns, got a list. ...
    """
    if not isinstance(predictions, LabelsetPredictions):
        raise ValueError(
            f"predictions must be what predict_labelsets returns, got a"
            f" {type(predictions).__name__}."
            " Pass model.predict_labelsets(X), not what predict returns; true labels, where asked"
            " for, come before it."
        )
    if len(predictions) == 0:
        raise ValueError("predictions must be of at least one object to evaluate, got none.")
    return predictions


def check_true_labels(Y_true: LabelMatrixLike, predictions: LabelsetPredictions) -> LabelMatrix:
    """Return the true labels of the predicted objects as a label matrix, or say what is wrong.

    Examples
    --------
    >>> from labelsure import calibrate_outputs
    >>> predictions = calibrate_outputs([[0.9, 0.2]], [[1, 0]]).predict_labelsets([[0.8, 0.3]])
    >>> check_true_labels([[1, 0], [0, 1]], predictions)
    Traceback (most recent call last):
    ...
    ValueError: the predictions and Y_true must have the same number of rows, got 1 and 2. ...
    """
    names = check_labelset_predictions(predictions).label_names
    labels = check_label_matrix(Y_true, name="Y_true", n_labels=len(names), label_names=names)
    check_same_length(range(len(predictions)), labels, names=("the predictions", "Y_true"))
    return labels


def check_levels(significance: float | Iterable[float]) -> tuple[float, ...]:
    """Return one or several significance levels as a tuple, or say what is wrong.

    Examples
    --------
    >>> check_levels([0.05, 0.05])
    Traceback (most recent call last):
    ...
    ValueError: significance must hold different levels, got 0.05 twice.
    """
    levels: tuple[Any, ...] = tuple(significance) if is_list(significance) else (significance,)
    exact = [check_significance(level) for level in levels]
    if not levels:
        raise ValueError(
            "significance must hold at least one level, got none. Pass for instance (0.05, 0.1,"
            " 0.2)."
        )
    twice = [level for n, level in enumerate(levels) if exact[n] in exact[:n]]
    if twice:
        raise ValueError(f"significance must hold different levels, got {twice[0]} twice.")
    return levels


def check_p_values(p_values: ArrayLike, *, allow_zero: bool) -> FloatArray:
    """Return p-values as an array of shape (n,), or say what is wrong.

    Examples
    --------
    >>> check_p_values([0.5, 1.5], allow_zero=True)
    Traceback (most recent call last):
    ...
    ValueError: p_values must lie between 0 and 1, got 1.5 at position 1.
    """
    array = as_numbers(p_values, name="p_values", shape="(n,)")
    if array.dtype == bool or array.ndim != 1:
        raise ValueError(
            f"p_values must be numbers in an array of shape (n,), got shape {array.shape} of type"
            f" {array.dtype}."
        )
    numbers = array.astype(np.float64)
    if outside := find_entry(~((numbers >= 0) & (numbers <= 1)), numbers):
        raise ValueError(f"p_values must lie between 0 and 1, got {outside}.")
    if not allow_zero and np.any(numbers == 0):
        raise ValueError(
            f"p_values must be above 0, got 0 at position {int(np.argmin(numbers))}: smoothed"
            f" p-values never are."
            " Make them with online_p_values, or look for a true labelset that was no candidate."
        )
    return numbers

"""What the measures of predictions and of rankings accept."""

from typing import Any

import numpy as np

from labelsure._core.types import LabelMatrix, LabelMatrixLike, MatrixLike
from labelsure._core.validation import check_label_matrix, check_same_length, label_names_of


def check_predictions(Y_true: LabelMatrixLike, Y_pred: LabelMatrixLike) -> tuple[LabelMatrix, LabelMatrix]:
    """Return true and predicted labels as two label matrices of one shape, or say what is wrong.

    Examples
    --------
    >>> check_predictions([[1, 0]], [[1, 1, 0]])
    Traceback (most recent call last):
    ...
    ValueError: Y_pred must have 2 columns, one per label, got 3.
    """
    true = _check_truth(Y_true)
    predicted = check_label_matrix(Y_pred, name="Y_pred", n_labels=true.shape[1])
    check_same_length(true, predicted, names=("Y_true", "Y_pred"))
    _check_label_order(Y_true, Y_pred, "Y_pred")
    return true, predicted


def check_scores(Y_true: LabelMatrixLike, scores: MatrixLike) -> tuple[LabelMatrix, np.ndarray[Any, Any]]:
    """Return true labels and the scores that rank them as two arrays of one shape, or say what is wrong.

    Numbers keep their type, as rounding large integers to floats could make ties. Infinite scores rank like any
    other; NaN does not.

    Examples
    --------
    >>> check_scores([[1, 0]], [[0.5, float("nan")]])
    Traceback (most recent call last):
    ...
    ValueError: scores must be numbers, got NaN in row 0, column 1. A label without a score cannot be ranked.
    """
    true = _check_truth(Y_true)
    array = _as_numbers(scores)
    if array.ndim != 2 or array.shape[1] != true.shape[1]:
        raise ValueError(
            f"scores must have shape (n_objects, {true.shape[1]}), one column per label of Y_true, got {array.shape}."
            " Where predict_proba returns a list with one array per label, stack the second column of each."
        )
    check_same_length(true, array, names=("Y_true", "scores"))
    if array.dtype.kind == "f" and np.any(missing := np.isnan(array)):
        row, column = np.argwhere(missing)[0]
        raise ValueError(
            f"scores must be numbers, got NaN in row {row}, column {column}. A label without a score cannot be ranked."
        )
    _check_label_order(Y_true, scores, "scores")
    return true, array


def _check_truth(Y_true: LabelMatrixLike) -> LabelMatrix:
    true = check_label_matrix(Y_true, name="Y_true")
    if len(true) == 0:
        raise ValueError(f"Y_true must have at least one row to evaluate, got shape {true.shape}.")
    return true


def _as_numbers(scores: MatrixLike) -> np.ndarray[Any, Any]:
    try:
        array = np.asarray(scores)
        if array.dtype == object:
            array = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            "scores must be a dense matrix of real numbers of shape (n_objects, n_labels),"
            f" got {type(scores).__name__} that cannot be read as one: {error}."
        ) from error
    if array.dtype.kind not in "biuf":
        raise ValueError(f"scores must be real numbers, got an array of type {array.dtype}.")
    return array


def _check_label_order(Y_true: LabelMatrixLike, other: MatrixLike, name: str) -> None:
    """Refuse two tables with the same columns in another order: every figure would be silently wrong."""
    names, other_names = label_names_of(Y_true), label_names_of(other)
    if names is None or other_names is None or names == other_names:
        return
    if sorted(names) == sorted(other_names):
        raise ValueError(
            f"Y_true and {name} have the same columns in a different order. Reorder them first: {name}[Y_true.columns]."
        )

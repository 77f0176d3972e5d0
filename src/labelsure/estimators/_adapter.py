"""The adapter: any scikit-learn classifier in, one output between 0 and 1 per object and label out.

Two functions are all the other rooms need. :func:`fit_base` fits a copy of a classifier on a label matrix, also where
the classifier itself cannot because a label never varies. :func:`outputs_of` reads the outputs of what ``fit_base``
returned, or of a classifier that was fitted elsewhere.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import _safe_indexing

from labelsure._core.types import BoolArray, FloatArray, LabelMatrix, LabelMatrixLike, MatrixLike
from labelsure._core.validation import check_label_matrix, check_outputs, check_same_length, n_rows
from labelsure.estimators._reading import read_decisions, read_probabilities

ROUNDING = 1e-9
"""How far a probability may lie outside [0, 1] and still count as 0 or 1; more for single precision."""


@dataclass(frozen=True)
class FittedBase:
    """A classifier fitted by :func:`fit_base`, and what it does not know about constant labels.

    Parameters
    ----------
    estimator : fitted classifier or None
        None where no label varies: then no classifier is needed.
    learned : array of shape (n_labels,)
        Which columns of Y the estimator was fitted on.
    fixed : array of shape (n_labels,)
        The output of each label that has the same one for every object; NaN where the estimator gives the output.
    """

    estimator: Any
    learned: BoolArray
    fixed: FloatArray


def fit_base(estimator: Any, X: MatrixLike, Y: LabelMatrixLike, **fit_params: Any) -> FittedBase:
    """Fit a copy of ``estimator`` on a label matrix, whatever labels are constant in it.

    The copy is fitted on the whole of ``Y`` if it can be. Where it cannot and some labels are constant (always off or
    always on), it is fitted on the others, and the constant ones get the output 0.0 or 1.0; where all are constant
    no classifier is fitted at all. Constant labels also get 0.0 or 1.0 where the outputs come from a
    ``decision_function``: that measures the distance from a border between two values, and there was only one.

    Parameters
    ----------
    estimator : classifier
        Any classifier that :func:`sklearn.base.clone` copies; it stays as it is.
    X : array-like of shape (n_objects, n_features)
        The training objects, handed to the classifier as they are.
    Y : array-like, sparse matrix or DataFrame of shape (n_objects, n_labels)
        Their labels, zeros and ones. The classifier gets them as a dense matrix, for one label too.
    **fit_params
        For the classifier's ``fit``, such as ``sample_weight``.

    Returns
    -------
    FittedBase
        For :func:`outputs_of`. It can be pickled if the classifier can.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.multioutput import MultiOutputClassifier
    >>> X, Y = [[0.0], [1.0], [2.0]], [[0, 0, 1], [1, 0, 1], [1, 0, 1]]
    >>> model = fit_base(MultiOutputClassifier(LogisticRegression()), X, Y)
    >>> outputs_of(model, [[0.5]], 3).round(2).tolist()
    [[0.6, 0.0, 1.0]]
    """
    Y = check_label_matrix(Y)
    check_same_length(X, Y)
    constant: BoolArray = np.ptp(Y, axis=0) == 0
    if not constant.any():
        return FittedBase(_fit(estimator, X, Y, fit_params), learned=~constant, fixed=np.full(Y.shape[1], np.nan))
    values = np.where(constant, Y[0].astype(np.float64), np.nan)
    try:
        return _fit_whole(estimator, X, Y, values, fit_params)
    except (ValueError, IndexError, AttributeError):  # LogisticRegression, predict_proba(X)[:, 1], one-vs-rest of SVMs
        fitted = None if constant.all() else _fit(estimator, X, Y[:, ~constant], fit_params)
        return FittedBase(fitted, learned=~constant, fixed=values)


def outputs_of(model: Any, X: MatrixLike, n_labels: int) -> FloatArray:
    """Return the outputs of a fitted classifier: how much it believes in each label, between 0 and 1.

    They are read from ``predict_proba``, as an array of shape (n_objects, n_labels) or as a list with one array of
    class probabilities per label; or, where there is no such method, from ``decision_function`` through the logistic
    sigmoid, ``1 / (1 + exp(-x))``. For a single label the shapes of a binary classifier are understood as well.

    Parameters
    ----------
    model : FittedBase or fitted classifier
        What :func:`fit_base` returned, or a classifier fitted elsewhere on labels 0 and 1.
    X : array-like of shape (n_objects, n_features)
        The objects.
    n_labels : int
        The number of labels there must be.

    Returns
    -------
    array of shape (n_objects, n_labels)
        The outputs.

    Raises
    ------
    ValueError
        Where the classifier has neither method, or answers in a shape or with values that cannot be outputs.

    Examples
    --------
    >>> from labelsure.estimators import MLkNNClassifier
    >>> model = MLkNNClassifier(n_neighbors=1).fit([[0.0], [1.0], [1.0]], [[0, 1], [1, 1], [1, 1]])
    >>> outputs_of(model, [[1.0]], 2).round(2).tolist()
    [[0.63, 0.86]]
    """
    if not isinstance(model, FittedBase):
        return _read_outputs(model, X, n_labels)
    if len(model.fixed) != n_labels:
        raise ValueError(
            f"n_labels must be the {len(model.fixed)} labels that the model was fitted on, got {n_labels}."
        )
    outputs = np.empty((n_rows(X), n_labels))
    if model.estimator is not None:
        outputs[:, model.learned] = _read_outputs(model.estimator, X, int(model.learned.sum()))
    fixed = ~np.isnan(model.fixed)
    outputs[:, fixed] = model.fixed[fixed]
    return outputs


def _fit_whole(
    estimator: Any, X: MatrixLike, Y: LabelMatrix, values: FloatArray, fit_params: dict[str, Any]
) -> FittedBase:
    """Fit on constant labels too, and make sure that outputs come out: some classifiers fail only then."""
    fitted = _fit(estimator, X, Y, fit_params)
    _read_outputs(fitted, _safe_indexing(X, [0]), Y.shape[1])
    fixed = np.full_like(values, np.nan) if hasattr(fitted, "predict_proba") else values
    return FittedBase(fitted, learned=np.ones(Y.shape[1], dtype=bool), fixed=fixed)


def _fit(estimator: Any, X: MatrixLike, Y: LabelMatrix, fit_params: dict[str, Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataConversionWarning)  # one label is a matrix with one column, on purpose
        # int64: products of int8 matrices overflow inside classifiers that count with them
        return clone(estimator).fit(X, Y.astype(np.int64), **fit_params)


def _read_outputs(estimator: Any, X: MatrixLike, n_labels: int) -> FloatArray:
    """Return the outputs of a fitted classifier for the labels it was fitted on."""
    if hasattr(estimator, "predict_proba"):
        outputs = _round_into_range(read_probabilities(estimator, X, n_labels))
    elif hasattr(estimator, "decision_function"):
        outputs = expit(read_decisions(estimator, X, n_labels))
    else:
        raise ValueError(
            f"The classifier must have predict_proba or decision_function, but {type(estimator).__name__} has neither."
            " Choose one that says how sure it is of each label, or wrap a binary classifier that does in"
            " sklearn.multiclass.OneVsRestClassifier."
        )
    return check_outputs(outputs, name=f"Outputs of {type(estimator).__name__}", n_labels=n_labels)


def _round_into_range(probabilities: NDArray[np.floating[Any]]) -> FloatArray:
    """Move values that lie outside [0, 1] by rounding alone onto its ends; the others stay, to be refused."""
    rounding = max(ROUNDING, 8 * float(np.finfo(probabilities.dtype).eps))
    nearest = np.clip(probabilities, 0.0, 1.0)
    within = np.abs(probabilities - nearest) <= rounding
    return np.where(within, nearest, probabilities).astype(np.float64)

"""What the conformal classifiers share."""

import warnings
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from labelsure._core.randomness import draw_seeds
from labelsure._core.types import IntArray, LabelMatrix, LabelMatrixLike, MatrixLike
from labelsure._core.validation import check_choice, check_label_matrix, check_same_length, label_names_of, n_rows
from labelsure.conformal._calibrated import resolve_measure
from labelsure.conformal._inside import check_inside, copy_inside, tags_inside
from labelsure.estimators import mark_multi_label
from labelsure.labelsets import DRAW_UNIT
from labelsure.predictions import LabelsetPredictions

SMOOTHING_STREAM, ORDER_STREAM = 1, 2
"""Set the draws of predictions apart from those of ``fit``, which come from the same random_state."""


class WrappingClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Base of all classifiers here: another classifier inside.

    X is handed to the classifier inside as it is, so whatever that accepts (DataFrames for a ColumnTransformer,
    sparse matrices, lists of texts, NaN) is accepted here, and refused where it refuses it.
    """

    estimator: Any
    smoothed: bool
    random_state: Any

    def _check_fit(self, X: MatrixLike, Y: LabelMatrixLike, *, prefit: bool = False) -> tuple[MatrixLike, LabelMatrix]:
        """Check parameters and training data, and learn names and sizes."""
        check_inside(self.estimator, prefit=prefit)
        labels = check_label_matrix(Y)
        X = _as_rows(X)
        check_same_length(X, labels)
        validate_data(self, X, reset=True, skip_check_array=True)
        self.n_labels_ = labels.shape[1]
        self.label_names_ = label_names_of(Y)
        self.classes_ = [np.array([0, 1]) for _ in range(self.n_labels_)]
        return X, labels

    def _check_predict(self, X: MatrixLike) -> MatrixLike:
        check_is_fitted(self)
        X = _as_rows(X)
        if hasattr(self, "n_features_in_") and getattr(X, "ndim", 2) == 1:
            raise ValueError(
                f"X must have {self.n_features_in_} columns, one per feature, got an array of shape {X.shape}."
                " Reshape your data: X.reshape(1, -1) is a single object."
            )
        validate_data(self, X, reset=False, skip_check_array=True)
        return X

    def _seeded_estimator(self, seed: int) -> Any:
        return copy_inside(self.estimator, seed)

    def _draws(self, n_objects: int) -> IntArray | None:
        return draw_smoothing(n_objects, self.random_state) if self.smoothed else None

    def __sklearn_tags__(self) -> Any:
        tags = mark_multi_label(super().__sklearn_tags__())
        inside = tags_inside(self.estimator)
        if inside is not None:
            tags.input_tags.sparse = inside.input_tags.sparse
            tags.input_tags.allow_nan = inside.input_tags.allow_nan
        return tags


class ConformalClassifier(WrappingClassifier, ABC):
    """Base of the conformal classifiers of labelsets: a classifier inside, p-values of labelsets outside."""

    measure: Any
    empty: str

    @abstractmethod
    def predict_labelsets(self, X: MatrixLike) -> LabelsetPredictions:
        """Return p-values of labelsets for new objects, computed when asked for.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The objects.
        """

    def predict(self, X: MatrixLike) -> IntArray:
        """Return the labelset with the highest p-value for each object, ties by lowest total score.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The objects.

        Returns
        -------
        array of shape (n_objects, n_labels)
            Zeros and ones.
        """
        return self.predict_labelsets(X).labelsets.astype(np.int64)  # the int of scikit-learn's own classifiers

    def _check_fit(self, X: MatrixLike, Y: LabelMatrixLike, *, prefit: bool = False) -> tuple[MatrixLike, LabelMatrix]:
        check_empty(self.empty)
        X, labels = super()._check_fit(X, Y, prefit=prefit)
        if self.measure is not None:
            resolve_measure(self.measure, labels.shape[1])
        return X, labels

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "allow_empty_")  # what every fit learns last: one that failed half-way does not count


def check_empty(empty: str) -> str:
    """Return what to do about the empty labelset if it is one of the choices there are."""
    return check_choice(empty, ("auto", "allow", "exclude"), name="empty")


def resolve_empty(empty: str, *labels: LabelMatrix) -> bool:
    """Return whether the empty labelset is a candidate; "auto": if and only if some known example has no label.

    With "auto", a new object without labels is missed only if it is the first such among all examples, which by
    exchangeability happens with probability at most 1 / (n + 1). With "exclude" all such objects are missed: a warning
    says so where there are some, and if there are no others nothing can be predicted.
    """
    check_empty(empty)
    n_known = sum(len(part) for part in labels)
    n_empty = sum(int((~part.any(axis=1)).sum()) for part in labels)
    if empty == "exclude" and n_empty == n_known:
        raise ValueError(
            'empty="exclude" leaves out the empty labelset, and no example has another: every region would miss.'
            ' Use empty="auto", or check that Y holds the labels.'
        )
    if empty == "exclude" and n_empty:
        warnings.warn(
            f'{n_empty} of {n_known} examples have no label, and with empty="exclude" no region holds the empty'
            ' labelset: objects without labels are always missed. Use empty="auto" unless there will be none.',
            UserWarning,
            stacklevel=3,
        )
    return empty == "allow" or (empty == "auto" and n_empty > 0)


def draw_smoothing(n_objects: int, random_state: Any) -> IntArray:
    """Draw u of the smoothed p-values, one per object, in units of 1 / DRAW_UNIT."""
    rng = open_stream(random_state, SMOOTHING_STREAM)
    return rng.randint(1, DRAW_UNIT + 1, size=n_objects, dtype=np.int64)


def open_stream(random_state: Any, stream: int) -> np.random.RandomState:
    """Return a source of draws: with an int the same at every call, with a RandomState or None a fresh one."""
    (seed,) = draw_seeds(random_state, 1)
    return np.random.RandomState([seed, stream])


def _as_rows(X: MatrixLike) -> MatrixLike:
    """Return X if its rows can be counted and chosen, else say what is expected."""
    if hasattr(X, "toarray") and hasattr(X, "tocsr"):
        X = X.tocsr()
    elif getattr(X, "ndim", 2) == 0 or not hasattr(X, "__len__") or isinstance(X, str | bytes):
        raise ValueError(f"X must have one row per object, got {X!r}.")
    if n_rows(X) == 0:
        raise ValueError(f"X must have at least one row, got shape {getattr(X, 'shape', (0,))}.")
    return X

"""What the multi-label classifiers share: tags, input checks, learned attributes."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from labelsure._checks import (
    FloatArray,
    LabelMatrix,
    LabelMatrixLike,
    MatrixLike,
    check_label_matrix,
    check_number,
    check_same_length,
    check_unmasked,
    n_rows,
)

LARGEST_FEATURE = 1e150
"""Beyond it, distances and variances are infinite."""


class MultiLabelMixin(ClassifierMixin):
    """Tags: Y is a matrix with one 0/1 column per label, never 1-D; X may be sparse."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags = replace(
            tags.target_tags,
            one_d_labels=False,
            two_d_labels=True,
            single_output=False,
            multi_output=True,
        )
        tags.classifier_tags = replace(tags.classifier_tags, multi_class=False, multi_label=True)
        tags.input_tags.sparse = True
        return tags


class MetaClassifier(MetaEstimatorMixin, MultiLabelMixin, BaseEstimator):
    """Base of the classifiers around other classifiers.

    X is handed to those inside as it is, so whatever they accept (DataFrames for a
    ColumnTransformer, sparse matrices, lists of texts, NaN) is accepted here, and refused where one
    of them refuses it.
    """

    _learned_last: str
    """What every fit learns last: one that failed half-way does not count."""

    def _check_objects(
        self, X: MatrixLike, *, reset: bool = False, learned: str | None = None
    ) -> MatrixLike:
        """Return X with countable rows and, when predicting, the features seen in fit.

        ``learned`` is what must be there to predict, where that is not all that fit learns.
        """
        if not reset:
            check_is_fitted(self, learned or self._learned_last)
        if hasattr(X, "toarray") and hasattr(X, "tocsr"):
            X = X.tocsr()
        elif getattr(X, "ndim", 2) == 0 or not hasattr(X, "__len__") or isinstance(X, str | bytes):
            raise ValueError(f"X must have one row per object, got {X!r}.")
        check_unmasked(X)
        if n_rows(X) == 0:
            raise ValueError(
                f"X must have at least one row, got shape {getattr(X, 'shape', (0,))}."
            )
        if not reset and hasattr(self, "n_features_in_") and getattr(X, "ndim", 2) == 1:
            raise ValueError(
                f"X must have {self.n_features_in_} columns, one per feature, got an array of shape"
                f" {X.shape}. Reshape your data: X.reshape(1, -1) is a single object."
            )
        validate_data(self, X, reset=reset, skip_check_array=True)
        return X

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, self._learned_last)


class MultiLabelClassifier(MultiLabelMixin, BaseEstimator):
    """Base of the classifiers that learn a label matrix: tags and checks, no learning.

    A subclass calls ``X, Y = self._check_fit(X, Y)`` first in ``fit`` and ``X =
    self._check_objects(X)`` first in whatever it predicts with. ``fit`` then finds these set:

    Attributes
    ----------
    n_labels_ : int
        The number of labels, q.
    classes_ : list of q arrays
        The values each label takes, ``[0, 1]`` for every label (what scikit-learn's scorers read to
        see that the task is multi-label).
    n_features_in_ : int
        The number of features.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the features, where X was a DataFrame with string column names.
    """

    def _check_fit(self, X: MatrixLike, Y: LabelMatrixLike) -> tuple[Any, LabelMatrix]:
        """Return X as ``_check_objects`` does, Y as zeros and ones."""
        X = self._check_objects(X, fitting=True)
        if Y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
                " Pass a label matrix of shape (n_objects, n_labels), zeros and ones, as the"
                " second argument of fit."
            )
        Y = check_label_matrix(Y)
        check_same_length(X, Y)
        self.n_labels_: int = Y.shape[1]
        self.classes_ = [np.array([0, 1]) for _ in range(self.n_labels_)]
        return X, Y

    def _check_objects(self, X: MatrixLike, *, fitting: bool = False) -> Any:
        """Return X as float64, an array row by row or, where sparse arrived, canonical CSR.

        Unless ``fitting``, raise where this estimator is not fitted or X has other features than it
        learned.
        """
        if not fitting:
            check_is_fitted(self)
        check_unmasked(X)
        # numpy would convert these to float
        if isinstance(X, np.ndarray) and X.dtype.kind in "mMSTUV":
            raise ValueError(
                f"X must hold numbers, got an array of type {X.dtype}. Turn it into features first."
            )
        X = validate_data(self, X, dtype=np.float64, order="C", accept_sparse="csr", reset=fitting)
        largest = np.abs(X.data if sparse.issparse(X) else X).max(initial=0.0)
        if largest > LARGEST_FEATURE:
            raise ValueError(
                f"X must hold numbers of at most {LARGEST_FEATURE:g} in size, whose squares can be"
                f" added up, got {largest:g}. Scale your features, for instance with"
                " sklearn.preprocessing.StandardScaler."
            )
        if not isinstance(X, np.ndarray) and not X.has_canonical_format:
            X = X.copy()  # the user's matrix stays as it is
            X.sum_duplicates()  # scikit-learn's sums of squares are wrong for cells stored in parts
        if (
            not isinstance(X, np.ndarray)
            and X.indices.dtype != np.int32
            and max(X.nnz, *X.shape) < 2**31
        ):
            # the dtype that k-means needs
            X = type(X)(
                (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape
            )
        return X


def count_share(
    share: Any, total: int, *, name: str, at_most: float = math.inf, meaning: str = ""
) -> int:
    """Return a share of ``total`` as a whole number, rounded up, or raise ValueError.

    Examples
    --------
    >>> count_share(0.07, 100, name="hidden_fraction")
    7
    """
    fraction = check_number(share, name=name, above=0)
    if fraction > at_most:
        raise ValueError(f"{name} must be at most {at_most:g}, got {share!r}. {meaning}")
    # 0.07 * 100 is 7.000000000000001 in floating point: not 8
    return math.ceil(fraction * total * (1 - 1e-12))


def as_dense(X: Any) -> FloatArray:
    """Return a checked X as an array.

    Examples
    --------
    >>> from scipy import sparse
    >>> as_dense(sparse.csr_array([[0.0, 2.0]])).tolist()
    [[0.0, 2.0]]
    """
    dense: FloatArray = X if isinstance(X, np.ndarray) else X.toarray()
    return dense

"""What the members of the pool for tables are made of, beyond scikit-learn's own parts."""

import warnings
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import RidgeClassifier
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import validate_data

from labelsure._checks import BoolArray, FloatArray, LabelMatrix, MatrixLike

MOST_ROWS = 20_000
"""The most rows to search for neighbours: more would take longer than they gain."""


class FilledFeatures(TransformerMixin, BaseEstimator):
    """Zeros in features without any known value, which histogram boosting cannot bin."""

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Look for features that are missing everywhere."""
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
        self.unknown_: BoolArray = np.isnan(X).all(axis=0)
        return self

    def transform(self, X: Any) -> FloatArray:
        """Return the features, those that were missing everywhere as zeros."""
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        return np.where(self.unknown_, 0.0, X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class ScaledFeatures(TransformerMixin, BaseEstimator):
    """Features with variance 1, and mean 0 if X is dense: centring would fill a sparse matrix."""

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn means and variances."""
        self.scaler_ = StandardScaler(with_mean=not sparse.issparse(X)).fit(X)
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X: Any) -> Any:
        """Return the scaled features."""
        is_centred = self.scaler_.with_mean
        return self.scaler_.transform(X.toarray() if is_centred and sparse.issparse(X) else X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        return tags


class DenseFeatures(TransformerMixin, BaseEstimator):
    """Features as an array, whether they were sparse or not."""

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Count the features."""
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X: Any) -> Any:
        """Return the features as an array."""
        return X.toarray() if sparse.issparse(X) else X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        return tags


class KernelFeatures(Nystroem):
    """Nystroem's features with at most as many components as rows, without a warning."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose rows to compare with, see :class:`sklearn.kernel_approximation.Nystroem`."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="n_components > n_samples")
            super().fit(X, y)
        return self


class RidgeProbabilities(RidgeClassifier):
    """Ridge regression on labels -1 and 1, for all labels at once, with probabilities.

    Least squares estimates 2 p - 1, where p is the probability that the label is on. An answer d
    may be beyond -1 and 1, so 2 d, the tangent of logit((1 + d) / 2) at 0, is taken for the logit.
    """

    def fit(self, X: MatrixLike, y: LabelMatrix, sample_weight: FloatArray | None = None) -> Self:
        """Fit all labels; a single one may come as a column."""
        super().fit(
            X, np.squeeze(y, axis=1) if np.shape(y)[1:] == (1,) else y, sample_weight=sample_weight
        )
        return self

    def predict_proba(self, X: MatrixLike) -> FloatArray:
        """Return the probability of each label, of shape (n_objects, n_labels)."""
        decisions = self.decision_function(X)
        probabilities: FloatArray = expit(2 * decisions.reshape(len(decisions), -1))
        return probabilities


class NeighbourClassifier(ClassifierMixin, BaseEstimator):
    """The weighted share of the nearest examples that have a label.

    Unlike :class:`sklearn.neighbors.KNeighborsClassifier` with ``weights="distance"`` it takes
    sample weights, may have fewer examples than neighbours, and looks among at most ``max_rows``
    examples, evenly chosen.
    """

    def __init__(self, n_neighbors: int = 10, *, max_rows: int = MOST_ROWS) -> None:
        self.n_neighbors = n_neighbors
        self.max_rows = max_rows

    def fit(self, X: MatrixLike, y: LabelMatrix, sample_weight: FloatArray | None = None) -> Self:
        """Keep the examples that count."""
        X = validate_data(self, X)
        weights = (
            np.ones(len(X))
            if sample_weight is None
            else np.asarray(sample_weight, dtype=np.float64)
        )
        rows = np.flatnonzero(weights)
        if len(rows) > self.max_rows:
            rows = rows[np.linspace(0, len(rows) - 1, self.max_rows).astype(np.intp)]
        self.labels_: FloatArray = np.asarray(y, dtype=np.float64).reshape(len(X), -1)[rows]
        self.weights_: FloatArray = weights[rows]
        self.classes_ = np.arange(2)
        self._nearest = NearestNeighbors(n_neighbors=min(self.n_neighbors, len(rows))).fit(X[rows])
        return self

    def predict_proba(self, X: MatrixLike) -> FloatArray:
        """Return each label's share among the neighbours, (n, q), weighted by 1 / distance."""
        distances, nearest = self._nearest.kneighbors(validate_data(self, X, reset=False))
        same = distances == 0
        with np.errstate(divide="ignore"):
            closeness = np.where(same.any(axis=1, keepdims=True), same, 1 / distances)
        weights = closeness * self.weights_[nearest]
        shares = np.einsum("ik,ikj->ij", weights, self.labels_[nearest]) / weights.sum(
            axis=1, keepdims=True
        )
        # a label that all have may be beyond, by rounding alone
        within: FloatArray = np.clip(shares, 0.0, 1.0)
        return within

    def predict(self, X: MatrixLike) -> LabelMatrix:
        """Return the labels that more than half of the weight has."""
        return (self.predict_proba(X) > 0.5).astype(np.int8)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

"""What the multi-label classifiers of this room share: tags, checks at the door, learned attributes."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from labelsure._core.types import FloatArray, LabelMatrix, LabelMatrixLike, MatrixLike
from labelsure._core.validation import check_label_matrix, check_same_length


class MultiLabelClassifier(ClassifierMixin, BaseEstimator):
    """Base of the classifiers that learn a label matrix: tags and checks, no learning.

    A subclass calls ``X, Y = self._check_fit(X, Y)`` first in ``fit`` and ``X = self._check_predict(X)`` first in
    whatever it predicts with. ``fit`` then finds these set:

    Attributes
    ----------
    n_labels_ : int
        The number of labels, q.
    classes_ : list of q arrays
        The values each label takes, ``[0, 1]`` for every label (what scikit-learn's scorers read to see that the
        task is multi-label).
    n_features_in_ : int
        The number of features.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the features, where X was a DataFrame with string column names.
    """

    _accepts_sparse = True

    def _check_fit(self, X: MatrixLike, Y: LabelMatrixLike) -> tuple[Any, LabelMatrix]:
        """Return X as float64 (dense, or canonical CSR where sparse arrived and is accepted), Y as zeros and ones."""
        X = self._check_objects(X, reset=True)
        if Y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
                " Pass a label matrix of shape (n_objects, n_labels), zeros and ones, as the second argument of fit."
            )
        Y = check_label_matrix(Y)
        check_same_length(X, Y)
        self.n_labels_: int = Y.shape[1]
        self.classes_ = [np.array([0, 1]) for _ in range(self.n_labels_)]
        return X, Y

    def _check_predict(self, X: MatrixLike) -> Any:
        """Return X as ``_check_fit`` does; raise unless this estimator is fitted and X has the features it learned."""
        check_is_fitted(self)
        return self._check_objects(X, reset=False)

    def _check_objects(self, X: MatrixLike, *, reset: bool) -> Any:
        accepted = "csr" if self._accepts_sparse else False
        X = validate_data(self, X, dtype=np.float64, accept_sparse=accepted, reset=reset)
        if not isinstance(X, np.ndarray) and not X.has_canonical_format:
            X = X.copy()  # the user's matrix stays as it is
            X.sum_duplicates()  # scikit-learn's sums of squares are wrong for cells stored in parts
        return X

    def __sklearn_tags__(self) -> Any:
        tags = mark_multi_label(super().__sklearn_tags__())
        tags.input_tags.sparse = self._accepts_sparse
        return tags


def mark_multi_label(tags: Any) -> Any:
    """Return scikit-learn tags that say: Y is always a matrix, one 0/1 column per label; a 1-D y is refused."""
    tags.target_tags.one_d_labels = False
    tags.target_tags.two_d_labels = True
    tags.target_tags.single_output = False
    tags.target_tags.multi_output = True
    tags.classifier_tags.multi_class = False
    tags.classifier_tags.multi_label = True
    return tags


def as_dense(X: Any) -> FloatArray:
    """Return a checked X as a C-contiguous dense array.

    Examples
    --------
    >>> from scipy import sparse
    >>> as_dense(sparse.csr_array([[0.0, 2.0]])).tolist()
    [[0.0, 2.0]]
    """
    return np.ascontiguousarray(X if isinstance(X, np.ndarray) else X.toarray(), dtype=np.float64)

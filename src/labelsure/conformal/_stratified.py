"""Folds with like shares of every label."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from labelsure._checks import (
    IntArray,
    LabelMatrixLike,
    MatrixLike,
    check_count,
    check_flag,
    check_label_matrix,
    check_same_length,
)


class MultiLabelStratifiedKFold:
    """Folds in which every label is about as frequent as in the whole: iterative stratification.

    Labels are dealt out one after the other, the one with the fewest examples left first, for rare
    labels leave the least choice [1]_. Each example with the label goes to the fold that lacks this
    label most, of several to the smallest, of several to one drawn at random. Examples without
    labels fill what is left.

    In the published algorithm a fold that lacks a label gets its example however large it is
    already, and sizes drift apart. Here a fold is closed when it is full: n // K examples, and one
    more as long as fewer than n % K folds have it. So every size differs from n / K by less than
    one. The rarest labels are dealt out while all folds are open, so it is the frequent ones, which
    can afford it, that pay.

    Parameters
    ----------
    n_splits : int, default=5
        The number of folds, K.
    shuffle : bool, default=True
        Whether examples and labels are dealt out in random order, ties by lot; else in the order
        given, ties to the first fold.
    random_state : int, RandomState or None, default=None
        For shuffling.

    Notes
    -----
    What is proven about conformal predictors takes folds that were not chosen by their labels: as
    ``cv`` of a predictor or controller, nothing is proven with these. Each fold has its fixed share
    of positives, so a new object is not exchangeable with a fold's examples; with 30 examples in
    ten folds ``guarantee="exact"`` can miss 55 % at significance 0.5. Where the proof matters, pass
    ``cv`` as a whole number to the conformal predictor, and stratify what is inside:
    ``PooledClassifier(members, cv=MultiLabelStratifiedKFold(5))``.

    A label with fewer positives than folds is absent from some of them.

    References
    ----------
    .. [1] K. Sechidis, G. Tsoumakas, I. Vlahavas (2011). On the stratification of multi-label data.
       ECML PKDD, 145-158.

    Examples
    --------
    >>> import numpy as np
    >>> from labelsure import MultiLabelStratifiedKFold
    >>> Y = np.zeros((100, 2), dtype=int)
    >>> Y[:60, 0], Y[57:62, 1] = 1, 1
    >>> folds = MultiLabelStratifiedKFold(5, random_state=0)
    >>> [Y[test].sum(axis=0).tolist() for train, test in folds.split(Y, Y)]
    [[12, 1], [12, 1], [12, 1], [12, 1], [12, 1]]
    """

    def __init__(
        self, n_splits: int = 5, *, shuffle: bool = True, random_state: Any = None
    ) -> None:
        self.n_splits = check_count(n_splits, name="n_splits", at_least=2)
        self.shuffle = shuffle
        self.random_state = random_state

    def split(
        self, X: MatrixLike, y: LabelMatrixLike, groups: Any = None
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield the rows that train and those that test, for each fold.

        Parameters
        ----------
        X : array-like of n rows or None
            Not looked at.
        y : array-like, sparse matrix or DataFrame of shape (n, n_labels)
            Zeros and ones.
        groups : None
            Here because scikit-learn's splitters have it; must be None.
        """
        if groups is not None:
            raise ValueError(
                "MultiLabelStratifiedKFold cannot keep groups together. Use sklearn's GroupKFold."
            )
        labels = _labels_by_row(y)
        n_rows = labels.shape[0]
        if X is not None:
            check_same_length(X, labels, names=("X", "y"))
        if n_rows < self.n_splits:
            raise ValueError(
                f"n_splits={self.n_splits} folds need at least {self.n_splits} examples, got"
                f" n_samples={n_rows}."
            )
        folds = self._assign(labels)
        rows = np.arange(n_rows)
        return ((rows[folds != fold], rows[folds == fold]) for fold in range(self.n_splits))

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002
        """Return the number of folds; the arguments are there because scikit-learn passes them."""
        return self.n_splits

    def _assign(self, labels: Any) -> IntArray:
        """Return the fold of each row."""
        from labelsure.conformal._stratified_kernels import assign_folds

        n_rows, n_labels = labels.shape
        order, draws = np.arange(n_rows), np.zeros(n_rows, dtype=np.int64)
        if check_flag(self.shuffle, name="shuffle"):
            random = check_random_state(self.random_state)
            order, draws = (
                random.permutation(n_rows),
                random.randint(2**31 - 1, size=n_rows).astype(np.int64),
            )
            labels = labels[order][:, random.permutation(n_labels)]
        by_label = labels.tocsc()
        arrays = (labels.indptr, labels.indices, by_label.indptr, by_label.indices)
        folds = np.empty(n_rows, dtype=np.int64)
        folds[order] = assign_folds(
            *(array.astype(np.int64) for array in arrays), draws, self.n_splits
        )
        return folds

    def __repr__(self) -> str:
        return (
            f"MultiLabelStratifiedKFold(n_splits={self.n_splits}, shuffle={self.shuffle},"
            f" random_state={self.random_state})"
        )


def _labels_by_row(y: LabelMatrixLike) -> Any:
    """Return the label matrix as a CSR array of ones; a sparse one never becomes dense."""
    if not sparse.issparse(y) or y.ndim != 2 or y.shape[1] == 0:  # the last two are refused there
        return sparse.csr_array(check_label_matrix(y, name="y"))
    labels = sparse.csr_array(y, copy=True)
    labels.sum_duplicates()
    labels.eliminate_zeros()
    if labels.nnz:
        check_label_matrix(labels.data.reshape(-1, 1), name="The entries of y")
    return labels

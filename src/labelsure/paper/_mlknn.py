"""ML-kNN: the labels of the nearest neighbours, counted and read with Bayes' rule."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils import gen_batches
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from labelsure._checks import (
    BoolArray,
    FloatArray,
    IntArray,
    LabelMatrixLike,
    MatrixLike,
    check_count,
    check_number,
)
from labelsure.learners._base import MultiLabelClassifier

MAX_BATCH_VALUES = 2**23
"""Numbers held at once in a table of distances or of coordinate differences: 64 MiB."""


@dataclass(eq=False, repr=False)
class MLkNNClassifier(MultiLabelClassifier):
    r"""Multi-label k-nearest neighbours (ML-kNN).

    Let :math:`C_j(x)` be how many of the :math:`k` nearest training examples of :math:`x` have
    label :math:`j`. With :math:`H_1` for "x has the label" and :math:`H_0` for "x has it not",
    label :math:`j` is predicted iff

    .. math::

        P(H_1)\, P(C_j(x) \mid H_1) > P(H_0)\, P(C_j(x) \mid H_0),

    where the probabilities are frequencies in the training set, smoothed with :math:`s`:

    .. math::

        P(H_1) = \frac{s + n_j}{2s + n}, \qquad P(C_j = r \mid H_b) = \frac{s + \#\{i : y_{ij} =
        b,\, C_j(x_i) = r\}}{s (k + 1) + \#\{i : y_{ij} = b\}} .

    A training example is never its own neighbour. Neighbours are found by Euclidean distance,
    equally distant ones in the order of the training set. Scale the features first, for instance
    with :class:`sklearn.preprocessing.MinMaxScaler` in a pipeline.

    Parameters
    ----------
    n_neighbors : int, default=10
        :math:`k`, the number of neighbours. Where the training set has no :math:`k` other examples,
        all the others are used: see ``n_neighbors_``.
    smoothing : float > 0, default=1.0
        :math:`s`, the count added to every case; 1 is Laplace's rule.

    Attributes
    ----------
    n_neighbors_ : int
        The number of neighbours used, ``min(n_neighbors, n_objects - 1)``. With a single training
        example it is 0, and the smoothed prior answers alone.
    priors_ : array of shape (2, n_labels)
        :math:`P(H_0)` and :math:`P(H_1)` for each label.
    likelihoods_ : array of shape (2, n_labels, ``n_neighbors_`` + 1)
        :math:`P(C_j = r \mid H_b)`.
    X_, Y_ : arrays of shape (n_objects, n_features) and (n_objects, n_labels)
        The training set, among which neighbours are looked for.
    n_labels_ : int
        The number of labels.
    classes_ : list of n_labels arrays
        ``[0, 1]`` for every label.
    n_features_in_ : int
        The number of features.

    References
    ----------
    M.-L. Zhang, Z.-H. Zhou (2007). ML-KNN: A lazy learning approach to multi-label learning.
    *Pattern Recognition* 40, 2038-2048.

    Examples
    --------
    >>> import numpy as np
    >>> from labelsure.paper import MLkNNClassifier
    >>> X = np.array([[0.0], [0.1], [0.2], [0.8], [0.9], [1.0]])
    >>> Y = np.array([[0, 1], [0, 1], [0, 1], [1, 1], [1, 0], [1, 1]])
    >>> model = MLkNNClassifier(n_neighbors=2).fit(X, Y)
    >>> model.predict([[0.05], [0.95]]).tolist()
    [[0, 1], [1, 1]]
    >>> model.predict_proba([[0.05], [0.95]]).round(3).tolist()
    [[0.2, 0.75], [0.8, 0.818]]
    """

    n_neighbors: int = 10
    _: KW_ONLY
    smoothing: float = 1.0

    def fit(self, X: MatrixLike, Y: LabelMatrixLike) -> Self:
        """Count the labels among the neighbours of every training example.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_objects, n_features)
            The training objects.
        Y : array-like, sparse matrix or DataFrame of shape (n_objects, n_labels)
            Their labels, zeros and ones.

        Returns
        -------
        MLkNNClassifier
            This estimator, fitted.
        """
        X, Y = self._check_fit(X, Y)
        n_neighbors = check_count(self.n_neighbors, name="n_neighbors")
        smoothing = check_number(self.smoothing, name="smoothing", above=0)
        self.X_, self.Y_ = X, Y
        self.n_neighbors_: int = min(n_neighbors, len(Y) - 1)
        neighbours = find_neighbours(X, X, self.n_neighbors_, exclude_self=True)
        # one cell for each label j, value b of the label and count r: how many examples have them
        # together
        shape = (2, self.n_labels_, self.n_neighbors_ + 1)
        cells = np.ravel_multi_index(
            (Y, np.arange(self.n_labels_), Y[neighbours].sum(axis=1)), shape
        )
        cases = np.bincount(cells.ravel(), minlength=np.prod(shape)).reshape(shape)
        totals = cases.sum(axis=2, keepdims=True)
        self.likelihoods_: FloatArray = (smoothing + cases) / (
            smoothing * (self.n_neighbors_ + 1) + totals
        )
        self.priors_: FloatArray = (smoothing + totals[:, :, 0]) / (2 * smoothing + len(Y))
        return self

    def predict_proba(self, X: MatrixLike) -> FloatArray:
        r"""Return the probability of each label, given how many neighbours have it.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_objects, n_features)
            The objects.

        Returns
        -------
        array of shape (n_objects, n_labels)
            :math:`P(H_1 \mid C_j(x))`.
        """
        off, on = self._joint_probabilities(X)
        probabilities: FloatArray = on / (off + on)
        return probabilities

    def predict(self, X: MatrixLike) -> IntArray:
        """Return the labels that are more probable on than off.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_objects, n_features)
            The objects.

        Returns
        -------
        array of shape (n_objects, n_labels)
            Zeros and ones.
        """
        off, on = self._joint_probabilities(X)
        return (on > off).astype(np.int64)

    def _joint_probabilities(self, X: MatrixLike) -> tuple[FloatArray, FloatArray]:
        """Return P(H_b) P(C_j(x) | H_b) for b = 0 and b = 1, each of shape (n, n_labels)."""
        X = self._check_objects(X)
        counts = self.Y_[find_neighbours(X, self.X_, self.n_neighbors_)].sum(axis=1)
        labels = np.arange(self.n_labels_)
        off, on = (
            self.priors_[value] * self.likelihoods_[value][labels, counts] for value in (0, 1)
        )
        return off, on


def find_neighbours(
    X: Any, references: Any, n_neighbours: int, *, exclude_self: bool = False
) -> IntArray:
    r"""Return the rows of ``references`` nearest to each row of ``X``, nearest first.

    A matrix product gives all distances fast but with rounding errors that tell duplicates apart at
    random. So it is used only to rule out what cannot be among the nearest, whatever the rounding;
    the squared distances of the few rows left are summed coordinate by coordinate, where duplicates
    agree to the last bit, and ties go to the lower row.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_objects, n_features)
        The objects. Sparse ones hold one entry per cell, in order (scipy's canonical format).
    references : array or CSR matrix of shape (n_references, n_features)
        Where to look for neighbours.
    n_neighbours : int
        How many, at most n_references (one fewer where an object may not be its own neighbour).
    exclude_self : bool, default=False
        Whether row i of ``X`` *is* row i of ``references`` and must not count as its own neighbour.

    Returns
    -------
    array of shape (n_objects, n_neighbours)
        Row numbers.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [1.0], [3.0]])
    >>> find_neighbours(X, X, 2, exclude_self=True).tolist()
    [[1, 2], [2, 0], [1, 0], [1, 2]]
    """
    neighbours = np.empty((X.shape[0], n_neighbours), dtype=np.int64)
    if n_neighbours == 0:
        return neighbours
    if sparse.issparse(references):
        X, references = sparse.csr_array(X), sparse.csr_array(references)
    elif sparse.issparse(X):
        X = X.toarray()
    norms = row_norms(references, squared=True)
    for batch in gen_batches(X.shape[0], max(1, MAX_BATCH_VALUES // references.shape[0])):
        own_norms = row_norms(X[batch], squared=True)[:, np.newaxis]
        # squares of huge values overflow; NaN rules nothing out
        with np.errstate(over="ignore", invalid="ignore"):
            distances = safe_sparse_dot(X[batch], references.T, dense_output=True)
            distances *= -2.0
            distances += own_norms
            distances += norms
            if exclude_self:
                own = np.arange(len(distances)), np.arange(X.shape[0])[batch]
                distances[own] = np.inf
            farthest = np.partition(distances, n_neighbours - 1, axis=1)[:, [n_neighbours - 1]]
            # a sum of d products is off by at most d eps times the sum of their sizes, fast or
            # slow; 8 leaves slack
            rounding = 8 * (X.shape[1] + 4) * np.finfo(np.float64).eps * (own_norms + norms.max())
            near = ~(distances > farthest + rounding)
        if exclude_self:
            near[own] = False
        neighbours[batch] = _nearest_of(near, X[batch], references, n_neighbours)
    return neighbours


def _nearest_of(near: BoolArray, X: Any, references: Any, n_neighbours: int) -> IntArray:
    """Return the nearest of the marked references for each row of X; equal rows tie exactly."""
    rows, columns = np.nonzero(near)
    distances = np.empty(len(rows))
    for batch in gen_batches(len(rows), max(1, MAX_BATCH_VALUES // X.shape[1])):
        differences = X[rows[batch]] - references[columns[batch]]
        with np.errstate(over="ignore"):
            squares = differences.power(2) if sparse.issparse(differences) else differences**2
            distances[batch] = np.asarray(squares.sum(axis=1)).ravel()
    by_distance = np.lexsort((columns, distances, rows))
    first = np.searchsorted(rows, np.arange(X.shape[0]))[:, np.newaxis]
    nearest: IntArray = columns[by_distance][first + np.arange(n_neighbours)]
    return nearest

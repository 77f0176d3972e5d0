"""ML-kNN: the labels of the nearest neighbours, counted and read with Bayes' rule."""

from typing import Self

import numpy as np

from labelsure._core.types import BoolArray, FloatArray, IntArray, LabelMatrix, LabelMatrixLike, MatrixLike
from labelsure._core.validation import check_count, check_number
from labelsure.estimators._base import MultiLabelClassifier
from labelsure.estimators._neighbours import find_neighbours


class MLkNNClassifier(MultiLabelClassifier):
    r"""Multi-label k-nearest neighbours (ML-kNN).

    Let :math:`C_j(x)` be how many of the :math:`k` nearest training examples of :math:`x` have label :math:`j`. With
    :math:`H_1` for "x has the label" and :math:`H_0` for "x has it not", label :math:`j` is predicted iff

    .. math::

        P(H_1)\, P(C_j(x) \mid H_1) > P(H_0)\, P(C_j(x) \mid H_0),

    where the probabilities are frequencies in the training set, smoothed with :math:`s`:

    .. math::

        P(H_1) = \frac{s + n_j}{2s + n}, \qquad
        P(C_j = r \mid H_b) = \frac{s + \#\{i : y_{ij} = b,\, C_j(x_i) = r\}}{s (k + 1) + \#\{i : y_{ij} = b\}} .

    A training example is never its own neighbour. Neighbours are found by Euclidean distance, equally distant ones in
    the order of the training set. Scale the features first, for instance with
    :class:`sklearn.preprocessing.MinMaxScaler` in a pipeline.

    Parameters
    ----------
    n_neighbors : int, default=10
        :math:`k`, the number of neighbours. Where the training set has no :math:`k` other examples, all the others
        are used: see ``n_neighbors_``.
    smoothing : float > 0, default=1.0
        :math:`s`, the count added to every case; 1 is Laplace's rule.

    Attributes
    ----------
    n_neighbors_ : int
        The number of neighbours used, ``min(n_neighbors, n_objects - 1)``. With a single training example it is 0,
        and the smoothed prior answers alone.
    priors_ : array of shape (2, n_labels)
        :math:`P(H_0)` and :math:`P(H_1)` for each label.
    likelihoods_ : array of shape (2, n_labels, n_neighbors_ + 1)
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
    M.-L. Zhang, Z.-H. Zhou (2007). ML-KNN: A lazy learning approach to multi-label learning. *Pattern Recognition* 40,
    2038-2048.

    Examples
    --------
    >>> import numpy as np
    >>> from labelsure.estimators import MLkNNClassifier
    >>> X = np.array([[0.0], [0.1], [0.2], [0.8], [0.9], [1.0]])
    >>> Y = np.array([[0, 1], [0, 1], [0, 1], [1, 1], [1, 0], [1, 1]])
    >>> model = MLkNNClassifier(n_neighbors=2).fit(X, Y)
    >>> model.predict([[0.05], [0.95]]).tolist()
    [[0, 1], [1, 1]]
    >>> model.predict_proba([[0.05], [0.95]]).round(3).tolist()
    [[0.2, 0.75], [0.8, 0.818]]
    """

    def __init__(self, n_neighbors: int = 10, *, smoothing: float = 1.0) -> None:
        self.n_neighbors = n_neighbors
        self.smoothing = smoothing

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
        counts = _label_counts(find_neighbours(X, X, self.n_neighbors_, exclude_self=True), Y)
        cases = np.stack([_count_cases(counts, members, self.n_neighbors_ + 1) for members in (Y == 0, Y == 1)])
        totals = cases.sum(axis=2, keepdims=True)
        self.likelihoods_: FloatArray = (smoothing + cases) / (smoothing * (self.n_neighbors_ + 1) + totals)
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
        """Return P(H_b) P(C_j(x) | H_b) for b = 0 and b = 1, each of shape (n_objects, n_labels)."""
        X = self._check_predict(X)
        counts = _label_counts(find_neighbours(X, self.X_, self.n_neighbors_), self.Y_)
        labels = np.arange(self.n_labels_)
        off, on = (self.priors_[value] * self.likelihoods_[value][labels, counts] for value in (0, 1))
        return off, on


def _label_counts(neighbours: IntArray, Y: LabelMatrix) -> IntArray:
    """Return how many of each object's neighbours have each label, of shape (n_objects, n_labels)."""
    counts = np.zeros((len(neighbours), Y.shape[1]), dtype=np.int64)
    for nth_neighbours in neighbours.T:
        counts += Y[nth_neighbours]
    return counts


def _count_cases(counts: IntArray, member: BoolArray, n_values: int) -> IntArray:
    """Return, for each label and value r, how many member objects have the count r: of shape (n_labels, n_values)."""
    n_labels = counts.shape[1]
    cells = np.arange(n_labels) * n_values + counts
    return np.bincount(cells[member], minlength=n_labels * n_values).reshape(n_labels, n_values)

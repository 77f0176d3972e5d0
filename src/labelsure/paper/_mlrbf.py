"""ML-RBF: radial basis functions on clusters of each label's examples, least squares."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils import gen_batches

from labelsure._checks import (
    FloatArray,
    IntArray,
    LabelMatrix,
    LabelMatrixLike,
    MatrixLike,
    check_count,
    check_number,
)
from labelsure._parallel import one_thread
from labelsure._random import draw_seeds
from labelsure.learners._base import MultiLabelClassifier, as_dense, count_share

MAX_BATCH_VALUES = 2**23
"""Values of X held dense at once: 64 MiB."""


@dataclass(eq=False, repr=False, kw_only=True)
class MLRBFClassifier(MultiLabelClassifier):
    r"""Multi-label radial basis function network (ML-RBF).

    For every label :math:`j` k-means groups its :math:`n_j` positive examples into :math:`\lceil
    \alpha n_j \rceil` clusters. The centres :math:`c_1, \dots, c_K` of all labels together make one
    hidden layer of Gaussian units with a common width, the mean distance between two centres times
    a factor :math:`\mu`:

    .. math::

        \phi_k(x) = \exp\Bigl(-\frac{\lVert x - c_k \rVert^2}{2 \sigma^2}\Bigr), \qquad
        \sigma = \mu \binom{K}{2}^{-1} \sum_{k < l} \lVert c_k - c_l \rVert .

    Output :math:`j` is :math:`f_j(x) = w_{0j} + \sum_k w_{kj} \phi_k(x)`, with the weights that fit
    the targets -1 (label off) and +1 (label on) best in the least squares sense, and label
    :math:`j` is predicted iff :math:`f_j(x) > 0`.

    Distances are taken as they come: scale the features first, for instance with
    :class:`sklearn.preprocessing.MinMaxScaler` in a pipeline.

    Parameters
    ----------
    centre_fraction : float in (0, 1], default=0.01
        :math:`\alpha`, clusters per positive example of a label (rounded up, so a label has at
        least one).
    scaling : float > 0, default=1.0
        :math:`\mu`, the factor on the width of the units.
    n_init : int, default=1
        How often k-means starts anew for each label; the tightest clustering is kept.
    random_state : int, RandomState instance or None, default=None
        Seeds k-means; pass an int for the same network every time.

    Attributes
    ----------
    centres_ : array of shape (n_centres, n_features)
        The centres of the units, label by label.
    sigma_ : float
        The width of the units.
    weights_ : array of shape (n_centres + 1, n_labels)
        The output weights; the last row is the bias.
    n_labels_ : int
        The number of labels.
    classes_ : list of n_labels arrays
        ``[0, 1]`` for every label.
    n_features_in_ : int
        The number of features.

    Notes
    -----
    A label without positive examples adds no centre, and one with fewer distinct examples than
    clusters gets one centre for each. Where the centres have no distance between them (there is
    only one, or they all coincide) the mean distance of the training examples from the centres
    takes its place, and 1 where that is zero too. Where no label has a positive example there are
    no units, and the bias alone answers: -1 for every label.

    ``fit`` keeps the numerical libraries to one thread: sums over threads depend on their number in
    the last digit, and the same seed should give the same network wherever it is fitted. The
    problem is small enough.

    References
    ----------
    M.-L. Zhang (2009). ML-RBF: RBF neural networks for multi-label learning. *Neural Processing
    Letters* 29, 61-74.

    Examples
    --------
    >>> import numpy as np
    >>> from labelsure.paper import MLRBFClassifier
    >>> X = np.array([[0.0, 0.0], [0.0, 0.1], [1.0, 0.0], [1.0, 0.1], [1.0, 1.0], [0.9, 1.0]])
    >>> Y = np.array([[0, 0], [0, 0], [1, 0], [1, 0], [1, 1], [1, 1]])
    >>> model = MLRBFClassifier(random_state=0).fit(X, Y)
    >>> model.centres_.round(3).tolist()
    [[0.975, 0.525], [0.95, 1.0]]
    >>> model.predict([[0.0, 0.05], [1.0, 0.9]]).tolist()
    [[0, 0], [1, 1]]
    """

    centre_fraction: float = 0.01
    scaling: float = 1.0
    n_init: int = 1
    random_state: Any = None

    def fit(self, X: MatrixLike, Y: LabelMatrixLike) -> Self:
        """Find the centres and their width, and solve for the output weights.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_objects, n_features)
            The training objects.
        Y : array-like, sparse matrix or DataFrame of shape (n_objects, n_labels)
            Their labels, zeros and ones.

        Returns
        -------
        MLRBFClassifier
            This estimator, fitted.
        """
        X, Y = self._check_fit(X, Y)
        scaling = check_number(self.scaling, name="scaling", above=0)
        with one_thread():
            self.centres_: FloatArray = self._find_centres(X, Y)
            self.sigma_: float = scaling * _typical_distance(X, self.centres_)
            self.weights_: FloatArray = np.linalg.lstsq(
                self._hidden_layer(X), 2.0 * Y - 1.0, rcond=None
            )[0]
        return self

    def decision_function(self, X: MatrixLike) -> FloatArray:
        """Return the raw outputs, about -1 where a label is off and about +1 where it is on.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_objects, n_features)
            The objects.

        Returns
        -------
        array of shape (n_objects, n_labels)
            The outputs :math:`f_j(x)`.
        """
        X = self._check_objects(X)
        # einsum, not BLAS: an object's outputs must not depend, in the last digits, on the objects
        # beside it
        outputs: FloatArray = np.einsum("ik,kj->ij", self._hidden_layer(X), self.weights_)
        return outputs

    def predict(self, X: MatrixLike) -> IntArray:
        """Return the labels whose output is above zero.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_objects, n_features)
            The objects.

        Returns
        -------
        array of shape (n_objects, n_labels)
            Zeros and ones.
        """
        return (self.decision_function(X) > 0).astype(np.int64)

    def _find_centres(self, X: Any, Y: LabelMatrix) -> FloatArray:
        """Cluster the positive examples of each label; pool the centres."""
        from sklearn.cluster import KMeans

        n_init = check_count(self.n_init, name="n_init")
        centres = [np.empty((0, X.shape[1]))]
        for labelled, seed in zip(Y.T, draw_seeds(self.random_state, Y.shape[1]), strict=True):
            positives = X[np.flatnonzero(labelled)]
            wanted = count_share(
                self.centre_fraction,
                positives.shape[0],
                name="centre_fraction",
                at_most=1,
                meaning="It is the number of k-means centres per positive example of a label, as"
                " a rule 0.01.",
            )
            n_clusters = _count_distinct_rows(positives, at_most=wanted)
            if n_clusters > 0:
                clusters = KMeans(n_clusters, n_init=n_init, random_state=seed).fit(positives)
                centres.append(clusters.cluster_centers_)
        return np.vstack(centres)

    def _hidden_layer(self, X: Any) -> FloatArray:
        """Return the activations of the Gaussian units and, in the last column, the bias unit."""
        layer = np.ones((X.shape[0], len(self.centres_) + 1))
        if len(self.centres_) > 0:
            distances = _distances(X, self.centres_)
            with np.errstate(over="ignore"):  # an infinite distance is an activation of 0
                np.exp(-0.5 * (distances / self.sigma_) ** 2, out=layer[:, :-1])
        return layer


def _distances(X: Any, centres: FloatArray) -> FloatArray:
    """Return the distances of the rows of X from the centres; sparse rows pass in batches."""
    from scipy.spatial.distance import cdist

    rows_at_once = max(1, MAX_BATCH_VALUES // X.shape[1])
    batches = [
        cdist(as_dense(X[batch]), centres) for batch in gen_batches(X.shape[0], rows_at_once)
    ]
    return np.vstack(batches)


def _typical_distance(X: Any, centres: FloatArray) -> float:
    """Return the mean distance between centres or, if zero, from examples to centres, or 1."""
    from scipy.spatial.distance import pdist

    if len(centres) == 0:
        return 1.0
    between = float(pdist(centres).mean()) if len(centres) > 1 else 0.0
    return between or float(_distances(X, centres).mean()) or 1.0


def _count_distinct_rows(X: Any, at_most: int) -> int:
    """Count the distinct rows of X up to ``at_most``."""
    seen: set[bytes] = set()
    for i in range(X.shape[0]):
        if len(seen) >= at_most:
            break
        seen.add((as_dense(X[[i]]) + 0.0).tobytes())  # adding 0.0 makes -0.0 and 0.0 the same bytes
    return len(seen)

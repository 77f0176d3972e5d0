"""BP-MLL: a neural network that learns to rank the labels, and where to cut the ranking."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.sparsefuncs import min_max_axis

from labelsure._checks import (
    FloatArray,
    IntArray,
    LabelMatrix,
    LabelMatrixLike,
    MatrixLike,
    check_count,
    check_flag,
    check_number,
)
from labelsure._parallel import one_thread, progress_bar
from labelsure.learners._base import MultiLabelClassifier, count_share

SMALLEST_RANGE = 1e-150
"""A feature that varies less counts as constant: weights to offset that would be infinite."""

MOST_WEIGHTS = 2**33
"""From features to hidden units: 64 GiB of them."""

CUT_MARGIN = 0.1
"""How far outside the outputs the lowest and the highest candidate for a cut lie."""


@dataclass(eq=False, repr=False, kw_only=True)
class BPMLLClassifier(MultiLabelClassifier):
    r"""Backpropagation for multi-label learning: one hidden layer that ranks labels on above off.

    With :math:`c_j` the output of label j, all units tanh, the network descends the gradient of

    .. math:: E = \sum_i \frac{1}{|Y_i||\bar Y_i|}
              \sum_{(k, l) \in Y_i \times \bar Y_i} e^{-(c_k - c_l)}
              + \lambda \lVert w \rVert^2

    one example at a time: ``w += learning_rate * gradient_i - (2 * weight_decay / n) * w``, biases
    included, from Nguyen and Widrow's initial weights. A linear function of the outputs then learns
    the cut: for each training example the lowest of the q + 1 cuts (lowest output - 0.1, midpoints
    of neighbours, highest + 0.1) that misclassify the fewest labels, regressed on the outputs by
    least squares. A label is on iff its output is at least the predicted cut.

    Scale the features first, for instance with :class:`sklearn.preprocessing.MinMaxScaler`. Sparse
    X is not made dense, and is faster by as much as it is empty.

    Parameters
    ----------
    hidden_fraction : float, default=0.2
        Hidden units as a fraction of the number of features, rounded up.
    learning_rate : float, default=0.05
        The step along an example's gradient.
    n_epochs : int, default=100
        How often each example is shown.
    weight_decay : float, default=0.1
        The factor :math:`\lambda` of the squared weights.
    shuffle : bool, default=True
        Show the examples in a new random order in every epoch. ``False`` keeps the order of X: in a
        file sorted by class the network then remembers the last class best (the published figures
        of this method for the data set scene are of that kind).
    random_state : int, RandomState or None, default=None
        Draws the initial weights and the orders.

    Attributes
    ----------
    hidden_weights_ : array of shape (n_features, n_hidden)
        Weights from features to hidden units; ``hidden_bias_`` of shape (n_hidden,) are their
        biases.
    output_weights_ : array of shape (n_hidden, q)
        Weights from hidden units to outputs; ``output_bias_`` of shape (q,) are their biases.
    cut_coef_ : array of shape (q,)
        Weights of the outputs in the predicted cut; ``cut_intercept_`` is its constant.
    n_labels_, classes_, n_features_in_, feature_names_in_
        As for every classifier of this package.

    Notes
    -----
    Examples with no label or with all labels have nothing to rank: only the cut learns from them.
    Where there are no others (as always with a single label) nothing but the decay is left, whose
    limit is zero for all weights; so all outputs are zero and the cut tells which is more frequent,
    no label or all. Use another classifier then.

    References
    ----------
    M.-L. Zhang and Z.-H. Zhou, "Multilabel neural networks with applications to functional genomics
    and text categorization", IEEE Transactions on Knowledge and Data Engineering 18(10), 2006,
    1338-1351.

    D. Nguyen and B. Widrow, "Improving the learning speed of 2-layer neural networks by choosing
    initial values of the adaptive weights", IJCNN 1990, vol. 3, 21-26.

    Examples
    --------
    >>> import numpy as np
    >>> from labelsure.paper import BPMLLClassifier
    >>> X = np.array([[0.0, 1.0], [0.1, 0.9], [0.2, 1.0], [0.9, 0.0], [1.0, 0.2], [0.8, 0.1]])
    >>> Y = np.array([[1, 0, 0], [1, 0, 0], [1, 0, 0], [0, 1, 1], [0, 1, 1], [0, 1, 1]])
    >>> model = BPMLLClassifier(random_state=0).fit(X, Y)
    >>> model.predict([[0.1, 1.0], [0.9, 0.1]])
    array([[1, 0, 0],
           [0, 1, 1]])
    """

    hidden_fraction: float = 0.2
    learning_rate: float = 0.05
    n_epochs: int = 100
    weight_decay: float = 0.1
    shuffle: bool = True
    random_state: Any = None

    def fit(self, X: MatrixLike, Y: LabelMatrixLike) -> Self:
        """Train the network, then learn where to cut its outputs.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_objects, n_features)
            The training objects.
        Y : array-like, sparse matrix or DataFrame of shape (n_objects, n_labels)
            Their labels, zeros and ones.

        Returns
        -------
        BPMLLClassifier
            This estimator, fitted.
        """
        X, Y = self._check_fit(X, Y)
        rng = check_random_state(self.random_state)
        rows = _without_zeros(X)
        n, why = rows.shape[1], "The weights from features to hidden units must fit into 64 GiB."
        share, most = self.hidden_fraction, MOST_WEIGHTS / n**2
        n_hidden = count_share(share, n, name="hidden_fraction", at_most=most, meaning=why)
        low, high = min_max_axis(rows, axis=0)
        self.hidden_weights_, self.hidden_bias_ = draw_nguyen_widrow(low, high, n_hidden, rng)
        ones = np.ones(n_hidden)
        self.output_weights_, self.output_bias_ = draw_nguyen_widrow(
            -ones, ones, self.n_labels_, rng
        )
        self._train(rows, Y, rng)
        self.cut_coef_, self.cut_intercept_ = _learn_cut(self._outputs(rows), Y)
        return self

    def decision_function(self, X: MatrixLike) -> FloatArray:
        """Return the network's outputs minus the predicted cut: a label is on if at least zero.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_objects, n_features)
            The objects.

        Returns
        -------
        array of shape (n_objects, n_labels)
            How far each output lies above the cut.
        """
        outputs = self._outputs(_without_zeros(self._check_objects(X)))
        # not a matrix product: an object's cut must not depend, in the last digits, on the objects
        # beside it
        cuts = (outputs * self.cut_coef_).sum(axis=1) + self.cut_intercept_
        return np.asarray(outputs - cuts[:, np.newaxis])

    def predict(self, X: MatrixLike) -> IntArray:
        """Return the labels whose output is at least the predicted cut.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_objects, n_features)
            The objects.

        Returns
        -------
        array of shape (n_objects, n_labels)
            Zeros and ones.
        """
        return (self.decision_function(X) >= 0).astype(np.int64)

    def _train(self, rows: Any, Y: LabelMatrix, rng: np.random.RandomState) -> None:
        """Train the weights on every example that has a pair to rank, epoch after epoch."""
        from labelsure.paper._kernels import train_epoch

        rate = check_number(self.learning_rate, name="learning_rate", above=0)
        decay = check_number(self.weight_decay, name="weight_decay", at_least=0)
        n_epochs = check_count(self.n_epochs, name="n_epochs")
        shuffle = check_flag(self.shuffle, name="shuffle")
        network = self._network()
        order = np.flatnonzero(np.ptp(Y, axis=1) > 0)
        if order.size == 0:
            for array in network:
                array[...] = 0.0
            return
        arrays = _arrays(rows)
        for _ in progress_bar(range(n_epochs), description="BP-MLL epochs"):
            if shuffle:
                rng.shuffle(order)
            train_epoch(arrays, Y, order, network, rate, 2 * decay / order.size)

    def _network(self) -> Any:
        from labelsure.paper._kernels import Network

        return Network(
            self.hidden_weights_, self.hidden_bias_, self.output_weights_, self.output_bias_
        )

    def _outputs(self, rows: Any) -> FloatArray:
        from labelsure.paper._kernels import network_outputs

        outputs: FloatArray = network_outputs(_arrays(rows), self._network())
        return outputs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # scikit-learn's checks train on a single label, which has nothing to rank
        tags.classifier_tags.poor_score = True
        return tags


def draw_nguyen_widrow(
    low: FloatArray, high: FloatArray, n_units: int, rng: np.random.RandomState
) -> tuple[FloatArray, FloatArray]:
    """Draw Nguyen and Widrow's initial weights (n_inputs, n_units) and biases (n_units,).

    For inputs rescaled to [-1, 1], each unit's weights point in a random direction and are 1.4 *
    n_units^(1/n_inputs) long (0.7, times 2 as tanh is steep within [-2, 2]); the biases spread the
    units evenly over the inputs' range. An input that is constant is only centred.

    Examples
    --------
    >>> weights, bias = draw_nguyen_widrow(np.zeros(3), np.ones(3), 2, np.random.RandomState(0))
    >>> np.linalg.norm(weights / 2, axis=0).round(4)  # half the range: twice the weights
    array([1.7639, 1.7639])
    """
    length = 1.4 * n_units ** (1 / low.size)
    directions = rng.uniform(-1, 1, size=(low.size, n_units))
    weights = length * directions / np.linalg.norm(directions, axis=0)
    spread = np.linspace(-1, 1, n_units) if n_units > 1 else np.zeros(1)
    bias = length * spread * np.sign(weights[0])
    half_range = np.where(high - low > SMALLEST_RANGE, (high - low) / 2, 1.0)
    weights = weights / half_range[:, np.newaxis]
    # not a matrix product, whose last digits would depend on the number of threads
    shift = (((low + high) / 2)[:, np.newaxis] * weights).sum(axis=0)
    return np.ascontiguousarray(weights), bias - shift


def _learn_cut(outputs: FloatArray, Y: LabelMatrix) -> tuple[FloatArray, float]:
    """Regress each example's best cut on its outputs; return the q weights and the constant."""
    from labelsure.paper._kernels import best_cuts

    inputs = np.column_stack([outputs, np.ones(len(outputs))])
    # one thread: the last digits would depend on their number
    with one_thread():
        solution = np.linalg.lstsq(inputs, best_cuts(outputs, Y, CUT_MARGIN), rcond=None)[0]
    return np.asarray(solution[:-1], dtype=np.float64), float(solution[-1])


def _without_zeros(X: Any) -> Any:
    """Return the rows as a CSR array; a stored zero would change the last digits of its weights."""
    rows = sparse.csr_array(X)
    if not rows.data.all():
        rows = rows.copy()  # the user's matrix stays as it is
        rows.eliminate_zeros()
    return rows


def _arrays(rows: Any) -> Any:
    """Return the arrays of a CSR array in the types that the kernels are compiled for."""
    from labelsure.paper._kernels import SparseRows

    return SparseRows(rows.data, rows.indices.astype(np.int64), rows.indptr.astype(np.int64))

"""A joint model of the labels: the labelsets that share the leaves of a forest with the object."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from labelsure._core.fixed_point import Costs, OwnScores, to_fixed_point
from labelsure._core.randomness import draw_seeds
from labelsure._core.types import FloatArray, IntArray, LabelMatrix, MatrixLike
from labelsure._core.validation import check_count, check_number, check_same_length, n_rows
from labelsure.measures._base import Measure, Need
from labelsure.measures._likelihoods import LogLossMeasure

MAX_TARGETS = 32
"""A node of a tree stores a number per target: with more labels, trees learn this many random mixtures of them."""

SHARE_EXPONENT = 40
"""Shares of a leaf are whole numbers of 2^-40: sums over up to 2^22 trees are exact, so equal shares are equal."""

BLOCK_OBJECTS = 128
"""Objects whose labelsets are looked up at a time, to bound memory."""


@dataclass(kw_only=True, eq=False, repr=False)
class ForestMeasure(Measure):
    """Negative log of the probability of a labelset under a forest, mixed with the learner's own.

    For the object x, the labelset psi with indicator t and outputs o, read as the probabilities that labels are on::

        -log((1 - mix) P(psi | x) + mix * prod_j (o_j if t_j = 1 else 1 - o_j)),    o_j clipped to [floor, 1 - floor]

        P(psi | x) = mean over the trees of the share of psi among the training examples in x's leaf

    The trees are extremely randomised ones [1]_ that learn all labels together [2]_. Training labelsets stay whole in
    the leaves, so P knows which labels go together for objects like x. The learner, which takes labels as independent,
    keeps labelsets possible that the forest has never seen. Where labels depend on each other it gives too many of
    those too much: a penalty on top, ``ForestMeasure() + UnseenPenalty(6.0)``, helps at high confidence.

    Parameters
    ----------
    n_estimators : int, default=200
        The number of trees.
    min_samples_leaf : int, default=5
        The least number of training examples in a leaf: few where features say much about labels, more where they do
        not.
    max_features : {"sqrt", "log2"}, int or float, default="sqrt"
        The features that a split is chosen from, as in scikit-learn's forests. A share such as 0.3 is slower, and on
        some data better.
    mix : float, default=0.5
        The share of the learner's own probability, strictly between 0 and 1.
    max_listed : int, default=200
        At most this many labelsets per object have a share in P, those of highest P (ties by lowest row of
        ``labelsets_``); for others P counts as 0.
    floor : float, default=1e-6
        The least probability that the learner may give to either value of a label, as in
        :class:`~labelsure.measures.LogLossMeasure`.
    random_state : int, RandomState or None, default=None
        For the forest. Where it is None, conformal classifiers seed it from their own.

    Attributes
    ----------
    forest_ : ExtraTreesRegressor
        The forest. Squared error on zeros and ones splits as Gini's index does. With more than 32 labels it learns 32
        random mixtures of them [3]_; labelsets in leaves are whole all the same.
    labelsets_ : int8 array of shape (S, q)
        The labelsets seen in training, each once.

    Notes
    -----
    The forest is grown on the fold's training part, from the X that the classifier inside gets, and must be able to
    read it: numbers in an array, a sparse matrix or a DataFrame; NaN is allowed unless X is sparse. Objects that a
    Pipeline inside the conformal classifier turns into numbers, such as texts, are refused: turn them into numbers
    first.

    To a search, labelsets with a share in P are overrides from log loss plus a constant, looked at one by one. They
    take ``max_listed * (q + 8)`` bytes per object and fold.

    The defaults were chosen by cross-validation inside the training parts of scene, which likes leaves of 1 example,
    and yeast, which likes leaves of 10.

    References
    ----------
    .. [1] Geurts, P., Ernst, D., Wehenkel, L. (2006). Extremely randomized trees. Machine Learning 63, 3-42.
    .. [2] Kocev, D., Vens, C., Struyf, J., Dzeroski, S. (2007). Ensembles of multi-objective decision trees. ECML
       2007, LNCS 4701, 624-631.
    .. [3] Joly, A., Geurts, P., Wehenkel, L. (2014). Random forests with random projections of the output space for
       high dimensional multi-label classification. ECML PKDD 2014, LNCS 8724, 607-622.

    Examples
    --------
    >>> import numpy as np
    >>> from labelsure.measures import ForestMeasure
    >>> X, Y = [[0], [0], [0], [1], [1], [1]], [[1, 0], [1, 0], [1, 1], [0, 1], [0, 1], [0, 1]]
    >>> measure = ForestMeasure(mix=0.2, min_samples_leaf=3, random_state=0).fit(Y, X=X)
    >>> scores = measure.scores([[0.5, 0.5]] * 3, [[1, 0], [1, 1], [0, 1]], X=[[0]] * 3)
    >>> np.exp(-scores).round(4)  # 0.8 * 2/3 + 0.2 / 4, 0.8 * 1/3 + 0.2 / 4, 0.2 / 4
    array([0.5833, 0.3167, 0.05  ])
    """

    n_estimators: int = 200
    min_samples_leaf: int = 5
    max_features: Any = "sqrt"
    mix: float = 0.5
    max_listed: int = 200
    floor: float = 1e-6
    random_state: Any = None

    needs = Need.TRAINING_LABELS | Need.FEATURES

    def check_parameters(self, n_labels: int | None = None) -> None:
        """Raise ValueError where counts, the mixture or the floor are out of range."""
        check_count(self.n_estimators, name="n_estimators")
        check_count(self.min_samples_leaf, name="min_samples_leaf")
        check_count(self.max_listed, name="max_listed")
        if check_number(self.mix, name="mix", above=0) >= 1:
            raise ValueError(
                f"mix must lie strictly between 0 and 1, got {self.mix!r}."
                " For the learner's probabilities alone choose LogLossMeasure()."
            )
        LogLossMeasure(floor=self.floor).check_parameters()

    def _learn(self, labels: LabelMatrix, outputs: FloatArray | None, X: MatrixLike) -> float:
        features = _read_features(X)
        check_same_length(features, labels)
        self.product_ = LogLossMeasure(floor=self.floor).fit(labels)
        self._grow(features, labels)
        return self.product_.bound_ - math.log(self.mix)

    def _grow(self, X: MatrixLike, labels: LabelMatrix) -> None:
        """Fit the forest and write down the shares of training labelsets in its leaves."""
        from sklearn.ensemble import ExtraTreesRegressor

        forest_seed, target_seed = draw_seeds(self.random_state, 2)
        self.forest_ = ExtraTreesRegressor(
            self.n_estimators,
            min_samples_leaf=self.min_samples_leaf,
            max_features=self.max_features,
            random_state=forest_seed,
        ).fit(X, _mix_targets(labels, target_seed))
        n_nodes = [tree.tree_.node_count for tree in self.forest_.estimators_]
        self._first_node: IntArray = np.cumsum([0, *n_nodes])
        self.labelsets_: LabelMatrix
        self.labelsets_, numbers = np.unique(labels, axis=0, return_inverse=True)
        ones = np.ones(len(labels), dtype=np.int64)
        of_examples = sparse.csr_array((ones, numbers.ravel(), np.arange(len(labels) + 1)))
        counts = sparse.csr_array(self._leaves(X).T @ of_examples)
        sizes = np.repeat(counts.sum(axis=1), np.diff(counts.indptr))
        shares = to_fixed_point(counts.data / sizes, SHARE_EXPONENT)
        self._shares = sparse.csr_array((shares, counts.indices, counts.indptr), shape=counts.shape)

    def _leaves(self, X: MatrixLike) -> Any:
        """Return a sparse matrix of shape (n, nodes of all trees) with ones at the leaves that the objects are in."""
        n_trees = len(self._first_node) - 1
        leaves = np.empty((0, n_trees), dtype=np.int64)
        if n_rows(X):
            leaves = self.forest_.apply(X) + self._first_node[:-1]
        begin = np.arange(len(leaves) + 1) * n_trees
        ones = np.ones(leaves.size, dtype=np.int64)
        return sparse.csr_array((ones, leaves.ravel(), begin), shape=(len(leaves), int(self._first_node[-1])))

    def _costs(self, outputs: FloatArray, X: MatrixLike) -> Costs:
        features = _read_features(X)
        check_same_length(features, outputs, names=("X", "outputs"))
        leaves = self._leaves(features)
        blocks = range(0, max(len(outputs), 1), BLOCK_OBJECTS)  # at least one, where there are no objects too
        listed = [self._list_labelsets(leaves[start : start + BLOCK_OBJECTS]) for start in blocks]
        sizes, numbers, probabilities = map(np.concatenate, zip(*listed, strict=True))

        def joint(general: FloatArray) -> FloatArray:
            """Return the scores with the forest's share in the probability; none is larger for it."""
            return np.minimum(-np.logaddexp(np.log((1 - self.mix) * probabilities), -general), general)

        product = self.product_._costs(outputs, None)
        own = OwnScores(self.labelsets_[numbers], joint, sizes)
        return Costs(off=product.off, on=product.on, constant=-math.log(self.mix), overrides=own)

    def _list_labelsets(self, leaves: Any) -> tuple[IntArray, IntArray, FloatArray]:
        """Return the ``max_listed`` most probable labelsets of the objects in these leaves, the most probable first.

        Returns
        -------
        sizes : int64 array of shape (n,)
            How many each object has.
        numbers : int64 array of shape (E,)
            Which labelsets, rows of ``labelsets_``: those of the first object, then those of the next.
        probabilities : array of shape (E,)
            Above 0.
        """
        sums = leaves @ self._shares
        found = np.diff(sums.indptr)
        owners = np.repeat(np.arange(len(found)), found)
        order = np.lexsort((sums.indices, -sums.data, owners))
        rank = np.arange(len(order)) - sums.indptr[owners]
        kept = order[rank < self.max_listed]
        n_trees = len(self._first_node) - 1
        probabilities = np.ldexp(sums.data[kept].astype(np.float64), -SHARE_EXPONENT) / n_trees
        return np.minimum(found, self.max_listed), sums.indices[kept], probabilities


def _mix_targets(labels: LabelMatrix, seed: int) -> LabelMatrix | FloatArray:
    """Return what the trees learn: the labels, or random mixtures of them where there are many."""
    from sklearn.random_projection import GaussianRandomProjection

    if labels.shape[1] > MAX_TARGETS:
        mixed: FloatArray = GaussianRandomProjection(MAX_TARGETS, random_state=seed).fit_transform(labels)
        return mixed
    return labels[:, 0] if labels.shape[1] == 1 else labels


def _read_features(X: MatrixLike) -> Any:
    """Return the objects as numbers that trees can read, or say why they cannot."""
    if X is None:
        raise ValueError("ForestMeasure looks at the objects themselves: pass them as X, not only outputs for them.")
    try:
        with np.errstate(over="ignore"):  # what is too large for trees becomes infinite and is refused
            return check_array(
                X,
                accept_sparse="csr",
                dtype=np.float32,
                ensure_all_finite="allow-nan",
                ensure_min_samples=0,
                input_name="X",
            )
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"ForestMeasure grows trees on X, so it must be able to read X as a matrix of numbers, but: {error}"
            " Where a Pipeline inside the conformal classifier makes numbers of X, do that before instead, or choose a"
            " measure of the outputs alone such as LogLossMeasure()."
        ) from error

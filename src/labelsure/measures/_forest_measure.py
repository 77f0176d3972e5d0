"""A joint model of the labels: the labelsets that share the leaves of a forest with the object."""

import math
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_array

from labelsure._checks import (
    FloatArray,
    IntArray,
    LabelMatrix,
    MatrixLike,
    check_count,
    check_number,
    check_same_length,
    n_rows,
)
from labelsure._random import draw_seeds
from labelsure.measures._base import Measure
from labelsure.measures._costs import OwnScores, to_fixed_point
from labelsure.measures._energy import Energy
from labelsure.measures._likelihoods import LogLossMeasure
from labelsure.measures._log_partition import LabelsetPosterior
from labelsure.measures._need import Need
from labelsure.measures._posterior import PosteriorMeasure

MAX_TARGETS = 32
"""A node of a tree stores a number per target: with more labels, trees learn this many random
mixtures of them."""

SHARE_EXPONENT = 40
"""Shares of a leaf are whole numbers of 2^-40: sums over up to 2^22 trees are exact, so equal
shares are equal."""

BLOCK_OBJECTS = 128
"""Objects whose labelsets are looked up at a time, to bound memory."""


@dataclass(eq=False, repr=False)
class ForestMeasure(Measure):
    """Negative log of a labelset's probability under another measure, mixed with its forest share.

    For the object x and the labelset psi, with p_base(psi | x) = exp(-the score under ``base``)::

        -log(mix * p_base(psi | x) + (1 - mix) * P(psi | x))

        P(psi | x) = mean over the trees of the share of psi among the training examples in x's leaf

    The trees are extremely randomised ones [1]_ that learn all labels together [2]_. Training
    labelsets stay whole in the leaves, so P knows which labels go together for objects like x. The
    base keeps labelsets possible that the forest has never seen there.

    Parameters
    ----------
    base : PosteriorMeasure, LogLossMeasure or None, default=None
        A measure whose scores are negative log probabilities that sum to one. None:
        ``PosteriorMeasure()``, learned from out-of-fold outputs. ``LogLossMeasure()`` needs no
        outputs for training examples, but labels are independent under it, and it likes ``mix=0.5``
        and a penalty on top, ``UnseenPenalty(6.0)`` say. A base that is fitted already, on the same
        examples, is taken as it is; conformal classifiers fit a copy.
    n_estimators : int, default=200
        The number of trees.
    min_samples_leaf : int, default=3
        The least number of training examples in a leaf: few where features say much about labels,
        more where they do not.
    max_features : {"sqrt", "log2"}, int or float, default="sqrt"
        The features that a split is chosen from, as in scikit-learn's forests. A share such as 0.3
        is slower, and on some data better.
    mix : float, default=0.9
        The share of the base, strictly between 0 and 1.
    max_listed : int, default=200
        At most this many labelsets per object have a share in P, those of highest P (ties by lowest
        row of ``labelsets_``); for others P counts as 0.
    random_state : int, RandomState or None, default=None
        For the forest. Where it is None, conformal classifiers seed it from their own.

    Attributes
    ----------
    base_ : Measure
        The base, fitted.
    forest_ : ExtraTreesRegressor
        The forest. Squared error on zeros and ones splits as Gini's index does. With more than 32
        labels it learns 32 random mixtures of them [3]_; labelsets in leaves are whole all the
        same.
    labelsets_ : int8 array of shape (S, q)
        The labelsets seen in training, each once.

    Notes
    -----
    The forest is grown on the fold's training part, from the X that the classifier inside gets, and
    must be able to read it: numbers in an array, a sparse matrix or a DataFrame; NaN is allowed
    unless X is sparse. Objects that a Pipeline inside the conformal classifier turns into numbers,
    such as texts, are refused: turn them into numbers first.

    To a search, labelsets with a share in P are overrides from the base plus a constant, looked at
    one by one. They take ``max_listed * (q + 8)`` bytes per object and fold.

    The defaults come from trials with prototypes on yeast, emotions and scene: small leaves with a
    small share made yeast's regions smaller and left the others as they were. Learned pairs of
    labels helped at some levels and hurt at others, and a learned cost of the number of labels
    hardly mattered: so the leaves are here, and those are not.

    References
    ----------
    .. [1] Geurts, P., Ernst, D., Wehenkel, L. (2006). Extremely randomized trees. Machine Learning
       63, 3-42.
    .. [2] Kocev, D., Vens, C., Struyf, J., Dzeroski, S. (2007). Ensembles of multi-objective
       decision trees. ECML 2007, LNCS 4701, 624-631.
    .. [3] Joly, A., Geurts, P., Wehenkel, L. (2014). Random forests with random projections of the
       output space for high dimensional multi-label classification. ECML PKDD 2014, LNCS 8724,
       607-622.

    Examples
    --------
    >>> import numpy as np
    >>> from labelsure.measures import ForestMeasure, LogLossMeasure
    >>> X, Y = [[0], [0], [0], [1], [1], [1]], [[1, 0], [1, 0], [1, 1], [0, 1], [0, 1], [0, 1]]
    >>> measure = ForestMeasure(LogLossMeasure(), mix=0.2, min_samples_leaf=3, random_state=0)
    >>> measure = measure.fit(Y, X=X)
    >>> scores = measure.scores([[0.5, 0.5]] * 3, [[1, 0], [1, 1], [0, 1]], X=[[0]] * 3)
    >>> np.exp(-scores).round(4)  # 0.8 * 2/3 + 0.2 / 4, 0.8 * 1/3 + 0.2 / 4, 0.2 / 4
    array([0.5833, 0.3167, 0.05  ])
    """

    base: Measure | None = None
    _: KW_ONLY
    n_estimators: int = 200
    min_samples_leaf: int = 3
    max_features: Any = "sqrt"
    mix: float = 0.9
    max_listed: int = 200
    random_state: Any = None

    @property
    def needs(self) -> Need:  # type: ignore[override]
        """Labels and objects of training, and what the base needs."""
        base = PosteriorMeasure() if self.base is None else self.base
        return Need.TRAINING_LABELS | Need.FEATURES | base.needs

    def check_parameters(self, n_labels: int | None = None) -> None:
        """Raise ValueError if parameters are out of range or the base has no probabilities."""
        check_count(self.n_estimators, name="n_estimators")
        check_count(self.min_samples_leaf, name="min_samples_leaf")
        check_count(self.max_listed, name="max_listed")
        if check_number(self.mix, name="mix", above=0) >= 1:
            raise ValueError(
                f"mix must lie strictly between 0 and 1, got {self.mix!r}. For the base alone"
                f" choose it as the measure."
            )
        if self.base is not None:
            if not isinstance(self.base, PosteriorMeasure | LogLossMeasure):
                raise ValueError(
                    "base must be a measure whose scores are negative log probabilities,"
                    f" PosteriorMeasure() or LogLossMeasure(), or None, got {self.base!r}."
                )
            self.base.check_parameters(n_labels)

    def _learn(self, labels: LabelMatrix, outputs: FloatArray | None, X: MatrixLike) -> float:
        features = _read_features(X)
        check_same_length(features, labels)
        base = PosteriorMeasure() if self.base is None else self.base
        # one that is fitted already was fitted on the same examples: candidates of a choice share
        # it
        self.base_: Measure = (
            base if hasattr(base, "exponent_") else clone(base).fit(labels, outputs=outputs)
        )
        self._grow(features, labels)
        self.labels_are_better_ = self.base_.labels_are_better_
        return self.base_.bound_ - math.log(self.mix)

    def _grow(self, X: MatrixLike, labels: LabelMatrix) -> None:
        """Fit the forest and write down the shares of training labelsets in its leaves."""
        from sklearn.ensemble import ExtraTreesRegressor

        forest_seed, target_seed = draw_seeds(self.random_state, 2)
        self.forest_ = ExtraTreesRegressor(
            self.n_estimators,
            min_samples_leaf=min(int(self.min_samples_leaf), 2**31),
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
        """Return a sparse matrix (n, nodes of all trees) with ones at the objects' leaves."""
        n_trees = len(self._first_node) - 1
        leaves = np.empty((0, n_trees), dtype=np.int64)
        if n_rows(X):
            leaves = self.forest_.apply(X) + self._first_node[:-1]
        begin = np.arange(len(leaves) + 1) * n_trees
        ones = np.ones(leaves.size, dtype=np.int64)
        return sparse.csr_array(
            (ones, leaves.ravel(), begin), shape=(len(leaves), int(self._first_node[-1]))
        )

    def _energy(self, outputs: FloatArray, X: MatrixLike, exponent: int) -> Energy:
        features = _read_features(X)
        check_same_length(features, outputs, names=("X", "outputs"))
        leaves = self._leaves(features)
        # at least one block, even without objects
        blocks = range(0, max(len(outputs), 1), BLOCK_OBJECTS)
        listed = [self._list_labelsets(leaves[start : start + BLOCK_OBJECTS]) for start in blocks]
        sizes, numbers, probabilities = map(np.concatenate, zip(*listed, strict=True))

        def joint(general: FloatArray) -> FloatArray:
            """Return the scores with the forest's share in the probability, which raises none."""
            return np.minimum(
                -np.logaddexp(np.log(float(1 - self.mix) * probabilities), -general), general
            )

        base = self.base_._energy(outputs, None, exponent)
        general = replace(
            base, constant=base.constant + to_fixed_point(-math.log(self.mix), exponent)
        )
        return OwnScores(self.labelsets_[numbers], joint, sizes).put_into(
            general, exponent, self.bound_
        )

    def posterior(self, outputs: FloatArray, X: MatrixLike = None) -> LabelsetPosterior | None:
        """Return the base's posterior, if it has one, mixed with the shares in leaves."""
        base = self.base_.posterior(outputs)
        if base is None:
            return None
        sizes, numbers, probabilities = self._list_labelsets(self._leaves(_read_features(X)))
        begin = np.append(0, np.cumsum(sizes))
        leaves = sparse.csr_array(
            (probabilities, numbers, begin), shape=(len(sizes), len(self.labelsets_))
        )
        return replace(base, leaves=leaves, mix=float(self.mix))

    def _list_labelsets(self, leaves: Any) -> tuple[IntArray, IntArray, FloatArray]:
        """Return the ``max_listed`` most probable labelsets in these leaves, most probable first.

        Returns
        -------
        sizes : int64 array of shape (n,)
            How many each object has.
        numbers : int64 array of shape (E,)
            Which labelsets, rows of ``labelsets_``: those of the first object, then those of the
            next.
        probabilities : array of shape (E,)
            Above 0.
        """
        sums = leaves @ self._shares
        found = np.diff(sums.indptr)
        owners = np.repeat(np.arange(len(found)), found)
        order = np.lexsort((sums.indices, -sums.data, owners))
        rank = np.arange(len(order)) - sums.indptr[owners]
        most = min(int(self.max_listed), 2**31)
        kept = order[rank < most]
        n_trees = len(self._first_node) - 1
        probabilities = np.ldexp(sums.data[kept].astype(np.float64), -SHARE_EXPONENT) / n_trees
        return np.minimum(found, most), sums.indices[kept], probabilities


def _mix_targets(labels: LabelMatrix, seed: int) -> LabelMatrix | FloatArray:
    """Return what the trees learn: the labels, or random mixtures of them where there are many."""
    from sklearn.random_projection import GaussianRandomProjection

    if labels.shape[1] > MAX_TARGETS:
        mixed: FloatArray = GaussianRandomProjection(MAX_TARGETS, random_state=seed).fit_transform(
            labels
        )
        return mixed
    return labels[:, 0] if labels.shape[1] == 1 else labels


def _read_features(X: MatrixLike) -> Any:
    """Return the objects as numbers that trees can read, or say why they cannot."""
    if X is None:
        raise ValueError(
            "ForestMeasure looks at the objects themselves: pass them as X, not only outputs for"
            " them."
        )
    try:
        # what is too large for trees becomes infinite and is refused
        with np.errstate(over="ignore"):
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
            "ForestMeasure grows trees on X, so it must be able to read X as a matrix of numbers,"
            f" but: {error} Where a Pipeline inside the conformal classifier makes numbers of X, do"
            " that before instead, or choose a measure of the outputs alone such as"
            " LogLossMeasure()."
        ) from error

"""Penalties on labelsets: rare numbers of labels, labelsets unlike those of training, new ones."""

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np

from labelsure._checks import (
    FloatArray,
    IntArray,
    LabelMatrix,
    LabelMatrixLike,
    MatrixLike,
    check_choice,
    check_number,
)
from labelsure.measures._base import Measure
from labelsure.measures._costs import Costs, Form, OwnScores
from labelsure.measures._energy import Energy
from labelsure.measures._need import Need


class LabelsetPenalty(Measure):
    """A measure of the labelset and those seen in training alone, the same for all objects.

    It has no costs of labels, so it can be added to any measure, one with a square root too.
    """

    weight: float
    needs = Need.TRAINING_LABELS
    form = "none"

    def fit(self, Y: LabelMatrixLike, *, outputs: Any = None, X: MatrixLike = None) -> Self:
        """Learn from a fold's training part; see :meth:`Measure.fit`."""
        super().fit(Y, outputs=outputs, X=X)
        self._shared: dict[int, Energy] = {}
        return self

    def _energy(self, outputs: FloatArray, X: MatrixLike, exponent: int) -> Energy:
        """Return the energy of one object for all, which is kept for later calls."""
        if exponent not in self._shared:
            self._shared[exponent] = super()._energy(np.zeros((1, self.n_labels_)), X, exponent)
        return self._shared[exponent].take(np.zeros(len(outputs), dtype=np.int64))

    def __getstate__(self) -> dict[str, Any]:
        """Leave the kept energies out of a pickle."""
        state: dict[str, Any] = super().__getstate__()
        return state | {"_shared": {}} if "_shared" in state else state

    def check_parameters(self, n_labels: int | None = None) -> None:
        """Raise ValueError where the weight is negative."""
        check_number(self.weight, name="weight", at_least=0)

    def _learn(self, labels: LabelMatrix, outputs: FloatArray | None, X: MatrixLike) -> float:
        self.labelsets_: LabelMatrix = np.unique(labels, axis=0)
        return self.weight


@dataclass(eq=False, repr=False)
class HammingPenalty(LabelsetPenalty):
    """The Hamming distance of a labelset to the nearest one seen in training.

    For the labelset psi with indicator t, among q labels::

        weight * Hp(psi),    Hp(psi) = min over training labelsets u of #{j: t_j != u_j} / q

    It is meant to be added to a measure of the outputs: ``PowerMeasure() + HammingPenalty(2.0)``.

    Parameters
    ----------
    weight : float, default=2.0
        What the largest distance possible, q labels, costs; at least 0.

    Attributes
    ----------
    labelsets_ : int8 array of shape (A, q)
        The labelsets seen in training, each once.

    Notes
    -----
    A search bounds this penalty by the distance on the labels decided so far, with a pass over
    ``labelsets_`` at every step. With 14 labels (yeast) sizes of regions took 3 times as long as
    without the penalty, with 53 (enron) 150 times; :class:`UnseenPenalty` 3 to 4 times on both.

    References
    ----------
    Katsios, K., Papadopoulos, H. (2025). Incorporating structural penalties in multi-label
    conformal prediction. Proceedings of Machine Learning Research 266.

    Examples
    --------
    >>> from labelsure.measures import HammingPenalty
    >>> measure = HammingPenalty(weight=2.0).fit([[1, 0, 0, 0], [1, 1, 1, 0]])
    >>> measure.scores([[0.5] * 4] * 2, [[1, 1, 1, 0], [0, 1, 1, 1]])
    array([0., 1.])
    """

    weight: float = 2.0

    def _costs(self, outputs: FloatArray, X: MatrixLike) -> Costs:
        return Costs(anchors=self.labelsets_, per_distance=float(self.weight) / self.n_labels_)


@dataclass(eq=False, repr=False)
class CardinalityPenalty(LabelsetPenalty):
    """How rare it was in training to have as many labels as the labelset.

    For the labelset psi::

        weight * Cp(psi),    Cp(psi) = 1 - (share of training examples with exactly |psi| labels)

    It is meant to be added to a measure of the outputs: ``PowerMeasure() +
    CardinalityPenalty(1.0)``.

    Parameters
    ----------
    weight : float, default=1.0
        What a number of labels never seen in training costs; at least 0.

    Attributes
    ----------
    frequencies_ : array of shape (q + 1,)
        The share of the training examples with 0, 1, ..., q labels.

    Notes
    -----
    A search bounds this penalty by the lowest that the labels not yet decided can lead to. With 14
    labels (yeast) sizes of regions took twice as long as without the penalty, with 53 (enron) 70
    times.

    References
    ----------
    Katsios, K., Papadopoulos, H. (2025). Incorporating structural penalties in multi-label
    conformal prediction. Proceedings of Machine Learning Research 266.

    Examples
    --------
    >>> from labelsure.measures import CardinalityPenalty
    >>> measure = CardinalityPenalty(weight=1.0).fit([[1, 0], [0, 1], [1, 0], [1, 1]])
    >>> measure.scores([[0.5, 0.5]] * 3, [[0, 0], [0, 1], [1, 1]])
    array([1.  , 0.25, 0.75])
    """

    weight: float = 1.0

    def _learn(self, labels: LabelMatrix, outputs: FloatArray | None, X: MatrixLike) -> float:
        counts = np.bincount(labels.sum(axis=1), minlength=self.n_labels_ + 1)
        self.frequencies_: FloatArray = counts / len(labels)
        return self.weight

    def _costs(self, outputs: FloatArray, X: MatrixLike) -> Costs:
        return Costs(by_cardinality=float(self.weight) * (1 - self.frequencies_))


@dataclass(eq=False, repr=False)
class UnseenPenalty(LabelsetPenalty):
    """The same cost for every labelset that no training example has.

    For the labelset psi::

        weight * [psi is not the labelset of any training example]

    It is meant to be added to a measure of the outputs: ``PowerMeasure() + UnseenPenalty(1.0)``.

    Parameters
    ----------
    weight : float, default=3.0
        What an unseen labelset costs; at least 0. The default suits a measure in the units of log
        loss.

    Attributes
    ----------
    labelsets_ : int8 array of shape (S, q)
        The labelsets seen in training, each once.

    Notes
    -----
    A new labelset costs the same whichever it is, so an object whose true labelset is new to
    training needs a region with many of them: the penalty makes regions smaller where new labelsets
    are rarer than the significance level.

    To a search this is a cost that all labelsets pay, which leaves its bounds as they are, and a
    list of labelsets that are spared it, which are looked at one by one.

    Examples
    --------
    >>> from labelsure.measures import UnseenPenalty
    >>> measure = UnseenPenalty(weight=3.0).fit([[1, 0], [0, 1], [1, 0]])
    >>> measure.scores([[0.5, 0.5]] * 2, [[0, 1], [1, 1]])
    array([0., 3.])
    """

    weight: float = 3.0

    def _costs(self, outputs: FloatArray, X: MatrixLike) -> Costs:
        seen = OwnScores(self.labelsets_, np.zeros(len(self.labelsets_)))
        return Costs(constant=float(self.weight), overrides=seen)


@dataclass(eq=False, repr=False)
class LabelsetPrior(LabelsetPenalty):
    """Minus the logarithm of a smoothed frequency of the labelset in training.

    With n training examples, of which n(psi) have the labelset psi with indicator t::

        weight * -log P(psi),    P(psi) = (n(psi) + smoothing * B(psi)) / (n + smoothing)

    where B is a distribution over all 2^q labelsets that stands in for those never seen, so that P
    is one too: the posterior mean under a Dirichlet process prior with base B and concentration
    ``smoothing`` [1]_. B is a product over the labels::

        B(psi) = prod_j m_j^t_j (1 - m_j)^(1 - t_j)

    with m_j = (n_j + 1/2) / (n + 1), n_j the number of training examples with label j, or with all
    m_j = 1/2.

    Added to ``LogLossMeasure()`` this weighs what a learner says of the object against how common
    labelsets are.

    Parameters
    ----------
    weight : float, default=1.0
        The factor of the logarithm; at least 0.
    smoothing : float, default=1.0
        How many examples B counts for; above 0.
    base : {"marginals", "uniform"}, default="marginals"
        B: labels independent, as often on as in training; or all labelsets equally probable, which
        can be added to a measure with a square root too, because then all unseen labelsets cost the
        same.

    Attributes
    ----------
    labelsets_ : int8 array of shape (S, q)
        The labelsets seen in training, each once.
    counts_ : int64 array of shape (S,)
        How many training examples have each.
    n_training_ : int
        The number of training examples.
    marginals_ : array of shape (q,)
        The m_j.

    References
    ----------
    .. [1] Ferguson, T. S. (1973). A Bayesian analysis of some nonparametric problems. Annals of
       Statistics 1(2), 209-230.

    Examples
    --------
    >>> import numpy as np
    >>> from labelsure.measures import LabelsetPrior
    >>> measure = LabelsetPrior(smoothing=4.0, base="uniform").fit([[1, 0], [1, 0], [1, 0], [0, 1]])
    >>> np.exp(-measure.scores([[0.5, 0.5]] * 3, [[0, 0], [0, 1], [1, 0]])).round(6)
    array([0.125, 0.25 , 0.5  ])
    """

    weight: float = 1.0
    _: KW_ONLY
    smoothing: float = 1.0
    base: str = "marginals"

    @property
    def form(self) -> Form:  # type: ignore[override]
        """A sum over labels, or, with the uniform base, none."""
        return "none" if self.base == "uniform" else "sum"

    def check_parameters(self, n_labels: int | None = None) -> None:
        """Raise ValueError if weight or smoothing is out of range, or the base is unknown."""
        super().check_parameters(n_labels)
        check_number(self.smoothing, name="smoothing", above=0)
        check_choice(self.base, ("marginals", "uniform"), name="base")

    def _learn(self, labels: LabelMatrix, outputs: FloatArray | None, X: MatrixLike) -> float:
        self.n_training_ = len(labels)
        self.labelsets_: LabelMatrix
        self.counts_: IntArray
        # bytes, first labels first, sort as rows do, and far faster with thousands of labels
        bits = np.packbits(labels.astype(bool), axis=1)
        keys = bits.view(f"S{bits.shape[1]}")[:, 0]
        _, first, self.counts_ = np.unique(keys, return_index=True, return_counts=True)
        self.labelsets_ = labels[first]
        self.marginals_: FloatArray = np.full(self.n_labels_, 0.5)
        if self.base == "marginals":
            self.marginals_ = (labels.sum(axis=0, dtype=np.float64) + 0.5) / (len(labels) + 1)
        log_total = math.log(len(labels) + self.smoothing)
        self._smoothing_cost = log_total - math.log(self.smoothing)  # -log of B's share
        largest = -np.log(np.minimum(self.marginals_, 1 - self.marginals_)).sum()
        return float(self.weight * (largest + self._smoothing_cost))

    def _costs(self, outputs: FloatArray, X: MatrixLike) -> Costs:
        weight = float(self.weight)
        log_on = np.log(self.marginals_)
        log_off = np.log1p(-self.marginals_)
        on = self.labelsets_.astype(np.float64)
        log_base = on @ log_on + (1 - on) @ log_off
        log_share = np.logaddexp(np.log(self.counts_), math.log(self.smoothing) + log_base)
        own = weight * (math.log(self.n_training_ + self.smoothing) - log_share)
        seen, smoothing = OwnScores(self.labelsets_, own), weight * self._smoothing_cost
        if self.base == "uniform":  # smoothing and a term for each label, for all unseen labelsets
            return Costs(constant=np.append(smoothing, -weight * log_off)[None], overrides=seen)
        return Costs(off=-weight * log_off, on=-weight * log_on, constant=smoothing, overrides=seen)

"""How probable a labelset was before the object was seen."""

import math

import numpy as np

from labelsure._core.energy import Energy
from labelsure._core.energy_parts import Discounts, Penalty
from labelsure._core.fixed_point import to_fixed_point
from labelsure._core.types import FloatArray, IntArray, LabelMatrix, MatrixLike
from labelsure._core.validation import check_choice, check_number
from labelsure.measures._labelset_penalty import LabelsetPenalty

BASES = ("marginals", "uniform")


class LabelsetPrior(LabelsetPenalty):
    """Minus the logarithm of a smoothed frequency of the labelset in training.

    With n training examples, of which n(psi) have the labelset psi with indicator t::

        weight * -log P(psi),    P(psi) = (n(psi) + smoothing * B(psi)) / (n + smoothing)

    where B is a distribution over all 2^q labelsets that stands in for those never seen, so that P is one too: the
    posterior mean under a Dirichlet process prior with base B and concentration ``smoothing`` [1]_. B is a product
    over the labels::

        B(psi) = prod_j m_j^t_j (1 - m_j)^(1 - t_j)

    with m_j = (n_j + 1/2) / (n + 1), n_j the number of training examples with label j, or with all m_j = 1/2.

    Added to ``LogLossMeasure()`` this weighs what a learner says of the object against how common labelsets are.

    Parameters
    ----------
    weight : float, default=1.0
        The factor of the logarithm; at least 0.
    smoothing : float, default=1.0
        How many examples B counts for; above 0.
    base : {"marginals", "uniform"}, default="marginals"
        B: labels independent, as often on as in training; or all labelsets equally probable, which can be added to a
        measure with a square root too, because then all unseen labelsets cost the same.

    Attributes
    ----------
    n_labels_ : int
        The number of labels.
    labelsets_ : int8 array of shape (S, q)
        The labelsets seen in training, each once.
    counts_ : int64 array of shape (S,)
        How many training examples have each.
    n_training_ : int
        The number of training examples.
    marginals_ : array of shape (q,)
        The m_j.
    exponent_ : int
        Scores are whole numbers of 2^-exponent_.

    References
    ----------
    .. [1] Ferguson, T. S. (1973). A Bayesian analysis of some nonparametric problems. Annals of Statistics 1(2),
       209-230.

    Examples
    --------
    >>> import math
    >>> from labelsure.measures import LabelsetPrior
    >>> measure = LabelsetPrior(smoothing=4.0, base="uniform").fit([[1, 0], [1, 0], [1, 0], [0, 1]])
    >>> scores = [measure.energy([[0.5, 0.5]]).scores([t])[0] for t in ([0, 0], [0, 1], [1, 0])]
    >>> [round(math.exp(-score * 2.0**-measure.exponent_), 6) for score in scores]
    [0.125, 0.25, 0.5]
    """

    def __init__(self, weight: float = 1.0, *, smoothing: float = 1.0, base: str = "marginals") -> None:
        self.weight = weight
        self.smoothing = smoothing
        self.base = base

    def _learn(self, labels: LabelMatrix) -> float:
        check_number(self.smoothing, name="smoothing", above=0)
        check_choice(self.base, BASES, name="base")
        self.n_training_ = len(labels)
        self.labelsets_: LabelMatrix
        self.counts_: IntArray
        self.labelsets_, self.counts_ = np.unique(labels, axis=0, return_counts=True)
        self.marginals_: FloatArray = np.full(self.n_labels_, 0.5)
        if self.base == "marginals":
            self.marginals_ = (labels.sum(axis=0, dtype=np.float64) + 0.5) / (len(labels) + 1)
        largest = -np.log(np.minimum(self.marginals_, 1 - self.marginals_)).sum()
        return float(largest) + self._cost_of_smoothing()

    def _cost_of_smoothing(self) -> float:
        """Return -log of the share of the probability that B has."""
        return math.log(self.n_training_ + self.smoothing) - math.log(self.smoothing)

    def _unseen(self, exponent: int) -> tuple[int, IntArray]:
        """Return what an unseen labelset pays without labels, and what each label adds (q,)."""
        weight = float(self.weight)
        off = to_fixed_point(-weight * np.log1p(-self.marginals_), exponent)
        on = to_fixed_point(-weight * np.log(self.marginals_), exponent)
        smoothing = to_fixed_point(np.array(weight * self._cost_of_smoothing()), exponent)
        return int(smoothing + off.sum()), on - off

    def _discounts(self, exponent: int) -> Discounts:
        """Return what seen labelsets pay less than if they were unseen."""
        constant, unary = self._unseen(exponent)
        on = self.labelsets_.astype(np.float64)
        log_base = on @ np.log(self.marginals_) + (1 - on) @ np.log1p(-self.marginals_)
        log_share = np.logaddexp(np.log(self.counts_), math.log(self.smoothing) + log_base)
        own = to_fixed_point(float(self.weight) * (math.log(self.n_training_ + self.smoothing) - log_share), exponent)
        unseen = constant + self.labelsets_.astype(np.int64) @ unary
        # sums of rounded costs may be a few units below the rounded whole where both are equal on paper
        return Discounts(self.labelsets_, np.maximum(unseen - own, 0))

    def _costs(self, exponent: int) -> tuple[Penalty, Discounts | None]:
        """Return the costs with the uniform base: all unseen labelsets pay the same."""
        return Penalty(np.full(self.n_labels_ + 1, self._unseen(exponent)[0])), self._discounts(exponent)

    def _energy(self, outputs: FloatArray, X: MatrixLike, exponent: int) -> Energy:
        if self.base == "uniform":
            return super()._energy(outputs, X, exponent)
        constant, unary = self._unseen(exponent)
        return Energy(
            constant=np.full(len(outputs), constant),
            unary=np.tile(unary, (len(outputs), 1)),
            discounts=self._discounts(exponent),
        )

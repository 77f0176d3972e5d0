"""Penalties on labelsets: rare numbers of labels, labelsets far from those of training, new ones."""

from dataclasses import dataclass

import numpy as np

from labelsure._checks import FloatArray, LabelMatrix, MatrixLike, check_number
from labelsure.measures._base import Measure
from labelsure.measures._fixed_point import Costs, OwnScores
from labelsure.measures._need import Need


class LabelsetPenalty(Measure):
    """A measure that looks at the labelset alone and at those seen in training, not at a learner's outputs."""

    weight: float
    needs = Need.TRAINING_LABELS
    form = "none"
    objects_alike = True
    """No costs of labels, so the penalty can be added to any measure, one with a square root too."""

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

        weight * Cp(psi),    Cp(psi) = 1 - (share of the training examples with exactly |psi| labels)

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

"""A penalty for labelsets with an unusual number of labels."""

import numpy as np

from labelsure._core.energy_parts import Discounts, Penalty
from labelsure._core.fixed_point import to_fixed_point
from labelsure._core.types import FloatArray, LabelMatrix
from labelsure.measures._labelset_penalty import LabelsetPenalty


class CardinalityPenalty(LabelsetPenalty):
    """How rare it was in training to have as many labels as the labelset.

    For the labelset psi::

        weight * Cp(psi),    Cp(psi) = 1 - (share of the training examples with exactly |psi| labels)

    It is meant to be added to a measure of the outputs: ``PowerMeasure() + CardinalityPenalty(1.0)``.

    Parameters
    ----------
    weight : float, default=1.0
        What a number of labels never seen in training costs; at least 0.

    Attributes
    ----------
    n_labels_ : int
        The number of labels.
    frequencies_ : array of shape (q + 1,)
        The share of the training examples with 0, 1, ..., q labels.
    exponent_ : int
        Scores are whole numbers of 2^-exponent_.

    Notes
    -----
    A search bounds this penalty by the lowest that the labels not yet decided can lead to. With 14 labels (yeast)
    sizes of regions took twice as long as without the penalty, with 53 (enron) 70 times.

    References
    ----------
    Katsios, K., Papadopoulos, H. (2025). Incorporating structural penalties in multi-label conformal prediction.
    Proceedings of Machine Learning Research 266.

    Examples
    --------
    >>> from labelsure.measures import CardinalityPenalty
    >>> measure = CardinalityPenalty(weight=1.0).fit([[1, 0], [0, 1], [1, 0], [1, 1]])
    >>> energy = measure.energy([[0.5, 0.5]])
    >>> [float(energy.scores([labelset])[0] * 2.0**-measure.exponent_) for labelset in ([0, 0], [0, 1], [1, 1])]
    [1.0, 0.25, 0.75]
    """

    def __init__(self, weight: float = 1.0) -> None:
        self.weight = weight

    def _learn(self, labels: LabelMatrix) -> float:
        counts = np.bincount(labels.sum(axis=1), minlength=self.n_labels_ + 1)
        self.frequencies_: FloatArray = counts / len(labels)
        return 1.0

    def _costs(self, exponent: int) -> tuple[Penalty, Discounts | None]:
        return Penalty(to_fixed_point(float(self.weight) * (1 - self.frequencies_), exponent)), None

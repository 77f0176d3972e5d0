"""A penalty for labelsets that were not seen in training."""

import numpy as np

from labelsure._core.energy_parts import Discounts, Penalty
from labelsure._core.fixed_point import to_fixed_point
from labelsure._core.types import LabelMatrix
from labelsure.measures._labelset_penalty import LabelsetPenalty


class UnseenPenalty(LabelsetPenalty):
    """The same cost for every labelset that no training example has.

    For the labelset psi::

        weight * [psi is not the labelset of any training example]

    It is meant to be added to a measure of the outputs: ``PowerMeasure() + UnseenPenalty(1.0)``.

    Parameters
    ----------
    weight : float, default=3.0
        What an unseen labelset costs; at least 0. The default suits a measure in the units of log loss.

    Attributes
    ----------
    n_labels_ : int
        The number of labels.
    labelsets_ : int8 array of shape (S, q)
        The labelsets seen in training, each once.
    exponent_ : int
        Scores are whole numbers of 2^-exponent_.

    Notes
    -----
    A new labelset costs the same whichever it is, so an object whose true labelset is new to training needs a region
    with many of them: the penalty makes regions smaller where new labelsets are rarer than the significance level.

    To a search this is a cost that all labelsets pay, which leaves its bounds as they are, and a list of labelsets
    that are spared it, which are looked at one by one.

    Examples
    --------
    >>> from labelsure.measures import UnseenPenalty
    >>> measure = UnseenPenalty(weight=3.0).fit([[1, 0], [0, 1], [1, 0]])
    >>> energy = measure.energy([[0.5, 0.5]])
    >>> [float(energy.scores([labelset])[0] * 2.0**-measure.exponent_) for labelset in ([0, 1], [1, 1])]
    [0.0, 3.0]
    """

    def __init__(self, weight: float = 3.0) -> None:
        self.weight = weight

    def _learn(self, labels: LabelMatrix) -> float:
        self.labelsets_: LabelMatrix = np.unique(labels, axis=0)
        return 1.0

    def _costs(self, exponent: int) -> tuple[Penalty, Discounts | None]:
        cost = to_fixed_point(np.array(float(self.weight)), exponent)
        penalty = Penalty(np.full(self.n_labels_ + 1, cost))
        return penalty, Discounts(self.labelsets_, np.full(len(self.labelsets_), cost))

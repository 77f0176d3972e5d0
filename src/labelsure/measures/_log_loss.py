"""The negative log-likelihood of a labelset."""

import math

import numpy as np

from labelsure._core.fixed_point import Costs
from labelsure._core.types import FloatArray, LabelMatrix, MatrixLike
from labelsure._core.validation import check_number
from labelsure.measures._base import Measure


class LogLossMeasure(Measure):
    """Negative log of the probability of a labelset, its labels taken as independent given the object.

    For the labelset psi with indicator t and outputs o, read as the probabilities that labels are on::

        -sum_j log(o_j if t_j = 1 else 1 - o_j),    o_j clipped to [floor, 1 - floor]

    It orders labelsets by their likelihood, so it is a good choice for learners with honest probabilities (logistic
    regression, boosting, anything calibrated), and the better the more labels there are. Label by label it adds up, so
    outputs may be sparse.

    Parameters
    ----------
    floor : float, default=1e-6
        The least probability of either value of a label, above 0 and below one half. Without it one output of exactly
        0 or 1 that is wrong, common with forests and nearest neighbours, would cost infinitely much. The default is
        below anything that a learner can tell from fewer than a million examples, so honest outputs are not touched,
        and a certain output that is wrong costs 13.8, as much as twenty labels guessed by the toss of a coin.

    References
    ----------
    Good, I. J. (1952). Rational decisions. Journal of the Royal Statistical Society B 14(1), 107-114.

    Examples
    --------
    >>> from labelsure.measures import LogLossMeasure
    >>> measure = LogLossMeasure().fit([[1, 0]])
    >>> outputs = [[0.5, 0.75], [0.5, 0.75]]
    >>> measure.scores(outputs, [[0, 1], [1, 0]]).round(4)  # -log(1/2) - log(3/4), -log(1/2) - log(1/4)
    array([0.9808, 2.0794])
    """

    labels_alike = True

    def __init__(self, *, floor: float = 1e-6) -> None:
        self.floor = floor

    def check_parameters(self, n_labels: int | None = None) -> None:
        """Raise ValueError where ``floor`` is no probability below one half."""
        if check_number(self.floor, name="floor", above=0) >= 0.5:
            raise ValueError(
                f"floor must lie below one half, got {self.floor!r}: outputs are clipped to [floor, 1 - floor]."
            )

    def _learn(self, labels: LabelMatrix, outputs: FloatArray | None, X: MatrixLike) -> float:
        return -self.n_labels_ * math.log(self.floor)

    def _costs(self, outputs: FloatArray, X: MatrixLike) -> Costs:
        off, on = (-np.log(np.clip(part, self.floor, 1 - self.floor)) for part in (1 - outputs, outputs))
        return Costs(off=off, on=on)

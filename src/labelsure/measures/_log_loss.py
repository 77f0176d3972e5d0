"""The negative log-likelihood of a labelset."""

import math
from copy import copy
from typing import Self

import numpy as np

from labelsure._core.energy import Energy
from labelsure._core.fixed_point import choose_exponent, to_fixed_point
from labelsure._core.types import FloatArray, IntArray, LabelMatrixLike, MatrixLike
from labelsure._core.validation import check_label_matrix, check_number
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

    Attributes
    ----------
    n_labels_ : int
        The number of labels.
    exponent_ : int
        Scores are whole numbers of 2^-exponent_.

    References
    ----------
    Good, I. J. (1952). Rational decisions. Journal of the Royal Statistical Society B 14(1), 107-114.

    Examples
    --------
    >>> from labelsure.measures import LogLossMeasure
    >>> measure = LogLossMeasure().fit([[1, 0]])
    >>> energy = measure.energy([[0.5, 0.75]])
    >>> scores = [energy.scores([labelset])[0] * 2.0**-measure.exponent_ for labelset in ([0, 1], [1, 0])]
    >>> [round(float(score), 4) for score in scores]  # -log(1/2) - log(3/4), -log(1/2) - log(1/4)
    [0.9808, 2.0794]
    """

    def __init__(self, *, floor: float = 1e-6) -> None:
        self.floor = floor

    def fit(self, Y: LabelMatrixLike, *, outputs: FloatArray | None = None, X: MatrixLike = None) -> Self:  # noqa: ARG002
        """Learn the number of labels, no more; see :meth:`Measure.fit`."""
        floor = check_number(self.floor, name="floor", above=0)
        if floor >= 0.5:
            raise ValueError(
                f"floor must lie below one half, got {self.floor!r}: outputs are clipped to [floor, 1 - floor]."
            )
        self.n_labels_ = check_label_matrix(Y).shape[1]
        self.bound_ = -self.n_labels_ * math.log(floor)
        self.exponent_ = choose_exponent(self.bound_)
        return self

    def restrict(self, labels: IntArray) -> Self:
        """Return the fitted measure for some of the labels alone, the others' costs left out.

        Parameters
        ----------
        labels : int64 array of shape (u,)
            Their numbers, ascending.
        """
        part = copy(self)
        part.n_labels_ = len(labels)
        return part

    def _energy(self, outputs: FloatArray, X: MatrixLike, exponent: int) -> Energy:  # noqa: ARG002
        off, on = (to_fixed_point(self._costs(part), exponent) for part in (1 - outputs, outputs))
        return Energy(constant=off.sum(axis=1), unary=on - off)

    def _costs(self, probabilities: FloatArray) -> FloatArray:
        return -np.log(np.clip(probabilities, self.floor, 1 - self.floor))

"""Minus the logarithms of probabilities: a learner's own, and p-values of labels."""

import math
from dataclasses import dataclass

import numpy as np

from labelsure._checks import (
    FloatArray,
    IntArray,
    LabelMatrix,
    MatrixLike,
    check_flag,
    check_number,
)
from labelsure.measures._base import Measure, rows_with_outputs
from labelsure.measures._costs import Costs, to_fixed_point
from labelsure.measures._need import Need

LOG_2 = math.log(2)

SCALE_BITS = 54
"""Numbers are first multiplied by 2 to this power, so that none is subnormal."""

MANTISSA_BITS = 52
"""The bits of a float below its exponent."""

ROOT_OF_HALF = int(np.float64(math.sqrt(0.5)).view(np.int64))
"""The bits of the least number that is left when powers of two are taken out."""

TERMS = tuple(1 / odd for odd in range(23, 0, -2))
"""Of atanh(r) = r (1 + r^2/3 + r^4/5 + ...), last ones first; |r| is at most 3 - 2 sqrt(2), so that
the first one left out is below 2^-60."""


def minus_logs(values: FloatArray) -> FloatArray:
    """Return -log(v) of positive numbers up to 1, each within 4 units of its last place.

    Examples
    --------
    >>> import numpy as np
    >>> minus_logs(np.array([0.5, 1.0])).tolist() == [LOG_2, 0.0]
    True
    """
    bits = (values * 2.0**SCALE_BITS).view(np.int64)
    exponents = (bits - ROOT_OF_HALF) >> MANTISSA_BITS  # of what is left: that lies around 1
    halvings = SCALE_BITS - exponents
    mantissas = (bits - (exponents << MANTISSA_BITS)).view(np.float64)  # from sqrt(1/2) to sqrt(2)
    ratio = (mantissas - 1.0) / (mantissas + 1.0)
    square = ratio * ratio
    series = square * TERMS[0] + TERMS[1]
    for term in TERMS[2:]:
        series = series * square + term
    logs: FloatArray = halvings * LOG_2 - 2.0 * ratio * series
    return logs


RESIDUAL_EXPONENT = 40
"""Errors are whole numbers of 2^-40, so that |1 - 0.9| and |0 - 0.1| tie as they do on paper."""


@dataclass(kw_only=True, eq=False, repr=False)
class LogLossMeasure(Measure):
    """Negative log of the probability of a labelset, labels independent given the object.

    For the labelset psi with indicator t and outputs o, read as the probabilities that labels are
    on::

        -sum_j log(o_j if t_j = 1 else 1 - o_j),    o_j clipped to [floor, 1 - floor]

    It orders labelsets by their likelihood, so it is a good choice for learners with honest
    probabilities (logistic regression, boosting, anything calibrated), and the better the more
    labels there are. Label by label it adds up, so outputs may be sparse.

    Parameters
    ----------
    floor : float, default=1e-6
        The least probability of either value of a label, above 0 and below one half. Without it one
        output of exactly 0 or 1 that is wrong, common with forests and nearest neighbours, would
        cost infinitely much. The default is below anything that a learner can tell from fewer than
        a million examples, so honest outputs are not touched, and a certain output that is wrong
        costs 13.8, as much as twenty labels guessed by the toss of a coin.

    References
    ----------
    Good, I. J. (1952). Rational decisions. Journal of the Royal Statistical Society B 14(1),
    107-114.

    Examples
    --------
    >>> from labelsure.measures import LogLossMeasure
    >>> measure = LogLossMeasure().fit([[1, 0]])
    >>> outputs = [[0.5, 0.75], [0.5, 0.75]]
    >>> measure.scores(outputs, [[0, 1], [1, 0]]).round(4)  # -log(1/2 3/4), -log(1/2 1/4)
    array([0.9808, 2.0794])
    """

    floor: float = 1e-6

    def check_parameters(self, n_labels: int | None = None) -> None:
        """Raise ValueError where ``floor`` is no probability below one half."""
        if check_number(self.floor, name="floor", above=0) >= 0.5:
            raise ValueError(
                f"floor must lie below one half, got {self.floor!r}: outputs are clipped to"
                f" [floor, 1 - floor]."
            )

    def _learn(self, labels: LabelMatrix, outputs: FloatArray | None, X: MatrixLike) -> float:
        return -self.n_labels_ * math.log(self.floor)

    def _costs(self, outputs: FloatArray, X: MatrixLike) -> Costs:
        floor = float(self.floor)
        off, on = (minus_logs(np.clip(part, floor, 1 - floor)) for part in (1 - outputs, outputs))
        return Costs(off=off, on=on)


@dataclass(kw_only=True, eq=False, repr=False)
class LabelWiseCombination(Measure):
    """Minus the sum of the logarithms of the labels' p-values among the errors made in training.

    For the labelset psi with indicator t and outputs o::

        -sum_j log p_j(t_j)
        p_j(c) = (#{i in training: |y_ij - o_ij| >= |c - o_j|} + 1) / (n + 1)

    with n training examples. It asks of every label how unusual an error would be *for this label*,
    so it suits learners whose outputs mean different things for different labels, and outputs that
    are no probabilities.

    Fisher's way to combine p-values takes -2 times this sum for chi-squared, which is valid only
    for independent p-values; those of labels are not. Here the sum is only a score, and a conformal
    predictor finds its p-value by calibration, so the guarantee is that predictor's own, whatever
    the p_j are.

    Parameters
    ----------
    out_of_fold : bool, default=False
        Whether training errors come from models that had not seen the example: more fits. Learners
        that know their training examples nearly by heart need it (forests, boosting, nearest
        neighbours, large networks): else every new error is larger than all of training, and labels
        are hardly told apart.

    Attributes
    ----------
    errors_ : int64 array of shape (n, q)
        The training errors of each label in ascending order, in units of 2^-40.

    References
    ----------
    .. [1] Fisher, R. A. (1932). Statistical Methods for Research Workers, 4th edition, section
       21.1.
    .. [2] Vovk, V., Gammerman, A., Shafer, G. (2005). Algorithmic Learning in a Random World.
       Springer.

    Examples
    --------
    >>> import math
    >>> from labelsure.measures import LabelWiseCombination
    >>> outputs = [[0.8, 0.1], [0.7, 0.2], [0.4, 0.4]]
    >>> measure = LabelWiseCombination().fit([[1, 0], [1, 1], [1, 0]], outputs=outputs)
    >>> (score,) = measure.scores([[0.6, 0.5]], [[1, 0]])
    >>> round(math.exp(-score), 6)  # errors .2 .3 .6 against .4: 2/4; .1 .8 .4 against .5: 2/4
    0.25
    """

    out_of_fold: bool = False

    def check_parameters(self, n_labels: int | None = None) -> None:
        """Raise ValueError where ``out_of_fold`` is no truth value."""
        check_flag(self.out_of_fold, name="out_of_fold")

    @property
    def needs(self) -> Need:  # type: ignore[override]
        """Labels and outputs of training, out-of-fold ones where that was asked for."""
        return Need.TRAINING_LABELS | (
            Need.OUT_OF_FOLD_OUTPUTS if self.out_of_fold else Need.TRAINING_OUTPUTS
        )

    def _learn(self, labels: LabelMatrix, outputs: FloatArray | None, X: MatrixLike) -> float:
        assert outputs is not None
        known = rows_with_outputs(outputs)
        off, on = _errors(outputs[known])
        self.errors_: IntArray = np.sort(np.where(labels[known] == 1, on, off), axis=0)
        return self.n_labels_ * math.log(len(self.errors_) + 1)

    def _costs(self, outputs: FloatArray, X: MatrixLike) -> Costs:
        n_training = len(self.errors_)
        cost_of_count = np.log(n_training + 1) - np.log(np.arange(n_training + 1) + 1)
        off, on = (cost_of_count[self._count_at_least(errors)] for errors in _errors(outputs))
        return Costs(off=off, on=on)

    def _count_at_least(self, errors: IntArray) -> IntArray:
        """Return how many training errors of its label are as large as each error or larger."""
        below = [
            np.searchsorted(known, new, side="left")
            for known, new in zip(self.errors_.T, errors.T, strict=True)
        ]
        return len(self.errors_) - np.stack(below, axis=1)


def _errors(outputs: FloatArray) -> tuple[IntArray, IntArray]:
    """Return |0 - o| and |1 - o| as whole numbers."""
    off = to_fixed_point(outputs, RESIDUAL_EXPONENT)
    return off, 2**RESIDUAL_EXPONENT - off

"""The p-values of single labels, combined into one nonconformity score."""

import math
from dataclasses import dataclass

import numpy as np

from labelsure._core.fixed_point import Costs, to_fixed_point
from labelsure._core.types import FloatArray, IntArray, LabelMatrix, MatrixLike
from labelsure.measures._base import Measure, Need

RESIDUAL_EXPONENT = 40
"""Errors are compared as whole numbers of 2^-40, so that |1 - 0.9| and |0 - 0.1| are the tie that they are on paper."""


@dataclass(kw_only=True, eq=False, repr=False)
class LabelWiseCombination(Measure):
    """Minus the sum of the logarithms of the labels' own p-values, found among the errors made in training.

    For the labelset psi with indicator t and outputs o::

        -sum_j log p_j(t_j),    p_j(c) = (#{i in training: |y_ij - o_ij| >= |c - o_j|} + 1) / (n + 1)

    with n training examples. It asks of every label how unusual an error would be *for this label*, so it suits
    learners whose outputs mean different things for different labels, and outputs that are no probabilities.

    Fisher's way to combine p-values takes -2 times this sum for chi-squared, which is valid only for independent
    p-values; those of labels are not. Here the sum is only a score, and a conformal predictor finds its p-value by
    calibration, so the guarantee is that predictor's own, whatever the p_j are.

    Parameters
    ----------
    out_of_fold : bool, default=False
        Whether training errors come from models that had not seen the example: five more fits. Learners that know
        their training examples nearly by heart need it (forests, boosting, nearest neighbours, large networks): else
        every new error is larger than all of training, and labels are hardly told apart.

    Attributes
    ----------
    errors_ : int64 array of shape (n, q)
        The training errors of each label in ascending order, in units of 2^-40.

    References
    ----------
    .. [1] Fisher, R. A. (1932). Statistical Methods for Research Workers, 4th edition, section 21.1.
    .. [2] Vovk, V., Gammerman, A., Shafer, G. (2005). Algorithmic Learning in a Random World. Springer.

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

    @property
    def needs(self) -> Need:  # type: ignore[override]
        """Labels and outputs of training, out-of-fold ones where that was asked for."""
        return Need.TRAINING_LABELS | (Need.OUT_OF_FOLD_OUTPUTS if self.out_of_fold else Need.TRAINING_OUTPUTS)

    def _learn(self, labels: LabelMatrix, outputs: FloatArray | None, X: MatrixLike) -> float:
        assert outputs is not None
        off, on = _errors(outputs)
        self.errors_: IntArray = np.sort(np.where(labels == 1, on, off), axis=0)
        return self.n_labels_ * math.log(len(labels) + 1)

    def _costs(self, outputs: FloatArray, X: MatrixLike) -> Costs:
        n_training = len(self.errors_)
        cost_of_count = np.log(n_training + 1) - np.log(np.arange(n_training + 1) + 1)
        off, on = (cost_of_count[self._count_at_least(errors)] for errors in _errors(outputs))
        return Costs(off=off, on=on)

    def _count_at_least(self, errors: IntArray) -> IntArray:
        """Return how many training errors of its label are as large as each error or larger."""
        below = [np.searchsorted(known, new, side="left") for known, new in zip(self.errors_.T, errors.T, strict=True)]
        return len(self.errors_) - np.stack(below, axis=1)


def _errors(outputs: FloatArray) -> tuple[IntArray, IntArray]:
    """Return |0 - o| and |1 - o| as whole numbers."""
    off = to_fixed_point(outputs, RESIDUAL_EXPONENT)
    return off, 2**RESIDUAL_EXPONENT - off

"""The paper's nonconformity measure."""

from copy import copy
from typing import Self

import numpy as np

from labelsure._core.energy import Energy
from labelsure._core.fixed_point import choose_exponent, to_fixed_point
from labelsure._core.types import BoolArray, FloatArray, IntArray, LabelMatrix, LabelMatrixLike, MatrixLike
from labelsure._core.validation import check_label_matrix, check_number
from labelsure.measures._base import Measure


class PowerMeasure(Measure):
    """Sum of powers of the label-wise errors, plus a penalty for pairs of labels never seen together.

    For the labelset psi with indicator t and outputs o::

        sum_j |t_j - o_j|^d + pair_penalty * #{j < r in psi: no training example has both j and r}

    Parameters
    ----------
    d : float, default=4
        The power, above 0. Large powers let the worst label decide, small ones the number of errors.
    pair_penalty : float, default=0
        The paper's lambda: what each unseen pair adds; at least 0.

    Attributes
    ----------
    n_labels_ : int
        The number of labels.
    unseen_pairs_ : bool array of shape (q, q) or None
        Entry (j, r), j < r, tells whether labels j and r never occur together in the training part; None without
        a penalty for that.
    exponent_ : int
        Scores are whole numbers of 2^-exponent_.

    References
    ----------
    Papadopoulos, H. (2014). A cross-conformal predictor for multi-label classification. AIAI Workshops, 241-250.

    Examples
    --------
    >>> from labelsure.measures import PowerMeasure
    >>> measure = PowerMeasure(d=2, pair_penalty=1.0).fit([[1, 0], [0, 1]])
    >>> energy = measure.energy([[0.5, 0.75]])
    >>> [float(energy.scores([labelset])[0] * 2.0**-measure.exponent_) for labelset in ([0, 1], [1, 1])]
    [0.3125, 1.3125]
    """

    def __init__(self, d: float = 4, *, pair_penalty: float = 0.0) -> None:
        self.d = d
        self.pair_penalty = pair_penalty

    @property
    def needs_training_labels(self) -> bool:
        """Whether there is a penalty for unseen pairs."""
        return check_number(self.pair_penalty, name="pair_penalty", at_least=0) > 0

    def fit(self, Y: LabelMatrixLike, *, outputs: FloatArray | None = None, X: MatrixLike = None) -> Self:  # noqa: ARG002
        """Find the pairs of labels that never occur together; see :meth:`Measure.fit`."""
        check_number(self.d, name="d", above=0)
        penalty = check_number(self.pair_penalty, name="pair_penalty", at_least=0)
        labels: LabelMatrix = check_label_matrix(Y)
        self.n_labels_ = labels.shape[1]
        self.unseen_pairs_: BoolArray | None = None
        if penalty > 0:
            together = labels.T.astype(np.float64) @ labels
            self.unseen_pairs_ = np.triu(together == 0, 1)
        self.bound_ = self.n_labels_ + penalty * self.n_labels_ * (self.n_labels_ - 1) / 2
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
        part.unseen_pairs_ = None if self.unseen_pairs_ is None else self.unseen_pairs_[np.ix_(labels, labels)]
        return part

    def _energy(self, outputs: FloatArray, X: MatrixLike, exponent: int) -> Energy:  # noqa: ARG002
        off = to_fixed_point(np.power(outputs, float(self.d)), exponent)
        on = to_fixed_point(np.power(1 - outputs, float(self.d)), exponent)
        pairwise = None
        if self.unseen_pairs_ is not None:
            pairwise = to_fixed_point(float(self.pair_penalty) * self.unseen_pairs_.astype(np.float64), exponent)
        return Energy(constant=off.sum(axis=1), unary=on - off, pairwise=pairwise)

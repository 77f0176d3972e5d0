"""The paper's nonconformity measure."""

from typing import Self

import numpy as np

from labelsure._core.fixed_point import Costs
from labelsure._core.types import BoolArray, FloatArray, IntArray, LabelMatrix, MatrixLike
from labelsure._core.validation import check_number
from labelsure.measures._base import Measure, Need


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
    unseen_pairs_ : bool array of shape (q, q) or None
        Entry (j, r), j < r, tells whether labels j and r never occur together in the training part; None without
        a penalty for that.

    References
    ----------
    Papadopoulos, H. (2014). A cross-conformal predictor for multi-label classification. AIAI Workshops, 241-250.

    Examples
    --------
    >>> from labelsure.measures import PowerMeasure
    >>> measure = PowerMeasure(d=2, pair_penalty=1.0).fit([[1, 0], [0, 1]])
    >>> measure.scores([[0.5, 0.75], [0.5, 0.75]], [[0, 1], [1, 1]])
    array([0.3125, 1.3125])
    """

    labels_alike = True

    def __init__(self, d: float = 4, *, pair_penalty: float = 0.0) -> None:
        self.d = d
        self.pair_penalty = pair_penalty

    @property
    def needs(self) -> Need:
        """The training labels, where there is a penalty for unseen pairs."""
        return Need.TRAINING_LABELS if self.pair_penalty else Need.NOTHING

    def check_parameters(self, n_labels: int | None = None) -> None:
        """Raise ValueError where the power is not above 0, or the penalty below."""
        check_number(self.d, name="d", above=0)
        check_number(self.pair_penalty, name="pair_penalty", at_least=0)

    def _learn(self, labels: LabelMatrix, outputs: FloatArray | None, X: MatrixLike) -> float:
        self.unseen_pairs_: BoolArray | None = None
        if self.pair_penalty > 0:
            together = labels.T.astype(np.float64) @ labels
            self.unseen_pairs_ = np.triu(together == 0, 1)
        return self.n_labels_ + float(self.pair_penalty) * self.n_labels_ * (self.n_labels_ - 1) / 2

    def restrict(self, labels: IntArray) -> Self:
        """Return the fitted measure for some of the labels alone; see :meth:`Measure.restrict`."""
        part = super().restrict(labels)
        part.unseen_pairs_ = None if self.unseen_pairs_ is None else self.unseen_pairs_[np.ix_(labels, labels)]
        return part

    def _costs(self, outputs: FloatArray, X: MatrixLike) -> Costs:
        d = float(self.d)
        pairs = None if self.unseen_pairs_ is None else float(self.pair_penalty) * self.unseen_pairs_.astype(np.float64)
        return Costs(off=np.power(outputs, d), on=np.power(1 - outputs, d), pairwise=pairs)

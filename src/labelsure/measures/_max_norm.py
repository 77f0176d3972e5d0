"""The largest error of any label."""

from typing import Self

import numpy as np

from labelsure._core.energy import Energy
from labelsure._core.energy_parts import Maximum
from labelsure._core.fixed_point import choose_exponent, to_fixed_point
from labelsure._core.types import FloatArray, LabelMatrixLike, MatrixLike
from labelsure._core.validation import check_label_matrix
from labelsure.measures._base import Measure


class MaxNormMeasure(Measure):
    """The largest of the label-wise errors: one label badly wrong is as strange as all of them.

    For the labelset psi with indicator t and outputs o::

        max_j |t_j - o_j|

    This is the limit for d to infinity of the norms (sum_j |t_j - o_j|^d)^(1/d), which order labelsets as
    :class:`PowerMeasure` does and were proposed for multi-label conformal prediction by [1]_. Many labelsets tie.

    Attributes
    ----------
    n_labels_ : int
        The number of labels.
    exponent_ : int
        Scores are whole numbers of 2^-exponent_.

    Notes
    -----
    A fold's count for a labelset is the smallest of its labels' counts, so all labelsets are searched for any number of
    labels. A sum with another measure, or with a penalty, is no maximum any more: up to 12 labels, all labelsets of an
    object scored one by one.

    References
    ----------
    .. [1] Maltoudoglou, L., Paisios, A., Lenc, L., Martinek, J., Kral, P., Papadopoulos, H. (2022). Well-calibrated
       confidence measures for multi-label text classification with a large number of labels. Pattern Recognition
       122, 108271.

    Examples
    --------
    >>> from labelsure.measures import MaxNormMeasure
    >>> measure = MaxNormMeasure().fit([[1, 0]])
    >>> energy = measure.energy([[0.5, 0.75]])
    >>> [float(energy.scores([labelset])[0] * 2.0**-measure.exponent_) for labelset in ([0, 1], [0, 0])]
    [0.5, 0.75]

    With one fold a region holds all labelsets whose labels are all good enough, here 2^n for n undecided labels:

    >>> import numpy as np
    >>> from labelsure import calibrate_outputs
    >>> rng = np.random.default_rng(0)
    >>> outputs = rng.beta(0.3, 0.6, size=(101, 200))
    >>> Y = (rng.random((100, 200)) < outputs[:100]).astype(int)
    >>> pred = calibrate_outputs(outputs[:100], Y, measure=MaxNormMeasure()).predict_labelsets(outputs[100:])
    >>> region = pred.region(significance=0.2)
    >>> n_undecided = int((region.outer & ~region.inner).sum())
    >>> n_undecided, int(region.sizes[0]) == 2**n_undecided
    (157, True)
    """

    def fit(self, Y: LabelMatrixLike, *, outputs: FloatArray | None = None, X: MatrixLike = None) -> Self:  # noqa: ARG002
        """Learn the number of labels, there is nothing else to learn; see :meth:`Measure.fit`."""
        self.n_labels_ = check_label_matrix(Y).shape[1]
        self.bound_ = 1.0
        self.exponent_ = choose_exponent(self.bound_)
        return self

    def _energy(self, outputs: FloatArray, X: MatrixLike, exponent: int) -> Energy:  # noqa: ARG002
        return Energy(
            constant=np.zeros(len(outputs), dtype=np.int64),
            unary=np.zeros(outputs.shape, dtype=np.int64),
            maximum=Maximum(off=to_fixed_point(outputs, exponent), on=to_fixed_point(1 - outputs, exponent)),
        )

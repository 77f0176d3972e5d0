"""The largest error of any label."""

from labelsure._core.fixed_point import Costs, Form
from labelsure._core.types import FloatArray, LabelMatrix, MatrixLike
from labelsure.measures._base import Measure


class MaxNormMeasure(Measure):
    """The largest of the label-wise errors: one label badly wrong is as strange as all of them.

    For the labelset psi with indicator t and outputs o::

        max_j |t_j - o_j|

    This is the limit for d to infinity of the norms (sum_j |t_j - o_j|^d)^(1/d), which order labelsets as
    :class:`PowerMeasure` does and were proposed for multi-label conformal prediction by [1]_. Many labelsets tie.

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
    >>> measure.scores([[0.5, 0.75], [0.5, 0.75]], [[0, 1], [0, 0]])
    array([0.5 , 0.75])

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

    form: Form = "maximum"

    def _learn(self, labels: LabelMatrix, outputs: FloatArray | None, X: MatrixLike) -> float:
        return 1.0

    def _costs(self, outputs: FloatArray, X: MatrixLike) -> Costs:
        return Costs(off=outputs, on=1 - outputs)

"""The largest error of any label."""

import numpy as np

from labelsure._core.types import FloatArray, IntArray
from labelsure.measures._listing import ListingMeasure


class MaxNormMeasure(ListingMeasure):
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
    A maximum is no sum over labels, so all labelsets of an object are scored one by one: up to 12 labels. With more,
    ``PowerMeasure(d=50)`` comes close.

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
    """

    def _largest_score(self) -> float:
        return 1.0

    def _scores(self, outputs: FloatArray, labelset: IntArray) -> FloatArray:
        scores: FloatArray = np.abs(labelset - outputs).max(axis=1)
        return scores

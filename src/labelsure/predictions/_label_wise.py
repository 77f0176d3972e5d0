"""What a user holds after asking about labels one by one."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from labelsure._core.types import BoolArray, FloatArray, IntArray, LabelMatrix, LabelMatrixLike
from labelsure._core.validation import check_label_matrix, check_same_length
from labelsure.predictions._guarantee import Guarantee
from labelsure.predictions._label_wise_region import LabelWiseRegion


class LabelWisePredictions:
    r"""The plausibility of "off" and "on" for each label of each of n objects.

    Made by ``predict_labels`` of :class:`~labelsure.LabelWiseConformalClassifier` or of what
    :func:`~labelsure.calibrate_labels` returns. With :math:`\alpha_{ij} = |t_{ij} - o_{ij}|` the score of calibration
    example i for label j, and o the outputs for a new object,

    .. math:: p_j(c) = \frac{|\{i : \alpha_{ij} \ge |c - o_j|\}| + 1}{m + 1}, \qquad c = 0, 1,

    over all m calibration examples or, label-conditional, over those with :math:`t_{ij} = c` [1]_.

    Attributes
    ----------
    label_names : tuple of str
        The labels, in the order of the columns.
    conditional : bool
        Whether the p-values are label-conditional.
    guarantee : Guarantee or None
        What is proved about the p-value of one label; None where nothing is.

    References
    ----------
    .. [1] Lambrou, A., Papadopoulos, H. (2016). Binary relevance multi-label conformal predictor. COPA 2016, LNCS
       9653, 90-104.

    Examples
    --------
    >>> from labelsure import calibrate_labels
    >>> predictor = calibrate_labels([[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]])
    >>> pred = predictor.predict_labels([[0.8, 0.3]])
    >>> pred.p_values.tolist()
    [[[0.25, 0.75], [0.25, 0.25]]]
    >>> pred.labels.tolist()
    [[1, 0]]
    """

    def __init__(
        self,
        numerators: IntArray,
        denominators: IntArray,
        *,
        nearer_on: BoolArray,
        conditional: bool,
        guarantee: Guarantee | None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        self._numerators = numerators  # (n, q, 2), of the p-values of off and on
        self._denominators = denominators  # (q, 2)
        self._nearer_on = nearer_on  # (n, q), whether on has the lower score
        self.conditional = conditional
        self.guarantee = guarantee
        names = (f"label_{j}" for j in range(self.n_labels)) if label_names is None else label_names
        self.label_names = tuple(str(name) for name in names)

    @property
    def n_labels(self) -> int:
        """The number of labels."""
        return int(self._numerators.shape[1])

    def __len__(self) -> int:
        return len(self._numerators)

    def __getitem__(self, objects: Any) -> "LabelWisePredictions":
        """Return the predictions of some of the objects: a slice, indices, a boolean mask or a single index."""
        chosen = np.atleast_1d(np.arange(len(self))[objects])
        if chosen.ndim != 1:
            raise IndexError(f"Objects are chosen along one axis, got an index of {chosen.ndim} dimensions.")
        return LabelWisePredictions(
            self._numerators[chosen],
            self._denominators,
            nearer_on=self._nearer_on[chosen],
            conditional=self.conditional,
            guarantee=self.guarantee,
            label_names=self.label_names,
        )

    def __repr__(self) -> str:
        kind = ", label-conditional" if self.conditional else ""
        return f"LabelWisePredictions({len(self)} objects, {self.n_labels} labels{kind})"

    @property
    def p_values(self) -> FloatArray:
        """The p-values of each label being off and on, shape (n, q, 2)."""
        return self._numerators / self._denominators

    @property
    def labels(self) -> LabelMatrix:
        """The more plausible value of each label, shape (n, q); ties by the lower score, then off."""
        p_values = self.p_values
        off, on = p_values[:, :, 0], p_values[:, :, 1]
        labels: LabelMatrix = ((on > off) | ((on == off) & self._nearer_on)).astype(np.int8)
        return labels

    def region(self, significance: float, *, at_most_wrong: int = 0) -> LabelWiseRegion:
        """Return for each label the values that cannot be ruled out, so that few labels are wrong at once.

        Parameters
        ----------
        significance : float
            Strictly between 0 and 1: the probability, that you accept, of more wrong labels than ``at_most_wrong``.
        at_most_wrong : int, default=0
            The number h of labels, 0 to q - 1, that may be wrong. A label keeps the values with a p-value above
            ``significance * (h + 1) / q``.

        Examples
        --------
        >>> from labelsure import calibrate_labels
        >>> predictor = calibrate_labels([[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]])
        >>> region = predictor.predict_labels([[0.8, 0.3]]).region(significance=0.3, at_most_wrong=1)
        >>> region.inner.tolist(), region.outer.tolist(), region.empty.tolist()
        ([[True, False]], [[True, False]], [[False, True]])
        """
        return LabelWiseRegion(
            self._numerators, self._denominators, significance, at_most_wrong=at_most_wrong, guarantee=self.guarantee
        )

    def labelset_p_value(self, Y: LabelMatrixLike) -> FloatArray:
        r"""Return a p-value of one labelset per object, from those of its labels (Bonferroni).

        .. math:: p(\psi) = \min(1, \; q \min_j p_j(t_j))

        With valid p-values of the labels this is valid whatever their dependence; the least of them alone, or their
        product, is not. It is a wide net: a p-value of the labelset itself
        (:class:`~labelsure.InductiveConformalClassifier`) gives much smaller regions.

        Parameters
        ----------
        Y : array-like of shape (n, q)
            Zeros and ones.

        Returns
        -------
        array of shape (n,)

        Examples
        --------
        >>> from labelsure import calibrate_labels
        >>> predictor = calibrate_labels([[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]])
        >>> predictor.predict_labels([[0.8, 0.15]]).labelset_p_value([[1, 0]]).tolist()
        [1.0]
        """
        Y = check_label_matrix(Y, n_labels=self.n_labels)
        check_same_length(range(len(self)), Y, names=("the predictions", "Y"))
        of_labels = np.take_along_axis(self.p_values, Y[:, :, None].astype(np.int64), axis=2)[:, :, 0]
        p_values: FloatArray = np.minimum(1.0, self.n_labels * of_labels.min(axis=1))
        return p_values

    def rank_labels(self) -> FloatArray:
        """Return a number per object and label by which labels can be ranked: the higher, the more plausible.

        It is ``p_j(1) - p_j(0)``. Label-conditional p-values are counted in another group of examples for each label
        and value and are no measure to rank labels by, so for them this raises ValueError.

        Returns
        -------
        array of shape (n, q)

        Examples
        --------
        >>> from labelsure import calibrate_labels
        >>> predictor = calibrate_labels([[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]])
        >>> predictor.predict_labels([[0.8, 0.3]]).rank_labels().tolist()
        [[0.5, 0.0]]
        """
        if self.conditional:
            raise ValueError(
                "Labels cannot be ranked by label-conditional p-values: each is counted in another group of examples."
                " Calibrate with conditional=False, or rank by the outputs."
            )
        p_values = self.p_values
        return p_values[:, :, 1] - p_values[:, :, 0]

"""What a user holds after asking about labels one by one."""

from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from labelsure._checks import (
    BoolArray,
    FloatArray,
    IntArray,
    LabelMatrix,
    LabelMatrixLike,
    check_count,
    check_flag,
    check_significance,
    choose_significance,
    made_up_names,
)
from labelsure.engine._p_values import smallest_numerators
from labelsure.predictions._batch import check_labelsets, choose_objects
from labelsure.predictions._frames import frame_of_labels
from labelsure.predictions._guarantee import LabelWiseGuarantee
from labelsure.predictions._label_wise_joint import JointScores
from labelsure.predictions._label_wise_region import LabelWiseRegion
from labelsure.predictions._show import show_labels


@dataclass(eq=False, repr=False)
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
    nearer_on : bool array of shape (n, q)
        Whether "on" has the lower score.
    joint : JointScores or None
        What p-values of "at most h labels are wrong" are made of; None for label-conditional
        p-values.
    guarantee : LabelWiseGuarantee
        What is proven about the p-values; ``region(0.1).statement`` says it in a sentence.
    index : pandas index or None
        That of the objects, where they came as a DataFrame.

    References
    ----------
    .. [1] Lambrou, A., Papadopoulos, H. (2016). Binary relevance multi-label conformal predictor.
       COPA 2016, LNCS 9653, 90-104.

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

    _numerators: IntArray  # (n, q, 2), of the p-values of off and on
    _denominators: IntArray  # (q, 2)
    _: KW_ONLY
    nearer_on: BoolArray
    joint: JointScores | None
    guarantee: LabelWiseGuarantee
    label_names: tuple[str, ...] = ()
    index: Any = None

    def __post_init__(self) -> None:
        self.label_names = tuple(map(str, self.label_names)) or made_up_names(self.n_labels)

    @property
    def conditional(self) -> bool:
        """Whether the p-values are label-conditional: scores of different values are not compared with each other."""
        return self.joint is None

    @property
    def n_labels(self) -> int:
        """The number of labels."""
        return int(self._numerators.shape[1])

    def __len__(self) -> int:
        return len(self._numerators)

    def __getitem__(self, objects: Any) -> "LabelWisePredictions":
        """Return the predictions of some of the objects: a slice, indices, a boolean mask or a single index."""
        chosen, index = choose_objects(len(self), objects, self.index)
        joint = None if self.joint is None else self.joint.take(chosen)
        numerators, nearer_on = self._numerators[chosen], self.nearer_on[chosen]
        return replace(self, _numerators=numerators, nearer_on=nearer_on, joint=joint, index=index)

    def __repr__(self) -> str:
        kind = ", label-conditional" if self.conditional else ""
        return f"LabelWisePredictions({len(self)} objects, {self.n_labels} labels{kind})"

    def _repr_html_(self) -> str:
        return show_labels(self)

    @property
    def p_values(self) -> FloatArray:
        """The p-values of each label being off and on, shape (n, q, 2)."""
        return self._numerators / self._denominators

    @property
    def labels(self) -> LabelMatrix:
        """The more plausible value of each label, shape (n, q); ties by the lower score, then off."""
        p_values = self.p_values
        off, on = p_values[:, :, 0], p_values[:, :, 1]
        labels: LabelMatrix = ((on > off) | ((on == off) & self.nearer_on)).astype(np.int8)
        return labels

    def region(
        self,
        significance: float | None = None,
        *,
        confidence: float | None = None,
        at_most_wrong: int = 0,
        per_label: bool = False,
    ) -> LabelWiseRegion:
        r"""Return for each label the values that cannot be ruled out.

        So that more than h labels of an object are wrong with probability at most the significance
        :math:`\varepsilon`, the score of an example is the (h + 1)-th largest of its :math:`\alpha_{ij}`, and a label
        keeps the values c whose :math:`|c - o_j|` is within the conformal threshold of these scores. More than h labels
        of a labelset are then ruled out exactly where the labelset's own score is beyond the threshold. Scores of
        different values are not compared with each other in label-conditional p-values: with these a label keeps the
        values with a p-value above :math:`\varepsilon (h + 1) / q`, so that on average at most
        :math:`\varepsilon (h + 1)` labels are wrong, and by Markov's inequality more than h with probability at most
        :math:`\varepsilon` [1]_.

        Parameters
        ----------
        significance : float or None, default=None
            Strictly between 0 and 1: the probability that you accept of more wrong labels than
            ``at_most_wrong`` or, with ``per_label``, of each label by itself being wrong.
        confidence : float or None, default=None
            One minus the significance; give one of the two.
        at_most_wrong : int, default=0
            The number h of labels, 0 to q - 1, that may be wrong.
        per_label : bool, default=False
            Whether each label is decided by itself: it keeps the values with a p-value above the
            significance.

        Warns
        -----
        UserWarning
            Where a significance above 0.5 looks like a confidence.

        References
        ----------
        .. [1] Lambrou, A., Papadopoulos, H. (2016). Binary relevance multi-label conformal
           predictor. COPA 2016, LNCS 9653, 90-104.

        Examples
        --------
        >>> from labelsure import calibrate_labels
        >>> predictor = calibrate_labels([[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]])
        >>> pred = predictor.predict_labels([[0.8, 0.3]])
        >>> pred.region(significance=0.3, at_most_wrong=1).possible_values.tolist()
        [[[False, True], [False, False]]]
        >>> pred.region(significance=0.3, per_label=True).possible_values.tolist()
        [[[False, True], [False, False]]]
        """
        significance = choose_significance(significance, confidence)
        share = check_significance(significance)
        h = self._check_at_most_wrong(at_most_wrong, per_label=per_label)
        if per_label:
            sentence = self.guarantee.state_per_label(float(share))
        elif self.joint is None:
            share *= Fraction(h + 1, self.n_labels)
            sentence = self.guarantee.state_divided(float(share), h)
        else:
            sentence = self.guarantee.state_joint(float(share), h)
        numerators, denominators = self._fractions(None if per_label else h)
        smallest = smallest_numerators(share, denominators)
        return LabelWiseRegion(
            numerators >= smallest,
            self.p_values,
            significance=significance,
            at_most_wrong=None if per_label else h,
            level=share,
            statement=sentence + _out_of_reach(smallest, denominators, share),
            label_names=self.label_names,
            index=self.index,
        )

    def labelset_p_value(self, Y: LabelMatrixLike, *, at_most_wrong: int = 0) -> FloatArray:
        r"""Return a p-value of at most h labels of one labelset per object being wrong.

        It is at most a significance exactly where :meth:`region` at that significance rules out
        more than h labels of the labelset. For label-conditional p-values, with :math:`p_{(h + 1)}`
        the (h + 1)-th smallest of its labels' :math:`p_j(t_j)`, that is :math:`\min(1, \; q \,
        p_{(h + 1)} / (h + 1))`: with h = 0 Bonferroni's, which is valid whatever the dependence of
        the labels; the least of them alone, or their product, is not.

        Parameters
        ----------
        Y : array-like or DataFrame of shape (n, q)
            Zeros and ones; a DataFrame's columns are taken by name.
        at_most_wrong : int, default=0
            The number h of labels, 0 to q - 1, that may be wrong.

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
        Y = check_labelsets(Y, n_objects=len(self), label_names=self.label_names)
        h = self._check_at_most_wrong(at_most_wrong, per_label=False)
        numerators, denominators = self._fractions(h)
        of_values = numerators / denominators
        of_labels = np.take_along_axis(of_values, Y[:, :, None].astype(np.int64), axis=2)[:, :, 0]
        p_values: FloatArray = np.sort(of_labels, axis=1)[:, h]
        return (
            p_values
            if self.joint is not None
            else np.minimum(1.0, self.n_labels * p_values / (h + 1))
        )

    def rank_labels(self) -> FloatArray:
        """Return a number per object and label by which labels can be ranked: the higher, the more plausible.

        It is ``p_j(1) - p_j(0)``. Label-conditional p-values are counted in another group of
        examples for each label and value and are no measure to rank labels by, so for them this
        raises ValueError.

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
                "Labels cannot be ranked by label-conditional p-values: each is counted in"
                " another group of examples."
                " Calibrate with conditional=False, or rank by the outputs."
            )
        p_values = self.p_values
        return p_values[:, :, 1] - p_values[:, :, 0]

    def to_frame(
        self, *, layout: str = "long", prefix: str = "", library: str | None = None
    ) -> Any:
        """Return a DataFrame with one row per object and label: its p-values and its more plausible value.

        With ``layout="wide"`` there is one row per object, with the more plausible value of each
        label.

        Parameters
        ----------
        layout : {"wide", "long"}, default="long"
            "wide": one row per object. "long": one row per object and label.
        prefix : str, default=""
            Put before the names of the labels.
        library : {"pandas", "polars"} or None, default=None
            Which DataFrame to make; None: of the library that the objects came in, else of pandas.
            The index of a pandas table is kept; in polars, which has none, it becomes a column.

        Examples
        --------
        >>> from labelsure import calibrate_labels
        >>> outputs, Y = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]]
        >>> predictor = calibrate_labels(outputs, Y, label_names=["sea", "city"])
        >>> print(predictor.predict_labels([[0.8, 0.15]]).to_frame())
                      p_off  p_on  value
        object label
        0      sea     0.25  0.75      1
               city    0.75  0.25      0
        """
        return frame_of_labels(
            self.labels,
            layout,
            called="value",
            figures=dict,
            p_values=lambda: self.p_values,
            label_names=self.label_names,
            index=self.index,
            prefix=prefix,
            library=library,
        )

    def _fractions(self, at_most_wrong: int | None) -> tuple[IntArray, IntArray]:
        """Return what is compared with a level: joint p-values or, where there are none or for None, the labels'."""
        if at_most_wrong is None or self.joint is None:
            return self._numerators, self._denominators
        return self.joint.numerators(at_most_wrong), np.array([[self.joint.denominator]])

    def _check_at_most_wrong(self, at_most_wrong: int, *, per_label: bool) -> int:
        h = check_count(at_most_wrong, name="at_most_wrong", at_least=0)
        if h >= self.n_labels:
            raise ValueError(
                f"at_most_wrong must be below the number of labels, {self.n_labels}, got {h}:"
                " more labels than there are cannot be wrong."
            )
        if check_flag(per_label, name="per_label") and h:
            raise ValueError(
                f"at_most_wrong={h} and per_label=True are two questions: how many labels are"
                f" wrong at once, and how"
                " often each label is wrong by itself. Ask one of them."
            )
        return h


def _out_of_reach(smallest: IntArray, denominators: IntArray, level: Fraction) -> str:
    """Return a sentence where there are too few examples for a p-value of at most the level, else nothing."""
    out = smallest <= 1
    if not out.any():
        return ""
    few, enough = int(denominators[out].max()) - 1, -(-level.denominator // level.numerator) - 1
    if out.all():
        return f" Nothing can be ruled out at this level, which takes {enough} calibration examples: there are {few}."
    return (
        f" {out.sum()} of the {out.size} values of labels cannot be ruled out at this level,"
        f" which takes {enough}"
        f" calibration examples with that value: there are at most {few}."
    )

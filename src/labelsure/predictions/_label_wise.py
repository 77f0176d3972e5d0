"""Predictions and regions of single labels, and joint scores of at most h wrong labels."""

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from math import comb
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
from labelsure._random import DRAW_UNIT
from labelsure.engine import RegionSize
from labelsure.engine._p_values import GroupWeights, smallest_numerators, sum_largest, weigh_scores
from labelsure.predictions._batch import check_labelsets, choose_objects
from labelsure.predictions._frames import describe_labels, frame_of_labels
from labelsure.predictions._guarantee import LabelWiseGuarantee
from labelsure.predictions._region import Region
from labelsure.predictions._show import show_labels, show_region

BLOCK_ENTRIES = 2**21
"""Counts held at a time."""


@dataclass(frozen=True, eq=False)
class JointScores:
    r"""Scores of new objects and of calibration examples, for p-values of "at most h are wrong".

    Let s(psi) be the (h + 1)-th largest of the :math:`|t_j - o_j|` of a labelset psi. More than
    h labels of psi have a :math:`|t_j - o_j|` beyond a threshold if and only if s(psi) is
    beyond it. So with the conformal threshold of the calibration examples' s, each label keeps
    the values within the threshold, and more than h labels of the truth are ruled out exactly
    where its conformal p-value is at most the significance.

    With several folds, fold k counts g_k(j, c) calibration scores that are at least |c - o_j|
    under its own model, and p(psi) is computed from the sum over the folds of their counts for
    s(psi). Where h + 1 labels of psi are ruled out, s(psi) is at least the least of their
    scores in every fold, so that sum is at most the sum of the largest g_k among these labels.
    With h = 0 that is the sum for one label. For h > 0 the values of all labels are put in the
    order of their sums, and a value is ruled out together with all before it: where the sum
    over the folds of the largest g_k among *all* of them is small enough, it is for any h + 1
    of them. Again more than h labels are ruled out only where p(psi) is at most the
    significance, and what is proven about cross-conformal p-values holds. The sum for one label
    would not do for h > 0: folds that are wrong about different labels may be right about every
    labelset.

    Attributes
    ----------
    off : int64 array of shape (K, n, q)
        ``|0 - o_j|`` under each fold's model; ``|1 - o_j|`` is ``unit`` minus that.
    unit : int
        What 1 is.
    examples : sequence of K int64 arrays of shape (m_k, q)
        ``|t_j - o_j|`` of each fold's calibration examples, in descending order in each row.
    draws : int64 array of shape (n,) or None
        For smoothed p-values.
    weights : GroupWeights or None
        How much the examples of one fold count, where they do not count alike.

    Examples
    --------
    >>> one_fold = np.array([[[1, 7]]])
    >>> joint = JointScores(one_fold, 8, [np.array([[6, 1], [3, 0], [2, 2]])], None)
    >>> joint.numerators(0).tolist(), joint.numerators(1).tolist(), joint.denominator
    ([[[4, 1], [1, 4]]], [[[3, 1], [1, 3]]], 4)
    """

    off: IntArray
    unit: int
    examples: Sequence[IntArray]
    draws: IntArray | None
    weights: GroupWeights | None = None

    @property
    def denominator(self) -> int:
        """The denominator of the p-values."""
        if self.weights is not None:
            return self.weights.denominator
        return (sum(map(len, self.examples)) + 1) * (1 if self.draws is None else DRAW_UNIT)

    def take(self, objects: IntArray) -> "JointScores":
        """Return the scores of some of the objects."""
        draws = None if self.draws is None else self.draws[objects]
        return replace(self, off=self.off[:, objects], draws=draws)

    def numerators(self, n_wrong: int) -> IntArray:
        """Return a numerator for "off" and "on" of each label, (n, q, 2).

        The numerator of a labelset, of the p-value of at most ``n_wrong`` of its labels being
        wrong, is the (n_wrong + 1)-th smallest of those of its labels' values.
        """
        calibrations = [np.sort(scores[:, n_wrong]) for scores in self.examples]
        n_folds, n_objects, n_labels = self.off.shape
        n_block = max(1, BLOCK_ENTRIES // (2 * n_folds * n_labels))
        blocks = []
        for start in range(0, n_objects, n_block):
            some = self.take(np.arange(start, min(start + n_block, n_objects)))
            blocks.append(some._add_up(calibrations, together=n_wrong > 0))
        counts = np.concatenate([np.empty((0, n_labels, 2), dtype=np.int64), *blocks])
        own = np.int64(1) if self.draws is None else self.draws[:, None, None]
        if self.weights is not None:
            counts = sum_largest(self.examples[0][:, n_wrong], self.weights.examples)[counts]
            own = np.int64(self.weights.new)
        numerators: IntArray = counts + own
        return numerators

    def _add_up(self, calibrations: Sequence[IntArray], *, together: bool) -> IntArray:
        """Return the sums of the folds' counts for each value, alone or with all smaller ones."""
        _, n, q = self.off.shape
        counts: IntArray = np.empty((len(calibrations), n, q, 2), dtype=np.int64)
        for k, (fold, off) in enumerate(zip(calibrations, self.off, strict=True)):
            counts[k] = weigh_scores(fold, np.stack([off, self.unit - off], axis=2), self.draws)
        counts = counts.reshape(len(calibrations), n, 2 * q)
        sums: IntArray = counts.sum(axis=0)
        if together:
            order = np.argsort(sums, axis=1, kind="stable")
            largest = np.maximum.accumulate(np.take_along_axis(counts, order[None], axis=2), axis=2)
            np.put_along_axis(sums, order, largest.sum(axis=0), axis=1)
        return sums.reshape(n, q, 2)


@dataclass(frozen=True, eq=False, repr=False)
class LabelWiseRegion(Region):
    """For each label of each object the values that cannot be ruled out.

    Made by :meth:`LabelWisePredictions.region`, which says how.

    Attributes
    ----------
    possible_values : bool array of shape (n, q, 2)
        Whether each label may be off and whether it may be on.
    p_values : array of shape (n, q, 2)
        Those of each label by itself.
    significance : float
        The requested significance.
    at_most_wrong : int or None
        h, the number of labels that may be wrong; None where each label is decided by itself.
    level : fractions.Fraction
        The level that p-values are compared with: the significance, or its share for one label.
    statement : str
        What is proven about these regions, under which conditions, and by whom.
    label_names : tuple of str
        The labels.
    index : pandas index or None
        That of the objects, where they came as a DataFrame.

    Examples
    --------
    >>> from labelsure import calibrate_labels
    >>> predictor = calibrate_labels([[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]])
    >>> region = predictor.predict_labels([[0.8, 0.15]]).region(significance=0.25)
    >>> region.possible_values.tolist()
    [[[False, True], [True, False]]]
    >>> region.contains([[1, 0]]).tolist(), region.n_wrong([[0, 1]]).tolist(), region.sizes.tolist()
    ([True], [2], [1])
    >>> print(region.statement)
    Some label is wrong with probability at most 0.25, for exchangeable examples (Papadopoulos,
    Proedrou, Vovk,
    Gammerman 2002; Vovk, Gammerman, Shafer 2005). Each label by itself is wrong with at most that
    probability too.
    """

    possible_values: BoolArray
    p_values: FloatArray
    significance: float
    at_most_wrong: int | None
    level: Fraction
    statement: str
    label_names: tuple[str, ...]
    index: Any = None

    def __len__(self) -> int:
        return len(self.possible_values)

    def __getitem__(self, objects: Any) -> "LabelWiseRegion":
        """Return the regions of some objects: a slice, indices, a boolean mask or one index."""
        chosen, index = choose_objects(len(self), objects, self.index)
        return replace(
            self,
            possible_values=self.possible_values[chosen],
            p_values=self.p_values[chosen],
            index=index,
        )

    def __iter__(self) -> Iterator["LabelWiseRegion"]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        h = self.at_most_wrong
        wrong = {None: ", per_label=True", 0: ""}.get(h, f", at_most_wrong={h}")
        return f"LabelWiseRegion(significance={self.significance}{wrong}, {len(self)} objects)"

    def _repr_html_(self) -> str:
        return show_region(self, "A label that can be neither on nor off makes an object strange.")

    @property
    def empty(self) -> BoolArray:
        """The labels that can be neither off nor on, shape (n, q); they count as wrong."""
        return ~(self.possible_values[:, :, 0] | self.possible_values[:, :, 1])

    def wrong(self, Y: LabelMatrixLike) -> BoolArray:
        """Tell which labels of one labelset per object have a value that was ruled out, (n, q).

        Parameters
        ----------
        Y : array-like or DataFrame of shape (n, q)
            Zeros and ones; a DataFrame's columns are taken by name.
        """
        Y = check_labelsets(Y, n_objects=len(self), label_names=self.label_names)
        right: BoolArray = _take_values(self.possible_values, Y)
        return ~right

    def n_wrong(self, Y: LabelMatrixLike) -> IntArray:
        """Return how many labels of one labelset per object have a value that was ruled out.

        Parameters
        ----------
        Y : array-like or DataFrame of shape (n, q)
            Zeros and ones; a DataFrame's columns are taken by name.
        """
        n_wrong: IntArray = np.sum(self.wrong(Y), axis=1, dtype=np.int64)
        return n_wrong

    def contains(self, Y: LabelMatrixLike) -> BoolArray:
        """Tell whether at most ``at_most_wrong`` labels of one labelset per object are ruled out.

        With the true labelsets, the share of False is the error rate, which ``significance``
        bounds. Where each label is decided by itself none may be ruled out, and what is bounded is
        the share of True of each column of :meth:`wrong`.

        Parameters
        ----------
        Y : array-like or DataFrame of shape (n, q)
            Zeros and ones; a DataFrame's columns are taken by name.
        """
        members: BoolArray = self.n_wrong(Y) <= (self.at_most_wrong or 0)
        return members

    @cached_property
    def size_estimates(self) -> tuple[RegionSize, ...]:
        """The number of labelsets that :meth:`contains` accepts for each object, counted exactly.

        With ``at_most_wrong=0`` that is 2 to the number of undecided labels, or 0 where a label can
        be neither off nor on. Else both values of an empty or undecided label count, and of the
        others up to h - n_empty flip.
        """
        sizes, h = [], self.at_most_wrong or 0
        n_empty, n_both = self.empty.sum(axis=1), self.undecided.sum(axis=1)
        for empty, both in zip(n_empty.tolist(), n_both.tolist(), strict=True):
            n_single = len(self.label_names) - empty - both
            n_flipped = sum(comb(n_single, flips) for flips in range(h - empty + 1))
            sizes.append(RegionSize.counted((1 << empty + both) * n_flipped))
        return tuple(sizes)

    def to_frame(
        self, *, layout: str = "long", prefix: str = "", library: str | None = None
    ) -> Any:
        """Return a DataFrame with one row per object and label: its p-values and the decision.

        With ``layout="wide"`` there is one row per object, with a decision for each label and the
        number of labelsets. ``decision`` is "sure" (the label can only be on), "possible" (it may
        be either), "ruled out" (it can only be off) or "neither" (both values are ruled out).

        Parameters
        ----------
        layout : {"wide", "long"}, default="long"
            "wide": one row per object. "long": one row per object and label.
        prefix : str, default=""
            Put before the names of the labels, for labels called "size".
        library : {"pandas", "polars"} or None, default=None
            Which DataFrame to make; None: of the library that the objects came in, else of pandas.
            The index of a pandas table is kept; in polars, which has none, it becomes a column.

        Examples
        --------
        >>> from labelsure import calibrate_labels
        >>> outputs, Y = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]]
        >>> predictor = calibrate_labels(outputs, Y, label_names=["sea", "city"])
        >>> print(predictor.predict_labels([[0.8, 0.15]]).region(0.25).to_frame())
                      p_off  p_on   decision
        object label
        0      sea     0.25  0.75       sure
               city    0.75  0.25  ruled out
        """
        said = describe_labels(self.possible_values, neither="neither")
        table = partial(frame_of_labels, self, said, "decision", layout, prefix, library)
        return table(p_values=lambda: self.p_values, figures=lambda: {"size": self.sizes})


@dataclass(eq=False, repr=False)
class LabelWisePredictions:
    r"""The plausibility of "off" and "on" for each label of each of n objects.

    Made by ``predict_labels`` of :class:`~labelsure.LabelWiseConformalClassifier` or of what
    :func:`~labelsure.calibrate_labels` returns. With :math:`\alpha_{ij} = |t_{ij} - o_{ij}|` the
    score of calibration example i for label j, and o the outputs for a new object,

    .. math:: p_j(c) = \frac{|\{i : \alpha_{ij} \ge |c - o_j|\}| + 1}{m + 1}, \qquad c = 0, 1,

    over all m calibration examples or, label-conditional, over those with :math:`t_{ij} = c` [1]_.

    Attributes
    ----------
    label_names : tuple of str
        The labels, in the order of the columns.
    nearer_on : bool array of shape (n, q)
        Whether "on" has the lower score.
    joint : JointScores or None
        The scores behind p-values of "at most h labels are wrong"; None for label-conditional
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
        """Whether p-values are label-conditional: scores of the two values are not compared."""
        return self.joint is None

    @property
    def n_labels(self) -> int:
        """The number of labels."""
        return int(self._numerators.shape[1])

    def __len__(self) -> int:
        return len(self._numerators)

    def __getitem__(self, objects: Any) -> "LabelWisePredictions":
        """Return the predictions of some objects: a slice, indices, a boolean mask or one index."""
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
        """The more plausible value of each label, (n, q); ties by the lower score, then off."""
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
        :math:`\varepsilon`, the score of an example is the (h + 1)-th largest of its
        :math:`\alpha_{ij}`, and a label keeps the values c whose :math:`|c - o_j|` is within the
        conformal threshold of these scores. More than h labels of a labelset are then ruled out
        exactly where the labelset's own score is beyond the threshold. Scores of different values
        are not compared with each other in label-conditional p-values: with these a label keeps the
        values with a p-value above :math:`\varepsilon (h + 1) / q`, so that on average at most
        :math:`\varepsilon (h + 1)` labels are wrong, and by Markov's inequality more than h with
        probability at most :math:`\varepsilon` [1]_.

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
        >>> outputs, Y = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]]
        >>> predictor = calibrate_labels(outputs, Y)
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
        >>> outputs, Y = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]]
        >>> predictor = calibrate_labels(outputs, Y)
        >>> predictor.predict_labels([[0.8, 0.15]]).labelset_p_value([[1, 0]]).tolist()
        [1.0]
        """
        Y = check_labelsets(Y, n_objects=len(self), label_names=self.label_names)
        h = self._check_at_most_wrong(at_most_wrong, per_label=False)
        numerators, denominators = self._fractions(h)
        of_labels = _take_values(numerators / denominators, Y)
        p_values: FloatArray = np.sort(of_labels, axis=1)[:, h]
        if self.joint is not None:
            return p_values
        return np.minimum(1.0, self.n_labels * p_values / (h + 1))

    def rank_labels(self) -> FloatArray:
        """Return a number per object and label to rank labels by: the higher, the more plausible.

        It is ``p_j(1) - p_j(0)``. Label-conditional p-values are counted in another group of
        examples for each label and value and are no measure to rank labels by, so for them this
        raises ValueError.

        Returns
        -------
        array of shape (n, q)

        Examples
        --------
        >>> from labelsure import calibrate_labels
        >>> outputs, Y = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]]
        >>> predictor = calibrate_labels(outputs, Y)
        >>> predictor.predict_labels([[0.8, 0.3]]).rank_labels().tolist()
        [[0.5, 0.0]]
        """
        if self.conditional:
            raise ValueError(
                "Labels cannot be ranked by label-conditional p-values: each is counted in another"
                " group of examples. Calibrate with conditional=False, or rank by the outputs."
            )
        p_values = self.p_values
        return p_values[:, :, 1] - p_values[:, :, 0]

    def to_frame(
        self, *, layout: str = "long", prefix: str = "", library: str | None = None
    ) -> Any:
        """Return a DataFrame with one row per object and label: p-values, more plausible value.

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
            self, self.labels, "value", layout, prefix, library, p_values=lambda: self.p_values
        )

    def _fractions(self, at_most_wrong: int | None) -> tuple[IntArray, IntArray]:
        """Return what is compared with a level: joint p-values, or for None those of labels."""
        if at_most_wrong is None or self.joint is None:
            return self._numerators, self._denominators
        return self.joint.numerators(at_most_wrong), np.array([[self.joint.denominator]])

    def _check_at_most_wrong(self, at_most_wrong: int, *, per_label: bool) -> int:
        h = check_count(at_most_wrong, name="at_most_wrong", at_least=0)
        if h >= self.n_labels:
            raise ValueError(
                f"at_most_wrong must be below the number of labels, {self.n_labels}, got {h}: more"
                " labels than there are cannot be wrong."
            )
        if check_flag(per_label, name="per_label") and h:
            raise ValueError(
                f"at_most_wrong={h} and per_label=True are two questions: how many labels are wrong"
                " at once, and how often each label is wrong by itself. Ask one of them."
            )
        return h


def _take_values(table: Any, Y: LabelMatrix) -> Any:
    """Return the entries of a table of shape (n, q, 2) for the values of labels, (n, q)."""
    return np.take_along_axis(table, Y[:, :, None].astype(np.int64), axis=2)[:, :, 0]


def _out_of_reach(smallest: IntArray, denominators: IntArray, level: Fraction) -> str:
    """Return a sentence if there are too few examples for a p-value up to the level, else ""."""
    out = smallest <= 1
    if not out.any():
        return ""
    few, enough = int(denominators[out].max()) - 1, -(-level.denominator // level.numerator) - 1
    if out.all():
        return (
            f" Nothing can be ruled out at this level, which takes {enough} calibration examples:"
            f" there are {few}."
        )
    return (
        f" {out.sum()} of the {out.size} values of labels cannot be ruled out at this level, which"
        f" takes {enough} calibration examples with that value: there are at most {few}."
    )

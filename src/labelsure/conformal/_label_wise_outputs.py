"""Label-wise p-values: scores and counts of single labels, and the way in for ready-made outputs."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np

from labelsure._checks import (
    BoolArray,
    FloatArray,
    IntArray,
    LabelMatrix,
    LabelMatrixLike,
    check_examples,
    check_flag,
    check_gaps,
    check_outputs,
    check_same_length,
    read_unknown,
    row_index_of,
    split_unknown,
)
from labelsure._random import DRAW_UNIT, SMOOTHING, draw_seeds, draw_uniforms
from labelsure.conformal._groups import GroupSizes, state_groups
from labelsure.conformal._guarantees import state_guarantee
from labelsure.conformal._ready_outputs import keys_of, read_per_fold, rows_of_folds
from labelsure.conformal._updating import check_one_fold
from labelsure.engine._p_values import GroupWeights, weigh_scores
from labelsure.measures._fixed_point import choose_exponent, to_fixed_point
from labelsure.predictions import Guarantee, LabelWiseGuarantee, LabelWisePredictions
from labelsure.predictions._label_wise import JointScores

EXPONENT = choose_exponent(1.0)
"""Scores |c - o| lie between 0 and 1."""

UNIT = 2**EXPONENT


@dataclass(frozen=True, eq=False)
class LabelCalibration:
    """The scores ``|t_j - o_j|`` of one fold's calibration examples, label by label.

    Attributes
    ----------
    scores : int64 array of shape (m, q)
        Those of each example, in descending order; of examples without unknown labels.
    groups : sequence of q pairs of int64 arrays
        The scores that "off" and "on" are compared with: label-conditional, those of the examples
        with that value of the label; else those of all examples, twice.
    conditional : bool
        Whether the scores are those of the examples with the same value.
    n_incomplete : int
        How many examples have unknown labels, and calibrate the others.
    n_together : int64 array of shape (m, q + 1) or None
        Where examples count by the sizes of their groups, these sizes: for each label by descending
        score, and in the order of ``scores``.

    Examples
    --------
    >>> import numpy as np
    >>> outputs, Y = np.array([[0.75], [0.5], [0.25]]), np.array([[1], [0], [0]])
    >>> LabelCalibration.of(outputs, Y, conditional=False).weigh(score_values(np.array([[0.5]])), None).tolist()
    [[[1, 1]]]
    >>> LabelCalibration.of(outputs, Y, conditional=True).weigh(score_values(np.array([[0.5]])), None).tolist()
    [[[1, 0]]]
    """

    scores: IntArray
    groups: Sequence[tuple[IntArray, IntArray]]
    conditional: bool
    n_incomplete: int = 0
    n_together: IntArray | None = None

    @classmethod
    def of(
        cls,
        outputs: FloatArray,
        Y: LabelMatrix,
        *,
        conditional: bool,
        unknown: BoolArray | None = None,
        sizes: IntArray | None = None,
    ) -> "LabelCalibration":
        """Return the calibration of these outputs and labels, (m, q) each; labels do not matter where unknown.

        ``sizes`` are those of the examples' groups, where they count by them.
        """
        known = np.ones(Y.shape, dtype=bool) if unknown is None else ~unknown
        scores = np.take_along_axis(score_values(outputs), Y[:, :, None].astype(np.int64), axis=2)[
            :, :, 0
        ]
        groups = []
        for j in range(Y.shape[1]):
            if conditional:
                off, on = (np.sort(scores[known[:, j] & (Y[:, j] == c), j]) for c in (0, 1))
            else:
                off = on = np.sort(scores[known[:, j], j])
            groups.append((off, on))
        complete, together = known.all(axis=1), None
        if sizes is not None:
            together = np.column_stack([sizes[np.argsort(-scores, axis=0, kind="stable")], sizes])
        return cls(
            -np.sort(-scores[complete], axis=1),
            groups,
            conditional,
            int((~complete).sum()),
            together,
        )

    def joined_by(self, other: "LabelCalibration") -> "LabelCalibration":
        """Return the calibration of the examples of both, the same whoever comes first."""
        pairs = zip(self.groups, other.groups, strict=True)
        groups = [
            (np.sort(np.append(a[0], b[0])), np.sort(np.append(a[1], b[1]))) for a, b in pairs
        ]
        scores = np.concatenate([self.scores, other.scores])
        return LabelCalibration(
            scores, groups, self.conditional, self.n_incomplete + other.n_incomplete
        )

    @property
    def group_sizes(self) -> IntArray:
        """The number of examples that "off" and "on" of each label are compared with, shape (q, 2)."""
        return np.array([[len(off), len(on)] for off, on in self.groups], dtype=np.int64)

    @property
    def group_weights(self) -> GroupWeights | None:
        """How much the examples count, in the order of ``scores``, where they do not count alike."""
        return None if self.n_together is None else GroupWeights.of(self.n_together[:, -1])

    def weigh(self, scores: IntArray, draws: IntArray | None) -> IntArray:
        """Return how much the calibration scores that are at least those of each value count, (n, q, 2)."""
        weights, of_groups = np.empty_like(scores), self.group_weights
        for j, group in enumerate(self.groups):
            for c, calibration in enumerate(group):
                weights[:, j, c] = weigh_scores(calibration, scores[:, j, c], draws)
            if self.n_together is not None and of_groups is not None:
                of_largest = np.cumsum(of_groups.unit // self.n_together[:, j])
                weights[:, j] = np.concatenate([[0], of_largest])[weights[:, j]]
        return weights


def score_values(outputs: FloatArray) -> IntArray:
    """Return |c - o_j| for c = 0 and c = 1 in units of 2^-EXPONENT, shape (n, q, 2)."""
    off = to_fixed_point(outputs, EXPONENT)
    return np.stack([off, UNIT - off], axis=2)


def predict_values(
    folds: Sequence[LabelCalibration],
    outputs: Sequence[FloatArray],
    *,
    draws: IntArray | None,
    label_names: Sequence[str] | None,
    index: Any = None,
    complementary: bool = True,
    groups: GroupSizes | None = None,
) -> LabelWisePredictions:
    """Return the p-values of each label's values for new objects.

    Parameters
    ----------
    folds : sequence of LabelCalibration
        One for an inductive predictor, K for a cross-conformal one.
    outputs : sequence of arrays of shape (n, q)
        Of each fold's model.
    draws : int64 array of shape (n,) or None
        For smoothed p-values, one number from 1 to ``DRAW_UNIT`` per object.
    label_names : sequence of str or None
        The labels' names.
    index : pandas index or None
        That of the objects.
    complementary : bool
        Whether each fold's model was trained on all other examples.
    groups : GroupSizes or None
        How large groups are, where examples belong together.
    """
    scores = [score_values(fold_outputs) for fold_outputs in outputs]
    weights = [fold.weigh(of_values, draws) for fold, of_values in zip(folds, scores, strict=True)]
    sizes = sum_up([fold.group_sizes for fold in folds])
    unit, own = (1, np.int64(1)) if draws is None else (DRAW_UNIT, draws[:, None, None])
    totals, denominators = sum_up(scores), (sizes + 1) * unit
    group_weights = folds[0].group_weights
    if group_weights is not None:
        own, denominators = (
            np.int64(group_weights.new),
            np.full_like(sizes, group_weights.denominator),
        )
    incomplete = any(fold.n_incomplete for fold in folds)
    plain = draws is None and not folds[0].conditional and not incomplete
    of_groups = None if groups is None else state_groups(groups, plain=plain)
    return LabelWisePredictions(
        np.where(
            sizes == 0, denominators, sum_up(weights) + own
        ),  # 1 where there is nothing to compare with
        denominators,
        nearer_on=totals[:, :, 1] < totals[:, :, 0],
        joint=None if folds[0].conditional else _join(folds, scores, draws),
        guarantee=state_guarantee_of_labels(
            folds,
            complementary=complementary and draws is None and not incomplete,
            of_groups=of_groups,
        ),
        label_names=tuple(label_names or ()),
        index=index,
    )


def _join(
    folds: Sequence[LabelCalibration], scores: Sequence[IntArray], draws: IntArray | None
) -> JointScores:
    off = np.stack([of_values[:, :, 0] for of_values in scores])
    return JointScores(off, UNIT, [fold.scores for fold in folds], draws, folds[0].group_weights)


def state_guarantee_of_labels(
    folds: Sequence[LabelCalibration], *, complementary: bool, of_groups: Guarantee | None = None
) -> LabelWiseGuarantee:
    """Return what is proven about p-values of labels from these folds; ``of_groups`` takes the place of all else."""
    sizes, conditional = (
        [len(fold.scores) for fold in folds],
        folds[0].conditional and of_groups is None,
    )
    n_incomplete = sum(fold.n_incomplete for fold in folds)
    name = "inductive" if len(sizes) == 1 else "cross"
    if not any(
        sizes
    ):  # no example is complete: what is said of all labels together is said of one that is not there
        sizes = [1] * len(sizes)
    return LabelWiseGuarantee(
        sum_up([fold.group_sizes for fold in folds]),
        sum_up([(fold.group_sizes > 0).astype(np.int64) for fold in folds]),
        conditional,
        of_groups
        or state_guarantee(name, [sizes], complementary=complementary and not conditional),
        n_incomplete,
    )


def sum_up(arrays: Sequence[IntArray]) -> IntArray:
    """Return the sum of whole numbers over the folds."""
    total: IntArray = np.sum(arrays, axis=0, dtype=np.int64)
    return total


@dataclass(eq=False, repr=False)
class LabelWiseOutputsPredictor:
    """A calibrated label-wise predictor that works on outputs, made by :func:`calibrate_labels`.

    Attributes
    ----------
    calibrated : tuple of LabelCalibration
        The scores of the calibration examples, one per fold.
    fold_numbers : int array of shape (K,) or None
        The fold numbers in ascending order, the order in which new outputs are expected; None for
        an inductive one.
    n_labels : int
        The number of labels.
    label_names : sequence of str or None
        What they are called.
    draw_seed : int or None
        For the draws of smoothed p-values; None where they are not.

    Examples
    --------
    >>> from labelsure import calibrate_labels
    >>> predictor = calibrate_labels([[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]])
    >>> predictor.predict_labels([[0.8, 0.15]]).p_values.tolist()
    [[[0.25, 0.75], [0.75, 0.25]]]
    """

    calibrated: tuple[LabelCalibration, ...]
    fold_numbers: IntArray | None
    n_labels: int
    label_names: Sequence[str] | None
    draw_seed: int | None

    def __repr__(self) -> str:
        n = sum(len(fold.scores) + fold.n_incomplete for fold in self.calibrated)
        folds = "" if self.fold_numbers is None else f" in {len(self.calibrated)} folds"
        return f"LabelWiseOutputsPredictor({self.n_labels} labels, {n} calibration examples{folds})"

    def predict_labels(self, outputs: Any) -> LabelWisePredictions:
        """Return p-values of each label being off and on for new objects.

        Parameters
        ----------
        outputs : array-like of shape (n_objects, n_labels), or (K, n_objects, n_labels) for a cross-conformal one
            Between 0 and 1: of the one model, or of each fold's model in the order of
            ``fold_numbers``.
        """
        names = self.label_names
        read = partial(check_outputs, n_labels=self.n_labels, label_names=names)
        checked = read_per_fold(outputs, self.fold_numbers, self.n_labels, read)
        draws = (
            None
            if self.draw_seed is None
            else draw_uniforms(self.draw_seed, SMOOTHING, keys_of(checked))
        )
        index = row_index_of(outputs if self.fold_numbers is None else outputs[0])
        return predict_values(self.calibrated, checked, draws=draws, label_names=names, index=index)

    def update(self, outputs: Any, Y: LabelMatrixLike) -> Self:
        """Add calibration examples to an inductive predictor, in place: :meth:`InductiveConformalClassifier.update`.

        Parameters
        ----------
        outputs : array-like of shape (n_objects, n_labels)
            Of the model, for new examples that it was not trained on.
        Y : array-like, sparse matrix or DataFrame of shape (n_objects, n_labels)
            Their labels, zeros and ones; NaN where a label is unknown.
        """
        check_one_fold(self.calibrated)
        names = self.label_names
        labels, unknown = check_gaps(Y, n_labels=self.n_labels, label_names=names)
        read = partial(check_outputs, n_labels=self.n_labels, label_names=names)
        (checked,) = read_per_fold(outputs, self.fold_numbers, self.n_labels, read)
        check_same_length(checked, labels, names=("outputs", "Y"))
        (old,) = self.calibrated
        new = LabelCalibration.of(checked, labels, conditional=old.conditional, unknown=unknown)
        self.calibrated = (old.joined_by(new),)
        return self


def calibrate_labels(
    outputs: Any,
    Y: LabelMatrixLike,
    *,
    folds: Any = None,
    conditional: bool = False,
    label_names: Sequence[str] | None = None,
    smoothed: bool = False,
    random_state: Any = None,
) -> LabelWiseOutputsPredictor:
    """Turn ready-made outputs of calibration examples into a label-wise predictor; no estimator is involved.

    Its p-values are those of :class:`LabelWiseConformalClassifier`, with the same guarantees.

    Parameters
    ----------
    outputs : array-like of shape (n, q)
        What a model says about each calibration example, between 0 and 1. The model must not have
        been trained on it.
    Y : array-like, sparse matrix or DataFrame of shape (n, q)
        The calibration examples' labels, zeros and ones; NaN where a label is unknown. Each label
        is calibrated with the examples where it is known.
    folds : array-like of shape (n,) or None, default=None
        None: one model gave all outputs, an inductive predictor. Else the fold number of each
        example, whose output comes from a model trained on the other folds.
    conditional : bool, default=False
        Whether examples are counted only among those with the same value of the label.
    label_names : sequence of str or None, default=None
        Names of the labels; those of ``Y`` if it is a DataFrame.
    smoothed, random_state
        As in :class:`LabelWiseConformalClassifier`.

    Returns
    -------
    LabelWiseOutputsPredictor
        Its ``predict_labels`` takes outputs for new objects.

    References
    ----------
    .. [1] Lambrou, A., Papadopoulos, H. (2016). Binary relevance multi-label conformal predictor.
       COPA 2016, LNCS 9653, 90-104.

    Examples
    --------
    >>> from labelsure import calibrate_labels
    >>> outputs, Y = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8], [0.4, 0.1]], [[1, 0], [1, 0], [0, 1], [0, 0]]
    >>> predictor = calibrate_labels(outputs, Y, conditional=True, label_names=["sea", "city"])
    >>> predictor.predict_labels([[0.8, 0.3]]).p_values.round(2).tolist()
    [[[0.33, 0.67], [0.25, 0.5]]]
    """
    filled, missing = split_unknown(Y)
    checked, labels, names = check_examples(outputs, filled, label_names)
    unknown = read_unknown(missing, label_names, name="Y")
    rows, fold_numbers = rows_of_folds(folds, len(labels))
    calibrated = [
        LabelCalibration.of(
            checked[part],
            labels[part],
            conditional=check_flag(conditional, name="conditional"),
            unknown=None if unknown is None else unknown[part],
        )
        for part in rows
    ]
    draw_seed = draw_seeds(random_state, 1)[0] if check_flag(smoothed, name="smoothed") else None
    return LabelWiseOutputsPredictor(
        tuple(calibrated), fold_numbers, labels.shape[1], names, draw_seed
    )

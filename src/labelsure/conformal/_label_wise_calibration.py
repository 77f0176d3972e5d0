"""Scores and counts of single labels: what label-wise p-values are made of."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from labelsure._core.calibration import Calibration
from labelsure._core.fixed_point import choose_exponent, to_fixed_point
from labelsure._core.p_values import weigh_scores
from labelsure._core.randomness import DRAW_UNIT
from labelsure._core.types import FloatArray, IntArray, LabelMatrix
from labelsure.conformal._guarantees import state_guarantee
from labelsure.predictions import JointScores, LabelWiseGuarantee, LabelWisePredictions

EXPONENT = choose_exponent(1.0)
"""Scores |c - o| lie between 0 and 1."""

UNIT = 2**EXPONENT


@dataclass(frozen=True, eq=False)
class LabelCalibration:
    """The scores |t_j - o_j| of one fold's calibration examples, label by label.

    Attributes
    ----------
    scores : int64 array of shape (m, q)
        Those of each example, in descending order.
    groups : sequence of q pairs of Calibration
        The scores that "off" and "on" are compared with: label-conditional, those of the examples with that value of
        the label; else those of all examples, twice.
    conditional : bool
        Whether the scores are those of the examples with the same value.

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
    groups: Sequence[tuple[Calibration, Calibration]]
    conditional: bool

    @classmethod
    def of(cls, outputs: FloatArray, Y: LabelMatrix, *, conditional: bool) -> "LabelCalibration":
        """Return the calibration of these outputs and labels, (m, q) each."""
        scores = np.take_along_axis(score_values(outputs), Y[:, :, None].astype(np.int64), axis=2)[:, :, 0]
        groups = []
        for j in range(Y.shape[1]):
            if conditional:
                off, on = (Calibration.of(scores[Y[:, j] == c, j]) for c in (0, 1))
            else:
                off = on = Calibration.of(scores[:, j])
            groups.append((off, on))
        return cls(-np.sort(-scores, axis=1), groups, conditional)

    @property
    def n_labels(self) -> int:
        """The number of labels."""
        return len(self.groups)

    @property
    def group_sizes(self) -> IntArray:
        """The number of examples that "off" and "on" of each label are compared with, shape (q, 2)."""
        return np.array([[len(off), len(on)] for off, on in self.groups], dtype=np.int64)

    def weigh(self, scores: IntArray, draws: IntArray | None) -> IntArray:
        """Return how much the calibration scores that are at least those of each value count, (n, q, 2)."""
        weights = np.empty_like(scores)
        for j, group in enumerate(self.groups):
            for c, calibration in enumerate(group):
                weights[:, j, c] = weigh_scores(calibration.count_at_least, scores[:, j, c], draws)
        return weights


def score_values(outputs: FloatArray) -> IntArray:
    """Return |c - o_j| for c = 0 and c = 1 in units of 2^-EXPONENT, shape (n, q, 2)."""
    off = to_fixed_point(outputs, EXPONENT)
    return np.stack([off, UNIT - off], axis=2)


def predict_values(
    folds: Sequence[LabelCalibration],
    outputs: Iterable[FloatArray],
    *,
    draws: IntArray | None,
    label_names: Sequence[str] | None,
    index: Any = None,
    complementary: bool = True,
) -> LabelWisePredictions:
    """Return the p-values of each label's values for new objects.

    Parameters
    ----------
    folds : sequence of LabelCalibration
        One for an inductive predictor, K for a cross-conformal one.
    outputs : iterable of arrays of shape (n, q)
        Of each fold's model.
    draws : int64 array of shape (n,) or None
        For smoothed p-values, one number from 1 to ``DRAW_UNIT`` per object.
    label_names : sequence of str or None
        The labels' names.
    index : pandas index or None
        That of the objects.
    complementary : bool
        Whether each fold's model was trained on all other examples.
    """
    scores = [score_values(fold_outputs) for fold_outputs in outputs]
    weights = [fold.weigh(of_values, draws) for fold, of_values in zip(folds, scores, strict=True)]
    sizes = sum_up([fold.group_sizes for fold in folds])
    unit, own = (1, np.int64(1)) if draws is None else (DRAW_UNIT, draws[:, None, None])
    totals, denominators = sum_up(scores), (sizes + 1) * unit
    return LabelWisePredictions(
        np.where(sizes == 0, denominators, sum_up(weights) + own),  # 1 where there is nothing to compare with
        denominators,
        nearer_on=totals[:, :, 1] < totals[:, :, 0],
        joint=None if folds[0].conditional else _join(folds, scores, draws),
        guarantee=state_guarantee_of_labels(folds, complementary=complementary and draws is None),
        label_names=label_names,
        index=index,
    )


def _join(folds: Sequence[LabelCalibration], scores: Sequence[IntArray], draws: IntArray | None) -> JointScores:
    off = np.stack([of_values[:, :, 0] for of_values in scores])
    return JointScores(off, UNIT, [fold.scores for fold in folds], draws)


def state_guarantee_of_labels(folds: Sequence[LabelCalibration], *, complementary: bool) -> LabelWiseGuarantee:
    """Return what is proven about p-values of labels from these folds."""
    sizes, conditional = [len(fold.scores) for fold in folds], folds[0].conditional
    return LabelWiseGuarantee(
        sum_up([fold.group_sizes for fold in folds]),
        sum_up([(fold.group_sizes > 0).astype(np.int64) for fold in folds]),
        conditional,
        state_guarantee(
            "inductive" if len(sizes) == 1 else "cross", [sizes], complementary=complementary and not conditional
        ),
    )


def sum_up(arrays: Sequence[IntArray]) -> IntArray:
    """Return the sum of whole numbers over the folds."""
    total: IntArray = np.sum(arrays, axis=0, dtype=np.int64)
    return total

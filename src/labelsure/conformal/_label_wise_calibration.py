"""Scores and counts of single labels: what label-wise p-values are made of."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from labelsure._core.calibration import Calibration
from labelsure._core.fixed_point import choose_exponent, to_fixed_point
from labelsure._core.types import FloatArray, IntArray, LabelMatrix
from labelsure.conformal._guarantees import state_guarantee
from labelsure.labelsets import DRAW_UNIT
from labelsure.predictions import LabelWisePredictions

EXPONENT = choose_exponent(1.0)
"""Scores |c - o| lie between 0 and 1."""


@dataclass(frozen=True, eq=False)
class LabelCalibration:
    """The scores |t_j - o_j| of one fold's calibration examples, label by label.

    Attributes
    ----------
    groups : sequence of q pairs of Calibration
        The scores that "off" and "on" are compared with: label-conditional, those of the examples with that value of
        the label; else those of all examples, twice.
    n_examples : int
        The number of calibration examples.
    conditional : bool
        Whether the scores are those of the examples with the same value.

    Examples
    --------
    >>> import numpy as np
    >>> outputs, Y = np.array([[0.75], [0.5], [0.25]]), np.array([[1], [0], [0]])
    >>> LabelCalibration.of(outputs, Y, conditional=False).count_at_least(score_values(np.array([[0.5]]))).tolist()
    [[[1, 1]]]
    >>> LabelCalibration.of(outputs, Y, conditional=True).count_at_least(score_values(np.array([[0.5]]))).tolist()
    [[[1, 0]]]
    """

    groups: Sequence[tuple[Calibration, Calibration]]
    n_examples: int
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
        return cls(groups, len(Y), conditional)

    @property
    def n_labels(self) -> int:
        """The number of labels."""
        return len(self.groups)

    @property
    def group_sizes(self) -> IntArray:
        """The number of examples that "off" and "on" of each label are compared with, shape (q, 2)."""
        return np.array([[len(off), len(on)] for off, on in self.groups], dtype=np.int64)

    def count_at_least(self, scores: IntArray) -> IntArray:
        """Return how many calibration scores are at least as large as the scores of each value, (n, q, 2)."""
        counts = np.empty_like(scores)
        for j, group in enumerate(self.groups):
            for c, calibration in enumerate(group):
                counts[:, j, c] = calibration.count_at_least(scores[:, j, c])
        return counts


def score_values(outputs: FloatArray) -> IntArray:
    """Return |c - o_j| for c = 0 and c = 1 in units of 2^-EXPONENT, shape (n, q, 2)."""
    off = to_fixed_point(outputs, EXPONENT)
    return np.stack([off, 2**EXPONENT - off], axis=2)


def predict_values(
    folds: Sequence[LabelCalibration],
    outputs: Iterable[FloatArray],
    *,
    draws: IntArray | None,
    label_names: Sequence[str] | None,
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
    """
    nothing: IntArray = np.zeros(1, dtype=np.int64)
    at_least, above, totals, sizes = nothing, nothing, nothing, nothing
    for fold, fold_outputs in zip(folds, outputs, strict=True):
        scores = score_values(fold_outputs)
        sizes = sizes + fold.group_sizes
        totals = totals + scores
        at_least = at_least + fold.count_at_least(scores)
        if draws is not None:
            above = above + fold.count_at_least(scores + 1)  # scores are integers: above is at least one more
    numerators, denominators = _as_fractions(at_least, above, sizes, draws)
    conditional = folds[0].conditional
    proved = len(folds) == 1 or (draws is None and not conditional)
    return LabelWisePredictions(
        numerators,
        denominators,
        nearer_on=totals[:, :, 1] < totals[:, :, 0],
        conditional=conditional,
        guarantee=state_guarantee("cross", [fold.n_examples for fold in folds]) if proved else None,
        label_names=label_names,
    )


def _as_fractions(
    at_least: IntArray, above: IntArray, sizes: IntArray, draws: IntArray | None
) -> tuple[IntArray, IntArray]:
    """Return the numerators (n, q, 2) and denominators (q, 2) of the p-values; 1 where there is nothing to compare."""
    if draws is None:
        return at_least + 1, sizes + 1
    numerators = above * DRAW_UNIT + draws[:, None, None] * (at_least - above + 1)
    denominators = (sizes + 1) * DRAW_UNIT
    return np.where(sizes == 0, denominators, numerators), denominators

"""New labelled examples join a calibration: their scores are added, nothing is fitted again.

Model and measure of an inductive predictor are functions of its training part alone, so the score
of a calibration example does not depend on the other calibration examples. Calibrating anew with
old and new ones together would give every one of them the score that it has already; and p-values
look at scores as a bag. So adding the new scores is the same, to the last bit.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from labelsure._checks import LabelMatrix, MatrixLike
from labelsure.conformal._calibrator import CalibratedFold, Calibrator, score_examples
from labelsure.conformal._choices import Choices, check_some_labels
from labelsure.conformal._ready_outputs import AnyOutputs


def check_one_fold(folds: Sequence[object], *, groups: object = None) -> None:
    """Raise ValueError where new examples would have to belong to one of several folds, or to a group."""
    if groups is not None:
        raise ValueError(
            "update takes a predictor that was fitted without groups: fit anew with all examples."
        )
    if len(folds) > 1:
        raise ValueError(
            f"update takes an inductive predictor, one model and its calibration examples, got"
            f" {len(folds)} folds."
            " In a cross-conformal predictor every example calibrates in one fold and trains the"
            " models of the others:"
            " a new one belongs to no fold. Use InductiveConformalClassifier,"
            " LabelWiseConformalClassifier(cv=None) or"
            " outputs without folds; or fit anew with all examples."
        )


def extend_calibrator(
    calibrator: Calibrator, outputs: AnyOutputs, Y: LabelMatrix, X: MatrixLike = None
) -> Calibrator:
    """Return the calibrator of an inductive predictor with more calibration examples; the old one stays as it is.

    Parameters
    ----------
    calibrator : Calibrator
        Of one fold.
    outputs : array of shape (m, q), or SparseOutputs
        Of its model, for the new examples.
    Y : array of shape (m, q)
        Their labelsets.
    X : array-like of m rows or None
        The objects, where the measure, categories or weights look at them.
    """
    if len(Y) == 0:
        raise ValueError("update takes at least one new calibration example, got none.")
    (fold,) = calibrator.folds
    _check_candidates(calibrator.choices, fold, Y)
    categories, weights = calibrator.choices.describe(X, Y)
    longer = replace(
        fold,
        scores=np.concatenate([fold.scores, score_examples(fold.measure, outputs, Y, X)]),
        without_labels=np.concatenate([fold.without_labels, ~Y.any(axis=1)]),
        categories=None if categories is None else np.concatenate([fold.categories, categories]),
        weights=None if weights is None else np.concatenate([fold.weights, weights]),
    )
    return replace(calibrator, folds=(longer,))


def _check_candidates(choices: Choices, fold: CalibratedFold, Y: LabelMatrix) -> None:
    """Raise ValueError where new labelsets break a constraint, and warn where some are empty and that is excluded."""
    if choices.constraints is not None and not (obey := choices.constraints.allow(Y)).all():
        raise ValueError(
            f"update takes examples that obey the constraints, but {int((~obey).sum())} of"
            f" {len(Y)} break one, the"
            f" first in row {int(np.argmin(obey))}. Correct the labels, or fit anew without that"
            f" constraint."
        )
    if choices.empty == "exclude":
        check_some_labels([~fold.without_labels[:, np.newaxis], Y], stacklevel=5)

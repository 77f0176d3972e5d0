"""Stage two, first half: a measure is fitted on each training part, and scores the calibration part."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.parallel import delayed

from labelsure._core.randomness import set_missing_seeds
from labelsure._core.types import BoolArray, FloatArray, IntArray, LabelMatrix, MatrixLike
from labelsure._core.validation import check_label_matrix, check_outputs, check_same_length
from labelsure.conformal._choosing import choose_measure
from labelsure.conformal._models import run_jobs
from labelsure.conformal._sparse_outputs import SparseOutputs
from labelsure.measures import AutoMeasure, Measure, MeasureChoice, Need, default_measure


@dataclass(frozen=True, eq=False)
class TrainingPart:
    """What is known of the examples that a fold's model was trained on.

    Attributes
    ----------
    labels : array of shape (n, q) or None
        Their labelsets.
    outputs : array of shape (n, q) or None
        The model's outputs for them, or those of models that had not seen them.
    X : array-like of n rows or None
        The objects.
    """

    labels: LabelMatrix | None = None
    outputs: FloatArray | None = None
    X: MatrixLike = None


@dataclass(frozen=True, eq=False)
class FoldExamples:
    """What one fold is calibrated with.

    Attributes
    ----------
    outputs, labels : arrays of shape (m, q)
        The model's outputs for the calibration examples, and their labelsets.
    training : TrainingPart
        What the model was trained on, as far as the measure needs it.
    X : array-like of m rows or None
        The calibration objects, where the measure needs them.
    """

    outputs: FloatArray | SparseOutputs
    labels: LabelMatrix
    training: TrainingPart
    X: MatrixLike = None


@dataclass(frozen=True, eq=False)
class CalibratedFold:
    """A measure fitted on a fold's training part, and the scores of the fold's calibration part.

    Attributes
    ----------
    measure : Measure
        Fitted.
    scores : int64 array of shape (m,)
        The scores in the order of the calibration examples.
    without_labels : bool array of shape (m,)
        Which of these examples have no label.
    finds_empty_strangest : bool
        Whether the training part is known to have no example without labels, so that with ``empty="auto"`` the measure
        may put the empty labelset above all others. Calibration examples have no say in this: it would cost the
        guarantee. Measures that are a maximum over labels have no room for such an exception.
    choice : MeasureChoice or None
        How the measure was chosen, where it was.
    """

    measure: Measure
    scores: IntArray
    without_labels: BoolArray
    finds_empty_strangest: bool
    choice: MeasureChoice | None = None


def calibrate(
    measure: Measure | AutoMeasure | None,
    folds: Sequence[FoldExamples],
    *,
    seeds: Sequence[int],
    n_jobs: int | None = None,
) -> list[CalibratedFold]:
    """Fit a copy of the measure on each training part and score the calibration examples with it.

    Parameters
    ----------
    measure : Measure, AutoMeasure or None
        What to fit, or to choose, in every fold; None is the default.
    folds : sequence of FoldExamples
        At least one.
    seeds : sequence of int
        One per fold, for whatever is drawn in it.
    n_jobs : int or None
        As in joblib; results do not depend on it.
    """
    jobs = (delayed(_calibrate_fold)(measure, fold, seed) for fold, seed in zip(folds, seeds, strict=True))
    return run_jobs(jobs, n_jobs=n_jobs, description="calibrating folds", total=len(folds))


def _calibrate_fold(measure: Measure | AutoMeasure | None, fold: FoldExamples, seed: int) -> CalibratedFold:
    training, n_labels = fold.training, fold.labels.shape[1]
    if measure is None:
        sparse = isinstance(fold.outputs, SparseOutputs)
        measure = default_measure(n_labels, training_labels=training.labels is not None and not sparse)
    seeded, choice = set_missing_seeds(clone(measure), seed), None
    check_needs(seeded, training)
    labels = np.empty((0, n_labels), dtype=np.int8) if training.labels is None else training.labels
    if isinstance(seeded, AutoMeasure):
        assert training.outputs is not None  # check_needs has seen to it
        fitted, choice = choose_measure(seeded, labels, training.outputs, training.X)
    else:
        fitted = seeded.fit(labels, outputs=training.outputs, X=training.X)
    return CalibratedFold(
        fitted,
        score_examples(fitted, fold.outputs, fold.labels, fold.X),
        without_labels=np.logical_not(fold.labels.any(axis=1)),
        finds_empty_strangest=bool(len(labels) and labels.any(axis=1).all() and fitted.form != "maximum"),
        choice=choice,
    )


def check_needs(measure: Measure | AutoMeasure, training: TrainingPart) -> None:
    """Raise ValueError where a measure needs to know more about a training part than is known."""
    needed = [
        (Need.TRAINING_LABELS, training.labels, "the labelsets that the model was trained on", "labels"),
        (Need.TRAINING_OUTPUTS, training.outputs, "the outputs for what it was trained on", "outputs"),
        (Need.OUT_OF_FOLD_OUTPUTS, training.outputs, "out-of-fold outputs for what it was trained on", "outputs"),
        (Need.FEATURES, training.X, "the objects themselves", None),
    ]
    for need, there, what, name in needed:
        if need in measure.needs and there is None:
            advice = (
                f": pass them as training_{name}. They cannot be taken from the calibration examples without losing"
                " the guarantee."
                if name
                else ", not only outputs: use CrossConformalClassifier or InductiveConformalClassifier."
            )
            raise ValueError(f"{measure!r} needs {what}{advice}")


def score_examples(
    fitted: Measure, outputs: FloatArray | SparseOutputs, Y: LabelMatrix, X: MatrixLike = None
) -> IntArray:
    """Return the scores of the examples' labelsets."""
    if isinstance(outputs, SparseOutputs):
        return np.concatenate([fitted.energy(outputs.dense(rows)).scores(Y[rows]) for rows in outputs.blocks()])
    return fitted.energy(outputs, X=X if Need.FEATURES in fitted.needs else None).scores(Y)


def check_training_part(
    training_labels: Any, training_outputs: Any, *, n_labels: int, label_names: Sequence[str] | None
) -> TrainingPart:
    """Return what a user says a model was trained on, checked; columns of DataFrames are taken by name."""
    labels, outputs = training_labels, training_outputs
    known: dict[str, Any] = {"n_labels": n_labels, "label_names": label_names}
    if labels is not None:
        labels = check_label_matrix(labels, name="training_labels", **known)
    if outputs is not None:
        outputs = check_outputs(outputs, name="training_outputs", **known)
        if labels is None:
            raise ValueError("training_outputs goes with training_labels: pass the labels of the same examples too.")
        check_same_length(outputs, labels, names=("training_outputs", "training_labels"))
    return TrainingPart(labels, outputs)

"""A measure with its calibration: what one fold learned, before it meets new objects."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from labelsure._core.calibration import Calibration
from labelsure._core.randomness import set_missing_seeds
from labelsure._core.types import FloatArray, IntArray, LabelMatrix, MatrixLike
from labelsure._core.validation import check_label_matrix, check_outputs, check_same_length
from labelsure.conformal._choosing import choose_measure
from labelsure.conformal._sparse_outputs import SparseOutputs
from labelsure.labelsets import Fold
from labelsure.measures import AutoMeasure, Measure, MeasureChoice, MeasureChoices, Need, default_measure


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
class CalibratedMeasure:
    """A measure fitted on a fold's training part, and the scores of the fold's calibration part.

    Attributes
    ----------
    measure : Measure
        Fitted.
    calibration : Calibration
        The scores, sorted.
    scores : int64 array of shape (m,)
        The scores in the order of the calibration examples.
    choice : MeasureChoice or None
        What was chosen and why, where the measure was not given.
    """

    measure: Measure
    calibration: Calibration
    scores: IntArray
    choice: MeasureChoice | None = None

    def fold(self, outputs: FloatArray, X: MatrixLike = None) -> Fold:
        """Return the fold for new objects with these outputs of the fold's model."""
        return Fold(self.calibration, self.measure.energy(outputs, X=X))


def choices_of(calibrated: Sequence[CalibratedMeasure]) -> MeasureChoices | None:
    """Return what the folds chose; None where the measure was given."""
    choices = [fold.choice for fold in calibrated if fold.choice is not None]
    return MeasureChoices(choices) if choices else None


def calibrate(
    measure: Measure | AutoMeasure,
    outputs: FloatArray | SparseOutputs,
    Y: LabelMatrix,
    *,
    training: TrainingPart,
    X: MatrixLike = None,
) -> CalibratedMeasure:
    """Fit a copy of the measure on the training part and score the calibration examples with it.

    Parameters
    ----------
    measure : Measure or AutoMeasure
        Unfitted.
    outputs, Y : arrays of shape (m, q)
        Outputs and true labelsets of the calibration examples.
    training : TrainingPart
        What the outputs' model was trained on, as far as the measure needs it.
    X : array-like of m rows or None
        The calibration objects, where the measure needs them.
    """
    fitted, choice = fit_measure(measure, training, n_labels=Y.shape[1])
    scores = score_examples(fitted, outputs, Y, X)
    return CalibratedMeasure(fitted, Calibration.of(scores), scores, choice)


def check_training_part(training_labels: Any, training_outputs: Any, *, n_labels: int) -> TrainingPart:
    """Return what a user says a model was trained on, checked."""
    labels, outputs = training_labels, training_outputs
    if labels is not None:
        labels = check_label_matrix(labels, name="training_labels", n_labels=n_labels)
    if outputs is not None:
        outputs = check_outputs(outputs, name="training_outputs", n_labels=n_labels)
        if labels is None:
            raise ValueError("training_outputs goes with training_labels: pass the labels of the same examples too.")
        check_same_length(outputs, labels, names=("training_outputs", "training_labels"))
    return TrainingPart(labels, outputs)


def fit_measure(
    measure: Measure | AutoMeasure, training: TrainingPart, *, n_labels: int
) -> tuple[Measure, MeasureChoice | None]:
    """Return a copy of the measure, or the one chosen, fitted on a training part, or say what is missing there."""
    needed = [
        (Need.TRAINING_LABELS, training.labels, "the labelsets that the model was trained on", "labels"),
        (Need.TRAINING_OUTPUTS, training.outputs, "the outputs for what it was trained on", "outputs"),
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
    labels = np.empty((0, n_labels), dtype=np.int8) if training.labels is None else training.labels
    if isinstance(measure, AutoMeasure):
        assert training.outputs is not None
        return choose_measure(measure, labels, training.outputs, training.X)
    return clone(measure).fit(labels, outputs=training.outputs, X=training.X), None


def score_examples(
    fitted: Measure, outputs: FloatArray | SparseOutputs, Y: LabelMatrix, X: MatrixLike = None
) -> IntArray:
    """Return the scores of the examples' labelsets."""
    if isinstance(outputs, SparseOutputs):
        return np.concatenate([fitted.energy(outputs.dense(rows)).scores(Y[rows]) for rows in outputs.blocks()])
    return fitted.energy(outputs, X=X).scores(Y)


def copy_measure(
    measure: Measure | AutoMeasure | str | None, seed: int, n_labels: int, *, training_labels: bool
) -> Measure | AutoMeasure:
    """Return an unfitted copy of the measure meant, with ``seed`` wherever the user left a random_state at None.

    Parameters
    ----------
    measure : Measure, AutoMeasure, "auto" or None
        What the user passed.
    seed : int
        For everything drawn in it.
    n_labels, training_labels
        As in ``default_measure``.
    """
    default = default_measure(n_labels, training_labels=training_labels)
    copy: Measure | AutoMeasure = clone(default if measure is None else resolve_measure(measure, n_labels))
    set_missing_seeds(copy, seed)
    return copy


def resolve_measure(measure: Measure | AutoMeasure | str, n_labels: int | None = None) -> Measure | AutoMeasure:
    """Return the measure, an AutoMeasure for "auto", or say what a measure is or what is wrong with this one."""
    if isinstance(measure, str) and measure == "auto":
        return AutoMeasure()
    if not isinstance(measure, Measure | AutoMeasure):
        raise ValueError(
            f"measure must be a nonconformity measure such as labelsure.measures.PowerMeasure(), got {measure!r}."
            " Pass measure='auto' to have one chosen."
        )
    measure.check_parameters(n_labels)
    return measure

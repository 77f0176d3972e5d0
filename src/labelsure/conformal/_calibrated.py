"""A measure with its calibration: what one fold learned, before it meets new objects."""

from dataclasses import dataclass

import numpy as np
from sklearn.base import clone

from labelsure._core.calibration import Calibration
from labelsure._core.types import FloatArray, LabelMatrix
from labelsure.conformal._sparse_outputs import SparseOutputs
from labelsure.labelsets import Fold
from labelsure.measures import Measure, PowerMeasure


@dataclass(frozen=True, eq=False)
class CalibratedMeasure:
    """A measure fitted on a fold's training part, and the scores of the fold's calibration part."""

    measure: Measure
    calibration: Calibration

    def fold(self, outputs: FloatArray) -> Fold:
        """Return the fold for new objects with these outputs of the fold's model."""
        return Fold(self.calibration, self.measure.energy(outputs))


def calibrate(
    measure: Measure | None,
    outputs: FloatArray | SparseOutputs,
    Y: LabelMatrix,
    *,
    training_labels: LabelMatrix | None,
) -> CalibratedMeasure:
    """Fit a copy of the measure on the training labels and score the calibration examples with it.

    Parameters
    ----------
    measure : Measure or None
        None is the paper's ``PowerMeasure(d=4)``.
    outputs, Y : arrays of shape (m, q)
        Outputs and true labelsets of the calibration examples.
    training_labels : array of shape (n, q) or None
        The labelsets that the outputs' model was trained on; required where the measure needs them.
    """
    measure = resolve_measure(measure)
    if training_labels is None:
        if measure.needs_training_labels:
            raise ValueError(
                f"{measure!r} needs the labelsets that the model was trained on: pass them as training_labels."
                " They cannot be taken from the calibration examples without losing the guarantee."
            )
        training_labels = np.empty((0, Y.shape[1]), dtype=np.int8)
    fitted = clone(measure).fit(training_labels)
    if isinstance(outputs, SparseOutputs):
        scores = np.concatenate([fitted.energy(outputs.dense(rows)).scores(Y[rows]) for rows in outputs.blocks()])
    else:
        scores = fitted.energy(outputs).scores(Y)
    return CalibratedMeasure(fitted, Calibration.of(scores))


def resolve_measure(measure: Measure | None) -> Measure:
    """Return the measure, the paper's for None, or say what a measure is."""
    if measure is None:
        return PowerMeasure()
    if not isinstance(measure, Measure):
        raise ValueError(
            f"measure must be a nonconformity measure such as labelsure.measures.PowerMeasure(), got {measure!r}."
        )
    return measure

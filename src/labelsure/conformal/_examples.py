"""What one fold is calibrated with, and what a measure may need of it."""

from dataclasses import dataclass

from labelsure._checks import FloatArray, LabelMatrix, MatrixLike
from labelsure.conformal._taxonomy import Categories
from labelsure.measures import Measure, Need
from labelsure.measures._sparse_outputs import SparseOutputs

TO_PASS = (
    ": pass them as {}. They cannot be taken from the calibration examples without losing the"
    " guarantee"
)
USE_CLASSIFIERS = "use CrossConformalClassifier or InductiveConformalClassifier"
NEEDED = (
    (
        Need.TRAINING_LABELS,
        "training_labels",
        f"the labelsets that the model was trained on{TO_PASS}",
    ),
    (Need.TRAINING_OUTPUTS, "training_outputs", f"the outputs for what it was trained on{TO_PASS}"),
    (
        Need.OUT_OF_FOLD_OUTPUTS,
        "training_outputs",
        f"out-of-fold outputs for what it was trained on{TO_PASS}",
    ),
    (
        Need.FEATURES,
        "training_objects",
        f"the objects themselves, not only outputs: {USE_CLASSIFIERS}",
    ),
)
"""What a measure may need, where it is in FoldExamples, and what to do."""


@dataclass(frozen=True, eq=False)
class FoldExamples:
    """What one fold is calibrated with.

    Attributes
    ----------
    outputs, labels : arrays of shape (m, q)
        The model's outputs for the calibration examples, and their labelsets. Outputs may be
        sparse.
    X : array-like of m rows or None
        The calibration objects, where the measure needs them.
    training_labels, training_outputs, training_objects : arrays of n rows or None
        Of what the model was trained on, as far as it is known and the measure needs it; outputs of
        this model, or of models that had not seen the example, with rows of NaN for examples that
        no such model was asked about.
    categories, weights : arrays of shape (m,) or None
        Of the calibration examples, where there is a taxonomy or a weight.
    """

    outputs: FloatArray | SparseOutputs
    labels: LabelMatrix
    X: MatrixLike = None
    training_labels: LabelMatrix | None = None
    training_outputs: FloatArray | SparseOutputs | None = None
    training_objects: MatrixLike = None
    categories: Categories | None = None
    weights: FloatArray | None = None

    def check(self, measure: Measure) -> None:
        """Raise ValueError where something that the measure needs is not known."""
        for need, name, what in NEEDED:
            if need in measure.needs and getattr(self, name) is None:
                raise ValueError(f"{measure!r} needs {what.format(name)}.")

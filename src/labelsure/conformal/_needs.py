"""What a measure needs to know of the training part, and what to do where it is not known."""

from typing import Any

from labelsure.measures import AutoMeasure, Measure, Need

TO_PASS = ": pass them as {}. They cannot be taken from the calibration examples without losing the guarantee"
USE_CLASSIFIERS = "use CrossConformalClassifier or InductiveConformalClassifier"
NEEDED = (
    (Need.TRAINING_LABELS, "training_labels", f"the labelsets that the model was trained on{TO_PASS}"),
    (Need.TRAINING_OUTPUTS, "training_outputs", f"the outputs for what it was trained on{TO_PASS}"),
    (Need.OUT_OF_FOLD_OUTPUTS, "training_outputs", f"out-of-fold outputs for what it was trained on{TO_PASS}"),
    (Need.FEATURES, "training_objects", f"the objects themselves, not only outputs: {USE_CLASSIFIERS}"),
)
"""What a measure may need, where it is in FoldExamples, and what to do."""


def check_needs(measure: Measure | AutoMeasure, examples: Any) -> None:
    """Raise ValueError where a measure needs something of a fold's training part that FoldExamples do not hold."""
    for need, name, what in NEEDED:
        if need in measure.needs and getattr(examples, name) is None:
            raise ValueError(f"{measure!r} needs {what.format(name)}.")

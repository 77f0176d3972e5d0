"""Conformal predictors: from a classifier, or from ready-made outputs, to p-values of labelsets and of labels."""

from labelsure.conformal._cross import CrossConformalClassifier
from labelsure.conformal._full import FullConformalClassifier
from labelsure.conformal._inductive import InductiveConformalClassifier
from labelsure.conformal._label_wise import LabelWiseConformalClassifier
from labelsure.conformal._label_wise_outputs import LabelWiseOutputsPredictor, calibrate_labels
from labelsure.conformal._outputs import OutputsPredictor, calibrate_outputs
from labelsure.conformal._taxonomy import ByCardinality, ByLabel, ByObject, Taxonomy

__all__ = [
    "ByCardinality",
    "ByLabel",
    "ByObject",
    "CrossConformalClassifier",
    "FullConformalClassifier",
    "InductiveConformalClassifier",
    "LabelWiseConformalClassifier",
    "LabelWiseOutputsPredictor",
    "OutputsPredictor",
    "Taxonomy",
    "calibrate_labels",
    "calibrate_outputs",
]

"""Conformal predictors: from a classifier, or from ready-made outputs, to p-values of labelsets and of labels."""

from labelsure.conformal._auto import AutoMeasure
from labelsure.conformal._candidates import default_candidates
from labelsure.conformal._choice import MeasureChoice, MeasureChoices
from labelsure.conformal._cross import CrossConformalClassifier
from labelsure.conformal._full import FullConformalClassifier
from labelsure.conformal._inductive import InductiveConformalClassifier
from labelsure.conformal._label_wise import LabelWiseConformalClassifier
from labelsure.conformal._label_wise_outputs import LabelWiseOutputsPredictor, calibrate_labels
from labelsure.conformal._outputs import OutputsPredictor, calibrate_outputs
from labelsure.conformal._taxonomy import ByCardinality, ByLabel, ByObject, Taxonomy

__all__ = [
    "AutoMeasure",
    "ByCardinality",
    "ByLabel",
    "ByObject",
    "CrossConformalClassifier",
    "FullConformalClassifier",
    "InductiveConformalClassifier",
    "LabelWiseConformalClassifier",
    "LabelWiseOutputsPredictor",
    "MeasureChoice",
    "MeasureChoices",
    "OutputsPredictor",
    "Taxonomy",
    "calibrate_labels",
    "calibrate_outputs",
    "default_candidates",
]

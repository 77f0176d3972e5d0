"""Conformal predictors: from a classifier, or from ready-made outputs, to p-values of labelsets."""

from labelsure.conformal._cross import CrossConformalClassifier
from labelsure.conformal._full import FullConformalClassifier
from labelsure.conformal._inductive import InductiveConformalClassifier
from labelsure.conformal._outputs import OutputsPredictor, calibrate_outputs

__all__ = [
    "CrossConformalClassifier",
    "FullConformalClassifier",
    "InductiveConformalClassifier",
    "OutputsPredictor",
    "calibrate_outputs",
]

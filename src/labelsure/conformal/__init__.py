"""Conformal predictors: p-values of labelsets and labels from a classifier or from its outputs.

Predictors are made in two stages: ``fit_models`` of ``_models`` fits a classifier on each training
part of some splits and asks it for outputs; ``calibrate`` of ``_calibrator`` fits a measure for
each fold and scores its calibration examples, and a ``Calibrator`` answers for new outputs.
"""

from labelsure.conformal._beforehand import compile_kernels
from labelsure.conformal._cross import CrossConformalClassifier
from labelsure.conformal._full import FullConformalClassifier
from labelsure.conformal._guarantees import GUARANTEES
from labelsure.conformal._inductive import InductiveConformalClassifier
from labelsure.conformal._label_wise import (
    LabelWiseConformalClassifier,
    LabelWiseOutputsPredictor,
    calibrate_labels,
)
from labelsure.conformal._outputs import OutputsPredictor, calibrate_outputs
from labelsure.conformal._stratified import MultiLabelStratifiedKFold
from labelsure.conformal._taxonomy import ByCardinality, ByLabel, ByObject

__all__ = [
    "GUARANTEES",
    "ByCardinality",
    "ByLabel",
    "ByObject",
    "CrossConformalClassifier",
    "FullConformalClassifier",
    "InductiveConformalClassifier",
    "LabelWiseConformalClassifier",
    "LabelWiseOutputsPredictor",
    "MultiLabelStratifiedKFold",
    "OutputsPredictor",
    "calibrate_labels",
    "calibrate_outputs",
    "compile_kernels",
]

"""Conformal predictors: from a classifier, or from ready-made outputs, to p-values of labelsets and of labels.

Predictors are made in two stages, which are here for those who build on them: ``fit_models`` fits a classifier on each
training part of some splits and asks it for outputs; ``calibrate`` fits a measure for each fold and scores its
calibration examples, and a ``Calibrator`` answers for new outputs.
"""

from labelsure.conformal._base import WrappingClassifier
from labelsure.conformal._beforehand import compile_kernels
from labelsure.conformal._calibrator import CalibratedFold, Calibrator, calibrate, gather_examples
from labelsure.conformal._choices import Choices
from labelsure.conformal._cross import CrossConformalClassifier
from labelsure.conformal._examples import FoldExamples
from labelsure.conformal._full import FullConformalClassifier
from labelsure.conformal._groups import GroupSizes
from labelsure.conformal._guarantees import GUARANTEES
from labelsure.conformal._incomplete import INCOMPLETE, Known
from labelsure.conformal._inductive import InductiveConformalClassifier
from labelsure.conformal._label_wise import LabelWiseConformalClassifier
from labelsure.conformal._label_wise_outputs import LabelCalibration, LabelWiseOutputsPredictor, calibrate_labels
from labelsure.conformal._models import FoldModel, fit_models, outputs_of_models
from labelsure.conformal._outputs import OutputsPredictor, calibrate_outputs
from labelsure.conformal._points import Answers, answer_batch, labels_of_outputs, single_answers
from labelsure.conformal._splits import Split, hold_out, make_splits
from labelsure.conformal._stratified import MultiLabelStratifiedKFold
from labelsure.conformal._taxonomy import ByCardinality, ByLabel, ByObject, Taxonomy

__all__ = [
    "GUARANTEES",
    "INCOMPLETE",
    "Answers",
    "ByCardinality",
    "ByLabel",
    "ByObject",
    "CalibratedFold",
    "Calibrator",
    "Choices",
    "CrossConformalClassifier",
    "FoldExamples",
    "FoldModel",
    "FullConformalClassifier",
    "GroupSizes",
    "InductiveConformalClassifier",
    "Known",
    "LabelCalibration",
    "LabelWiseConformalClassifier",
    "LabelWiseOutputsPredictor",
    "MultiLabelStratifiedKFold",
    "OutputsPredictor",
    "Split",
    "Taxonomy",
    "WrappingClassifier",
    "answer_batch",
    "calibrate",
    "calibrate_labels",
    "calibrate_outputs",
    "compile_kernels",
    "fit_models",
    "gather_examples",
    "hold_out",
    "labels_of_outputs",
    "make_splits",
    "outputs_of_models",
    "single_answers",
]

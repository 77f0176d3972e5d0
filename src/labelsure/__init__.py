"""labelsure: multi-label predictions you can be sure of.

A p-value for every labelset, confidence and credibility for the best one, and regions of labelsets that contain the
truth with a chosen probability, around any scikit-learn classifier.
"""

import importlib
from typing import TYPE_CHECKING, Any

from labelsure._version import __version__

if TYPE_CHECKING:
    from labelsure.conformal import (
        ByCardinality,
        ByLabel,
        ByObject,
        CrossConformalClassifier,
        FullConformalClassifier,
        InductiveConformalClassifier,
        LabelWiseConformalClassifier,
        calibrate_labels,
        calibrate_outputs,
    )
    from labelsure.datasets import load_dataset
    from labelsure.decisions import (
        CoverController,
        PrecisionController,
        RecallController,
        ReviewSelector,
        advise,
        control_cover,
        control_precision,
        control_recall,
        pac_region,
        pac_significance,
        select_objects,
    )
    from labelsure.estimators import BPMLLClassifier, MLkNNClassifier, MLNBClassifier, MLRBFClassifier
    from labelsure.measures import AutoMeasure, PowerMeasure
    from labelsure.predictions import LabelsetPredictions, LabelsetRegion, LabelWisePredictions, LabelWiseRegion

_HOME = {
    "AutoMeasure": "measures",
    "BPMLLClassifier": "estimators",
    "ByCardinality": "conformal",
    "ByLabel": "conformal",
    "ByObject": "conformal",
    "CoverController": "decisions",
    "CrossConformalClassifier": "conformal",
    "FullConformalClassifier": "conformal",
    "InductiveConformalClassifier": "conformal",
    "LabelWiseConformalClassifier": "conformal",
    "LabelWisePredictions": "predictions",
    "LabelWiseRegion": "predictions",
    "LabelsetPredictions": "predictions",
    "LabelsetRegion": "predictions",
    "MLNBClassifier": "estimators",
    "MLRBFClassifier": "estimators",
    "MLkNNClassifier": "estimators",
    "PowerMeasure": "measures",
    "PrecisionController": "decisions",
    "RecallController": "decisions",
    "ReviewSelector": "decisions",
    "advise": "decisions",
    "calibrate_labels": "conformal",
    "calibrate_outputs": "conformal",
    "control_cover": "decisions",
    "control_precision": "decisions",
    "control_recall": "decisions",
    "load_dataset": "datasets",
    "pac_region": "decisions",
    "pac_significance": "decisions",
    "select_objects": "decisions",
}
_ROOMS = ("conformal", "datasets", "decisions", "estimators", "labelsets", "measures", "metrics", "predictions")

__all__ = [
    "AutoMeasure",
    "BPMLLClassifier",
    "ByCardinality",
    "ByLabel",
    "ByObject",
    "CoverController",
    "CrossConformalClassifier",
    "FullConformalClassifier",
    "InductiveConformalClassifier",
    "LabelWiseConformalClassifier",
    "LabelWisePredictions",
    "LabelWiseRegion",
    "LabelsetPredictions",
    "LabelsetRegion",
    "MLNBClassifier",
    "MLRBFClassifier",
    "MLkNNClassifier",
    "PowerMeasure",
    "PrecisionController",
    "RecallController",
    "ReviewSelector",
    "__version__",
    "advise",
    "calibrate_labels",
    "calibrate_outputs",
    "control_cover",
    "control_precision",
    "control_recall",
    "load_dataset",
    "pac_region",
    "pac_significance",
    "select_objects",
]


def __getattr__(name: str) -> Any:
    """Import a room when one of its names is first used: ``import labelsure`` itself stays light."""
    if name in _ROOMS:
        return importlib.import_module(f"labelsure.{name}")
    if name in _HOME:
        return getattr(importlib.import_module(f"labelsure.{_HOME[name]}"), name)
    raise AttributeError(f"module 'labelsure' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_ROOMS])

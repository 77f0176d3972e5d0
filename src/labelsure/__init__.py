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
    from labelsure.decisions import control_precision, control_recall
    from labelsure.estimators import BPMLLClassifier, MLkNNClassifier, MLNBClassifier, MLRBFClassifier
    from labelsure.measures import AutoMeasure, PowerMeasure
    from labelsure.predictions import LabelsetPredictions, LabelsetRegion, LabelWisePredictions, LabelWiseRegion

_HOME = {
    "conformal": (
        "ByCardinality",
        "ByLabel",
        "ByObject",
        "CrossConformalClassifier",
        "FullConformalClassifier",
        "InductiveConformalClassifier",
        "LabelWiseConformalClassifier",
        "calibrate_labels",
        "calibrate_outputs",
    ),
    "datasets": ("load_dataset",),
    "decisions": ("control_precision", "control_recall"),
    "estimators": ("BPMLLClassifier", "MLNBClassifier", "MLRBFClassifier", "MLkNNClassifier"),
    "labelsets": (),
    "measures": ("AutoMeasure", "PowerMeasure"),
    "metrics": (),
    "predictions": ("LabelWisePredictions", "LabelWiseRegion", "LabelsetPredictions", "LabelsetRegion"),
}
_ROOM_OF = {name: room for room, names in _HOME.items() for name in names}

__all__ = [
    "AutoMeasure",
    "BPMLLClassifier",
    "ByCardinality",
    "ByLabel",
    "ByObject",
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
    "__version__",
    "calibrate_labels",
    "calibrate_outputs",
    "control_precision",
    "control_recall",
    "load_dataset",
]


def __getattr__(name: str) -> Any:
    """Import a room when one of its names is first used: ``import labelsure`` itself stays light."""
    if name in _HOME:
        return importlib.import_module(f"labelsure.{name}")
    if name in _ROOM_OF:
        return getattr(importlib.import_module(f"labelsure.{_ROOM_OF[name]}"), name)
    raise AttributeError(f"module 'labelsure' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_HOME])

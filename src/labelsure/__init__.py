"""labelsure: multi-label predictions you can be sure of.

A p-value for every labelset, confidence and credibility for the best one, and regions of labelsets
that contain the truth with a chosen probability, around any scikit-learn classifier.
"""

import importlib
from typing import TYPE_CHECKING, Any

from labelsure._version import __version__

if TYPE_CHECKING:
    from labelsure.batches import TablePredictor as TablePredictor
    from labelsure.batches import predict_batches as predict_batches
    from labelsure.conformal import ByCardinality as ByCardinality
    from labelsure.conformal import ByLabel as ByLabel
    from labelsure.conformal import ByObject as ByObject
    from labelsure.conformal import CrossConformalClassifier as CrossConformalClassifier
    from labelsure.conformal import FullConformalClassifier as FullConformalClassifier
    from labelsure.conformal import InductiveConformalClassifier as InductiveConformalClassifier
    from labelsure.conformal import LabelWiseConformalClassifier as LabelWiseConformalClassifier
    from labelsure.conformal import MultiLabelStratifiedKFold as MultiLabelStratifiedKFold
    from labelsure.conformal import calibrate_labels as calibrate_labels
    from labelsure.conformal import calibrate_outputs as calibrate_outputs
    from labelsure.conformal import compile_kernels as compile_kernels
    from labelsure.datasets import load_dataset as load_dataset
    from labelsure.decisions import CoverController as CoverController
    from labelsure.decisions import PrecisionController as PrecisionController
    from labelsure.decisions import RecallController as RecallController
    from labelsure.decisions import ReviewSelector as ReviewSelector
    from labelsure.decisions import advise as advise
    from labelsure.decisions import control_cover as control_cover
    from labelsure.decisions import control_precision as control_precision
    from labelsure.decisions import control_recall as control_recall
    from labelsure.decisions import find_label_errors as find_label_errors
    from labelsure.decisions import pac_region as pac_region
    from labelsure.decisions import pac_significance as pac_significance
    from labelsure.decisions import select_objects as select_objects
    from labelsure.learners import PooledClassifier as PooledClassifier
    from labelsure.learners import RecalibratedClassifier as RecalibratedClassifier
    from labelsure.learners import table_pool as table_pool
    from labelsure.measures import AutoMeasure as AutoMeasure
    from labelsure.measures import PowerMeasure as PowerMeasure
    from labelsure.model_file import load_model as load_model
    from labelsure.model_file import save_model as save_model
    from labelsure.paper import BPMLLClassifier as BPMLLClassifier
    from labelsure.paper import MLkNNClassifier as MLkNNClassifier
    from labelsure.paper import MLNBClassifier as MLNBClassifier
    from labelsure.paper import MLRBFClassifier as MLRBFClassifier
    from labelsure.predictions import LabelsetPredictions as LabelsetPredictions
    from labelsure.predictions import LabelsetRegion as LabelsetRegion
    from labelsure.predictions import LabelWisePredictions as LabelWisePredictions
    from labelsure.predictions import LabelWiseRegion as LabelWiseRegion

_HOME = {
    "batches": "TablePredictor predict_batches",
    "conformal": (
        "ByCardinality ByLabel ByObject CrossConformalClassifier FullConformalClassifier"
        " InductiveConformalClassifier LabelWiseConformalClassifier MultiLabelStratifiedKFold"
        " calibrate_labels calibrate_outputs compile_kernels"
    ),
    "datasets": "load_dataset",
    "decisions": (
        "CoverController PrecisionController RecallController ReviewSelector advise control_cover"
        " control_precision control_recall find_label_errors pac_region pac_significance"
        " select_objects"
    ),
    "engine": "",
    "learners": "PooledClassifier RecalibratedClassifier table_pool",
    "measures": "AutoMeasure PowerMeasure",
    "metrics": "",
    "model_file": "load_model save_model",
    "paper": "BPMLLClassifier MLNBClassifier MLRBFClassifier MLkNNClassifier",
    "plots": "",
    "predictions": "LabelWisePredictions LabelWiseRegion LabelsetPredictions LabelsetRegion",
    "report": "",
}
"""The rooms, and which of their names are found here as well."""

_ROOM_OF = {name: room for room, names in _HOME.items() for name in names.split()}

__all__ = ["__version__"]
__all__ += list(_ROOM_OF)


def __getattr__(name: str) -> Any:
    """Import a room when one of its names is first used: ``import labelsure`` stays light."""
    if name in _HOME:
        return importlib.import_module(f"labelsure.{name}")
    if name in _ROOM_OF:
        return getattr(importlib.import_module(f"labelsure.{_ROOM_OF[name]}"), name)
    raise AttributeError(f"module 'labelsure' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_HOME])

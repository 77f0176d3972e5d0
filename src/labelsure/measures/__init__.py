"""Nonconformity measures: how strange is a labelset, given a learner's outputs?"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labelsure._core.fixed_point import Costs as Costs
    from labelsure._core.fixed_point import OwnScores as OwnScores
    from labelsure.measures._auto import AutoMeasure as AutoMeasure
    from labelsure.measures._base import Measure as Measure
    from labelsure.measures._base import MeasureSum as MeasureSum
    from labelsure.measures._base import Need as Need
    from labelsure.measures._forest_measure import ForestMeasure as ForestMeasure
    from labelsure.measures._function_measure import FunctionMeasure as FunctionMeasure
    from labelsure.measures._label_wise_combination import LabelWiseCombination as LabelWiseCombination
    from labelsure.measures._log_loss import LogLossMeasure as LogLossMeasure
    from labelsure.measures._mahalanobis import MahalanobisMeasure as MahalanobisMeasure
    from labelsure.measures._max_norm import MaxNormMeasure as MaxNormMeasure
    from labelsure.measures._penalties import CardinalityPenalty as CardinalityPenalty
    from labelsure.measures._penalties import HammingPenalty as HammingPenalty
    from labelsure.measures._penalties import LabelsetPrior as LabelsetPrior
    from labelsure.measures._penalties import UnseenPenalty as UnseenPenalty
    from labelsure.measures._power import PowerMeasure as PowerMeasure

_HOME = {
    "Costs": "_core.fixed_point",
    "OwnScores": "_core.fixed_point",
    "Measure": "measures._base",
    "MeasureSum": "measures._base",
    "Need": "measures._base",
    "ForestMeasure": "measures._forest_measure",
    "FunctionMeasure": "measures._function_measure",
    "LabelWiseCombination": "measures._label_wise_combination",
    "LogLossMeasure": "measures._log_loss",
    "MahalanobisMeasure": "measures._mahalanobis",
    "MaxNormMeasure": "measures._max_norm",
    "CardinalityPenalty": "measures._penalties",
    "HammingPenalty": "measures._penalties",
    "LabelsetPrior": "measures._penalties",
    "UnseenPenalty": "measures._penalties",
    "PowerMeasure": "measures._power",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(f"labelsure.{_HOME[name]}"), name)
    raise AttributeError(f"module 'labelsure.measures' has no attribute {name!r}")

"""Nonconformity measures: how strange is a labelset, given a learner's outputs?"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labelsure.measures._auto import AutoMeasure as AutoMeasure
    from labelsure.measures._auto import default_candidates as default_candidates
    from labelsure.measures._base import Measure as Measure
    from labelsure.measures._base import MeasureSum as MeasureSum
    from labelsure.measures._errors import MahalanobisMeasure as MahalanobisMeasure
    from labelsure.measures._errors import MaxNormMeasure as MaxNormMeasure
    from labelsure.measures._errors import PowerMeasure as PowerMeasure
    from labelsure.measures._fixed_point import Costs as Costs
    from labelsure.measures._fixed_point import OwnScores as OwnScores
    from labelsure.measures._forest_measure import ForestMeasure as ForestMeasure
    from labelsure.measures._function_measure import FunctionMeasure as FunctionMeasure
    from labelsure.measures._likelihoods import LabelsetPrior as LabelsetPrior
    from labelsure.measures._likelihoods import LabelWiseCombination as LabelWiseCombination
    from labelsure.measures._likelihoods import LogLossMeasure as LogLossMeasure
    from labelsure.measures._need import Need as Need
    from labelsure.measures._penalties import CardinalityPenalty as CardinalityPenalty
    from labelsure.measures._penalties import HammingPenalty as HammingPenalty
    from labelsure.measures._penalties import UnseenPenalty as UnseenPenalty
    from labelsure.measures._posterior import PosteriorMeasure as PosteriorMeasure
    from labelsure.measures._registry import MANY_LABELS as MANY_LABELS
    from labelsure.measures._registry import MEASURES as MEASURES
    from labelsure.measures._registry import MeasureWord as MeasureWord
    from labelsure.measures._registry import make_measure as make_measure

_HOME = {
    "measures._fixed_point": ("Costs", "OwnScores"),
    "measures._auto": ("AutoMeasure", "default_candidates"),
    "measures._base": ("Measure", "MeasureSum"),
    "measures._need": ("Need",),
    "measures._errors": ("MahalanobisMeasure", "MaxNormMeasure", "PowerMeasure"),
    "measures._forest_measure": ("ForestMeasure",),
    "measures._function_measure": ("FunctionMeasure",),
    "measures._likelihoods": ("LabelWiseCombination", "LabelsetPrior", "LogLossMeasure"),
    "measures._penalties": ("CardinalityPenalty", "HammingPenalty", "UnseenPenalty"),
    "measures._posterior": ("PosteriorMeasure",),
    "measures._registry": ("MANY_LABELS", "MEASURES", "MeasureWord", "make_measure"),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = list(_MODULE_OF)


def __getattr__(name: str) -> Any:
    """Import a module when one of its names is first used: the command line reads the words without numpy."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'labelsure.measures' has no attribute {name!r}")
    value = globals()[name] = getattr(
        importlib.import_module(f"labelsure.{_MODULE_OF[name]}"), name
    )
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

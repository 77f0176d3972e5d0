"""Nonconformity measures: how strange is a labelset, given a learner's outputs?"""

from labelsure.measures._auto import AutoMeasure, default_candidates
from labelsure.measures._base import Measure, MeasureSum
from labelsure.measures._costs import Costs, OwnScores
from labelsure.measures._errors import MahalanobisMeasure, MaxNormMeasure, PowerMeasure
from labelsure.measures._forest_measure import ForestMeasure
from labelsure.measures._function_measure import FunctionMeasure
from labelsure.measures._likelihoods import LabelWiseCombination, LogLossMeasure
from labelsure.measures._need import Need
from labelsure.measures._penalties import (
    CardinalityPenalty,
    HammingPenalty,
    LabelsetPrior,
    UnseenPenalty,
)
from labelsure.measures._posterior import PosteriorMeasure
from labelsure.measures._registry import MANY_LABELS, MEASURES, MeasureWord, make_measure

__all__ = [
    "MANY_LABELS",
    "MEASURES",
    "AutoMeasure",
    "CardinalityPenalty",
    "Costs",
    "ForestMeasure",
    "FunctionMeasure",
    "HammingPenalty",
    "LabelWiseCombination",
    "LabelsetPrior",
    "LogLossMeasure",
    "MahalanobisMeasure",
    "MaxNormMeasure",
    "Measure",
    "MeasureSum",
    "MeasureWord",
    "Need",
    "OwnScores",
    "PosteriorMeasure",
    "PowerMeasure",
    "UnseenPenalty",
    "default_candidates",
    "make_measure",
]

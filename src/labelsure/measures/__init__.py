"""Nonconformity measures: how strange is a labelset, given a learner's outputs?"""

from labelsure.measures._base import Measure
from labelsure.measures._cardinality_penalty import CardinalityPenalty
from labelsure.measures._forest_measure import ForestMeasure
from labelsure.measures._function_measure import FunctionMeasure
from labelsure.measures._hamming_penalty import HammingPenalty
from labelsure.measures._label_wise_combination import LabelWiseCombination
from labelsure.measures._labelset_prior import LabelsetPrior
from labelsure.measures._log_loss import LogLossMeasure
from labelsure.measures._mahalanobis import MahalanobisMeasure
from labelsure.measures._max_norm import MaxNormMeasure
from labelsure.measures._power import PowerMeasure
from labelsure.measures._sum import MeasureSum
from labelsure.measures._unseen_penalty import UnseenPenalty

__all__ = [
    "CardinalityPenalty",
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
    "PowerMeasure",
    "UnseenPenalty",
]

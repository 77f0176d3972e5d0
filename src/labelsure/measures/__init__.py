"""Nonconformity measures: how strange is a labelset, given a learner's outputs?"""

from labelsure.measures._base import Measure
from labelsure.measures._power import PowerMeasure
from labelsure.measures._sum import MeasureSum

__all__ = ["Measure", "MeasureSum", "PowerMeasure"]

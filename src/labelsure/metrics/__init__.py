"""How good predictions are: regions and p-values; for whom, and for how long."""

from labelsure.metrics._answers_needed import AnswersNeeded, answers_needed
from labelsure.metrics._calibration import (
    CalibrationCurve,
    UniformityTest,
    calibration_curve,
    p_value_uniformity,
)
from labelsure.metrics._conditional import (
    coverage_by_cardinality,
    coverage_by_group,
    coverage_by_label,
    coverage_by_size,
)
from labelsure.metrics._coverage_table import ConditionalCoverage, GroupCoverage, Slab
from labelsure.metrics._efficiency import EfficiencyCriteria, efficiency_criteria
from labelsure.metrics._monitoring import ExchangeabilityMartingale
from labelsure.metrics._online_p_values import OnlinePValues, online_p_values
from labelsure.metrics._regions import (
    SizeHistogram,
    error_rate,
    mean_region_size,
    median_region_size,
    size_histogram,
)
from labelsure.metrics._worst_slab import coverage_in_worst_slab

__all__ = [
    "AnswersNeeded",
    "CalibrationCurve",
    "ConditionalCoverage",
    "EfficiencyCriteria",
    "ExchangeabilityMartingale",
    "GroupCoverage",
    "OnlinePValues",
    "SizeHistogram",
    "Slab",
    "UniformityTest",
    "answers_needed",
    "calibration_curve",
    "coverage_by_cardinality",
    "coverage_by_group",
    "coverage_by_label",
    "coverage_by_size",
    "coverage_in_worst_slab",
    "efficiency_criteria",
    "error_rate",
    "mean_region_size",
    "median_region_size",
    "online_p_values",
    "p_value_uniformity",
    "size_histogram",
]

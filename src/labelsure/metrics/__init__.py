"""How good predictions are: regions and p-values; for whom, and for how long."""

from labelsure.metrics._answers_needed import AnswersNeeded, answers_needed
from labelsure.metrics._calibration import (
    CalibrationCurve,
    UniformityTest,
    calibration_curve,
    p_value_uniformity,
)
from labelsure.metrics._coverage import (
    ConditionalCoverage,
    GroupCoverage,
    Slab,
    coverage_by_cardinality,
    coverage_by_group,
    coverage_by_label,
    coverage_by_size,
    coverage_in_worst_slab,
)
from labelsure.metrics._drift import ExchangeabilityMartingale, OnlinePValues, online_p_values
from labelsure.metrics._regions import (
    EfficiencyCriteria,
    SizeHistogram,
    efficiency_criteria,
    error_rate,
    mean_region_size,
    median_region_size,
    size_histogram,
)

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

"""How good predictions are: single labelsets, rankings of labels, prediction regions. Arrays in, numbers out."""

from labelsure.metrics._point import f1_macro, f1_micro, hamming_loss, subset_accuracy
from labelsure.metrics._ranking import average_precision, coverage, one_error, ranking_loss
from labelsure.metrics._regions import (
    SizeHistogram,
    mean_region_size,
    median_region_size,
    region_errors,
    size_histogram,
)

__all__ = [
    "SizeHistogram",
    "average_precision",
    "coverage",
    "f1_macro",
    "f1_micro",
    "hamming_loss",
    "mean_region_size",
    "median_region_size",
    "one_error",
    "ranking_loss",
    "region_errors",
    "size_histogram",
    "subset_accuracy",
]

"""The bottom layer: folds as arrays, how counts become numerators, sizes and options; knows nobody above it."""

from labelsure.labelsets.arrays._fold_arrays import (
    Fold,
    FoldArrays,
    Lookup,
    OverrideList,
    Penalties,
    ScoreTables,
)
from labelsure.labelsets.arrays._options import EngineOptions, check_listable
from labelsure.labelsets.arrays._pairs import FoldPairs
from labelsure.labelsets.arrays._results import BestLabelsets, RegionSize, sum_sizes
from labelsure.labelsets.arrays._weighing import DRAW_UNIT, Counts, ObjectWeighing, Weighing, smallest_numerators

__all__ = [
    "DRAW_UNIT",
    "BestLabelsets",
    "Counts",
    "EngineOptions",
    "Fold",
    "FoldArrays",
    "FoldPairs",
    "Lookup",
    "ObjectWeighing",
    "OverrideList",
    "Penalties",
    "RegionSize",
    "ScoreTables",
    "Weighing",
    "check_listable",
    "smallest_numerators",
    "sum_sizes",
]

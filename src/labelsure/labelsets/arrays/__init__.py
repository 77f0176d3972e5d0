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
from labelsure.labelsets.arrays._results import Answers, BestLabelsets, Found, Members, RegionSize, sum_sizes
from labelsure.labelsets.arrays._weighing import Counts, ObjectWeighing, Weighing

__all__ = [
    "Answers",
    "BestLabelsets",
    "Counts",
    "EngineOptions",
    "Fold",
    "FoldArrays",
    "FoldPairs",
    "Found",
    "Lookup",
    "Members",
    "ObjectWeighing",
    "OverrideList",
    "Penalties",
    "RegionSize",
    "ScoreTables",
    "Weighing",
    "check_listable",
    "sum_sizes",
]

"""The engine: exact answers about the p-values of all labelsets, from folds of integer scores."""

from labelsure.labelsets._codes import decode, encode
from labelsure.labelsets._compact_engine import CompactEngine, CompactObject
from labelsure.labelsets._engine import DRAW_UNIT, BestLabelsets, LabelsetEngine
from labelsure.labelsets._fold import Fold
from labelsure.labelsets._fold_engine import FoldEngine
from labelsure.labelsets._max_engine import MaxEngine, make_fold_engine
from labelsure.labelsets._parts_engine import CategoryEngine, GroupedEngine
from labelsure.labelsets._rule import Rule
from labelsure.labelsets._size import RegionSize, SizeEstimate
from labelsure.labelsets._stored_engine import StoredEngine

__all__ = [
    "DRAW_UNIT",
    "BestLabelsets",
    "CategoryEngine",
    "CompactEngine",
    "CompactObject",
    "Fold",
    "FoldEngine",
    "GroupedEngine",
    "LabelsetEngine",
    "MaxEngine",
    "RegionSize",
    "Rule",
    "SizeEstimate",
    "StoredEngine",
    "decode",
    "encode",
    "make_fold_engine",
]

"""Engines made of engines keep what these answer as it is."""

import numpy as np

from labelsure.engine._composite import GroupedEngine
from labelsure.engine._fold_arrays import Fold
from labelsure.engine._fold_engine import FoldEngine
from labelsure.measures._energy import Energy


def test_groups_answer_with_the_types_of_their_engines():
    """Numerators may be beyond the whole numbers that floats tell apart."""
    folds = [Fold(np.array([3]), Energy(np.array([0, 1]), np.array([[1, 5], [2, -4]])))]
    engine = FoldEngine(folds, allow_empty=True)
    grouped = GroupedEngine([engine, engine], [np.array([2, 0]), np.array([1, 3])])
    every = np.array([1, 0, 0, 1])  # objects of one engine, in the order of all
    whole, best = engine.take(every), grouped.top(3)
    for name in ("labelsets", "numerators", "upper", "certain"):
        found, expected = getattr(best, name), getattr(whole.top(3), name)
        assert found.dtype == expected.dtype
        assert found.tolist() == expected.tolist()
    assert grouped.denominators.dtype == grouped.label_numerators().dtype == np.int64

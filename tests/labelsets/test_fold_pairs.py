"""Pairwise costs of folds: shared, of each object, or none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelsure.labelsets._fold_pairs import FoldPairs

from fold_strategies import fold_lists
from labelsure.labelsets import Fold, FoldEngine, _search
from quadratic_forms import form_engine

FOLDS = fold_lists(labels=(1, 4), folds=(1, 4), objects=(1, 3))


@given(FOLDS, st.data())
def test_pairs_are_those_of_the_energies(folds, data):
    pairs = FoldPairs(folds)
    n_objects, n_labels = folds[0].energy.unary.shape
    objects = np.array(data.draw(st.lists(st.integers(0, n_objects - 1), min_size=1, max_size=4)))
    stacked = pairs.of(objects)
    dimensions = {fold.energy.pairwise.ndim for fold in folds if fold.energy.pairwise is not None}
    assert pairs.present == bool(dimensions)
    assert pairs.own == (3 in dimensions)
    assert stacked.shape[:2] == (len(objects) if pairs.own else 1, len(folds))
    if not pairs.present:
        assert stacked.shape[2:] == (0, 0)
        return
    for k, fold in enumerate(folds):
        costs = np.zeros((n_labels, n_labels)) if fold.energy.pairwise is None else fold.energy.pairwise
        for row, i in enumerate(objects):
            own = np.triu(costs if costs.ndim == 2 else costs[i], 1)
            assert np.array_equal(stacked[row if pairs.own else 0, k], own + own.T)


@pytest.mark.parametrize("own", [False, True])
def test_objects_may_be_taken_and_worked_on_in_blocks(own, monkeypatch):
    """Blocks of one object, with their own pairs counted in, give the same answers in the same order."""
    engine = form_engine(0, n_labels=10, n_folds=2, n_objects=5, own=own)
    best, labels = engine.top(3), engine.label_numerators()
    sizes = engine._search.count_members(20, 10**6)
    taken = engine.take(np.array([3, 0]))
    assert np.array_equal(taken.top(3).labelsets, best.labelsets[[3, 0]])
    monkeypatch.setattr(_search, "BLOCK_BYTES", 1)
    again = FoldEngine([Fold(fold.calibration, fold.energy) for fold in engine.folds], allow_empty=True)
    assert np.array_equal(again.top(3).labelsets, best.labelsets)
    assert np.array_equal(again.label_numerators(), labels)
    assert again._search.count_members(20, 10**6) == sizes


def test_blocks_are_smaller_where_objects_have_their_own_pairs(monkeypatch):
    asked = []
    pose = _search.pose_problems

    def counted(folds, parts, objects):
        asked.append(len(objects))
        return pose(folds, parts, objects)

    monkeypatch.setattr(_search, "pose_problems", counted)
    n_bytes = 8 * 2 * (12 + 1 + 12**2)
    monkeypatch.setattr(_search, "BLOCK_BYTES", 3 * n_bytes)
    for own, largest in ((True, 3), (False, 9)):
        asked.clear()
        form_engine(0, n_labels=12, n_folds=2, n_objects=9, own=own).top(1)
        assert max(asked) == largest

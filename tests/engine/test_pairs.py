"""Pairwise costs of folds: shared, of each object, or none; and made convex, with what single
flips keep.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fold_strategies import fold_lists
from labelsure.engine._fold_arrays import FoldArrays
from labelsure.engine._fold_engine import FoldEngine
from labelsure.engine._pairs import relax_pairs
from labelsure.engine._results import EngineOptions
from quadratic_forms import form_engine

FOLDS = fold_lists(labels=(1, 4), folds=(1, 4), objects=(1, 3))


@given(FOLDS)
def test_pairs_are_those_of_the_energies(folds):
    fold_arrays = FoldArrays(folds)
    n_objects, n_labels = folds[0].energy.unary.shape
    dimensions = {fold.energy.pairwise.ndim for fold in folds if fold.energy.pairwise is not None}
    assert fold_arrays.has_pairs == bool(dimensions)
    assert fold_arrays.own_pairs == (3 in dimensions)
    for i in range(n_objects if dimensions else 0):
        for matrix, fold in zip(fold_arrays.pairs.of(i), folds, strict=True):
            costs = np.zeros((n_labels, n_labels))
            if fold.energy.pairwise is not None:
                costs = fold.energy.pairwise
            upper = np.triu(costs if costs.ndim == 2 else costs[i], 1)
            assert np.array_equal(matrix, upper + upper.T)


@pytest.mark.parametrize("own", [False, True])
def test_objects_may_be_taken_and_worked_on_in_blocks(own):
    """Blocks of one object, with their own pairs counted in, give the same answers in the same
    order.
    """
    engine = form_engine(0, n_labels=10, n_folds=2, n_objects=5, own=own)
    best, labels = engine.top(3), engine.label_numerators()
    sizes = engine._search.count(np.arange(5), np.full(5, 20), 10**6)
    taken = engine.take(np.array([3, 0]))
    assert np.array_equal(taken.top(3).labelsets, best.labelsets[[3, 0]])
    again = FoldEngine(engine.folds, allow_empty=True, options=EngineOptions(block_bytes=1))
    assert np.array_equal(again.top(3).labelsets, best.labelsets)
    assert np.array_equal(again.label_numerators(), labels)
    assert again._search.count(np.arange(5), np.full(5, 20), 10**6) == sizes


COSTS = st.sampled_from([st.integers(-1, 1), st.integers(-9, 9), st.integers(-(2**43), 2**43)])


@st.composite
def pairs_and_scales(draw):
    n_labels = draw(st.integers(1, 6))
    upper = np.triu(draw(arrays(np.int64, (n_labels, n_labels), elements=draw(COSTS))), 1)
    scale = draw(arrays(np.float64, n_labels, elements=st.sampled_from([0.0, 1.0, 1e3, 1e13])))
    return upper + upper.T, scale


def least_values(pairs, diagonal):
    """Return the least value of f' A f and, for each label, its least value where f_i = 1, by
    linear algebra.
    """
    form = pairs / 2 + np.diag(diagonal)
    others = [np.delete(np.arange(len(form)), i) for i in range(len(form))]
    schur = [
        form[i, i]
        - form[i, rest] @ np.linalg.pinv(form[np.ix_(rest, rest)], hermitian=True) @ form[rest, i]
        for i, rest in enumerate(others)
    ]
    return np.linalg.eigvalsh(form)[0], np.array(schur)


@given(pairs_and_scales())
def test_relaxed_forms_are_convex_and_keep_their_gains(case):
    pairs, scale = case
    diagonal, gain = relax_pairs(pairs, scale)
    size = np.abs(pairs).sum() + diagonal.sum() + 1
    lowest, with_label = least_values(pairs, diagonal)
    assert lowest >= -1e-12 * size
    assert (gain <= with_label + 1e-9 * size).all()
    assert ((gain >= 0) & (gain <= diagonal)).all()
    for whole in (diagonal, gain):
        assert (whole == np.floor(whole)).all()


@given(pairs_and_scales())
def test_labels_without_pairs_are_left_alone(case):
    pairs, scale = case
    pairs[0] = pairs[:, 0] = 0
    diagonal, gain = relax_pairs(pairs, scale)
    assert diagonal[0] == gain[0] == 0
    alone = relax_pairs(pairs[1:, 1:], scale[1:])
    assert np.array_equal(diagonal[1:], alone[0])
    assert np.array_equal(gain[1:], alone[1])

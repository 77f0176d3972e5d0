"""Objects posed as search problems: what is written equals its definition, for every set of flips."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fold_strategies import fold_lists
from labelsure.engine._block import (
    ALL,
    CHEAPEST,
    COST,
    GROUP,
    N_COUNTED,
    N_RANKED,
    NEXT,
    ONE,
    SOME,
    TWO,
    WHOLE,
    pose_block,
)
from labelsure.engine._fold_arrays import FAR, Fold, FoldArrays
from labelsure.measures._energy import Energy
from labelsure.measures._labelset_bits import decode, unpack

FOLDS = fold_lists(labels=(1, 5), folds=(1, 4), objects=(1, 3))


def posed(folds, *, counted=True):
    """Return additive folds, and their problems."""
    folds = [Fold(fold.calibration, replace(fold.energy, pairwise=None)) for fold in folds]
    return folds, pose_block(
        FoldArrays(folds), np.arange(folds[0].energy.n_objects), counted=counted
    )


def scores_of(folds, i, labelsets):
    """Return the scores of some labelsets of object i, (labelsets, folds)."""
    objects = np.full(len(labelsets), i)
    return np.column_stack([fold.energy.scores(labelsets, objects=objects) for fold in folds])


@settings(max_examples=60)
@given(FOLDS)
def test_flips_and_bounds_are_what_their_definitions_say(folds):
    folds, block = posed(folds)
    q = folds[0].energy.n_labels
    flips = decode(np.arange(2**q), q)  # column t: position t flipped
    for i, mode in enumerate(unpack(block.mode, q)):
        assert sorted(block.label[i].tolist()) == list(range(q))
        labelsets = np.tile(mode, (2**q, 1))
        labelsets[:, block.label[i]] ^= flips
        scores = scores_of(folds, i, labelsets)
        assert scores[0].tolist() == block.base[i].tolist()
        assert scores[0].sum() == scores.sum(axis=1).min()
        added, bounds = scores - scores[0], block.bounds[i]
        for t in range(q):
            later = ~flips[:, :t].any(axis=1)
            assert bounds[ONE, t].tolist() == added[2**t].tolist()
            assert bounds[NEXT, t].tolist() == added[later & flips.any(axis=1)].min(axis=0).tolist()
            assert bounds[WHOLE, t].tolist() == added[later][-1].tolist()
            singles = np.sort(bounds[ONE, t:q], axis=0)
            two = singles[:2].sum(axis=0).tolist() if len(singles) > 1 else [FAR] * len(folds)
            assert bounds[TWO, t].tolist() == two
            if t >= block.n_hard[i]:
                assert (added[later & (flips.sum(axis=1) > 1)] >= bounds[TWO, t]).all()
            of_position = added[2**t].sum()
            assert block.totals[i, COST, t] == of_position
            assert block.totals[i, CHEAPEST, t] == min(added[2**u].sum() for u in range(t, q))
        assert not bounds[[NEXT, ONE], q].any()
        assert (bounds[[TWO, ALL, SOME], q] == FAR).all()
        assert not bounds[WHOLE, q].any()
        assert (block.totals[i, :, q] == FAR).all()


@given(FOLDS)
def test_hard_positions_come_first_then_cheap_ones(folds):
    _, block = posed(folds)
    for i, n_hard in enumerate(block.n_hard):
        hard = (block.bounds[i, ONE, :-1] < 0).any(axis=1)
        assert hard.tolist() == [True] * n_hard + [False] * (len(hard) - n_hard)
        assert (np.diff(block.totals[i, COST, :n_hard]) >= 0).all()
        assert (np.diff(block.totals[i, COST, n_hard:-1]) >= 0).all()


@pytest.mark.parametrize("n_labels", [1, 7, 8, 9, 16, 21])
def test_groups_of_eight_have_their_dearest_and_cheapest_flip(n_labels):
    rng = np.random.default_rng(n_labels)
    unary = rng.integers(-9, 30, size=(3, 2, n_labels))
    folds = [Fold(np.array([0]), Energy(np.array([0, 4]), own)) for own in unary]
    _, block = posed(folds)
    for t in range(0, n_labels // GROUP * GROUP, GROUP):
        group = block.bounds[:, ONE, t : t + GROUP]
        assert block.bounds[:, ALL, t].tolist() == group.max(axis=1).tolist()
        assert block.bounds[:, SOME, t].tolist() == group.min(axis=1).tolist()


@given(FOLDS, st.booleans())
def test_objects_are_posed_alone_as_together_in_one_layout(folds, counted):
    """Kernels are compiled anew for another layout; what only counting asks for is left out elsewhere."""
    folds, block = posed(folds, counted=counted)
    assert block.bounds.shape[1] == (N_COUNTED if counted else N_RANKED)
    assert all(part.flags.c_contiguous for part in block)
    for i in range(len(block.mode)):
        alone = pose_block(FoldArrays(folds), np.array([i]), counted=counted)
        for part in ("label", "n_hard", "base", "totals", "mode"):
            assert getattr(alone, part)[0].tolist() == getattr(block, part)[i].tolist()
        assert alone.bounds[0, : WHOLE + 1].tolist() == block.bounds[i, : WHOLE + 1].tolist()


def test_a_block_of_no_objects_is_empty():
    arrays = FoldArrays([Fold(np.array([0]), Energy(np.array([0]), np.array([[1, 2, 3]])))])
    block = pose_block(arrays, np.arange(0), counted=True)
    assert block.label.shape == (0, 3)
    assert block.bounds.shape == (0, N_COUNTED, 4, 1)
    assert block.mode.shape == (0, 1)

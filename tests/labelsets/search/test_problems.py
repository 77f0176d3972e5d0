"""Search problems: modes, costs of flips and bounds, against the energies' own scores."""

import numpy as np
from hypothesis import given, settings
from labelsure.labelsets.search._problems import pose_problems

from fold_strategies import fold_lists
from labelsure._core.labelset_bits import unpack
from labelsure.labelsets import decode
from labelsure.labelsets.arrays._fold_arrays import FoldArrays
from labelsure.labelsets.search._states import FAR
from search_cases import random_case

FOLDS = fold_lists(labels=(1, 5), folds=(1, 4), objects=(1, 3))


def additive_scores(folds, i, labelsets):
    """Return the scores of some labelsets of object i, (labelsets, folds)."""
    objects = np.full(len(labelsets), i)
    return np.column_stack([fold.energy.scores(labelsets, objects=objects) for fold in folds])


def posed(folds):
    everyone = np.arange(folds[0].energy.n_objects)
    return pose_problems(FoldArrays(folds), everyone)


@given(FOLDS)
def test_problems_have_one_layout_for_any_number_of_objects(folds):
    """Kernels are compiled anew for another one."""
    assert all(part.flags.c_contiguous for part in posed(folds))


@given(FOLDS)
def test_modes_cannot_be_bettered_by_one_flip(folds):
    problems = posed(folds)
    n_labels = folds[0].energy.n_labels
    modes = unpack(problems.mode, n_labels)
    for i, mode in enumerate(modes):
        beside = np.vstack([mode, mode ^ np.eye(n_labels, dtype=np.int8)])
        totals = additive_scores(folds, i, beside).sum(axis=1)
        assert totals[0] == totals.min()
        if all(fold.energy.pairwise is None for fold in folds):
            every_one = decode(np.arange(2**n_labels), n_labels)
            assert totals[0] == additive_scores(folds, i, every_one).sum(axis=1).min()


@given(FOLDS)
def test_costs_are_differences_of_scores(folds):
    problems = posed(folds)
    n_labels = folds[0].energy.n_labels
    for i, mode in enumerate(unpack(problems.mode, n_labels)):
        assert sorted(problems.label[i].tolist()) == list(range(n_labels))
        assert problems.sign[i].tolist() == np.where(mode[problems.label[i]], -1, 1).tolist()
        base = additive_scores(folds, i, mode[None])[0]
        assert problems.base[i].tolist() == base.tolist()
        flips = (mode ^ np.eye(n_labels, dtype=np.int8))[problems.label[i]]
        assert problems.cost[i].tolist() == (additive_scores(folds, i, flips) - base).tolist()


@settings(max_examples=50)
@given(FOLDS)
def test_hard_positions_come_first_then_cheap_ones(folds):
    problems = posed(folds)
    for i, n_hard in enumerate(problems.n_hard):
        hard = (problems.least[i] < 0).any(axis=1)
        assert hard.tolist() == [True] * n_hard + [False] * (len(hard) - n_hard)
        totals = problems.cost[i].sum(axis=1)
        assert (np.diff(totals[:n_hard]) >= 0).all()
        assert (np.diff(totals[n_hard:]) >= 0).all()


@settings(max_examples=60)
@given(FOLDS)
def test_bounds_hold_for_all_sets_of_flips(folds):
    problems = posed(folds)
    n_labels = folds[0].energy.n_labels
    flips = decode(np.arange(2**n_labels), n_labels)  # column t: position t flipped
    for i, mode in enumerate(unpack(problems.mode, n_labels)):
        labelsets = np.tile(mode, (len(flips), 1))
        labelsets[:, problems.label[i]] ^= flips
        added = additive_scores(folds, i, labelsets) - problems.base[i]
        for t in range(n_labels):
            without = np.flatnonzero(flips[:, t] == 0)
            assert (added[without + 2**t] - added[without] >= problems.least[i, t]).all()
            only_later = ~flips[:, :t].any(axis=1)
            assert (added[only_later] >= problems.rest[i, t]).all()
            assert (added[only_later & flips.any(axis=1)] >= problems.nearest[i, t]).all()
        assert problems.rest[i, n_labels].tolist() == [0] * len(folds)
        assert problems.nearest[i, n_labels].tolist() == [FAR] * len(folds)


def test_problems_of_no_objects_are_empty():
    folds = random_case(0, labels=(3, 3)).folds
    problems = pose_problems(FoldArrays([fold.take(np.arange(0)) for fold in folds]), np.arange(0))
    assert problems.label.shape == (0, 3)
    assert problems.mode.shape == (0, 1)

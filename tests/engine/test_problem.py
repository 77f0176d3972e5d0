"""Search problems of single objects: modes, costs of flips and what bounds them, against the energies' own scores."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fold_strategies import fold_lists
from labelsure.engine._fold_arrays import FoldArrays
from labelsure.engine._pair_problem import pose_problem
from labelsure.measures._labelset_bits import decode, unpack

FOLDS = fold_lists(labels=(1, 5), folds=(1, 4), objects=(1, 3))


def scores_of(folds, i, labelsets):
    """Return the scores of some labelsets of object i, (folds, labelsets)."""
    objects = np.full(len(labelsets), i)
    return np.stack([fold.energy.scores(labelsets, objects=objects) for fold in folds])


@settings(max_examples=60)
@given(FOLDS, st.data())
def test_problems_say_what_flips_of_the_mode_change(folds, data):
    i, q = data.draw(st.integers(0, folds[0].energy.n_objects - 1)), folds[0].energy.n_labels
    problem = pose_problem(FoldArrays(folds), i)
    mode = unpack(problem.mode[None], q)[0]
    beside = scores_of(folds, i, np.vstack([mode, mode ^ np.eye(q, dtype=np.int8)]))
    totals = beside.sum(axis=0)
    assert totals[0] == totals.min()
    assert problem.base.tolist() == beside[:, 0].tolist()
    assert sorted(problem.labels.tolist()) == list(range(q))
    assert problem.changes.tolist() == (beside[:, 1:] - beside[:, :1])[:, problem.labels].tolist()
    assert problem.costs.sign.tolist() == np.where(mode, -1, 1).tolist()
    least = problem.changes + problem.costs.slacks[:, problem.labels]
    hard = (least < 0).any(axis=0)
    n_hard = int(hard.sum())
    assert hard[:n_hard].all()
    added = problem.changes.sum(axis=0)
    for part in (added[:n_hard], added[n_hard:]):
        assert (np.diff(part) >= 0).all()


@settings(max_examples=60)
@given(FOLDS)
def test_no_flip_adds_less_than_its_change_and_slack(folds):
    """Whatever else is flipped."""
    q = folds[0].energy.n_labels
    problem, everything = pose_problem(FoldArrays(folds), 0), decode(np.arange(2**q), q)
    scores = scores_of(folds, 0, everything)
    mode = unpack(problem.mode[None], q)[0]
    least = problem.changes + problem.costs.slacks[:, problem.labels]
    for bound, j in zip(least.T, problem.labels.tolist(), strict=True):
        kept = np.flatnonzero(everything[:, j] == mode[j])
        assert (scores[:, kept ^ 2**j] - scores[:, kept] >= bound[:, None]).all()

"""Models that folds share for their out-of-fold outputs: whose outputs a training example gets, and who has seen it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelsure.conformal._sharing import share_models
from labelsure.conformal._splits import Split


def draw_splits(seed, n, n_folds, n_left_over=0):
    order = np.random.RandomState(seed).permutation(n)
    folds = np.array_split(order[: n - n_left_over], n_folds)
    return [Split(np.setdiff1d(order, fold), np.sort(fold)) for fold in folds]


@given(st.integers(0, 10**6), st.integers(5, 14), st.integers(0, 4), st.integers(20, 60))
def test_no_model_has_seen_the_example_or_the_fold(seed, n_folds, n_left_over, n):
    """Every model marks its outputs with a number; whose they are tells what it was trained on."""
    splits = draw_splits(seed, n, n_folds, n_left_over)
    shared = share_models(splits, np.ones(n, dtype=bool), seed=seed)
    trained_on = {pair: set(split.train.tolist()) for pair, split in shared.splits.items()}
    pairs = list(shared.splits)
    outputs = {
        pair: np.column_stack([np.full(len(split.calibration), i), split.calibration])
        for i, (pair, split) in enumerate(shared.splits.items())
    }
    for split in splits:
        models, about = shared.gather(split, outputs).T.astype(int)
        assert about.tolist() == split.train.tolist()  # each has the output that is its own
        for model, row in zip(models, about, strict=True):
            seen = trained_on[pairs[model]]
            assert row not in seen
            assert not seen & set(split.calibration.tolist())


@pytest.mark.parametrize(
    "splits",
    [draw_splits(0, 30, 4), [*draw_splits(0, 30, 6)[:5], Split(np.arange(10), np.arange(20, 25))]],
)
def test_few_folds_and_folds_that_leave_examples_out_share_nothing(splits):
    assert share_models(splits, np.ones(30, dtype=bool), seed=0) is None


def test_any_two_folds_may_share_a_group():
    """By their place they would not: then folds were not exchangeable."""
    splits = draw_splits(0, 40, 10)
    groups = [
        [
            share_models(splits, np.ones(40, dtype=bool), seed=seed).groups[split.calibration[0]]
            for split in splits
        ]
        for seed in range(200)
    ]
    together = np.mean([np.equal.outer(own, own) for own in groups], axis=0)
    away = together[~np.eye(10, dtype=bool)]
    assert (
        away.min() > 0.02
    )  # one in nine is expected; below one in fifty of 200: 1e-5 for each of 45 pairs
    assert away.max() < 0.25

"""Models that folds share: whose outputs a training example gets, and who has seen it."""

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


def answers_of(shared):
    """What each model says: its number, and the row that it is asked about."""
    rows = [shared.split(model).calibration for model in range(shared.n_models)]
    return [
        np.column_stack([np.full(len(of_model), float(model)), of_model])
        for model, of_model in enumerate(rows)
    ]


@given(st.integers(0, 10**6), st.integers(4, 14), st.integers(0, 4), st.integers(20, 60))
def test_no_model_has_seen_the_example_or_the_fold(seed, n_folds, n_left_over, n):
    splits = draw_splits(seed, n, n_folds, n_left_over)
    shared = share_models(splits, np.ones(n, dtype=bool), seed=seed)
    trained_on = [set(shared.split(model).train.tolist()) for model in range(shared.n_models)]
    for split in splits:
        gathered = shared.gather(split, answers_of(shared))
        known = ~np.isnan(gathered[:, 0])
        assert gathered[known, 1].tolist() == split.train[known].tolist()
        for model, row in gathered[known].astype(int):
            assert row not in trained_on[model]
            assert not trained_on[model] & set(split.calibration.tolist())


@pytest.mark.parametrize(
    ("n_folds", "n_models", "trained", "told"),
    [(4, 4, 1 / 2, 2 / 4), (5, 5, 3 / 5, 2 / 5), (10, 5, 3 / 5, 6 / 10)],
)
def test_how_many_models_there_are_and_how_much_they_tell(n_folds, n_models, trained, told):
    splits = draw_splits(0, 20 * n_folds, n_folds)
    n = 20 * n_folds
    shared = share_models(splits, np.ones(n, dtype=bool), seed=3)
    assert shared.n_models == n_models
    assert [len(shared.split(model).train) / n for model in range(n_models)] == [trained] * n_models
    known = [~np.isnan(shared.gather(split, answers_of(shared))[:, 0]) for split in splits]
    assert [of_fold.sum() / n for of_fold in known] == [told] * n_folds


@pytest.mark.parametrize(
    "splits",
    [draw_splits(0, 30, 3), [*draw_splits(0, 30, 6)[:5], Split(np.arange(10), np.arange(20, 25))]],
)
def test_few_folds_and_folds_that_leave_examples_out_share_nothing(splits):
    assert share_models(splits, np.ones(30, dtype=bool), seed=0) is None


def test_any_two_folds_may_be_told_about_each_other():
    """By their numbers some would never be: then folds were not exchangeable."""
    splits = draw_splits(0, 50, 10)
    together = np.zeros((10, 10))
    for seed in range(200):
        shared = share_models(splits, np.ones(50, dtype=bool), seed=seed)
        pairs = [set(shared.pairs[split.calibration[0]].tolist()) for split in splits]
        together += [[bool(one & other) for other in pairs] for one in pairs]
    away = together[~np.eye(10, dtype=bool)] / 200
    # 2/3 is expected of each of 45 pairs; 5.5 standard errors are 0.18: 2e-6 in all
    assert away.min() > 2 / 3 - 0.18
    assert away.max() < 2 / 3 + 0.18

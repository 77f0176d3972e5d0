"""Votes of folds: how many are enough, and whether the risk is under control with few examples and a poor learner."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import norm
from sklearn.neighbors import KNeighborsClassifier

from labelsure import CoverController, RecallController
from labelsure._random import DRAW_UNIT
from labelsure.decisions._controller_base import merge_votes

FALSE_ALARM = 1e-4
MERGES = ["random", "any"]


@st.composite
def ballots(draw):
    n_folds, q = draw(st.integers(2, 7)), draw(st.integers(1, 4))
    return draw(arrays(np.int64, (n_folds, 1, q), elements=st.integers(0, 1)))


@given(ballots())
def test_random_votes_keep_a_label_exactly_as_often_as_folds_predict_it(folds):
    """The first draw that drops a label, found among all 2^31 by where the votes say it is."""
    n_folds = len(folds)
    for label, votes in enumerate(folds.sum(axis=0)[0]):
        kept = -(
            -int(votes) * DRAW_UNIT // n_folds
        )  # draws 1 .. kept keep it, a share of at least votes / K
        assert Fraction(kept, DRAW_UNIT) >= Fraction(int(votes), n_folds)
        for draw in {1, kept, kept + 1, DRAW_UNIT} - {0, DRAW_UNIT + 1}:
            assert merge_votes(folds, "random", np.array([draw]))[0, label] == (draw <= kept)


def chances_of(X):
    return np.stack([X[:, 0], X[:, 1], X.prod(axis=1)], axis=1)


def draw_examples(rng, n):
    X = rng.random((n, 2))
    return X, (rng.random((n, 3)) < chances_of(X)).astype(int)


def mean_loss(kind, merge, target, n_trials, seed):
    """Of 40 examples in 5 folds of 8: thresholds far apart and outputs full of ties."""
    losses = []
    for rng in np.random.default_rng(seed).spawn(n_trials):
        X, Y = draw_examples(rng, 40)
        new, truth = draw_examples(rng, 40)
        options = {
            "target": target,
            "cv": 5,
            "merge": merge,
            "random_state": int(rng.integers(2**31)),
        }
        model = kind(KNeighborsClassifier(3), **options)
        missed = (model.fit(X, Y).predict(new) == 0) & (truth == 1)
        share = missed.sum(axis=1) / np.maximum(truth.sum(axis=1), 1)
        losses.append(share.mean() if kind is RecallController else missed.any(axis=1).mean())
    return np.mean(losses), np.std(losses) / np.sqrt(n_trials)


def assert_proven(kind, merge, target, n_trials, seed):
    mean, deviation = mean_loss(kind, merge, target, n_trials, seed)
    assert mean <= 1 - target + norm.isf(FALSE_ALARM) * deviation
    return mean


@pytest.mark.parametrize("kind", [RecallController, CoverController])
def test_expected_loss_of_folds_is_at_most_what_is_proven(kind):
    """20 data sets; a correct rule fails with probability at most 1e-4 (normal approximation)."""
    means = {merge: assert_proven(kind, merge, 0.6, 20, seed=0) for merge in MERGES}
    assert means["random"] > 0.1  # else nothing was tested
    assert means["any"] < means["random"]

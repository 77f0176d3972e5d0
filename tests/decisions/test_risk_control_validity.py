"""Is the risk under control? By counting in fixed bags of examples, and by simulation from populations known exactly.

Conformal risk control is a statement about any bag of n + 1 examples, each of them in turn the new
one: their mean loss is at most the level. That is checked exactly. The others are statements about
the draw of n independent examples. A population here is a short list of examples with their
probabilities, so the mean loss of each threshold is a known fraction, and the level lies just below
that of one threshold: choosing it, or a worse one, is a failure, which may happen with probability
delta. Failure rates are refused where a correct method shows them with probability at most 1e-4
(one-sided binomial test). Seeds are fixed.
"""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import binomtest

from labelsure import control_precision, control_recall

FALSE_ALARM = 1e-4
GRID = [0.2, 0.4, 0.6, 0.8, 1.0]


def recall_loss(outputs, Y, threshold):
    missed = np.sum((outputs < threshold) & (Y == 1), axis=1)
    return missed / np.maximum(Y.sum(axis=1), 1)


def precision_loss(outputs, Y, threshold):
    inside = outputs >= threshold
    return np.sum(inside & (Y == 0), axis=1) / np.maximum(inside.sum(axis=1), 1)


LOSSES = {"recall": recall_loss, "precision": precision_loss}


@st.composite
def bags(draw):
    n, q = draw(st.integers(2, 15)), draw(st.integers(1, 4))
    outputs = draw(arrays(np.float64, (n, q), elements=st.integers(0, 5).map(lambda k: k / 5)))
    return outputs, draw(arrays(np.int8, (n, q), elements=st.integers(0, 1)))


@given(bags(), st.integers(1, 19).map(lambda k: k / 20))
def test_mean_loss_in_any_bag_is_at_most_the_level(bag, target):
    outputs, Y = bag
    total = Fraction(0)
    for i in range(len(Y)):
        others = np.arange(len(Y)) != i
        threshold = control_recall(outputs[others], Y[others], target=target).threshold
        if Y[i].any():
            total += Fraction(int(np.sum((outputs[i] < threshold) & (Y[i] == 1))), int(Y[i].sum()))
    assert total <= (1 - Fraction(str(target))) * len(Y)


class Population:
    """Examples that are all equally likely, full of ties, rows without labels among them."""

    def __init__(self, seed, risk):
        rng = np.random.default_rng(seed)
        self.outputs = rng.choice(GRID, (40, 3))
        self.Y = (rng.random((40, 3)) < self.outputs * 0.8).astype(int)
        self.loss = LOSSES[risk]

    def risk(self, threshold):
        return self.loss(self.outputs, self.Y, threshold).mean()

    def target_just_missed_at(self, threshold):
        """The lowest target that this threshold misses, to three decimals."""
        return np.floor((1 - self.risk(threshold)) * 1000 + 1) / 1000

    def draw(self, rng, n):
        rows = rng.integers(len(self.Y), size=n)
        return self.outputs[rows], self.Y[rows]


def failures(population, target, control, n_trials, n_examples, seed):
    """How often the true risk of the chosen threshold is above the level, and how often it is the safe last resort."""
    n_failed = n_reached = 0
    for rng in np.random.default_rng(seed).spawn(n_trials):
        predictor = control(*population.draw(rng, n_examples), target)
        n_failed += population.risk(predictor.threshold) > 1 - target + 1e-12
        n_reached += predictor.reached
    return n_failed, n_reached


def assert_rarely_fails(n_failed, n_trials, delta):
    assert binomtest(int(n_failed), n_trials, delta, alternative="greater").pvalue > FALSE_ALARM, (
        n_failed
    )


def rcps(bound):
    return lambda outputs, Y, target: control_recall(
        outputs, Y, target=target, method="rcps", delta=0.2, bound=bound
    )


def ltt(bound, correction="fixed-sequence"):
    return lambda outputs, Y, target: control_precision(
        outputs, Y, target=target, delta=0.2, thresholds=GRID, bound=bound, correction=correction
    )


METHODS = {
    "rcps, hoeffding-bentkus": ("recall", rcps("hoeffding-bentkus")),
    "rcps, betting": ("recall", rcps("betting")),
    "ltt, hoeffding-bentkus": ("precision", ltt("hoeffding-bentkus")),
    "ltt, betting": ("precision", ltt("betting")),
    "ltt, bonferroni": ("precision", ltt("hoeffding-bentkus", "bonferroni")),
}


@pytest.mark.parametrize("name", METHODS)
def test_risk_is_rarely_above_the_level(name):
    """300 data sets of 60 examples, delta = 0.2, the level just below the risk of the threshold 0.6."""
    risk, control = METHODS[name]
    population = Population(0, risk)
    n_failed, n_reached = failures(
        population, population.target_just_missed_at(0.6), control, 300, 60, seed=1
    )
    assert_rarely_fails(n_failed, 300, 0.2)
    assert n_reached > 200  # else nothing was tested


def test_thresholds_that_trust_the_mean_are_refused():
    """The tests here can fail: without a confidence bound nearly half of all data sets choose wrongly."""

    class Naive:
        reached = True

        def __init__(self, outputs, Y, target):
            passing = [t for t in GRID if recall_loss(outputs, Y, t).mean() <= 1 - target]
            self.threshold = max(passing, default=0)

    population = Population(0, "recall")
    n_failed, _ = failures(
        population, population.target_just_missed_at(0.6), Naive, 300, 60, seed=1
    )
    with pytest.raises(AssertionError):
        assert_rarely_fails(n_failed, 300, 0.2)

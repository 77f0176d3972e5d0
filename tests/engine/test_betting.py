"""Intervals by betting: capitals against their definition, ends against what is certain, coverage
by simulation.
"""

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelsure.engine._estimate import STAKES, log_capital, mean_interval

WEIGHTS = st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0]), min_size=1, max_size=60).map(
    np.array
)


@given(WEIGHTS, st.floats(0.01, 0.99))
def test_capital_is_the_mean_over_bets_of_what_each_makes(weights, m):
    """A share c of the capital on each number: at most c of it is lost, whatever comes."""
    values, counts = np.unique(weights, return_counts=True)
    ends = [np.prod(1 + c * (weights - m) / m) for c in STAKES]
    ends += [np.prod(1 - c * (weights - m) / (1 - m)) for c in STAKES]
    assert log_capital(values, counts, np.array([m]))[0] == pytest.approx(
        log(np.mean(ends)), abs=1e-9
    )


@given(st.floats(0.05, 0.95), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_capital_is_fair_against_the_true_mean(share, n_draws, seed):
    """Expected over all outcomes of draws that are 0 or a number: exactly 1."""
    number = np.random.default_rng(seed).uniform(0.1, 1.0)
    expected = 0.0
    for outcome in np.ndindex(*(2,) * n_draws):
        values, counts = np.unique(number * np.array(outcome, dtype=float), return_counts=True)
        chance = np.prod(np.where(outcome, share, 1 - share))
        expected += chance * np.exp(log_capital(values, counts, np.array([share * number]))[0])
    assert expected == pytest.approx(1.0)


@given(WEIGHTS, st.sampled_from([0.5, 0.01, 2.0**-30]))
def test_ends_are_where_the_capital_reaches_the_limit(weights, doubt):
    low, high = mean_interval(weights, doubt)
    values, counts = np.unique(weights, return_counts=True)
    assert 0 <= low <= weights.mean() + 1e-12
    assert weights.mean() - 1e-12 <= high <= 1
    for end in (low, high):
        if 0 < end < 1:  # refused, and so is everything beyond; a little nearer to the mean is not
            nearer = end + (weights.mean() - end) * 2 * 16**-3
            assert log_capital(values, counts, np.array([end]))[0] >= -log(doubt) - 1e-9
            assert log_capital(values, counts, np.array([nearer]))[0] <= -log(doubt)


@pytest.mark.validity
@pytest.mark.parametrize("mean", [0.02, 0.1, 0.6])
def test_intervals_miss_less_often_than_they_say_whenever_one_stops(mean):
    """400 sequences looked at after 50, 100, ... draws: more than 12 ever missed at 1 % have a
    probability < 10^-3.
    """
    rng = np.random.default_rng(int(100 * mean))
    n_missed = 0
    for _ in range(400):
        weights = np.where(rng.random(800) < 1.5 * mean, rng.uniform(1 / 3, 1, 800), 0.0)
        ends = [mean_interval(weights[:n], 0.01) for n in (50, 100, 200, 400, 800)]
        n_missed += any(not low <= mean <= high for low, high in ends)
    assert n_missed <= 12

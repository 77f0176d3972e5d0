"""The tests of a mean loss, against their formulas written out."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import binom

from labelsure.decisions._risk_control import (
    betting_rejects,
    highest_log_capital,
    hoeffding_bentkus_p_value,
    sum_of_shares,
)

LEVELS = st.sampled_from(
    [Fraction(1, 100), Fraction(1, 10), Fraction(1, 5), Fraction(1, 2), Fraction(9, 10)]
)


def divergence(a, b):
    return sum(x * math.log(x / y) for x, y in ((a, b), (1 - a, 1 - b)) if x > 0)


@given(st.integers(1, 200), st.data(), LEVELS)
def test_hoeffding_bentkus_is_its_formula(n, data, level):
    total = data.draw(st.integers(0, 6 * n).map(lambda k: Fraction(k, 6)))
    hoeffding = math.exp(-n * divergence(float(min(total / n, level)), float(level)))
    bentkus = math.e * binom.cdf(math.ceil(total), n, float(level))
    assert hoeffding_bentkus_p_value(total, n, level) == pytest.approx(
        min(hoeffding, bentkus), rel=1e-9, abs=1e-300
    )


@given(st.integers(1, 60), LEVELS)
def test_hoeffding_bentkus_never_falls_when_losses_rise(n, level):
    p_values = [hoeffding_bentkus_p_value(Fraction(k, 4), n, level) for k in range(4 * n + 1)]
    assert all(earlier <= later * (1 + 1e-12) for earlier, later in pairwise(p_values))
    assert p_values[-1] == 1


def test_sums_of_shares_are_whole_where_they_are_whole():
    """Three thirds: added up as floats, ceil(n * mean) would be one more where rounding goes up."""
    wholes = np.array([3] * 3 + [7] * 7 + [0])
    assert sum_of_shares(np.ones(11, dtype=np.int64) * (wholes > 0), wholes) == 2


def capital_by_hand(losses, level, delta):
    """The gambler's highest capital, one bet after the other."""
    n, capital, highest, sum_losses, sum_squares = len(losses), 1.0, 0.0, 0.0, 0.0
    variance = 0.25
    for i, loss in enumerate(losses, start=1):
        bet = min(1.0, math.sqrt(2 * math.log(1 / delta) / (n * variance)))
        capital *= 1 - bet * (loss - level)
        highest = max(highest, capital)
        sum_losses += loss
        mean = (0.5 + sum_losses) / (i + 1)
        sum_squares += (loss - mean) ** 2
        variance = (0.25 + sum_squares) / (i + 1)
    return highest


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(1, 4), st.integers(1, 40)),
        elements=st.sampled_from([0, 0.25, 0.5, 1]),
    ),
    LEVELS,
    st.sampled_from([0.01, 0.1, 0.3]),
)
def test_betting_is_its_formula(losses, level, delta):
    capitals = [capital_by_hand(row, float(level), delta) for row in losses]
    np.testing.assert_allclose(
        np.exp(highest_log_capital(losses, level, delta)), capitals, rtol=1e-9
    )


def test_betting_does_not_look_ahead():
    """A bet is made before the loss is known: what comes later may not change whether the capital was reached."""
    losses = np.zeros((2, 60))
    losses[1, 40:] = 1
    assert betting_rejects(losses, Fraction(1, 10), 0.2).tolist() == [True, True]

"""From a fold's p-values to e-values: formulas, and averages of at most 1 in exact arithmetic after all rounding."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from labelsure.conformal._rules import E_VALUE_SCALE, complements, linear_e_values, steep_e_values

SIZES = st.integers(1, 200)
LEVELS = st.fractions(Fraction(1, 200), Fraction(9, 10), max_denominator=240)
CALIBRATORS = pytest.mark.parametrize("calibrator", [steep_e_values, linear_e_values])


def scaled(calibrator, size, significance):
    """Return eps E for the p-values 1 / (m + 1), ..., 1 as regions are decided by them: whole numbers of 2^-36."""
    return [E_VALUE_SCALE - int(one) for one in complements(calibrator, (size,), significance)[0]]


@CALIBRATORS
@given(SIZES, LEVELS)
@example(19, Fraction(1, 20))
@example(10, Fraction(1, 12))
def test_e_values_fall_and_average_to_at_most_one_after_rounding(calibrator, size, significance):
    """Exactly: one unit of 2^-36 too much in a single entry of an average of 1 would be seen."""
    values = scaled(calibrator, size, significance)
    assert all(values[c] >= values[c + 1] for c in range(size))
    assert values[-1] >= 0
    assert Fraction(sum(values), E_VALUE_SCALE * (size + 1)) <= significance
    lost = significance - Fraction(sum(values), E_VALUE_SCALE * (size + 1))
    assert lost <= significance * Fraction(3, 10**9) + Fraction(1, E_VALUE_SCALE)  # nothing is given away


@given(st.integers(1, 60), LEVELS)
def test_steep_e_values_equal_their_formula(size, significance):
    """F(p) = (1/eps) (1 + e^{C (eps - s)}) / (1 + e^{C (p - s)}), the average being 1: solved for C by bisection."""
    values = steep_e_values(size, significance)
    n_values, level = size + 1, float(significance)
    grid = np.arange(1, n_values + 1) / n_values
    if (significance * n_values).denominator == 1:
        assert values.tolist() == (grid <= level + 1e-12).astype(float).tolist()
        return
    middle = (level + (int(significance * n_values) + 1) / n_values) / 2
    low, high = 0.0, 1.0
    f = lambda c: (1 + np.exp(c * (level - middle))) / (1 + np.exp(np.minimum(c * (grid - middle), 700)))  # noqa: E731
    while f(high).mean() > level:
        high *= 2
    for _ in range(200):
        c = (low + high) / 2
        low, high = (c, high) if f(c).mean() > level else (low, c)
    np.testing.assert_allclose(values, f(low), rtol=1e-5, atol=1e-9)


def exact_linear(size, significance):
    """Return eps L(k / (m + 1)), L proportional to (J + 1 - k)_+ with J = floor(eps (m + 1)), averaging 1."""
    last = math.floor(significance * (size + 1))
    heights = [max(last + 1 - k, 0) for k in range(1, size + 2)] if last else [1] * (size + 1)
    return [height * significance * (size + 1) / sum(heights) for height in heights]


@given(SIZES, LEVELS)
@example(19, Fraction(1, 20))
@example(3, Fraction(1, 8))
def test_linear_e_values_equal_their_formula_rounded_down(size, significance):
    expected = [math.floor(one * E_VALUE_SCALE) for one in exact_linear(size, significance)]
    assert scaled(linear_e_values, size, significance) == expected


@given(SIZES, LEVELS)
def test_linear_e_values_are_above_the_one_behind_twice_the_mean(size, significance):
    """(2 / eps) (1 - p / eps), cut off at 0, is the e-value that makes twice the mean of p-values a p-value."""
    for k, value in enumerate(scaled(linear_e_values, size, significance), start=1):
        continuous = 2 * max(1 - Fraction(k, size + 1) / significance, 0)
        assert Fraction(value, E_VALUE_SCALE) > continuous or continuous == 0


@pytest.mark.parametrize("size", [1, 9, 19, 99])
def test_linear_e_values_can_rule_out_at_the_smallest_p_value(size):
    """At eps = 1 / (m + 1) eps L is 1 at the smallest p-value, and a hair less would be of no use."""
    assert scaled(linear_e_values, size, Fraction(1, size + 1)) == [E_VALUE_SCALE] + [0] * size


def test_complements_leave_folds_without_examples_out():
    table = complements(linear_e_values, (3, 0, 5), Fraction(1, 2))
    assert table[1].tolist() == [0] * 6
    alone = complements(linear_e_values, (3,), Fraction(1, 2))[0]
    assert table[0].tolist() == [*alone, alone[-1], alone[-1]]  # counts of 4 and 5 do not happen there
    assert (np.diff(table[[0, 2]]) >= 0).all()

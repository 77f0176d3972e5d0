"""E-values are rounded down: what regions are decided by never averages to more than 1 over the grid, exactly."""

import itertools
from decimal import Decimal, localcontext
from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

try:
    from labelsure.conformal._rules import E_VALUE_SCALE, complements, linear_e_values, steep_e_values

    CALIBRATORS = {"steep": steep_e_values, "linear": linear_e_values}
except ModuleNotFoundError:
    from labelsure.conformal._p_to_e import scaled_e_values as steep_e_values

    from labelsure.conformal._guarantees import E_VALUE_SCALE, _complements

    CALIBRATORS = {"steep": steep_e_values}

    def complements(calibrate, sizes, significance):
        return _complements(sizes, significance)


SIZES = st.integers(1, 300)
LEVELS = st.fractions(Fraction(1, 200), Fraction(9, 10), max_denominator=400)


def used(name, size, significance):
    """The e-values times eps that regions are decided by: exact fractions, one per value k / (size + 1) of p."""
    (row,) = complements(CALIBRATORS[name], (size,), significance)
    return [1 - Fraction(int(one), E_VALUE_SCALE) for one in row]


@pytest.mark.parametrize("name", CALIBRATORS)
@given(SIZES, LEVELS)
def test_rounded_e_values_average_to_at_most_one_exactly(name, size, significance):
    """Rounded up instead, the average is above 1 wherever eps is not on the grid: by up to 2^-36 / eps."""
    values = used(name, size, significance)
    assert sum(values) <= significance * (size + 1)
    assert all(a >= b >= 0 for a, b in itertools.pairwise(values))
    # rounding costs next to nothing
    assert sum(values) >= significance * (size + 1) * (1 - Fraction(3, 10**9)) - Fraction(size + 1, E_VALUE_SCALE)


@pytest.mark.parametrize("name", CALIBRATORS)
@given(SIZES, LEVELS)
def test_rounded_e_values_are_rounded_down(name, size, significance):
    """Each is the largest multiple of 2^-36 that is not above what the calibrator says."""
    exact = [Fraction(float(one)) for one in CALIBRATORS[name](size, significance)]
    assert used(name, size, significance) == [Fraction(floor(one * E_VALUE_SCALE), E_VALUE_SCALE) for one in exact]


@pytest.mark.parametrize(
    ("size", "significance"), [(10, Fraction(1, 8)), (33, Fraction(1, 20)), (120, Fraction(3, 10))]
)
def test_steep_e_values_stay_below_those_in_fifty_digits(size, significance):
    """F(p) = (1 + e^{C (eps - s)}) / (eps (1 + e^{C (p - s)})), C by bisection with fifty digits."""
    with localcontext() as context:
        context.prec = 50
        n_values = size + 1
        level = Decimal(significance.numerator) / significance.denominator
        middle = (level + Decimal(floor(significance * n_values) + 1) / n_values) / 2

        def values(steepness):
            top = 1 + (steepness * (level - middle)).exp()
            return [top / (1 + (steepness * (Decimal(k) / n_values - middle)).exp()) for k in range(1, n_values + 1)]

        low, high = Decimal(0), Decimal(1)
        while sum(values(high)) / n_values > level:
            high *= 2
        for _ in range(160):
            half = (low + high) / 2
            low, high = (low, half) if sum(values(half)) / n_values <= level else (half, high)
        exact = [Fraction(one) for one in values(high)]
    rounded = used("steep", size, significance)
    assert all(ours <= theirs for ours, theirs in zip(rounded, exact, strict=True))
    np.testing.assert_allclose([float(one) for one in rounded], [float(one) for one in exact], rtol=3e-9, atol=2**-35)

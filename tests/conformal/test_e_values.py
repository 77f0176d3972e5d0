"""From a fold's p-values to e-values: formulas, and exact averages of at most 1 after rounding."""

from decimal import Decimal, localcontext
from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from labelsure.conformal._merging import E_VALUE_SCALE, complements

SIZES = st.integers(1, 200)
LEVELS = st.fractions(Fraction(1, 200), Fraction(9, 10), max_denominator=240)


def scaled(size, significance):
    """Return eps E for the p-values 1 / (m + 1), ..., 1 as regions use them: multiples of 2^-36."""
    return [E_VALUE_SCALE - int(one) for one in complements((size,), significance)[0]]


@given(SIZES, LEVELS)
@example(19, Fraction(1, 20))
@example(10, Fraction(1, 12))
def test_e_values_fall_and_average_to_at_most_one_after_rounding(size, significance):
    """Exactly: one unit of 2^-36 too much in a single entry of an average of 1 would be seen."""
    values = scaled(size, significance)
    assert all(values[c] >= values[c + 1] for c in range(size))
    assert values[-1] >= 0
    assert Fraction(sum(values), E_VALUE_SCALE * (size + 1)) <= significance
    lost = significance - Fraction(sum(values), E_VALUE_SCALE * (size + 1))
    # nothing is given away
    assert lost <= significance * Fraction(3, 10**9) + Fraction(1, E_VALUE_SCALE)


@pytest.mark.parametrize(
    ("size", "significance"), [(10, Fraction(1, 8)), (33, Fraction(1, 20)), (120, Fraction(3, 10))]
)
def test_steep_e_values_stay_below_those_in_fifty_digits(size, significance):
    """F(p) = (1 + e^{C (eps - s)}) / (eps (1 + e^{C (p - s)})), C by bisection to fifty digits."""
    with localcontext() as context:
        context.prec = 50
        n_values = size + 1
        level = Decimal(significance.numerator) / significance.denominator
        middle = (level + Decimal(floor(significance * n_values) + 1) / n_values) / 2

        def values(steepness):
            top = 1 + (steepness * (level - middle)).exp()
            return [
                top / (1 + (steepness * (Decimal(k) / n_values - middle)).exp())
                for k in range(1, n_values + 1)
            ]

        low, high = Decimal(0), Decimal(1)
        while sum(values(high)) / n_values > level:
            high *= 2
        for _ in range(160):
            half = (low + high) / 2
            low, high = (low, half) if sum(values(half)) / n_values <= level else (half, high)
        exact = [Fraction(one) for one in values(high)]
    rounded = [Fraction(one, E_VALUE_SCALE) for one in scaled(size, significance)]
    assert all(ours <= theirs for ours, theirs in zip(rounded, exact, strict=True))
    np.testing.assert_allclose(
        [float(one) for one in rounded], [float(one) for one in exact], rtol=3e-9, atol=2**-35
    )


def test_complements_leave_folds_without_examples_out():
    table = complements((3, 0, 5), Fraction(1, 3))
    assert table[1].tolist() == [0] * 6
    alone = complements((3,), Fraction(1, 3))[0]
    # counts of 4 and 5 do not happen there
    assert table[0].tolist() == [*alone, alone[-1], alone[-1]]
    assert (np.diff(table[[0, 2]]) >= 0).all()

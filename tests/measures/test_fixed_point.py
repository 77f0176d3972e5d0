"""Scores as integers."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from labelsure.measures._fixed_point import (
    COARSEST_EXPONENT,
    FINEST_EXPONENT,
    SCORE_BITS,
    choose_exponent,
    to_fixed_point,
)

LIMIT = 2.0 ** (SCORE_BITS - COARSEST_EXPONENT)


@given(st.floats(0, LIMIT, exclude_max=True))
@example(2.0**10)
@example(2.0**10 - 2.0**-40)
@example(math.nextafter(LIMIT, 0))
def test_choose_exponent_keeps_scores_below_their_limit_and_as_fine_as_possible(largest):
    exponent = choose_exponent(largest)
    assert COARSEST_EXPONENT <= exponent <= FINEST_EXPONENT
    assert math.ldexp(largest, exponent) < 2**SCORE_BITS
    if exponent < FINEST_EXPONENT:
        assert math.ldexp(largest, exponent + 1) >= 2**SCORE_BITS


@pytest.mark.parametrize("largest", [LIMIT, 2 * LIMIT, 1e300, math.inf, math.nan])
def test_choose_exponent_refuses_scores_too_large(largest):
    with pytest.raises(
        ValueError, match=r"Scores may be as large as .* Choose weights .* below 1\.07e\+09"
    ):
        choose_exponent(largest)


@given(st.lists(st.floats(-100, 100), max_size=6), st.integers(COARSEST_EXPONENT, FINEST_EXPONENT))
def test_to_fixed_point_rounds_to_the_nearest_unit(costs, exponent):
    fixed = to_fixed_point(np.array(costs, dtype=np.float64), exponent)
    assert fixed.dtype == np.int64
    for cost, integer in zip(costs, fixed.tolist(), strict=True):
        assert abs(math.ldexp(cost, exponent) - integer) <= 0.5


@given(st.integers(-(2**49), 2**49), st.integers(COARSEST_EXPONENT, FINEST_EXPONENT))
def test_to_fixed_point_is_exact_for_whole_numbers_of_units(units, exponent):
    assert to_fixed_point(np.array([math.ldexp(units, -exponent)]), exponent).tolist() == [units]

"""A logarithm of our own: near the true one, and the same bits compiled, as plain arrays, and on a card."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from far_arrays import FarArray
from labelsure.measures._logarithm import minus_logs, minus_logs_anywhere

ROOT = math.sqrt(0.5)
AROUND_ROOTS = [math.nextafter(ROOT, 0), ROOT, math.nextafter(ROOT, 1), ROOT / 2, math.nextafter(ROOT / 2, 0)]
SPECIAL = [5e-324, 1e-310, 2.0**-1022, 1e-6, 0.5, 1 - 2.0**-53, 1.0, *AROUND_ROOTS]
NUMBERS = st.one_of(st.sampled_from(SPECIAL), st.floats(0, 1, exclude_min=True), st.floats(1e-6, 1 - 1e-6))


@given(arrays(np.float64, array_shapes(max_dims=2, max_side=40, min_side=0), elements=NUMBERS))
def test_kernel_has_the_bits_of_its_reference_on_any_array(values):
    logs = minus_logs(values)
    assert logs.shape == values.shape
    assert np.array_equal(logs, minus_logs_anywhere(values))
    assert np.array_equal(logs, minus_logs_anywhere(FarArray(values)).values)
    assert np.array_equal(logs.T, minus_logs(values.T))  # in another order in memory


@given(NUMBERS)
def test_logarithms_are_near_the_true_ones(value):
    expected = -math.log(value)
    assert abs(float(minus_logs(np.array(value))) - expected) <= 4 * math.ulp(expected)


def test_logarithms_of_powers_of_two_are_multiples():
    powers = np.arange(1075)
    assert np.array_equal(minus_logs(np.ldexp(1.0, -powers)), powers * math.log(2))

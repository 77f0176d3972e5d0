"""The square root on integers."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from labelsure.measures._energy import SquareRoot

NEAR_SQUARES = st.tuples(st.integers(0, 2**25), st.integers(-2, 2)).map(
    lambda pair: pair[0] ** 2 + pair[1]
)


@given(st.lists(st.integers(-(2**50), 2**50 - 1) | NEAR_SQUARES, max_size=8), st.integers(0, 12))
@example([2**50 - 1, 2**50 - 2, 0, -1, 1], 12)
@example([(2**25 - 1) ** 2, (2**25 - 1) ** 2 - 1, (2**25 - 1) ** 2 + 1], 0)
def test_square_root_is_exact(additive, shift):
    roots = SquareRoot(shift)(np.array(additive, dtype=np.int64))
    assert roots.dtype == np.int64
    assert roots.tolist() == [math.isqrt(max(a, 0) << shift) for a in additive]


@given(st.lists(st.integers(0, 2**50 - 1), min_size=2, max_size=8), st.integers(0, 12))
def test_square_root_keeps_order(additive, shift):
    roots = SquareRoot(shift)(np.sort(np.array(additive)))
    assert (np.diff(roots) >= 0).all()


@pytest.mark.parametrize("shift", [-1, 13, 60])
def test_square_root_refuses_a_shift_without_room(shift):
    with pytest.raises(ValueError, match=f"shift must lie between 0 and 12, got {shift}"):
        SquareRoot(shift)


def test_square_root_leaves_its_argument_alone():
    additive = np.array([-5, 9])
    SquareRoot(0)(additive)
    assert additive.tolist() == [-5, 9]

"""How the size of a region is told where it was not counted."""

import dataclasses

import pytest

from labelsure.engine import RegionSize
from labelsure.engine._results import sum_sizes


def estimate(value, low, high, *, at_least=1, at_most=2**60):
    return RegionSize(value, low, high, coverage_level=0.99, at_least=at_least, at_most=at_most)


@pytest.mark.parametrize(
    ("size", "printed"),
    [
        (estimate(2**41, 2**41, 2**41), "2^41.0 (+-0.1)"),  # never more certain than it prints
        (estimate(2**40, 2**39, 2**41), "2^40.0 (+-1.0)"),
        (estimate(2**40, 2**30, 2**41), "2^40.0 (+-10.0)"),  # the farther end
        (estimate(2**40, 2**40, 2**44), "2^40.0 (+-4.0)"),
        (estimate(1000, 960, 1090), "2^10.0 (+-0.2)"),  # 0.12, rounded up
        (estimate(100, 0, 2**20, at_least=0), "between 2^0.0 and 2^20.0"),
        (estimate(0, 0, 0, at_least=0), "between 2^0.0 and 2^0.0"),
        (RegionSize.counted(7), "7"),
        (estimate(3 * 2**5000, 2**5001, 2**5002, at_most=2**9999), "2^5001.6 (+-0.6)"),
    ],
)
def test_region_size_prints_powers_of_two(size, printed):
    assert str(size) == f"{size}" == printed


def test_region_size_is_a_value():
    size = estimate(5, 4, 6)
    assert float(size) == 5.0
    assert size == estimate(5, 4, 6) != estimate(5, 4, 7)
    assert {size: "hashed"}[estimate(5, 4, 6)] == "hashed"
    with pytest.raises(dataclasses.FrozenInstanceError):
        size.value = 6
    with pytest.raises(OverflowError):
        float(estimate(2**2000, 1, 2**2001))


def test_region_size_is_exact_where_it_was_counted():
    assert RegionSize.counted(2**70).exact
    assert RegionSize.counted(3).coverage_level == 1
    assert not estimate(5, 4, 6).exact


def test_sums_of_sizes_hold_together():
    """Intervals and certified bounds add up; what the confidences lack does too."""
    total = sum_sizes([estimate(5, 4, 6), RegionSize.counted(2), estimate(50, 40, 60, at_least=30)])
    assert (total.value, total.low, total.high) == (57, 46, 68)
    assert (total.at_least, total.at_most) == (1 + 2 + 30, 2 * 2**60 + 2)
    assert total.coverage_level == pytest.approx(0.98)
    assert sum_sizes([RegionSize.counted(2), RegionSize.counted(3)]) == RegionSize.counted(5)


def test_a_size_that_may_be_zero_is_shown_as_an_interval():
    size = RegionSize(
        2**20, 0, 2**21, coverage_level=0.99, at_least=4, at_most=2**22, approximate=True
    )
    assert str(size) == "between 2^2.0 and 2^21.0"

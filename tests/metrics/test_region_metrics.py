"""Errors and sizes of regions: bins in powers of two, exact for integers of any length."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelsure.metrics import (
    SizeHistogram,
    error_rate,
    mean_region_size,
    median_region_size,
    size_histogram,
)


@pytest.mark.parametrize(
    ("contains", "message"),
    [
        ([], r"contains must have shape \(n_objects,\) with at least one object, got shape \(0,\)"),
        ([[True], [False]], r"got shape \(2, 1\)"),
        (True, r"got shape \(\)"),
        ([True, 0.03], "contains must hold True or False, got 0.03 at position 1"),
        (np.array([1.0, np.nan]), "got nan at position 1"),
        (["yes", "no"], "got 'yes' at position 0"),
        (np.ma.array([1, 0], mask=[0, 1]), "got a masked entry at position 1"),
    ],
)
def test_error_rate_refuses(contains, message):
    with pytest.raises(ValueError, match=message):
        error_rate(contains)


def slow_bin(size):
    index = 0
    while size > 2**index:
        index += 1
    return index


SIZES = st.one_of(
    st.integers(0, 40),
    st.integers(0, 1000).flatmap(
        lambda power: st.sampled_from([2**power - 1, 2**power, 2**power + 1])
    ),
)


@given(st.lists(SIZES, min_size=1, max_size=12))
def test_size_histogram_bins_exactly(sizes):
    histogram = size_histogram(np.array(sizes, dtype=object))
    expected = [slow_bin(size) for size in sizes if size]
    assert histogram.n_empty == sizes.count(0)
    assert histogram.counts == tuple(
        expected.count(index) for index in range(max(expected, default=0) + 1)
    )
    assert histogram == size_histogram(sizes)
    assert histogram.n_objects == len(sizes)
    assert histogram.empty_share + histogram.shares.sum() == pytest.approx(1)
    assert sum(histogram.to_dict().values()) == pytest.approx(1)


def test_size_histogram_max_size_fixes_the_bins():
    assert size_histogram([1, 3], max_size=16).counts == (1, 0, 1, 0, 0)
    assert size_histogram([1], max_size=1).counts == (1,)
    assert size_histogram([0, 0]) == SizeHistogram(n_empty=2, counts=(0,))
    assert len(size_histogram([2**999], max_size=2**1000).counts) == 1001


def test_size_histogram_refuses_sizes_beyond_max_size():
    with pytest.raises(ValueError, match="got 5 for object 1 where max_size is 4"):
        size_histogram([1, 5], max_size=4)
    with pytest.raises(ValueError, match="max_size must be a whole number of at least 1"):
        size_histogram([1], max_size=2.0)
    with pytest.raises(ValueError, match="got a whole number of 20001 bits for object"):
        size_histogram([2**20000], max_size=4)


@pytest.mark.parametrize("function", [size_histogram, mean_region_size, median_region_size])
@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ([], r"sizes must have shape \(n_objects,\) with at least one object, got shape \(0,\)"),
        (np.ones((2, 2), dtype=int), r"got shape \(2, 2\)"),
        (7, r"got shape \(\)"),
        ([1, -1], "sizes must be (finite )?whole numbers of at least 0, got -1 for object 1"),
        ([1, 2.5], "got 2.5 for object 1"),
        ([1, np.timedelta64(3, "s")], "got np.timedelta64"),
        (np.ma.array([1, 2], mask=[0, 1]), "got a masked entry at position 1"),
        ([1, -np.inf], "got -inf for object 1"),
        (np.array([True, False]), "got True for object 0"),
        ([1, np.nan], "got nan for object 1"),
        ([1, "3"], "got '3' for object 1"),
    ],
)
def test_region_sizes_refuse(function, sizes, message):
    with pytest.raises(ValueError, match=message):
        function(sizes)


def test_size_histogram_table_shows_empties_and_the_bins_in_use():
    table = str(size_histogram([0, 70, 300, 300], max_size=2**14))
    assert table.splitlines() == [
        "labelsets  objects   share",
        "empty            1  0.2500",
        "65-128           1  0.2500",
        "129-256          0  0.0000",
        "257-512          2  0.5000",
    ]
    assert str(size_histogram([0])).splitlines() == [
        "labelsets  objects   share",
        "empty            1  1.0000",
    ]


@given(st.lists(st.integers(0, 2**53), min_size=1, max_size=9))
def test_region_size_averages_equal_those_of_numpy(sizes):
    assert mean_region_size(sizes) == pytest.approx(np.mean(sizes))
    assert median_region_size(sizes) == pytest.approx(np.median(sizes))


def test_region_sizes_may_be_floats():
    """What region.sizes holds with many labels; beyond 2^1023 it is infinite."""
    sizes = np.array([1.0, 2.0**100, 0.0, 4.0])
    assert size_histogram(sizes) == size_histogram([1, 2**100, 0, 4])
    assert mean_region_size(sizes) == mean_region_size([1, 2**100, 0, 4])
    assert median_region_size(sizes) == 2.5
    endless = np.array([1.0, np.inf, 3.0])
    assert mean_region_size(endless) == np.inf
    assert median_region_size(endless) == 3.0
    assert median_region_size([2**3000, np.inf]) == np.inf
    with pytest.raises(ValueError, match=r"must be finite whole numbers .* got inf for object"):
        size_histogram(endless)

"""Coverage by group: hand counts, intervals against scipy, false alarms for the worst group."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from labelsure import calibrate_outputs
from labelsure.metrics import (
    coverage_by_cardinality,
    coverage_by_group,
    coverage_by_label,
    coverage_by_size,
    coverage_in_worst_slab,
)
from labelsure.metrics._coverage import clopper_pearson

FALSE_ALARM = 1e-4


@given(st.integers(0, 60), st.integers(0, 60), st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_limits_are_those_of_clopper_and_pearson(successes, failures, level):
    low, high = clopper_pearson(np.array([successes]), np.array([successes + failures]), level)
    if successes + failures == 0:
        assert (low[0], high[0]) == (0, 1)
    else:
        exact = binomtest(successes, successes + failures).proportion_ci(level, method="exact")
        assert (low[0], high[0]) == pytest.approx((exact.low, exact.high), abs=1e-9)


@given(st.lists(st.tuples(st.booleans(), st.sampled_from("abc")), min_size=1, max_size=40))
def test_groups_are_counted_each_by_itself(objects):
    contains, groups = zip(*objects, strict=True)
    table = coverage_by_group(contains, groups)
    assert table.groups == tuple(sorted(set(groups)))
    for name, n, covered in zip(table.groups, table.n_objects, table.n_covered, strict=True):
        assert (n, covered) == (groups.count(name), objects.count((True, name)))
    assert (table.n_objects_in_all, table.n_covered_in_all) == (len(contains), sum(contains))


def test_labels_overlap_and_may_have_no_object():
    Y = pd.DataFrame([[1, 1, 0], [1, 0, 0]], columns=["sea", "city", "wood"])
    table = coverage_by_label([False, True], Y)
    assert table.groups == ("sea", "city", "wood")
    assert table.n_objects.tolist() == [2, 1, 0]
    np.testing.assert_array_equal(table.coverage, [0.5, 0.0, np.nan])
    assert (table.low[2], table.high[2]) == (0, 1)
    assert (table.worst.group, table.n_compared) == ("city", 2)


def test_sizes_are_in_the_bins_of_the_histogram():
    predictor = calibrate_outputs([[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]])
    region = predictor.predict_labelsets([[0.8, 0.3], [0.5, 0.5]]).region(0.3)
    table = coverage_by_size(region.contains([[1, 0], [1, 0]]), region.sizes)
    assert (table.groups, table.coverage.tolist()) == (("empty", "1"), [0.0, 1.0])
    assert coverage_by_size([True] * 2, region.size_estimates).groups == ("empty", "1")
    assert coverage_by_size([True] * 5, [1, 2, 4, 2**90, 5.0]).groups == (
        "1",
        "2",
        "3-4",
        "5-8",
        "2^89+1-2^90",
    )


def test_worst_group_is_the_most_surely_bad_one_with_wider_limits():
    """One of 1 object missed is no evidence; 30 of 60 are."""
    contains = [False] + [True] * 30 + [False] * 30 + [True] * 99 + [False]
    table = coverage_by_group(contains, ["one"] + ["sixty"] * 60 + ["hundred"] * 100)
    assert table.worst.group == "sixty"
    low, high = clopper_pearson(np.array([30]), np.array([60]), 1 - 0.05 / 3)
    assert (table.worst.low, table.worst.high) == (low[0], high[0])
    assert table.worst.high > table.high[table.groups.index("sixty")]


def accusations(n_trials, high_of_worst):
    """How often the worst of 20 groups of 30 objects, all with coverage 0.9, seems too low."""
    groups = np.arange(600) % 20
    return sum(
        high_of_worst(coverage_by_group(rng.random(600) < 0.9, groups)) < 0.9
        for rng in np.random.default_rng(0).spawn(n_trials)
    )


def test_worst_group_is_rarely_accused_in_vain():
    """300 trials, each side of the limits 2.5 %; refused if that has probability below 1e-4."""
    n_accused = accusations(300, lambda table: table.worst.high)
    assert binomtest(n_accused, 300, 0.025, alternative="greater").pvalue > FALSE_ALARM
    n_accused = accusations(300, lambda table: table.high.min())  # without allowance for 20 groups
    assert binomtest(n_accused, 300, 0.025, alternative="greater").pvalue < FALSE_ALARM


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], []), "contains must have shape .* at least one object"),
        (([0.5], ["a"]), "contains must hold True or False, got 0.5"),
        (([True], ["a", "b"]), "contains and groups must have the same number of rows"),
        (([True], [["a"]]), r"groups must have shape \(n_objects,\)"),
        (([True, True], [1.0, np.nan]), "got nan for object 1"),
        (([True, True], ["a", None]), "got None for object 1"),
    ],
)
def test_bad_groups_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        coverage_by_group(*arguments)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([True], [[1.0]]), {}, "A slab takes at least two objects"),
        (([True] * 2, [1.0, 2.0]), {}, r"X must have shape \(n_objects, n_features\)"),
        (([True] * 2, [[1.0]]), {}, "contains and X must have the same number of rows"),
        (([True] * 2, [[1.0], [np.nan]]), {}, "X must hold finite numbers, got nan in row 1"),
        (([True] * 2, [["a"], ["b"]]), {}, "X must be a dense array of numbers"),
        (([True] * 2, [[1], [2]]), {"min_share": 1}, "min_share strictly between 0 and 1"),
        (([True] * 2, [[1], [2]]), {"n_directions": 0}, "n_directions must be a whole number"),
        (([True] * 2, [[1], [2]]), {"coverage_level": 1}, "coverage_level must be a number"),
    ],
)
def test_bad_input_of_slabs_is_named(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        coverage_in_worst_slab(*arguments, **options)


def test_bad_labels_and_sizes_are_named():
    with pytest.raises(ValueError, match="Y_true must hold only 0 and 1, got 2"):
        coverage_by_cardinality([True], [[0, 2]])
    with pytest.raises(ValueError, match="label_names must name the 2 labels"):
        coverage_by_label([True], [[0, 1]], label_names=["a"])
    with pytest.raises(ValueError, match="contains and sizes must have the same number of rows"):
        coverage_by_size([True], [1, 2])

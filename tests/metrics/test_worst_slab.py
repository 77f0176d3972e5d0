"""The worst slab: windows by brute force, real slabs are found, false alarms are rare."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.utils import check_random_state

from labelsure.metrics import coverage_in_worst_slab
from labelsure.metrics._coverage import _find_slab, clopper_pearson, find_window

FALSE_ALARM = 1e-4


@given(st.lists(st.integers(0, 1), min_size=1, max_size=25), st.data())
def test_window_is_the_worst_of_all_that_are_long_enough(covered, data):
    least = data.draw(st.integers(1, len(covered)))
    start, stop, mean = find_window(np.array(covered), least, below=Fraction(2))
    windows = [
        covered[i:j] for i in range(len(covered)) for j in range(i + least, len(covered) + 1)
    ]
    assert mean == min(Fraction(sum(window), len(window)) for window in windows)
    assert stop - start >= least
    assert Fraction(sum(covered[start:stop]), stop - start) == mean
    assert find_window(np.array(covered), least, below=mean) is None


def make_data(seed, n):
    """Objects with a large second feature are covered half of the time; scales differ."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return rng.random(n) < np.where(X[:, 1] > 1, 0.5, 0.97), X * [1, 1000, 0.001]


def test_slab_that_is_there_is_found():
    contains, X = make_data(0, 2000)
    table = coverage_in_worst_slab(contains, X, random_state=0)
    assert table.worst.high < 0.75
    assert table.groups == ("in the slab", "outside")
    inside = table.slab.holds(X)
    assert (X[inside, 1] > 0).mean() > 0.95
    assert table.n_objects.sum() == 1000


def test_slab_is_measured_with_the_other_half():
    """The halves are drawn first: the slab, and its count, can be made again from them."""
    contains, X = make_data(1, 300)
    table = coverage_in_worst_slab(contains, X, n_directions=20, min_share=0.2, random_state=3)
    random = check_random_state(3)
    order = random.permutation(300)
    slab = _find_slab(contains[order[:150]], X[order[:150]], 0.2, 20, random)
    np.testing.assert_array_equal(slab.direction, table.slab.direction)
    inside = slab.holds(X[order[150:]])
    assert (slab.holds(X[order[:150]])).sum() >= 30
    assert table.n_objects.tolist() == [inside.sum(), 150 - inside.sum()]
    assert table.n_covered[0] == contains[order[150:]][inside].sum()


@pytest.mark.parametrize("split", [True, False])
def test_slabs_are_rarely_accused_in_vain_if_measured_with_others(split):
    """200 sets of 200 objects with coverage 0.9: at most 2.5 % of upper limits are below that.

    Refused where that has probability at most 1e-4. Measured with the half that chose it, the slab
    fails this test.
    """
    n_accused = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        contains, X = rng.random(200) < 0.9, rng.normal(size=(200, 2))
        if split:
            high = coverage_in_worst_slab(
                contains, X, n_directions=15, random_state=seed
            ).worst.high
        else:
            inside = _find_slab(contains, X, 0.1, 15, check_random_state(seed)).holds(X)
            high = clopper_pearson(contains[inside].sum(), inside.sum(), 0.95)[1]
        n_accused += bool(high < 0.9)
    refused = binomtest(n_accused, 200, 0.025, alternative="greater").pvalue <= FALSE_ALARM
    assert refused is not split

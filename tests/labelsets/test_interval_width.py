"""Intervals of estimated sizes are as wide as the theorem says, not only wide enough for the cases at hand."""

import importlib
from math import log, sqrt

import numpy as np
import pytest

DELTA = 0.01


def mean_and_error(weights):
    """What the estimator of sizes makes of its draws."""
    for home in ("labelsure.labelsets.search._estimate", "labelsure.labelsets._estimate"):
        try:
            return importlib.import_module(home)._mean_and_error(weights)
        except ModuleNotFoundError:
            continue
    raise AssertionError("the estimator of sizes has moved")


@pytest.mark.parametrize("n_draws", [2, 100, 20_000])
@pytest.mark.parametrize("share", [0.0, 0.003, 0.4, 1.0])
def test_half_width_is_that_of_the_empirical_bernstein_bound(n_draws, share):
    """sqrt(2 V log(3/delta) / n) + 3 log(3/delta) / n for draws in [0, 1]: Audibert, Munos, Szepesvari 2009, theorem 1.

    V is the mean of the squared deviations; dividing by n - 1 instead of n is a little more cautious.
    """
    rng = np.random.default_rng(0)
    weights = np.where(rng.random(n_draws) < share, 1 / rng.integers(1, 4, size=n_draws), 0.0)
    mean, half_width = mean_and_error(weights)
    mean_square = sum((weight - weights.mean()) ** 2 for weight in weights) / n_draws
    least, most = (
        sqrt(2 * variance * log(3 / DELTA) / n_draws) + 3 * log(3 / DELTA) / n_draws
        for variance in (mean_square, mean_square * n_draws / (n_draws - 1))
    )
    assert mean == pytest.approx(weights.mean())
    assert least * (1 - 1e-12) <= half_width <= most * (1 + 1e-12)

"""Every draw comes from one random_state."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

MAX_SEED = np.iinfo(np.int32).max

DRAW_UNIT = 2**31
"""A draw u is a whole number of these; u = 1 .. 2^31, never 0, so that P(p <= eps) <= eps holds exactly."""


def draw_seeds(random_state: Any, n_seeds: int) -> list[int]:
    """Draw ``n_seeds`` seeds from an int, a RandomState or None, as scikit-learn reads it.

    Examples
    --------
    >>> draw_seeds(0, 2) == draw_seeds(0, 2)
    True
    """
    rng = check_random_state(random_state)
    return [int(seed) for seed in rng.randint(MAX_SEED, size=n_seeds)]


def set_missing_seeds(estimator: BaseEstimator, seed: int) -> BaseEstimator:
    """Give ``seed`` to every ``random_state`` of the estimator, nested ones too, that the user left at None.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> set_missing_seeds(SGDClassifier(), 3).random_state
    3
    >>> set_missing_seeds(SGDClassifier(random_state=7), 3).random_state
    7
    """
    params = estimator.get_params(deep=True)
    missing = {
        name: seed
        for name, value in params.items()
        if (name == "random_state" or name.endswith("__random_state")) and value is None
    }
    estimator.set_params(**missing)  # scikit-learn's FrozenEstimator returns nothing here
    return estimator

"""Scores as integers: costs are rounded once, before anything is added.

Integer sums do not depend on their order, so calibration, brute force, search and threads agree to the last bit, and
scores that are equal on paper are equal in memory. With float sums, discrete learners such as k-NN break their ties at
random and get wrong p-values.
"""

import math

import numpy as np

from labelsure._core.types import FloatArray, IntArray

FINEST_EXPONENT = 40
"""A cost of 1 becomes at most 2^40: twelve decimal digits, far below what a learner's outputs mean."""

COARSEST_EXPONENT = 20
"""Below 2^20 per unit, rounding could merge costs that a user would tell apart."""

SCORE_BITS = 50
"""Scores stay below 2^50, so that their sum over up to 2^12 folds fits an int64."""


def choose_exponent(largest_score: float) -> int:
    """Return e such that scores up to ``largest_score``, counted in units of 2^-e, are exact sums in int64.

    Parameters
    ----------
    largest_score : float
        An upper bound of the magnitude of any labelset's score and of its partial sums.

    Examples
    --------
    >>> choose_exponent(14.0), choose_exponent(2.0**20)
    (40, 29)
    """
    exponent = min(FINEST_EXPONENT, SCORE_BITS - math.frexp(largest_score)[1])
    if exponent < COARSEST_EXPONENT or not math.isfinite(largest_score):
        raise ValueError(
            f"Scores may be as large as {largest_score:.3g}, which leaves too few digits for exact integer sums."
            f" Choose weights or penalties that keep scores below {2.0 ** (SCORE_BITS - COARSEST_EXPONENT):.3g}."
        )
    return exponent


def to_fixed_point(costs: FloatArray, exponent: int) -> IntArray:
    """Return ``costs`` in units of 2^-exponent, rounded to the nearest integer.

    Examples
    --------
    >>> import numpy as np
    >>> to_fixed_point(np.array([0.5, 1.0]), 3).tolist()
    [4, 8]
    """
    return np.rint(np.ldexp(costs, exponent)).astype(np.int64)

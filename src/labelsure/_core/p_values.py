"""p-values as whole numbers: numerators are compared with numerators, never rounded."""

from fractions import Fraction

import numpy as np

from labelsure._core.randomness import DRAW_UNIT
from labelsure._core.types import IntArray


def count_at_least(calibration: IntArray, scores: IntArray) -> IntArray:
    """Return, for each given score, how many calibration scores are at least as large.

    Parameters
    ----------
    calibration : int64 array of shape (m,)
        In ascending order.
    scores : int64 array
        Of any shape.

    Examples
    --------
    >>> count_at_least(np.array([1, 3, 5, 5]), np.array([0, 5, 6])).tolist()
    [4, 2, 0]
    """
    counts: IntArray = len(calibration) - np.searchsorted(calibration, scores, side="left").astype(np.int64)
    return counts


def smallest_numerators(level: Fraction, denominators: IntArray) -> IntArray:
    """Return the smallest numerator of a p-value above the level, for each denominator.

    Examples
    --------
    >>> smallest_numerators(Fraction(1, 10), np.array([10, 19])).tolist()
    [2, 2]
    """
    distinct, which = np.unique(denominators, return_inverse=True)
    smallest = [level.numerator * int(one) // level.denominator + 1 for one in distinct]  # no product overflows
    return np.array(smallest, dtype=np.int64)[which].reshape(denominators.shape)


def weigh_scores(calibration: IntArray, scores: IntArray, draws: IntArray | None) -> IntArray:
    """Return how much the calibration scores that are at least as large count, equal ones by draws where there are any.

    Parameters
    ----------
    calibration : int64 array of shape (m,)
        The calibration scores, in ascending order.
    scores : int64 array of shape (n, ...)
        The scores, whole numbers.
    draws : int64 array of shape (n,) or None
        For smoothed p-values, u of each object in units of 1 / DRAW_UNIT; the answer is then in these units too.

    Examples
    --------
    >>> calibration = np.array([2, 5, 5])
    >>> weigh_scores(calibration, np.array([5]), None).tolist()
    [2]
    >>> (weigh_scores(calibration, np.array([5]), np.array([DRAW_UNIT // 4])) / DRAW_UNIT).tolist()
    [0.5]
    """
    at_least = count_at_least(calibration, scores)
    if draws is None:
        return at_least
    above = count_at_least(calibration, scores + 1)  # scores are whole numbers: above is at least one more
    own = draws.reshape((-1,) + (1,) * (scores.ndim - 1))
    return above * DRAW_UNIT + own * (at_least - above)

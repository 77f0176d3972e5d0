"""p-values as whole numbers: numerators are compared with numerators, never rounded."""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from labelsure._checks import IntArray
from labelsure._random import DRAW_UNIT

LARGEST = 2**60
"""No denominator of weighed p-values is larger, and no weight: sums of weights fit 64 bits."""


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
    counts: IntArray = len(calibration) - np.searchsorted(calibration, scores, side="left").astype(
        np.int64
    )
    return counts


def smallest_numerators(level: Fraction, denominators: IntArray) -> IntArray:
    """Return the smallest numerator of a p-value above the level, for each denominator.

    Examples
    --------
    >>> smallest_numerators(Fraction(1, 10), np.array([10, 19])).tolist()
    [2, 2]
    """
    distinct, which = np.unique(denominators, return_inverse=True)
    # no product overflows
    smallest = [level.numerator * int(one) // level.denominator + 1 for one in distinct]
    return np.array(smallest, dtype=np.int64)[which].reshape(denominators.shape)


class GroupWeights(NamedTuple):
    """Whole weights, 1 / (size of the group) for calibration examples and 1 for a new one.

    Attributes
    ----------
    examples : int64 array of shape (m,)
        The weights of the calibration examples.
    new : int
        That of the new example.
    denominator : int
        The sum of all of them.
    unit : int
        What a group counts, up to rounding.
    """

    examples: IntArray
    new: int
    denominator: int
    unit: int

    @classmethod
    def of(cls, sizes: IntArray) -> "GroupWeights":
        """Return the weights of examples whose groups have these sizes; each group counts 1.

        What 1 / size is rounded down by, where the sizes have no common multiple that is small
        enough, goes to the new example: that makes p-values larger only.

        Examples
        --------
        >>> GroupWeights.of(np.array([2, 2, 3, 3, 3]))
        GroupWeights(examples=array([3, 3, 2, 2, 2]), new=6, denominator=18, unit=6)
        """
        n_groups = count_groups(sizes)
        unit = min(math.lcm(*np.unique(sizes).tolist()), LARGEST // (n_groups + 1))
        examples, denominator = unit // sizes, (n_groups + 1) * unit
        return cls(examples, denominator - int(examples.sum()), denominator, unit)


def count_groups(sizes: IntArray) -> int:
    """Return the number of groups, given the size of each example's.

    Examples
    --------
    >>> count_groups(np.array([2, 1, 2, 2, 2]))
    3
    """
    distinct, n_examples = np.unique(sizes, return_counts=True)
    return int((n_examples // distinct).sum())


def sum_largest(scores: IntArray, weights: IntArray) -> IntArray:
    """Return how much the examples with the c largest scores weigh together, for c = 0 .. m.

    Examples
    --------
    >>> sum_largest(np.array([5, 9, 7]), np.array([1, 10, 100])).tolist()
    [0, 10, 110, 111]
    """
    sums: IntArray = np.concatenate([[0], np.cumsum(weights[np.argsort(-scores, kind="stable")])])
    return sums


def weigh_scores(calibration: IntArray, scores: IntArray, draws: IntArray | None) -> IntArray:
    """Return how much calibration scores that are at least as large count, equal ones by draws.

    Parameters
    ----------
    calibration : int64 array of shape (m,)
        The calibration scores, in ascending order.
    scores : int64 array of shape (n, ...)
        The scores, whole numbers.
    draws : int64 array of shape (n,) or None
        For smoothed p-values, u of each object in units of 1 / DRAW_UNIT; the answer is then in
        these units too.

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
    # scores are whole numbers: above is at least one more
    above = count_at_least(calibration, scores + 1)
    own = draws.reshape((-1,) + (1,) * (scores.ndim - 1))
    return above * DRAW_UNIT + own * (at_least - above)

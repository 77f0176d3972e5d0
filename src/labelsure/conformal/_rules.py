"""How counts become p-values: twice the mean of folds, running means, e-values made for one level, weighed examples.

Every rule weighs a fold's count c = #{calibration scores at least the labelset's own}, that is its p-value
p_k = (c + 1) / (|S_k| + 1), and adds the weights up, or takes the least of the running sums.

A p-value of a fold of m calibration examples is one of k / (m + 1), k = 1 .. m + 1, and at least as large as a uniform
draw from these. So a falling function that averages to at most 1 over them is an e-value: its expectation at the true
labelset is at most 1. It says how much the p-value speaks against a labelset at the level asked for.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from labelsure._core.randomness import DRAW_UNIT
from labelsure._core.types import FloatArray, IntArray
from labelsure.labelsets import Weighing

COMMON_BITS = 28
"""Two numbers below 2^28 and a sum over folds of their products stay within int64."""

WEIGHT_UNITS = 2**30
"""Weights are whole numbers of 2^-30 of the largest calibration weight."""

LARGEST = 2**60
"""A new object with a larger weight than this many units has p-values of 1 either way."""

E_VALUE_SCALE = 2**36
"""E-values times eps are rounded down to whole numbers of 2^-36, which only makes regions larger."""

ROUNDING = 1 - 1e-9
"""Far more than what floating point can be off; e-values are that much smaller than they might be."""

ECalibrator = Callable[[int, Fraction], FloatArray]
"""From a fold's size m and eps to eps E((c + 1) / (m + 1)) for each count c = 0 .. m."""


def twice_mean(sizes: Sequence[int], draws: IntArray) -> Weighing:
    """Return the weighing of twice the mean of the p_k, a p-value whatever their dependence."""
    weights, unit = _fold_p_values(sizes)
    return Weighing.ruled(2 * weights, np.zeros(len(draws), dtype=np.int64), len(sizes) * unit)


def running_mean(sizes: Sequence[int], draws: IntArray, *, randomised: bool = False) -> Weighing:
    """Return the weighing of twice the smallest running mean of the p_k, a p-value where they are exchangeable.

    Randomised, the first running mean is p_1 / (2 - U) instead of p_1, U the object's draw.
    """
    weights, unit = _fold_p_values(sizes)
    common = _scaled_up(math.lcm(*range(1, len(sizes) + 1)))
    first = [-(-common * DRAW_UNIT // (2 * DRAW_UNIT - int(draw))) if randomised else common for draw in draws]
    return Weighing.ruled(
        2 * weights,
        np.zeros(len(draws), dtype=np.int64),
        unit * common,
        multipliers=np.array([-(-common // t) for t in range(1, len(sizes) + 1)], dtype=np.int64),
        first=np.array(first, dtype=np.int64),
    )


def steep_e_values(size: int, significance: Fraction) -> FloatArray:
    """Return eps F((c + 1) / (size + 1)) for each count c = 0 .. size, F close to all or nothing at eps (P2E).

    F(p) = (1 + e^{C (eps - s)}) / (eps (1 + e^{C (p - s)})) with s half-way between eps and the next value that p can
    take, and C such that F averages to 1 over the grid. Where eps is on the grid, F(p) = 1{p <= eps} / eps.

    Parameters
    ----------
    size : int
        Calibration examples in the fold.
    significance : Fraction
        Between 0 and 1.

    References
    ----------
    Alami, N., Zakharia, J., Ben Taieb, S. (2026). arXiv 2606.03600.

    Examples
    --------
    >>> from fractions import Fraction
    >>> steep_e_values(3, Fraction(1, 2)).tolist()
    [1.0, 1.0, 0.0, 0.0]
    >>> float(steep_e_values(10, Fraction(1, 8)).mean().round(6))
    0.125
    """
    from scipy.optimize import brentq
    from scipy.special import expit

    level = float(significance)
    n_values = size + 1
    below = math.floor(significance * n_values)
    if significance * n_values == below:
        return (np.arange(1, n_values + 1) <= below).astype(np.float64)
    grid = np.arange(1, n_values + 1) / n_values
    middle = (level + (below + 1) / n_values) / 2

    def values(steepness: float) -> FloatArray:
        scaled: FloatArray = expit(-steepness * (grid - middle)) / expit(-steepness * (level - middle))
        return scaled

    steepest = 1.0
    while values(steepest).mean() > level:
        steepest *= 2
    return values(float(brentq(lambda steepness: values(steepness).mean() - level, 0.0, steepest))) * ROUNDING


def linear_e_values(size: int, significance: Fraction) -> FloatArray:
    """Return eps L((c + 1) / (size + 1)) for each count c = 0 .. size, L falling in equal steps to 0 beyond eps.

    With J = floor(eps (size + 1)), L(k / (size + 1)) = 2 (size + 1) (J + 1 - k)_+ / (J (J + 1)), which averages to 1
    over the grid; without such a J, L = 1. It is nowhere below (2 / eps) (1 - p / eps), the e-value behind "twice the
    mean of p-values is a p-value", once that is cut off at 0.

    Parameters
    ----------
    size, significance
        As in :func:`steep_e_values`.

    Examples
    --------
    >>> from fractions import Fraction
    >>> linear_e_values(3, Fraction(1, 2)).round(6).tolist()
    [1.333333, 0.666667, 0.0, 0.0]
    """
    below = math.floor(significance * (size + 1))
    if below == 0:
        return np.full(size + 1, math.floor(significance * E_VALUE_SCALE) / E_VALUE_SCALE)
    step = 2 * significance * (size + 1) / (below * (below + 1)) * E_VALUE_SCALE
    # rounded down here, exactly: at eps = 1 / (size + 1) the largest is 1, and a little less would rule out nothing
    return np.array([math.floor(max(below - c, 0) * step) for c in range(size + 1)]) / E_VALUE_SCALE


def complements(calibrate: ECalibrator, sizes: tuple[int, ...], significance: Fraction) -> IntArray:
    """Return 1 - eps E for each fold and count in units of 1 / E_VALUE_SCALE, (K, largest size + 1).

    Nothing is added for a fold without calibration examples.
    """
    table = np.zeros((len(sizes), max(sizes) + 1), dtype=np.int64)
    for size in set(sizes) - {0}:
        scaled = np.floor(calibrate(size, significance) * E_VALUE_SCALE).astype(np.int64)
        table[np.array(sizes) == size] = np.pad(E_VALUE_SCALE - scaled, (0, max(sizes) - size), mode="edge")
    return table


def weigh_densities(scores: IntArray, weights: FloatArray, new_weights: FloatArray) -> Weighing:
    """Return the weighing of p = (sum of w_i over {i: alpha_i >= alpha} + w) / (sum of w_i + w).

    Parameters
    ----------
    scores, weights : arrays of shape (m,)
        Of the calibration examples.
    new_weights : array of shape (n,)
        Of the new objects.
    """
    unit = weights.max() / WEIGHT_UNITS
    own = np.rint(weights / unit).astype(np.int64)
    new = np.minimum(np.rint(new_weights / unit), LARGEST).astype(np.int64)
    of_largest = np.concatenate([[0], np.cumsum(own[np.argsort(-scores, kind="stable")])])
    return Weighing.ruled(of_largest[None], new, np.maximum(of_largest[-1] + new, 1))


def _fold_p_values(sizes: Sequence[int]) -> tuple[IntArray, int]:
    """Return p_k for each fold and count in units of 1 over a whole number, and that number; rounded up if need be."""
    unit = _scaled_up(math.lcm(*(size + 1 for size in sizes)))
    table = [[-(-min(count + 1, size + 1) * unit // (size + 1)) for count in range(max(sizes) + 1)] for size in sizes]
    return np.array(table, dtype=np.int64), unit


def _scaled_up(whole: int) -> int:
    """Return a multiple of a whole number a little below 2^COMMON_BITS, or that power where the number is larger."""
    largest: int = 2**COMMON_BITS
    return largest // whole * whole if whole <= largest else largest

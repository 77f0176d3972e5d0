"""From a fold's p-value to an e-value that is close to all or nothing at the level asked for."""

import math
from fractions import Fraction

import numpy as np

from labelsure._core.types import FloatArray

ROUNDING = 1 - 1e-9
"""Far more than what the solution and the exponentials can be off; e-values are that much smaller than they might."""


def scaled_e_values(size: int, significance: Fraction) -> FloatArray:
    """Return eps F((c + 1) / (size + 1)) for each count c = 0 .. size, F the P2E calibrator at eps.

    F(p) = (1 + e^{C (eps - s)}) / (eps (1 + e^{C (p - s)})) with s half-way between eps and the next value that p can
    take, and C such that F averages to 1 over all values k / (size + 1), k = 1 .. size + 1. Where eps is one of
    them, F(p) = 1{p <= eps} / eps. F falls, and a valid p-value is at least as large as one uniform on the grid, so
    the mean of F(p) is at most 1.

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
    >>> scaled_e_values(3, Fraction(1, 2)).tolist()
    [1.0, 1.0, 0.0, 0.0]
    >>> float(scaled_e_values(10, Fraction(1, 8)).mean().round(6))
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
        # (1 + e^a) / (1 + e^b) = expit(-b) / expit(-a), which does not overflow
        scaled: FloatArray = expit(-steepness * (grid - middle)) / expit(-steepness * (level - middle))
        return scaled

    steepest = 1.0
    while values(steepest).mean() > level:
        steepest *= 2
    return values(float(brentq(lambda steepness: values(steepness).mean() - level, 0.0, steepest))) * ROUNDING

"""Intervals for the mean of numbers between 0 and 1, by betting against what it might be.

Who bets a share of what he has on each number, for or against it being above m, gains nothing in the mean if m is the
true mean: his capital is a martingale, and by Ville's inequality it is ever above 1/doubt with probability ``doubt`` at
most. So the m against which it is not hold the true mean with the rest of the probability, however long one draws and
whatever makes one stop (Waudby-Smith, Ramdas 2024). A capital spread over many shares is never far from the best.
"""

from math import log

import numpy as np

from labelsure._checks import FloatArray, IntArray

STAKES = np.array([0.99 * 2.0**-power for power in range(12)])
"""Shares of the capital that are bet at most to lose; half of it is bet on numbers above m, and half on those below."""

ROUNDS, PARTS = 4, 16  # ends are found to 16^-4 of their distance from the mean


def mean_interval(weights: FloatArray, doubt: float) -> tuple[float, float]:
    """Return the ends of an interval that holds the mean of the distribution with probability 1 - ``doubt``.

    Parameters
    ----------
    weights : float array
        Independent draws between 0 and 1, at least one.
    doubt : float
        Above 0.

    Examples
    --------
    >>> import numpy as np
    >>> low, high = mean_interval(np.tile([0.0, 0.25], 500), doubt=0.01)
    >>> round(low, 3), round(high, 3)
    (0.11, 0.14)
    """
    values, counts = np.unique(weights, return_counts=True)
    mean = float(values @ counts / len(weights))

    def end(refused: float) -> float:
        accepted = mean  # the capital is a convex function of m that is not above 1 there
        for _ in range(ROUNDS if refused != mean else 0):
            between = np.linspace(refused, accepted, PARTS + 1)
            n_refused = np.count_nonzero(log_capital(values, counts, between[1:-1]) > -log(doubt))
            refused, accepted = between[n_refused], between[n_refused + 1]
        return float(refused)

    return end(0.0), end(1.0)


def log_capital(values: FloatArray, counts: IntArray, means: FloatArray) -> FloatArray:
    """Return the logarithm of what 1 has become by bets against each mean, of numbers and how often each was drawn.

    Means are between 0 and 1, and not at these ends.
    """
    odds = (values - means[:, None]) / np.stack([means, means - 1])[:, :, None]  # (2, means, values)
    logarithms = np.log1p(STAKES[:, None, None, None] * odds) @ counts
    capital: FloatArray = np.logaddexp.reduce(logarithms.reshape(-1, len(means)), axis=0) - log(2 * len(STAKES))
    return capital

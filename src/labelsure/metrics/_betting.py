"""Ways to bet against uniform p-values: what a unit of capital becomes, in logarithms."""

import math
from typing import Protocol

import numpy as np
from scipy.special import gammainc, gammaln, hyp1f1

from labelsure._core.types import FloatArray


class Betting(Protocol):
    """A betting martingale: not negative, starts at 1, and its mean stays 1 while p-values are uniform."""

    def advance(self, p_values: FloatArray) -> FloatArray:
        """Bet on further p-values, each above 0, and return the natural logarithm of the capital after each."""


class SimpleJumper:
    r"""Bets on small, on large or on no p-values, and now and then changes its mind.

    Three accounts :math:`\epsilon \in \{-1, 0, 1\}` start with a third of the capital C each. At each step a share J of
    the capital is spread evenly over them, and account :math:`\epsilon` is multiplied by
    :math:`1 + \epsilon (p - 1/2)` (Vovk et al. 2021, algorithm 1).

    Parameters
    ----------
    jump_rate : float
        The share J, above 0 and at most 1.
    """

    def __init__(self, jump_rate: float) -> None:
        self.jump_rate = jump_rate
        self.log_capital = 0.0
        self.shares = (1 / 3, 1 / 3, 1 / 3)

    def advance(self, p_values: FloatArray) -> FloatArray:
        """Bet on further p-values and return the logarithm of the capital after each."""
        stay, spread = 1 - self.jump_rate, self.jump_rate / 3
        small, none, large = self.shares
        log_capital, path = self.log_capital, []
        for tilt in (p_values - 0.5).tolist():
            # Shares instead of amounts: amounts leave the range of floats, and spreading keeps shares away from 0.
            small = (stay * small + spread) * (1 - tilt)
            none = stay * none + spread
            large = (stay * large + spread) * (1 + tilt)
            growth = small + none + large
            small, none, large = small / growth, none / growth, large / growth
            log_capital += math.log(growth)
            path.append(log_capital)
        self.shares, self.log_capital = (small, none, large), log_capital
        return np.array(path, dtype=np.float64)


class PowerMixture:
    r"""Bets on small p-values with every power at once.

    The capital after n p-values is (Vovk, Nouretdinov, Gammerman 2003), with :math:`L = -\sum \ln p_i`,

    .. math:: \int_0^1 \prod_{i=1}^{n} \epsilon \, p_i^{\epsilon - 1} \, d\epsilon
        = e^L L^{-n-1} \gamma(n + 1, L) = \frac{1}{n + 1} \, {}_1F_1(1; n + 2; L)

    with the lower incomplete gamma function, and Kummer's function where that would underflow.
    """

    def __init__(self) -> None:
        self.n_p_values = 0
        self.total = 0.0

    def advance(self, p_values: FloatArray) -> FloatArray:
        """Bet on further p-values and return the logarithm of the capital after each."""
        n = self.n_p_values + 1.0 + np.arange(len(p_values))
        totals = np.cumsum(np.concatenate([[self.total], -np.log(p_values)]))
        self.n_p_values += len(p_values)
        self.total = float(totals[-1])
        total, path = totals[1:], np.empty(len(p_values))
        few = total <= n + 1  # else the other form: its incomplete gamma function is above one half, and the sum huge
        path[few] = np.log(hyp1f1(1, n[few] + 2, total[few])) - np.log(n[few] + 1)
        m, large = n[~few] + 1, total[~few]
        path[~few] = large + gammaln(m) + np.log(gammainc(m, large)) - m * np.log(large)
        return path

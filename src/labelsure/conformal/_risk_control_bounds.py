"""Is a mean loss below a level? Tests that are wrong with a probability that is bounded for any distribution."""

import math
from fractions import Fraction

import numpy as np
from scipy.special import bdtr, rel_entr

from labelsure._core.types import BoolArray, FloatArray

BOUNDS = ("hoeffding-bentkus", "betting")
"""What the mean of losses between 0 and 1 is bounded with."""


def hoeffding_bentkus_p_value(total: Fraction, n: int, level: Fraction) -> float:
    r"""Return a p-value of "the mean loss is above the level", from n independent losses between 0 and 1.

    With :math:`\hat R` the mean of the losses and :math:`\alpha` the level [1]_,

    .. math:: p = \min\left(e^{-n h(\min(\hat R, \alpha), \alpha)},\; e \, P(\mathrm{Bin}(n, \alpha) \le \lceil n
       \hat R \rceil)\right), \quad h(a, b) = a \log\frac{a}{b} + (1 - a) \log\frac{1 - a}{1 - b}

    It never falls when a loss rises.

    Parameters
    ----------
    total : Fraction
        The sum of the losses.
    n : int
        Their number.
    level : Fraction
        Strictly between 0 and 1.

    References
    ----------
    .. [1] Bates, S., Angelopoulos, A., Lei, L., Malik, J., Jordan, M. (2021). Distribution-free, risk-controlling
       prediction sets. Journal of the ACM 68(6), article 43.

    Examples
    --------
    >>> round(hoeffding_bentkus_p_value(Fraction(0), 20, Fraction(1, 10)), 6) == round(0.9**20, 6)
    True
    """
    mean, most = float(min(total / n, level)), float(level)
    hoeffding = math.exp(-n * (rel_entr(mean, most) + rel_entr(1 - mean, 1 - most)))
    bentkus = math.e * float(bdtr(math.ceil(total), n, most))
    return min(hoeffding, bentkus)


def betting_rejects(losses: FloatArray, level: Fraction, delta: float) -> BoolArray:
    """Tell for each row of losses whether a gambler's capital refutes that their mean is above the level.

    If it is, the capital ever reaches 1 / delta with probability at most delta (Ville's inequality).

    Parameters
    ----------
    losses, level, delta
        As in :func:`highest_log_capital`.

    Examples
    --------
    >>> betting_rejects(np.array([[0.0] * 50, [0.2] * 50]), Fraction(1, 10), 0.1).tolist()
    [True, False]
    """
    rejects: BoolArray = highest_log_capital(losses, level, delta) >= math.log(1 / delta)
    return rejects


def highest_log_capital(losses: FloatArray, level: Fraction, delta: float) -> FloatArray:
    r"""Return the logarithm of the most that a gambler ever has who bets on each loss being below the level.

    A capital of 1 is bet on one loss after the other, in the order of the examples [1]_:

    .. math:: K_i = \prod_{j \le i} (1 - \nu_j (L_j - \alpha)), \quad \nu_j = \min\left(1,
       \sqrt{\frac{2 \log(1/\delta)}{n \hat\sigma_{j-1}^2}}\right)

    with :math:`\hat\sigma_j^2 = (1/4 + \sum_{k \le j} (L_k - \hat\mu_k)^2) / (j + 1)` and
    :math:`\hat\mu_j = (1/2 + \sum_{k \le j} L_k) / (j + 1)`.

    Parameters
    ----------
    losses : array of shape (m, n)
        Between 0 and 1; each row in the order in which the examples arrived.
    level : Fraction
        Strictly between 0 and 1.
    delta : float
        Strictly between 0 and 1.

    References
    ----------
    .. [1] Waudby-Smith, I., Ramdas, A. (2024). Estimating means of bounded random variables by betting. JRSS B 86(1),
       1-27; in this form Bates et al. (2021).

    Examples
    --------
    >>> np.exp(highest_log_capital(np.array([[0.0, 0.0]]), Fraction(1, 2), 0.1)).round(6).tolist()
    [2.25]
    """
    by_example = np.ascontiguousarray(losses.T)  # running sums down the columns take all thresholds at once
    n, n_tests = by_example.shape
    seen = np.arange(2, n + 2)[:, None]
    means = (0.5 + np.cumsum(by_example, axis=0)) / seen
    variances = (0.25 + np.cumsum((by_example - means) ** 2, axis=0)) / seen
    before = np.vstack([np.full((1, n_tests), 0.25), variances[:-1]])
    bets = np.minimum(1.0, np.sqrt(2 * math.log(1 / delta) / (n * before)))
    log_capital = np.cumsum(np.log1p(-bets * (by_example - float(level))), axis=0)
    highest: FloatArray = log_capital.max(axis=0)
    return highest

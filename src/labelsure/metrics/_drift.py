"""Drift: are new data still like the calibration data? Online p-values, a bet, an alarm."""

import math
from bisect import bisect_left, bisect_right
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammainc, gammaln, hyp1f1
from sklearn.utils import check_random_state

from labelsure._checks import (
    FloatArray,
    as_numbers,
    check_choice,
    check_number,
    find_entry,
    find_no_number,
    is_real,
)


class OnlinePValues:
    r"""Smoothed p-values of scores that arrive one by one, each among those up to itself.

    The p-value of the n-th score is, with :math:`u_n` uniform on (0, 1],

    .. math:: p_n = \frac{|\{i \le n : s_i > s_n\}| + u_n \, |\{i \le n : s_i = s_n\}|}{n}

    Parameters
    ----------
    random_state : int, RandomState instance or None, default=None
        For the draws u.

    Notes
    -----
    If the scores are exchangeable, which those of exchangeable examples under one fixed model are,
    then p_1, p_2, ... are independent and uniform [1]_. The first l scores may be those of
    calibration examples, in any order: the p-values after them keep that property. The model must
    not have been trained on any of these examples.

    References
    ----------
    .. [1] Vovk, V., Nouretdinov, I., Gammerman, A. (2003). Testing exchangeability on-line. ICML,
       768-775.

    Examples
    --------
    >>> p_values = OnlinePValues(random_state=0)
    >>> p_values.update_many([3, 1, 2]).round(3).tolist()
    [0.451, 0.642, 0.466]
    >>> round(p_values.update(4), 3), len(p_values)
    (0.114, 4)
    """

    def __init__(self, *, random_state: Any = None) -> None:
        self._rng = check_random_state(random_state)
        self._sorted: list[Any] = []

    def __len__(self) -> int:
        """Return the number of scores so far."""
        return len(self._sorted)

    def update(self, score: float) -> float:
        """Take in one more score and return its p-value."""
        return float(self.update_many([score])[0])

    def update_many(self, scores: ArrayLike) -> FloatArray:
        """Take in more scores, in the order of their arrival, and return their p-values.

        Parameters
        ----------
        scores : array-like of int or float of shape (m,)
            Nonconformity scores, larger is stranger. Whole numbers are compared as such, so ties
            are exact.
        """
        checked = check_scores_in_order(scores)
        draws = 1 - self._rng.random_sample(len(checked))  # in (0, 1]: no p-value is ever 0
        p_values = []
        for score, draw in zip(checked, draws.tolist(), strict=True):
            below, up_to = bisect_left(self._sorted, score), bisect_right(self._sorted, score)
            n_larger, n_equal = len(self) - up_to, up_to - below + 1
            self._sorted.insert(up_to, score)
            p_values.append((n_larger + draw * n_equal) / len(self))
        return np.array(p_values, dtype=np.float64)


def online_p_values(scores: ArrayLike, *, random_state: Any = None) -> FloatArray:
    r"""Return the smoothed p-value of each score among those before it and itself.

    .. math:: p_n = \frac{|\{i \le n : s_i > s_n\}| + u_n \, |\{i \le n : s_i = s_n\}|}{n}

    with :math:`u_n` uniform on (0, 1]. For exchangeable scores they are independent and uniform
    [1]_: what :class:`ExchangeabilityMartingale` and :func:`p_value_uniformity` ask for.

    Parameters
    ----------
    scores : array-like of int or float of shape (n,)
        Nonconformity scores of true labelsets under one fixed model, in the order of their arrival,
        larger is stranger. The model must not have been trained on these examples.
    random_state : int, RandomState instance or None, default=None
        For the draws u. With an int, more scores at the end do not change the p-values before them.

    Returns
    -------
    array of shape (n,)
        Above 0 and at most 1.

    See Also
    --------
    OnlinePValues : the same for scores that keep arriving.

    References
    ----------
    .. [1] Vovk, V., Nouretdinov, I., Gammerman, A. (2003). Testing exchangeability on-line. ICML,
       768-775.

    Examples
    --------
    >>> online_p_values([3, 1, 2, 4], random_state=0).round(3).tolist()
    [0.451, 0.642, 0.466, 0.114]
    """
    return OnlinePValues(random_state=random_state).update_many(scores)


def check_scores_in_order(scores: ArrayLike) -> list[Any]:
    """Return scores as Python numbers, which compare exactly at any size, or raise ValueError."""
    array = np.asarray(scores) if hasattr(scores, "dtype") else np.asarray(scores, dtype=object)
    if array.ndim != 1:
        raise ValueError(f"scores must have shape (n,), one per example, got shape {array.shape}.")
    if odd := find_no_number(scores, array):
        raise ValueError(f"scores must be numbers, got {odd}.")
    values: list[Any] = array.tolist()
    for n, value in enumerate(values):
        if not is_real(value) or value != value:  # noqa: PLR0124 - NaN, of any type
            raise ValueError(f"scores must be numbers, got {value!r} at position {n}.")
    return values


Shares = tuple[float, float, float]


def jump(
    p_values: FloatArray, jump_rate: float, shares: Shares, log_capital: float
) -> tuple[FloatArray, Shares]:
    r"""Bet on small, large or no p-values; return the log of the capital after each, and shares.

    The capital is never negative, starts at 1, and its mean stays 1 while p-values are uniform.

    Three accounts :math:`\epsilon \in \{-1, 0, 1\}` start with a third of the capital C each. At
    each step a share J of the capital is spread evenly over them, and account :math:`\epsilon` is
    multiplied by :math:`1 + \epsilon (p - 1/2)` (Vovk et al. 2021, algorithm 1).
    """
    stay, spread = 1 - jump_rate, jump_rate / 3
    small, none, large = shares
    path = []
    for tilt in (p_values - 0.5).tolist():
        # Shares instead of amounts: amounts leave the range of floats, and spreading keeps
        # shares away from 0.
        small = (stay * small + spread) * (1 - tilt)
        none = stay * none + spread
        large = (stay * large + spread) * (1 + tilt)
        growth = small + none + large
        small = small / growth
        none = none / growth
        large = large / growth
        log_capital += math.log(growth)
        path.append(log_capital)
    return np.array(path, dtype=np.float64), (small, none, large)


def mix_powers(p_values: FloatArray, n_before: int, before: float) -> tuple[FloatArray, float]:
    r"""Bet on small p-values with every power at once; return the log of the capital after each.

    The capital after n p-values is (Vovk, Nouretdinov, Gammerman 2003), with :math:`L = -\sum \ln
    p_i`, which is ``before`` for the earlier ones and returned for all,

    .. math:: \int_0^1 \prod_{i=1}^{n} \epsilon \, p_i^{\epsilon - 1} \, d\epsilon
        = e^L L^{-n-1} \gamma(n + 1, L) = \frac{1}{n + 1} \, {}_1F_1(1; n + 2; L)

    with the lower incomplete gamma function, and Kummer's function where that would underflow.
    """
    n = n_before + 1.0 + np.arange(len(p_values))
    totals = np.cumsum(np.concatenate([[before], -np.log(p_values)]))
    total, path = totals[1:], np.empty(len(p_values))
    # else the other form: its incomplete gamma function is above one half, and the sum huge
    few = total <= n + 1
    path[few] = np.log(hyp1f1(1, n[few] + 2, total[few])) - np.log(n[few] + 1)
    m, large = n[~few] + 1, total[~few]
    path[~few] = large + gammaln(m) + np.log(gammainc(m, large)) - m * np.log(large)
    return path, float(totals[-1])


class ExchangeabilityMartingale:
    r"""A test of exchangeability that never ends: capital bet against uniform p-values, an alarm.

    The bettor starts with 1 and bets on each p-value before it is seen. As long as examples are
    exchangeable no bettor can grow rich: the capital :math:`S_n` is a martingale, and by Ville's
    inequality [1]_

    .. math:: P(\exists n : S_n \ge c) \le 1 / c

    so an alarm at c is false with probability at most 1 / c, however long the test runs and however
    often it is checked.

    Parameters
    ----------
    method : {"simple_jumper", "power_mixture"}, default="simple_jumper"
        "simple_jumper": three accounts multiplied by :math:`1 + \epsilon (p - 1/2)`,
        :math:`\epsilon = -1, 0, 1`, with the share ``jump_rate`` of the capital spread evenly over
        them at each step [3]_. Notices p-values that have become small or large, also late.
        "power_mixture": the mean over :math:`\epsilon \in [0, 1]` of :math:`\prod \epsilon
        p_i^{\epsilon - 1}` [2]_. Notices small p-values; strongest where they are small from the
        beginning.
    alarm_at : float, default=100
        The capital c of the alarm, above 1.
    jump_rate : float, default=0.01
        Of "simple_jumper": above 0 and at most 1.

    Notes
    -----
    The p-values must be independent and uniform for exchangeable examples: smoothed and *online*,
    the n-th computed from the first n examples, as :func:`online_p_values` does from scores under
    one fixed model. Those that ``predict_labelsets`` gives for many objects rest on one calibration
    set, so they are not independent: with them alarms are false more often than promised.

    After a change the new examples join those that later ones are compared with, so p-values drift
    back to uniform and evidence comes soon or not at all; many examples from before the change
    help. A change that leaves the distribution of the scores as it was cannot be noticed. Further
    ways to bet are in [4]_.

    References
    ----------
    .. [1] Ville, J. (1939). Etude critique de la notion de collectif. Gauthier-Villars.
    .. [2] Vovk, V., Nouretdinov, I., Gammerman, A. (2003). Testing exchangeability on-line. ICML,
       768-775.
    .. [3] Vovk, V., Petej, I., Nouretdinov, I., Ahlberg, E., Carlsson, L., Gammerman, A. (2021).
       Retrain or not retrain: conformal test martingales for change-point detection. COPA, PMLR
       152, 191-210.
    .. [4] Fedorova, V., Gammerman, A., Nouretdinov, I., Vovk, V. (2012). Plug-in martingales for
       testing exchangeability on-line. ICML, 923-930.

    Examples
    --------
    >>> import numpy as np
    >>> from labelsure.metrics import online_p_values
    >>> rng = np.random.default_rng(0)
    >>> scores = np.append(rng.normal(size=300), rng.normal(1.0, size=100))  # stranger from 300 on
    >>> p_values = online_p_values(scores, random_state=0)
    >>> martingale = ExchangeabilityMartingale(alarm_at=100)
    >>> martingale.update_many(p_values[:300]) < 1, martingale.alarm
    (True, None)
    >>> martingale.update_many(p_values[300:]) > 100, 300 < martingale.alarm < 400
    (True, True)
    """

    def __init__(
        self, method: str = "simple_jumper", *, alarm_at: float = 100.0, jump_rate: float = 0.01
    ) -> None:
        self.method = check_choice(method, ("simple_jumper", "power_mixture"), name="method")
        self.alarm_at = check_number(alarm_at, name="alarm_at", above=1)
        self.jump_rate = check_number(jump_rate, name="jump_rate", above=0)
        if self.jump_rate > 1:
            raise ValueError(f"jump_rate must be above 0 and at most 1, got {jump_rate!r}.")
        self._shares: Shares = (1 / 3, 1 / 3, 1 / 3)
        self._total = 0.0
        self._log_path: list[float] = []
        self._alarm: int | None = None

    def __len__(self) -> int:
        """Return the number of p-values so far."""
        return len(self._log_path)

    def __repr__(self) -> str:
        return (
            f"ExchangeabilityMartingale({self.method!r}, alarm_at={self.alarm_at:g}, {len(self)}"
            f" p-values, log10 value {self.log10_value:.2f}, alarm {self.alarm})"
        )

    def update(self, p_value: float) -> float:
        """Bet on one more p-value, above 0 and at most 1, and return the capital."""
        return self.update_many([p_value])

    def update_many(self, p_values: ArrayLike) -> float:
        """Bet on more p-values, one after the other, and return the capital after the last.

        Parameters
        ----------
        p_values : array-like of shape (m,)
            Above 0 and at most 1, in the order of their arrival. If one is refused none is taken
            in.
        """
        checked = check_p_values(p_values, allow_zero=False)
        if self.method == "simple_jumper":
            capital = self._log_path[-1] if self._log_path else 0.0
            bets, self._shares = jump(checked, self.jump_rate, self._shares, capital)
        else:
            bets, self._total = mix_powers(checked, len(self), self._total)
        path = bets.tolist()
        if self._alarm is None and path and max(path) >= math.log(self.alarm_at):
            first = next(n for n, log in enumerate(path) if log >= math.log(self.alarm_at))
            self._alarm = len(self) + first + 1
        self._log_path += path
        return self.value

    @property
    def value(self) -> float:
        """The capital now, 1 at the start; infinity beyond all floats, see ``log10_value``."""
        log_capital = self._log_path[-1] if self._log_path else 0.0
        try:
            return math.exp(log_capital)
        except OverflowError:
            return math.inf

    @property
    def log10_value(self) -> float:
        """The decimal logarithm of the capital now."""
        return self._log_path[-1] / math.log(10) if self._log_path else 0.0

    @property
    def log10_path(self) -> FloatArray:
        """The decimal logarithm of the capital after each p-value, shape (n,)."""
        return np.array(self._log_path, dtype=np.float64) / math.log(10)

    @property
    def alarm(self) -> int | None:
        """The number of p-values when the capital first reached ``alarm_at``, or None."""
        return self._alarm

    @property
    def statement(self) -> str:
        """What is guaranteed, and by whom it was proved, in one sentence."""
        return (
            "If the examples are exchangeable, the probability that the martingale ever reaches"
            f" {self.alarm_at:g} is at most {1 / self.alarm_at:.4g} (Ville 1939; for smoothed"
            " online p-values: Vovk, Nouretdinov, Gammerman 2003)."
        )


def check_p_values(p_values: ArrayLike, *, allow_zero: bool) -> FloatArray:
    """Return p-values as an array of shape (n,), or raise ValueError.

    Examples
    --------
    >>> check_p_values([0.5, 1.5], allow_zero=True)
    Traceback (most recent call last):
    ...
    ValueError: p_values must lie between 0 and 1, got 1.5 at position 1.
    """
    array = as_numbers(p_values, name="p_values", shape="(n,)")
    if array.dtype == bool or array.ndim != 1:
        raise ValueError(
            f"p_values must be numbers in an array of shape (n,), got shape {array.shape} of type"
            f" {array.dtype}."
        )
    numbers = array.astype(np.float64)
    if outside := find_entry(~((numbers >= 0) & (numbers <= 1)), numbers):
        raise ValueError(f"p_values must lie between 0 and 1, got {outside}.")
    if not allow_zero and np.any(numbers == 0):
        raise ValueError(
            f"p_values must be above 0, got 0 at position {int(np.argmin(numbers))}: smoothed"
            " p-values never are. Make them with online_p_values, or look for a true labelset that"
            " was no candidate."
        )
    return numbers

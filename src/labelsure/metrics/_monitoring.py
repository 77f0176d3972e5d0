"""Is the world still the one that the model was calibrated in? A bet against it, and an alarm."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammainc, gammaln, hyp1f1

from labelsure._checks import FloatArray, check_choice, check_number
from labelsure.metrics._inputs import check_p_values


@dataclass
class SimpleJumper:
    r"""A betting martingale on small, on large or on no p-values, which now and then changes its mind.

    The capital is never negative, starts at 1, and its mean stays 1 while p-values are uniform.

    Three accounts :math:`\epsilon \in \{-1, 0, 1\}` start with a third of the capital C each. At
    each step a share J of the capital is spread evenly over them, and account :math:`\epsilon` is
    multiplied by :math:`1 + \epsilon (p - 1/2)` (Vovk et al. 2021, algorithm 1).

    Parameters
    ----------
    jump_rate : float
        The share J, above 0 and at most 1.
    """

    jump_rate: float
    log_capital: float = 0.0
    shares: tuple[float, float, float] = (1 / 3, 1 / 3, 1 / 3)

    def advance(self, p_values: FloatArray) -> FloatArray:
        """Bet on further p-values and return the logarithm of the capital after each."""
        stay, spread = 1 - self.jump_rate, self.jump_rate / 3
        small, none, large = self.shares
        log_capital, path = self.log_capital, []
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
        self.shares, self.log_capital = (small, none, large), log_capital
        return np.array(path, dtype=np.float64)


@dataclass
class PowerMixture:
    r"""A betting martingale on small p-values with every power at once.

    The capital after n p-values is (Vovk, Nouretdinov, Gammerman 2003), with :math:`L = -\sum \ln
    p_i`,

    .. math:: \int_0^1 \prod_{i=1}^{n} \epsilon \, p_i^{\epsilon - 1} \, d\epsilon
        = e^L L^{-n-1} \gamma(n + 1, L) = \frac{1}{n + 1} \, {}_1F_1(1; n + 2; L)

    with the lower incomplete gamma function, and Kummer's function where that would underflow.
    """

    n_p_values: int = 0
    total: float = 0.0

    def advance(self, p_values: FloatArray) -> FloatArray:
        """Bet on further p-values and return the logarithm of the capital after each."""
        n = self.n_p_values + 1.0 + np.arange(len(p_values))
        totals = np.cumsum(np.concatenate([[self.total], -np.log(p_values)]))
        self.n_p_values += len(p_values)
        self.total = float(totals[-1])
        total, path = totals[1:], np.empty(len(p_values))
        few = (
            total <= n + 1
        )  # else the other form: its incomplete gamma function is above one half, and the sum huge
        path[few] = np.log(hyp1f1(1, n[few] + 2, total[few])) - np.log(n[few] + 1)
        m, large = n[~few] + 1, total[~few]
        path[~few] = large + gammaln(m) + np.log(gammainc(m, large)) - m * np.log(large)
        return path


class ExchangeabilityMartingale:
    r"""A test of exchangeability that never ends: the capital of a bettor against uniform p-values, and an alarm.

    The bettor starts with 1 and bets on each p-value before it is seen. As long as examples are
    exchangeable nobody can grow rich: the capital :math:`S_n` is a martingale, and by Ville's
    inequality [1]_

    .. math:: P(\exists n : S_n \ge c) \le 1 / c

    so an alarm at c is false with probability at most 1 / c, however long the test runs and however
    often it is looked at.

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
    >>> scores = np.concatenate([rng.normal(size=300), rng.normal(1.0, size=100)])  # stranger from 300 on
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
        self._betting = (
            SimpleJumper(self.jump_rate) if method == "simple_jumper" else PowerMixture()
        )
        self._log_path: list[float] = []
        self._alarm: int | None = None

    def __len__(self) -> int:
        """Return the number of p-values so far."""
        return len(self._log_path)

    def __repr__(self) -> str:
        return (
            f"ExchangeabilityMartingale({self.method!r}, alarm_at={self.alarm_at:g}, {len(self)}"
            f" p-values,"
            f" log10 value {self.log10_value:.2f}, alarm {self.alarm})"
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
        path = self._betting.advance(check_p_values(p_values, allow_zero=False)).tolist()
        if self._alarm is None:
            reached = (
                n
                for n, log in enumerate(path, start=len(self) + 1)
                if log >= math.log(self.alarm_at)
            )
            self._alarm = next(reached, None)
        self._log_path += path
        return self.value

    @property
    def value(self) -> float:
        """The capital now, 1 at the start; infinity where it is beyond the largest float, see ``log10_value``."""
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
        """How many p-values had been seen when the capital first reached ``alarm_at``; None if it has not."""
        return self._alarm

    @property
    def statement(self) -> str:
        """What is guaranteed, and by whom it was proved, in one sentence."""
        return (
            f"If the examples are exchangeable, the probability that the martingale ever reaches"
            f" {self.alarm_at:g} is"
            f" at most {1 / self.alarm_at:.4g} (Ville 1939; for smoothed online p-values: Vovk,"
            f" Nouretdinov,"
            " Gammerman 2003)."
        )

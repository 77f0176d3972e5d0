"""Martingales against direct integrals and sums, Ville's bound by simulation, power."""

import math
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import binomtest

from labelsure.metrics import ExchangeabilityMartingale, online_p_values

METHODS = ["simple_jumper", "power_mixture"]
FALSE_ALARM = 1e-4
P_VALUES = st.lists(st.floats(1e-6, 1.0) | st.sampled_from([1.0, 0.5, 1e-6]), max_size=7)


def run(p_values, method="simple_jumper", **options):
    martingale = ExchangeabilityMartingale(method, **options)
    martingale.update_many(p_values)
    return martingale


def power_mixture_by_integral(p_values):
    """The log of the mean over powers of the product of bets, by piecewise quadrature."""
    n, total = len(p_values), -sum(map(math.log, p_values))

    def log_product(power):
        return (
            n * math.log(power) + total * (1 - power) if power > 0 else (-math.inf if n else total)
        )

    peak = min(n / total, 1.0) if total > 0 else 1.0
    top, width = log_product(peak), peak / math.sqrt(n + 1)
    ends = sorted(
        {0.0, 1.0, *(min(max(peak + k * width, 0.0), 1.0) for k in (-20, -5, -1, 0, 1, 5, 20))}
    )
    pieces = [
        quad(lambda power: math.exp(log_product(power) - top), low, high, epsabs=0, epsrel=1e-11)[0]
        for low, high in pairwise(ends)
    ]
    return top + math.log(sum(pieces))


def simple_jumper_by_paths(p_values, jump_rate):
    """The mean over all ways to switch between the three bets of the product of these bets."""
    total = 0.0
    for path in product((-1, 0, 1), repeat=len(p_values)):
        weight = 1.0
        for n, (bet, p) in enumerate(zip(path, p_values, strict=True)):
            stays = path[n - 1] == bet if n else True
            chance = (1 - jump_rate) * stays + jump_rate / 3 if n else 1 / 3
            weight *= chance * (1 + bet * (p - 0.5))
        total += weight
    return total


@given(P_VALUES)
def test_power_mixture_is_the_integral(p_values):
    assert run(p_values, "power_mixture").log10_value == pytest.approx(
        power_mixture_by_integral(p_values) / math.log(10), rel=1e-9, abs=1e-9
    )


@settings(max_examples=30)
@given(p_values=P_VALUES.map(lambda p: p[:6]), jump_rate=st.sampled_from([0.01, 0.3, 1.0, 1e-9]))
def test_simple_jumper_is_the_mean_over_all_ways_to_jump(p_values, jump_rate):
    value = run(p_values, jump_rate=jump_rate).value
    assert value == pytest.approx(simple_jumper_by_paths(p_values, jump_rate), rel=1e-12)


PASTS = [[], [0.9], [0.01, 0.02, 0.3], [1.0, 0.8, 0.95, 0.99]]


@pytest.mark.parametrize("past", PASTS, ids=str)
def test_capital_of_the_simple_jumper_stays_the_same_on_average(past):
    """The martingale property: after one more uniform p-value, by numerical integration."""
    mean, _ = quad(lambda p: run([*past, p]).value, 0, 1)
    assert mean == pytest.approx(run(past).value, rel=1e-10)


@pytest.mark.parametrize("method", METHODS)
def test_updates_one_by_one_and_together_are_the_same(method):
    p_values = np.random.default_rng(2).random(50)
    one_by_one = ExchangeabilityMartingale(method, alarm_at=1.5)
    values = [one_by_one.update(p) for p in p_values]
    together = run(p_values, method, alarm_at=1.5)
    assert one_by_one.log10_path == pytest.approx(together.log10_path, rel=1e-12)
    assert np.log10(values) == pytest.approx(together.log10_path, rel=1e-9, abs=1e-12)
    assert together.update_many([]) == together.value == pytest.approx(values[-1])
    assert one_by_one.alarm == together.alarm
    assert len(one_by_one) == len(together) == 50


@pytest.mark.parametrize("method", METHODS)
def test_alarm_is_the_first_time_that_the_level_is_reached(method):
    p_values = [0.5, 0.9, *[0.01] * 30, *[0.999] * 100]
    martingale = run(p_values, method, alarm_at=20)
    path = 10**martingale.log10_path
    assert path[martingale.alarm - 1] >= 20 > path[: martingale.alarm - 1].max()
    assert 3 <= martingale.alarm <= 32
    assert run(p_values[: martingale.alarm - 1], method, alarm_at=20).alarm is None
    first = martingale.alarm
    martingale.update_many([0.001] * 50)
    assert martingale.alarm == first


def share_of_alarms(method, n_sequences, n_examples, *, alarm_at, seed=0):
    """Exchangeable sequences of integer scores with ties, each from another distribution."""
    rng = np.random.RandomState(seed)
    alarms = 0
    for _ in range(n_sequences):
        scores = rng.randint(0, rng.randint(2, 1000), n_examples)
        p_values = online_p_values(scores, random_state=rng)
        alarms += run(p_values, method, alarm_at=alarm_at).alarm is not None
    return alarms


@pytest.mark.parametrize("method", METHODS)
def test_false_alarms_are_as_rare_as_promised(method):
    """2 000 sequences of 300 examples, alarm at 20: at most 1 in 20 ever raises it, and some do.

    More alarms are refused where 1/20 would show them with probability at most 1e-4.
    """
    alarms = share_of_alarms(method, 2000, 300, alarm_at=20)
    assert binomtest(alarms, 2000, 1 / 20, alternative="greater").pvalue > FALSE_ALARM
    assert alarms > 0


@pytest.mark.parametrize(
    ("method", "shift", "n_after"), [("simple_jumper", 1.0, 150), ("power_mixture", 1.5, 400)]
)
def test_a_change_raises_the_alarm(method, shift, n_after):
    """100 sequences that shift after 500 examples: at least 90 alarms, at most 1 % before."""
    rng = np.random.default_rng(4)
    early = late = 0
    for _ in range(100):
        scores = np.concatenate([rng.normal(size=500), rng.normal(shift, size=n_after)])
        alarm = run(online_p_values(scores, random_state=rng.integers(2**31)), method).alarm
        early += alarm is not None and alarm <= 500
        late += alarm is not None and alarm > 500
    assert late >= 90
    assert binomtest(early, 100, 0.01, alternative="greater").pvalue > FALSE_ALARM


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("p_values", "message"),
    [
        ([0.5, 0.0], "p_values must be above 0, got 0 at position 1: smoothed p-values never are"),
        ([0.5, 1.01], "p_values must lie between 0 and 1, got 1.01 at position 1"),
        ([-0.5], "got -0.5 at position 0"),
        ([np.nan], "got nan at position 0"),
        ([[0.5]], r"p_values must be numbers in an array of shape \(n,\), got shape \(1, 1\)"),
        (["half"], "got a list with 'half' at position 0"),
    ],
    ids=str,
)
def test_martingales_refuse_bad_p_values_and_stay_as_they_were(method, p_values, message):
    martingale = run([0.3], method)
    before = martingale.value
    with pytest.raises(ValueError, match=message):
        martingale.update_many(p_values)
    assert (martingale.value, len(martingale)) == (before, 1)
    martingale.update(0.2)
    assert martingale.value == pytest.approx(run([0.3, 0.2], method).value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "jumper"}, "method must be one of 'simple_jumper', 'power_mixture', got"),
        ({"alarm_at": 1}, "alarm_at must be a finite number above 1, got 1"),
        ({"alarm_at": math.inf}, "alarm_at must be a finite number above 1, got inf"),
        ({"alarm_at": "100"}, "alarm_at must be a finite number above 1, got '100'"),
        ({"jump_rate": 0}, "jump_rate must be a finite number above 0, got 0"),
        ({"jump_rate": 1.5}, "jump_rate must be above 0 and at most 1, got 1.5"),
        ({"jump_rate": math.nan}, "jump_rate must be a finite number above 0, got nan"),
    ],
    ids=str,
)
def test_martingales_refuse_bad_parameters(arguments, message):
    with pytest.raises(ValueError, match=message):
        ExchangeabilityMartingale(**arguments)

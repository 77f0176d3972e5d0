"""Calibration curves against counting; uniformity tests against definitions and simulation."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from labelsure import calibrate_outputs
from labelsure.metrics import calibration_curve, p_value_uniformity

FALSE_ALARM = 1e-4


def predict(n_calibration=50, n_objects=40, *, smoothed=False, seed=0):
    """Predictions of objects whose outputs are the true probabilities, and their labels."""
    rng = np.random.default_rng(seed)
    outputs = rng.random((n_calibration + n_objects, 3))
    Y = (rng.random(outputs.shape) < outputs).astype(int)
    known, new = slice(n_calibration), slice(n_calibration, None)
    predictor = calibrate_outputs(
        outputs[known], Y[known], empty_labelset="allow", smoothed=smoothed, random_state=seed
    )
    return predictor.predict_labelsets(outputs[new]), Y[new]


@pytest.mark.parametrize("smoothed", [False, True])
def test_calibration_curve_counts_errors_and_bands_are_exact_binomial_intervals(smoothed):
    """The interval's ends are quantiles of the beta distribution (Clopper, Pearson), or 0 and 1."""
    predictions, Y = predict(smoothed=smoothed)
    curve = calibration_curve(Y, predictions, coverage_level=0.9)
    assert curve.significance.tolist() == pytest.approx([k / 100 for k in range(1, 100)])
    assert (curve.n_objects, curve.coverage_level) == (40, 0.9)
    p_values = predictions.p_value(Y)
    for k, rate, low, high in zip(
        range(1, 100), curve.error_rate, curve.low, curve.high, strict=True
    ):
        errors = sum(
            Fraction(str(p)).limit_denominator(10**12) <= Fraction(k, 100)
            for p in p_values.tolist()
        )
        assert rate == errors / 40
        assert low == pytest.approx(beta.ppf(0.05, errors, 41 - errors) if errors else 0.0)
        assert high == pytest.approx(
            beta.ppf(0.95, errors + 1, 40 - errors) if errors < 40 else 1.0
        )
    assert 0 == curve.error_rate[0] < curve.error_rate[98]
    frame = curve.to_frame()
    for column in ("significance", "error_rate", "low", "high"):
        assert frame[column].tolist() == getattr(curve, column).tolist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"significance": []}, "significance must hold at least one level, got none"),
        ({"significance": [0.1, 0.1]}, "significance must hold different levels, got 0.1 twice"),
        ({"coverage_level": 1}, "coverage_level must be a number strictly between 0 and 1, got 1"),
        ({"Y_true": [[0, 1, 0]]}, "the predictions and Y_true must have the same number of rows"),
        ({"predictions": [[0, 1, 0]]}, "predictions must be what predict_labelsets returns, got"),
    ],
    ids=str,
)
def test_calibration_curve_refuses(arguments, message):
    predictions, Y = predict()
    with pytest.raises(ValueError, match=message):
        calibration_curve(**{"predictions": predictions, "Y_true": Y, **arguments})


def chance_of_excess(d, n):
    """The probability that n uniform p-values exceed the diagonal by d or more somewhere."""
    if d < 1e-9:
        return 1.0
    below = range(int(n * (1 - d) + 1e-9) + 1)
    return d * sum(
        comb(n, j) * (d + j / n) ** (j - 1) * max(1 - d - j / n, 0) ** (n - j) for j in below
    )


@given(st.lists(st.integers(0, 12).map(lambda k: k / 12), min_size=1, max_size=12))
def test_uniformity_statistics_and_exact_one_sided_p_value_are_those_of_the_definitions(p_values):
    """The distribution function steps at p-values; the formula is Birnbaum and Tingey's."""
    n = len(p_values)
    above = max((sum(p <= t for p in p_values) / n - t for t in p_values), default=0)
    below = max((t - sum(p < t for p in p_values) / n for t in p_values), default=0)
    test = p_value_uniformity(p_values)
    assert test.n_p_values == n
    assert test.excess == pytest.approx(max(above, 0), abs=1e-12)
    assert test.distance == pytest.approx(max(above, below), abs=1e-12)
    assert test.p_value_valid == pytest.approx(chance_of_excess(max(above, 0), n), abs=1e-9)


def p_values_of_trials(n_trials, *, smoothed):
    """P-values of true labelsets from independent trials: 19 calibration scores with many ties."""
    rng = np.random.default_rng(3)
    scores = rng.integers(0, 4, (n_trials, 20))
    above, equal = (scores > scores[:, -1:]).sum(axis=1), (scores == scores[:, -1:]).sum(axis=1)
    return (above + (1 - rng.random(n_trials) if smoothed else 1) * equal) / 20


def test_smoothed_p_values_pass_both_tests_and_unsmoothed_ones_the_one_sided_test():
    """2 000 trials each; true hypotheses are refused with probability <= 1e-4. The last: false."""
    smoothed = p_value_uniformity(p_values_of_trials(2000, smoothed=True))
    assert smoothed.p_value_valid > FALSE_ALARM
    assert smoothed.p_value_uniform > FALSE_ALARM
    unsmoothed = p_value_uniformity(p_values_of_trials(2000, smoothed=False))
    assert unsmoothed.p_value_valid > 0.5
    assert unsmoothed.p_value_uniform < FALSE_ALARM


def test_p_values_that_do_not_count_the_new_object_are_refused():
    rng = np.random.default_rng(4)
    p_values = np.sum(rng.random((2000, 19)) >= rng.random((2000, 1)), axis=1) / 20
    assert p_value_uniformity(p_values).p_value_valid < FALSE_ALARM


@pytest.mark.parametrize(
    ("p_values", "message"),
    [
        ([], "p_values must hold at least one p-value to test, got none"),
        (0.5, r"p_values must be numbers in an array of shape \(n,\), got shape \(\) of type"),
        ([[0.5], [0.2, 0.1]], "got a list that numpy cannot read as one"),
        ([0.5, -0.1], "p_values must lie between 0 and 1, got -0.1 at position 1"),
        ([0.5, np.nan], "got nan at position 1"),
        (["0.5"], "p_values must be a dense array of numbers .* got a list with '0.5' at"),
        ([True], "of type bool"),
        (np.ma.array([0.5, 0.2], mask=[0, 1]), "got a MaskedArray with a masked entry at"),
    ],
    ids=str,
)
def test_uniformity_refuses(p_values, message):
    with pytest.raises(ValueError, match=message):
        p_value_uniformity(p_values)

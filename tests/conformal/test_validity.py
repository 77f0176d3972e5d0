"""Are p-values of the true labelset valid? Simulated data, independent trials, false-alarm rates.

Every trial draws its own training set and one new object, so the trials are independent, and a
valid predictor makes an error, p <= eps, with probability at most eps in each. An error rate is
refused where a correct predictor shows it with probability at most 1e-4 (one-sided binomial test),
uniformity where the Kolmogorov-Smirnov test gives less than 1e-4. The seeds are fixed, so a test
that passes once passes always; with new seeds each of the tests below gives at most 4 false alarms
(three levels, one KS test) in 10 000 runs.
"""

import numpy as np
import pytest
from scipy.stats import binomtest, kstest
from sklearn.neighbors import KNeighborsClassifier

from labelsure import (
    FullConformalClassifier,
    InductiveConformalClassifier,
    MLkNNClassifier,
    MLRBFClassifier,
    PowerMeasure,
    calibrate_outputs,
)

FALSE_ALARM = 1e-4
LEVELS = (0.05, 0.1, 0.2)
NEIGHBOURS = KNeighborsClassifier(3)
NOISY = PowerMeasure(d=2, pair_penalty=0.5)


def simulate(rng, n, *, discrete):
    """Two correlated labels that depend on two features, rows without labels; many ties."""
    X = rng.normal(size=(n, 2))
    Y = np.column_stack(
        [X[:, 0] + rng.normal(size=n) > 0, X.sum(axis=1) + rng.normal(size=n) > 1]
    ).astype(int)
    return (np.round(X) if discrete else X), Y


def p_values_of_truth(make_model, n_trials, n_examples, *, discrete, seed=0):
    p_values = np.empty(n_trials)
    for trial, rng in enumerate(np.random.default_rng(seed).spawn(n_trials)):
        X, Y = simulate(rng, n_examples + 1, discrete=discrete)
        model = make_model(int(rng.integers(2**31))).fit(X[:-1], Y[:-1])
        p_values[trial] = model.predict_labelsets(X[-1:]).p_value(Y[-1:])[0]
    return p_values


def assert_valid(p_values, *, exact=False):
    """Refuse error rates above eps and, for exact (smoothed) p-values, non-uniform ones."""
    for level in LEVELS:
        errors = int(np.sum(p_values <= level + 1e-12))
        assert (
            binomtest(errors, len(p_values), level, alternative="greater").pvalue > FALSE_ALARM
        ), (level, errors)
    if exact:
        assert kstest(p_values, "uniform").pvalue > FALSE_ALARM


def inductive(seed, *, smoothed=False, base=NEIGHBOURS):
    return InductiveConformalClassifier(
        base, measure=NOISY, calibration_size=19, empty_labelset="allow", smoothed=smoothed,
        random_state=seed,
    )  # fmt: skip


def full(seed, *, smoothed=False, base=NEIGHBOURS):
    return FullConformalClassifier(
        base, measure=NOISY, empty_labelset="allow", smoothed=smoothed, random_state=seed
    )


@pytest.mark.parametrize(
    ("grid", "smoothed"), [(None, False), (4, True)], ids=["continuous, plain", "ties, smoothed"]
)
def test_outputs_p_values_are_valid(grid, smoothed):
    """800 trials of 19 calibration examples: plain p-values without ties are uniform on k/20."""
    rng = np.random.default_rng(1)
    p_values = np.empty(800)
    for trial in range(len(p_values)):
        outputs = rng.random((20, 3))
        Y = (rng.random((20, 3)) < outputs).astype(int)
        outputs = outputs if grid is None else np.round(outputs * grid) / grid
        predictor = calibrate_outputs(
            outputs[:-1],
            Y[:-1],
            empty_labelset="allow",
            smoothed=smoothed,
            random_state=int(rng.integers(2**31)),
        )
        p_values[trial] = predictor.predict_labelsets(outputs[-1:]).p_value(Y[-1:])[0]
    assert_valid(p_values, exact=smoothed)
    if grid is None and not smoothed:
        for level in LEVELS:  # exactly valid: not below eps either
            errors = int(np.sum(p_values <= level + 1e-12))
            assert binomtest(errors, len(p_values), level).pvalue > FALSE_ALARM


def test_full_p_values_are_valid():
    """300 trials of 19 examples with discrete outputs."""
    p_values = p_values_of_truth(
        lambda seed: full(seed, smoothed=True), 300, 19, discrete=True, seed=2
    )
    assert_valid(p_values, exact=True)


def test_p_values_that_do_not_count_the_new_object_are_refused():
    """Positive control: without the + 1 in the numerator, one trial in ten errs at eps = 0.05."""
    rng = np.random.default_rng(1)
    p_values = np.sum(rng.random((1000, 19)) >= rng.random((1000, 1)), axis=1) / 20
    with pytest.raises(AssertionError):
        assert_valid(p_values)


@pytest.mark.validity
@pytest.mark.parametrize("discrete", [False, True], ids=["continuous", "ties"])
@pytest.mark.parametrize("smoothed", [False, True], ids=["plain", "smoothed"])
@pytest.mark.parametrize(
    "base", [KNeighborsClassifier(3), MLkNNClassifier(3), MLRBFClassifier()], ids=repr
)
@pytest.mark.parametrize("kind", [inductive, full], ids=["inductive", "full"])
def test_p_values_are_valid_in_the_long_run(kind, base, smoothed, discrete):
    """2 000 trials (ML-RBF: 500) of 40 (inductive) or 19 (full) examples; rates as stated above.

    Ties make neighbours depend on the order of the examples: full conformal p-values are valid in
    spite of that.
    """
    n_examples = 40 if kind is inductive else 19
    n_trials = 500 if isinstance(base, MLRBFClassifier) else 2000
    p_values = p_values_of_truth(
        lambda seed: kind(seed, smoothed=smoothed, base=base),
        n_trials,
        n_examples,
        discrete=discrete,
        seed=3,
    )
    assert_valid(p_values, exact=smoothed)

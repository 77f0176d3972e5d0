"""Are label-wise p-values and regions valid? By counting in fixed bags, and by simulation.

For a held-out calibration set validity is a statement about any bag of n + 1 examples, each of them
in turn the new one: a share of at most eps of them may go wrong. That is checked exactly, without
any luck. The simulations draw a data set and one new object per trial; an error rate is refused
where a correct predictor shows it with probability at most 1e-4 (one-sided binomial test, where the
error is known exactly two-sided). Seeds are fixed; with new seeds each simulation gives at most 39
false alarms (three levels, up to 12 statements, 3 KS tests) in 10 000 runs.
"""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import binomtest, kstest
from sklearn.tree import DecisionTreeClassifier

from labelsure import LabelWiseConformalClassifier, calibrate_labels

FALSE_ALARM = 1e-4
LEVELS = (0.05, 0.1, 0.2)


@st.composite
def bags(draw):
    n, q = draw(st.integers(2, 12)), draw(st.integers(1, 3))
    outputs = draw(
        arrays(np.float64, (n, q), elements=st.sampled_from([0.0, 0.2, 0.4, 0.5, 0.6, 1.0]))
    )
    return outputs, draw(arrays(np.int8, (n, q), elements=st.integers(0, 1)))


def each_in_turn(outputs, Y, *, conditional):
    """Predictions for each example from all others."""
    for i in range(len(Y)):
        others = np.arange(len(Y)) != i
        yield calibrate_labels(outputs[others], Y[others], conditional=conditional).predict_labels(
            outputs[[i]]
        )


@given(bags(), st.integers(1, 19).map(lambda k: k / 20), st.booleans(), st.data())
def test_at_most_a_share_of_eps_of_any_bag_goes_wrong(bag, significance, conditional, data):
    outputs, Y = bag
    n, q = Y.shape
    h = data.draw(st.integers(0, q - 1))
    regions = [
        pred.region(significance, at_most_wrong=h)
        for pred in each_in_turn(outputs, Y, conditional=conditional)
    ]
    errors = sum(not region.contains(Y[[i]])[0] for i, region in enumerate(regions))
    assert errors <= Fraction(str(significance)) * n
    each = [
        pred.region(significance, per_label=True)
        for pred in each_in_turn(outputs, Y, conditional=conditional)
    ]
    wrong = np.array([region.wrong(Y[[i]])[0] for i, region in enumerate(each)])
    for j in range(q):
        assert int(wrong[:, j].sum()) <= Fraction(str(significance)) * n
        if conditional:
            for c in (0, 1):
                assert int(wrong[Y[:, j] == c, j].sum()) <= Fraction(str(significance)) * int(
                    np.sum(Y[:, j] == c)
                )


@given(st.integers(0, 10**6), st.integers(1, 19), st.data())
def test_error_in_a_bag_without_ties_is_exactly_the_significance(seed, k, data):
    """Twenty examples, k twentieths: k of them are missed, for every number h of wrong labels."""
    rng = np.random.default_rng(seed)
    outputs, Y = rng.random((20, 4)), rng.integers(0, 2, (20, 4))
    h = data.draw(st.integers(0, 3))
    predictions = enumerate(each_in_turn(outputs, Y, conditional=False))
    errors = sum(
        not pred.region(k / 20, at_most_wrong=h).contains(Y[[i]])[0] for i, pred in predictions
    )
    assert errors == k


def test_conditional_regions_cover_both_values_alike():
    """A rare label, 30 000 objects: marginal p-values may miss it, conditional ones may not."""
    rng = np.random.default_rng(1)
    Y = (rng.random((60_000, 1)) < 0.05).astype(int)
    outputs = np.clip(0.1 + 0.2 * Y + 0.1 * rng.normal(size=Y.shape), 0, 1)
    for conditional in (False, True):
        predictor = calibrate_labels(outputs[:30_000], Y[:30_000], conditional=conditional)
        wrong = predictor.predict_labels(outputs[30_000:]).region(0.04).n_wrong(Y[30_000:]) > 0
        having = wrong[Y[30_000:, 0] == 1].mean()
        assert (having < 0.06) if conditional else (having > 0.3)
        assert wrong.mean() < 0.045


def simulate(rng, n):
    """Three dependent labels, on a grid of features with many ties; some rows have no label."""
    X = np.round(rng.normal(size=(n, 2)))
    common = X[:, 0] + rng.normal(size=n)
    noise = rng.normal(size=(n, 3))
    return X, np.column_stack(
        [common + noise[:, 0] > 0, common > 1, X[:, 1] + noise[:, 2] > 1]
    ).astype(int)


def trials(n_trials, n_examples, *, seed, **parameters):
    """Predictions of an unstable learner, a deep tree, for one new object per set; truth."""
    for rng in np.random.default_rng(seed).spawn(n_trials):
        X, Y = simulate(rng, n_examples + 1)
        model = LabelWiseConformalClassifier(
            DecisionTreeClassifier(),
            calibration_size=19,
            random_state=int(rng.integers(2**31)),
            **parameters,
        )
        yield model.fit(X[:-1], Y[:-1]).predict_labels(X[-1:]), Y[-1:]


def assert_rare(errors, n_trials, level):
    assert (
        binomtest(int(errors), int(n_trials), level, alternative="greater").pvalue > FALSE_ALARM
    ), (level, errors)


def assert_valid(predictions, *, conditional, smoothed):
    """Refuse labels, joint regions and regions with one wrong label that err too often."""
    predictions = list(predictions)
    n_trials = len(predictions)
    p_values = np.array([pred.p_values[0, np.arange(3), truth[0]] for pred, truth in predictions])
    truth = np.array([labels[0] for _, labels in predictions])
    for level in LEVELS:
        wrong = p_values <= level + 1e-12
        for j in range(3):
            assert_rare(wrong[:, j].sum(), n_trials, level)
            for c in (0, 1) if conditional else ():
                of_value = truth[:, j] == c
                assert_rare(wrong[of_value, j].sum(), of_value.sum(), level)
        for h in (0, 1, 2):
            errors = sum(
                not pred.region(level, at_most_wrong=h).contains(labels)[0]
                for pred, labels in predictions
            )
            assert_rare(errors, n_trials, level)
    if smoothed and not conditional:
        for j in range(3):
            assert kstest(p_values[:, j], "uniform").pvalue > FALSE_ALARM


@pytest.mark.parametrize("smoothed", [False, True], ids=["plain", "smoothed"])
@pytest.mark.parametrize("conditional", [False, True], ids=["marginal", "conditional"])
def test_regions_are_valid(conditional, smoothed):
    """200 data sets of 40 examples, 19 of them for calibration."""
    found = trials(200, 40, seed=0, conditional=conditional, smoothed=smoothed)
    assert_valid(found, conditional=conditional, smoothed=smoothed)


def bound_by_size(level, n_examples, n_folds):
    return (
        level
        if n_folds == 1
        else 2 * level + 2 * (1 - level) * (n_folds - 1) / (n_examples + n_folds)
    )


@pytest.mark.validity
@pytest.mark.parametrize("smoothed", [False, True], ids=["plain", "smoothed"])
def test_errors_of_folds_stay_below_their_bound_within_values(smoothed):
    """2 000 sets of 60 examples in 4 folds; the bounds of the true values are averaged."""
    found = list(trials(2000, 60, seed=3, cv=4, conditional=True, smoothed=smoothed))
    for level, j, c in product(LEVELS, range(3), (0, 1)):
        of_value = [pred for pred, labels in found if labels[0, j] == c]
        errors = sum(
            pred.region(level, per_label=True).possible_values[0, j, c] == 0 for pred in of_value
        )
        bound = np.mean([pred.guarantee.bounds(level)[j, c] for pred in of_value])
        assert_rare(errors, len(of_value), min(bound, 1))


def adversary(rng, n_folds=5, n_each=20):
    """Each fold's models are right about one label, another in every fold, and wrong otherwise."""
    fold_of = np.repeat(np.arange(n_folds), n_each)
    Y = rng.integers(0, 2, (len(fold_of) + 1, n_folds))
    difficulty = 0.2 * rng.random(len(Y))

    def outputs(rows, k):
        scores = np.where(np.arange(n_folds) == k, difficulty[rows, None], 1)
        return np.abs(Y[rows] - scores)

    calibration = np.concatenate([outputs(np.flatnonzero(fold_of == k), k) for k in range(n_folds)])
    return (
        calibration,
        Y[:-1],
        fold_of,
        [outputs(np.array([len(fold_of)]), k) for k in range(n_folds)],
        Y[-1:],
    )


def test_folds_that_are_wrong_about_different_labels_do_no_harm():
    """300 sets, 5 labels, at most 4 wrong: summing counts by label errs five times too often."""
    errors = of_sums = 0
    for rng in np.random.default_rng(6).spawn(300):
        outputs, Y, fold_of, new, truth = adversary(rng)
        region = (
            calibrate_labels(outputs, Y, folds=fold_of)
            .predict_labels(new)
            .region(0.1, at_most_wrong=4)
        )
        errors += not region.contains(truth)[0]
        least = np.abs(outputs - Y).min(axis=1)
        counts = [sum(least[fold_of == k, None] >= np.abs(new[k] - truth) - 1e-9) for k in range(5)]
        of_sums += bool((1 + np.sum(counts, axis=0) <= 0.1 * 101).all())
    bound = bound_by_size(0.1, 100, 5)
    assert_rare(errors, 300, bound)
    with pytest.raises(AssertionError):
        assert_rare(of_sums, 300, bound)

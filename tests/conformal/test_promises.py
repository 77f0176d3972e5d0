"""What regions print about themselves, simulated: both rules and the default, one object per call.

Data sets are drawn independently; one number per set, whether the region of its new object misses
the truth, or the share of its new objects that are missed. A rate is refused where a rule that
keeps its promise shows it with probability at most 1e-4: a one-sided binomial test, or a t-test for
shares. Seeds are fixed, so a test that passes once passes always; with new seeds each test gives at
most one false alarm per level in 10 000 runs. The promise is read from the sentence that
``region.statement`` prints.

Users pass random_state=0 and predict one object per call: so do these simulations.
"""

import re

import numpy as np
import pytest
from scipy.stats import binomtest, kstest, ttest_1samp
from sklearn.base import BaseEstimator, ClassifierMixin

from labelsure import (
    InductiveConformalClassifier,
    PowerMeasure,
    calibrate_outputs,
)

FALSE_ALARM = 1e-4
LEVELS = (0.05, 0.1, 0.2)
RULES = ("cross", "exact")
N_FOLDS = 5

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*examples have no label"),
    pytest.mark.filterwarnings("ignore:.*cannot be reached"),
]


def promise_of(region):
    """Return the probability that the region's sentence states."""
    sentence = region.statement if hasattr(region, "statement") else region.guarantee
    stated = re.search(r"probability at most\s+([\d.]+\d)", sentence)
    assert stated is not None, sentence
    return float(stated[1])


def refuse(missed, promise):
    """Refuse a share of misses, one zero or one per data set, that is above what is promised."""
    missed = np.asarray(missed, dtype=np.float64)
    if np.isin(missed, (0, 1)).all():
        chance = binomtest(
            int(missed.sum()), len(missed), min(promise, 1.0), alternative="greater"
        ).pvalue
    else:
        chance = (
            1.0
            if missed.mean() <= promise
            else ttest_1samp(missed, promise, alternative="greater").pvalue
        )
    assert chance > FALSE_ALARM, f"{missed.mean():.4f} missed, promised {promise:.4f}"


def test_a_rate_above_the_promise_is_refused():
    """The tests below can fail."""
    rng = np.random.default_rng(0)
    with pytest.raises(AssertionError):
        refuse(rng.random(400) < 0.2, 0.1)
    with pytest.raises(AssertionError):
        refuse((rng.random((400, 5)) < 0.15).mean(axis=1), 0.1)


class AsTheyAre(ClassifierMixin, BaseEstimator):
    """A learner that was fitted elsewhere: its outputs are the features."""

    def fit(self, X, Y):  # noqa: ARG002
        self.classes_ = [np.array([0, 1])] * np.asarray(Y).shape[1]
        return self

    def predict_proba(self, X):
        return np.asarray(X, dtype=np.float64)


def answer_of_models(rng, Y, n_models):
    """Outputs of different models: half of the error is shared, the rest is independent."""
    common = rng.normal(size=Y.shape)
    own = rng.normal(size=(n_models, *Y.shape))
    return 1 / (1 + np.exp(-((2 * Y - 1) + 1.5 * np.sqrt(0.5) * (common + own))))


def misses_of_rule(rule, n_sets, n, *, seed):
    """Return misses (n_sets, levels) of a new object per set of n examples in folds, and bounds."""
    missed, promises = np.empty((n_sets, len(LEVELS))), None
    for number, rng in enumerate(np.random.default_rng([seed, n]).spawn(n_sets)):
        Y = rng.integers(0, 2, size=(n + 1, 2))
        of_models = answer_of_models(rng, Y, N_FOLDS)
        fold_of = rng.permutation(np.arange(n) % N_FOLDS)
        outputs = of_models[fold_of, np.arange(n)]
        predictor = calibrate_outputs(
            outputs,
            Y[:n],
            folds=fold_of,
            measure=PowerMeasure(1),
            guarantee=rule,
            empty_labelset="allow",
            random_state=0,
        )
        pred = predictor.predict_labelsets(of_models[:, n:])
        regions = [pred.region(level) for level in LEVELS]
        missed[number] = [~region.contains(Y[n:])[0] for region in regions]
        promises = promises or [promise_of(region) for region in regions]
    return missed, promises


def refuse_levels(missed, promises):
    for of_level, promise in zip(missed.T, promises, strict=True):
        refuse(of_level, promise)


@pytest.mark.parametrize("rule", RULES)
def test_rules_keep_their_promise_with_one_object_per_call(rule):
    """300 sets of 60 examples in 5 folds: "exact" once used one U for all objects."""
    refuse_levels(*misses_of_rule(rule, 300, 60, seed=1))


def rare_empties(rng, n, share, *, n_labels=2):
    """Return outputs and labels of which a share has none; outputs do not show it."""
    Y = rng.integers(0, 2, size=(n, n_labels))
    Y[~Y.any(axis=1), rng.integers(n_labels)] = 1
    outputs = answer_of_models(rng, Y, 1)[0]
    return outputs, np.where(rng.random(n)[:, None] < share, 0, Y)


@pytest.mark.parametrize(
    ("n", "level"), [pytest.param(10, 0.01, marks=pytest.mark.validity), (19, 0.05)]
)
def test_default_keeps_its_promise_where_examples_without_labels_are_rare(n, level):
    """1 000 sets of 10 or 19 examples; the share of empty labelsets that is easiest to miss."""
    missed = []
    for rng in np.random.default_rng([3, n]).spawn(1000):
        outputs, Y = rare_empties(rng, n + 1, 1 / (n + 1))
        region = (
            calibrate_outputs(outputs[:n], Y[:n], random_state=0)
            .predict_labelsets(outputs[n:])
            .region(level)
        )
        missed.append(not region.contains(Y[n:])[0])
    refuse(missed, promise_of(region))


def test_default_keeps_its_promise_within_the_category_of_no_labels():
    """500 sets of 30 examples, and a new object without labels, which are two in a hundred."""
    missed = []
    for rng in np.random.default_rng(4).spawn(500):
        X, Y = rare_empties(rng, 30, 0.02)
        x = rare_empties(rng, 1, 1.0)[0]
        learner = AsTheyAre().fit(X, Y)
        model = InductiveConformalClassifier(
            learner, prefit=True, mondrian="cardinality", random_state=0
        ).fit(X, Y)
        region = model.predict_labelsets(x).region(0.1)
        missed.append(not region.contains(np.zeros((1, 2)))[0])
    refuse(missed, promise_of(region))


def in_rare_group(X):
    return np.asarray(X)[:, 0] > 1


@pytest.mark.validity
@pytest.mark.parametrize("level", [0.05, 0.1])
def test_default_keeps_its_promise_within_a_rare_group_of_objects(level):
    """2 000 sets of 30 examples; one in twenty is of a group of which half have no labels."""
    missed = []
    for rng in np.random.default_rng(5).spawn(2000):
        X, Y = rare_empties(rng, 31, 0.0)
        rare = rng.random(31) < 0.05
        rare[-1] = True
        Y[rare & (rng.random(31) < 0.5)] = 0
        X = np.column_stack([np.where(rare, 2.0, 0.0), X])
        learner = LeavesOutFirst().fit(X, Y)
        model = InductiveConformalClassifier(
            learner, prefit=True, mondrian=in_rare_group, random_state=0
        )
        region = model.fit(X[:-1], Y[:-1]).predict_labelsets(X[-1:]).region(level)
        missed.append(not region.contains(Y[-1:])[0])
    refuse(missed, promise_of(region))


class LeavesOutFirst(AsTheyAre):
    """The same, where the first feature only marks a group."""

    def predict_proba(self, X):
        return np.asarray(X, dtype=np.float64)[:, 1:]


def density_ratio(X):
    """New objects are of the second kind in half of all cases, examples in one of fifty."""
    return np.where(np.asarray(X)[:, 0] > 1, 0.5 / 0.02, 0.5 / 0.98)


def shifted(rng, n, share):
    X, Y = rare_empties(rng, n, 0.0)
    second = rng.random(n) < share
    return np.column_stack([np.where(second, 2.0, 0.0), X]), np.where(second[:, None], 0, Y)


def test_default_keeps_its_promise_under_covariate_shift():
    """500 sets of 40 examples; objects of the second kind have no labels."""
    missed = []
    for rng in np.random.default_rng(6).spawn(500):
        X, Y = shifted(rng, 40, 0.02)
        x, y = shifted(rng, 1, 0.5)
        learner = LeavesOutFirst().fit(X, Y)
        model = InductiveConformalClassifier(
            learner, prefit=True, weight=density_ratio, random_state=0
        ).fit(X, Y)
        region = model.predict_labelsets(x).region(0.1)
        missed.append(not region.contains(y)[0])
    refuse(missed, promise_of(region))


def test_smoothed_p_values_are_uniform_with_a_fixed_seed_and_one_object_per_call():
    """800 sets of 9 examples, outputs in quarters, many ties; draws depend on the object."""
    p_values = []
    for rng in np.random.default_rng(7).spawn(800):
        Y = rng.integers(0, 2, size=(10, 3))
        outputs = np.round(answer_of_models(rng, Y, 1)[0] * 4) / 4
        outputs = np.column_stack([outputs[:, :2], answer_of_models(rng, Y[:, 2:], 1)[0]])
        predictor = calibrate_outputs(
            outputs[:-1],
            Y[:-1],
            measure=PowerMeasure(1),
            empty_labelset="allow",
            smoothed=True,
            random_state=0,
        )
        p_values.append(predictor.predict_labelsets(outputs[-1:]).p_value(Y[-1:])[0])
    for level in (0.05, 0.15, 0.3):
        refuse(np.array(p_values) <= level, level)
    assert kstest(p_values, "uniform").pvalue > FALSE_ALARM

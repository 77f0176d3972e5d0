"""What regions print about themselves, simulated: every rule, every default, one by one and in batches.

Data sets are drawn independently; one number per set, whether the region of its new object misses the truth, or the
share of its new objects that are missed. A rate is refused where a rule that keeps its promise shows it with
probability at most 1e-4: a one-sided binomial test, or a t-test for shares. Seeds are fixed, so a test that passes once
passes always; with new seeds each test gives at most one false alarm per level in 10 000 runs. The promise is read from
the sentence that ``region.statement`` prints.

Users pass random_state=0 and predict one object per call: so do these simulations.
"""

import re
import warnings

import numpy as np
import pytest
from scipy.stats import binomtest, kstest, ttest_1samp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import ExtraTreeClassifier

from labelsure import (
    CrossConformalClassifier,
    FullConformalClassifier,
    InductiveConformalClassifier,
    MLkNNClassifier,
    PowerMeasure,
    calibrate_labels,
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
        chance = binomtest(int(missed.sum()), len(missed), min(promise, 1.0), alternative="greater").pvalue
    else:
        chance = 1.0 if missed.mean() <= promise else ttest_1samp(missed, promise, alternative="greater").pvalue
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


def answer_of_models(rng, Y, n_models, *, noise=0.5, disagreement=0.5):
    """What unlike models say about labels: a share of the error is common to them, the rest each model's own."""
    common = rng.normal(size=Y.shape)
    own = rng.normal(size=(n_models, *Y.shape))
    errors = np.sqrt(1 - disagreement) * common + np.sqrt(disagreement) * own
    return 1 / (1 + np.exp(-((2 * Y - 1) + noise * 3 * errors)))


def draw_folds(rng, n, *, n_labels=2, n_new=1, disagreement=0.5):
    """Return outputs and labels of n examples in equal folds, and outputs (K, n_new, q) and labels of new objects."""
    Y = rng.integers(0, 2, size=(n + n_new, n_labels))
    of_models = answer_of_models(rng, Y, N_FOLDS, disagreement=disagreement)
    fold_of = rng.permutation(np.arange(n) % N_FOLDS)
    return of_models[fold_of, np.arange(n)], Y[:n], fold_of, of_models[:, n:], Y[n:]


def misses_of_rule(rule, n_sets, n, *, seed, n_new=1, together=True, disagreement=0.5):
    """Return shares of misses (n_sets, levels) and promises with random_state=0, one set of examples per row."""
    missed, promises = np.empty((n_sets, len(LEVELS))), None
    for number, rng in enumerate(np.random.default_rng([seed, n]).spawn(n_sets)):
        outputs, Y, fold_of, new, truth = draw_folds(rng, n, n_new=n_new, disagreement=disagreement)
        predictor = calibrate_outputs(
            outputs, Y, folds=fold_of, measure=PowerMeasure(1), guarantee=rule, empty="allow", random_state=0
        )
        batches = [slice(None)] if together else [slice(i, i + 1) for i in range(n_new)]
        wrong = []
        for batch in batches:
            pred = predictor.predict_labelsets(new[:, batch])
            regions = [pred.region(level) for level in LEVELS]
            wrong.append([~region.contains(truth[batch]) for region in regions])
            promises = promises or [promise_of(region) for region in regions]
        missed[number] = np.concatenate(wrong, axis=1).mean(axis=1)
    return missed, promises


def refuse_levels(missed, promises):
    for of_level, promise in zip(missed.T, promises, strict=True):
        refuse(of_level, promise)


@pytest.mark.parametrize("rule", RULES)
def test_rules_keep_their_promise_with_one_object_per_call(rule):
    """300 sets of 60 examples in 5 folds, one new object each: "exact" once used one U for all of them."""
    refuse_levels(*misses_of_rule(rule, 300, 60, seed=1))


@pytest.mark.validity
@pytest.mark.parametrize("disagreement", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("together", [True, False], ids=["batch", "one by one"])
@pytest.mark.parametrize("n", [20, 100])
@pytest.mark.parametrize("rule", RULES)
def test_rules_keep_their_promise_in_the_long_run(rule, n, together, disagreement):
    """1 000 sets, four new objects each, models that agree, partly agree, or have nothing in common."""
    refuse_levels(*misses_of_rule(rule, 1000, n, seed=2, n_new=4, together=together, disagreement=disagreement))


def rare_empties(rng, n, share, *, n_labels=2):
    """Return outputs and labels of which a share has none; outputs do not show it."""
    Y = rng.integers(0, 2, size=(n, n_labels))
    Y[~Y.any(axis=1), rng.integers(n_labels)] = 1
    outputs = answer_of_models(rng, Y, 1)[0]
    return outputs, np.where(rng.random(n)[:, None] < share, 0, Y)


@pytest.mark.parametrize(("n", "level"), [(10, 0.01), (19, 0.05)])
def test_default_keeps_its_promise_where_examples_without_labels_are_rare(n, level):
    """2 000 sets of 10 or 19 examples, and as many labelsets without labels as are easiest to miss."""
    missed = []
    for rng in np.random.default_rng([3, n]).spawn(2000):
        outputs, Y = rare_empties(rng, n + 1, 1 / (n + 1))
        region = calibrate_outputs(outputs[:n], Y[:n], random_state=0).predict_labelsets(outputs[n:]).region(level)
        missed.append(not region.contains(Y[n:])[0])
    refuse(missed, promise_of(region))


def test_default_keeps_its_promise_within_the_category_of_no_labels():
    """500 sets of 30 examples, and a new object without labels, which are two in a hundred."""
    missed = []
    for rng in np.random.default_rng(4).spawn(500):
        X, Y = rare_empties(rng, 30, 0.02)
        x = rare_empties(rng, 1, 1.0)[0]
        learner = AsTheyAre().fit(X, Y)
        model = InductiveConformalClassifier(learner, prefit=True, mondrian="cardinality", random_state=0).fit(X, Y)
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
        model = InductiveConformalClassifier(learner, prefit=True, mondrian=in_rare_group, random_state=0)
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
        model = InductiveConformalClassifier(learner, prefit=True, weight=density_ratio, random_state=0).fit(X, Y)
        region = model.predict_labelsets(x).region(0.1)
        missed.append(not region.contains(y)[0])
    refuse(missed, promise_of(region))


@pytest.mark.parametrize("random_state", [0, 1, 2, 3])
def test_smoothed_p_values_are_uniform_with_a_fixed_seed_and_one_object_per_call(random_state):
    """800 sets of 9 examples with outputs in quarters, full of ties; an object's draw depends on the object."""
    p_values = []
    for rng in np.random.default_rng([7, random_state]).spawn(800):
        Y = rng.integers(0, 2, size=(10, 3))
        outputs = np.round(answer_of_models(rng, Y, 1)[0] * 4) / 4
        outputs = np.column_stack([outputs[:, :2], answer_of_models(rng, Y[:, 2:], 1)[0]])
        predictor = calibrate_outputs(
            outputs[:-1], Y[:-1], measure=PowerMeasure(1), empty="allow", smoothed=True, random_state=random_state
        )
        p_values.append(predictor.predict_labelsets(outputs[-1:]).p_value(Y[-1:])[0])
    for level in (0.05, 0.15, 0.3):
        refuse(np.array(p_values) <= level, level)
    assert kstest(p_values, "uniform").pvalue > FALSE_ALARM


class ForgetsFirst(ClassifierMixin, BaseEstimator):
    """A learner that depends on the order: it knows all examples by heart but the first one."""

    def fit(self, X, Y):
        self.known_ = {tuple(x): y for x, y in zip(np.asarray(X)[1:], np.asarray(Y)[1:], strict=True)}
        self.n_labels_ = np.asarray(Y).shape[1]
        self.classes_ = [np.array([0, 1])] * self.n_labels_
        return self

    def predict_proba(self, X):
        return np.array([self.known_.get(tuple(x), np.full(self.n_labels_, 0.5)) for x in np.asarray(X)], dtype=float)


def test_full_predictor_keeps_its_promise_with_a_learner_that_depends_on_the_order():
    """300 sets of 19 examples and random_state=0: once every single object was the one that is forgotten."""
    missed = []
    for rng in np.random.default_rng(8).spawn(300):
        X, Y = rng.random((20, 1)), rng.integers(0, 2, size=(20, 1))
        model = FullConformalClassifier(ForgetsFirst(), measure=PowerMeasure(1), empty="allow", random_state=0)
        region = model.fit(X[:-1], Y[:-1]).predict_labelsets(X[-1:]).region(0.05)
        missed.append(not region.contains(Y[-1:])[0])
    refuse(missed, promise_of(region))


@pytest.mark.parametrize("smoothed", [False, True], ids=["plain", "smoothed"])
@pytest.mark.parametrize("at_most_wrong", [0, 1, 2])
def test_label_wise_regions_keep_their_promise(at_most_wrong, smoothed):
    """1 000 sets of 39 examples with 5 labels, some of them copies of each other."""
    missed = {level: [] for level in (0.1, 0.2)}
    for rng in np.random.default_rng([9, at_most_wrong]).spawn(1000):
        Y = rng.integers(0, 2, size=(40, 3))
        outputs = answer_of_models(rng, Y, 1)[0]
        Y, outputs = Y[:, [0, 1, 2, 0, 0]], outputs[:, [0, 1, 2, 0, 0]]
        predictor = calibrate_labels(outputs[:-1], Y[:-1], smoothed=smoothed, random_state=0)
        pred = predictor.predict_labels(outputs[-1:])
        for level, own in missed.items():
            own.append(pred.region(level, at_most_wrong=at_most_wrong).n_wrong(Y[-1:])[0] > at_most_wrong)
    for level, own in missed.items():
        refuse(own, level)


@pytest.mark.validity
@pytest.mark.parametrize("value", [0, 1])
def test_label_conditional_p_values_keep_their_promise_given_the_label(value):
    """3 000 sets of 29 examples of a rare label, given that the new object has it, and that it has not."""
    missed = {level: [] for level in (0.1, 0.25)}
    for rng in np.random.default_rng([10, value]).spawn(3000):
        Y = (rng.random((30, 2)) < 0.2).astype(int)
        Y[-1] = value
        outputs = answer_of_models(rng, Y, 1)[0]
        pred = calibrate_labels(outputs[:-1], Y[:-1], conditional=True).predict_labels(outputs[-1:])
        p_values = pred.p_values() if callable(pred.p_values) else pred.p_values
        for level, own in missed.items():
            own.append(p_values[0, 0, value] <= level)
    for level, own in missed.items():
        refuse(own, level)


def simulate(rng, n):
    """Three noisy labels of four features; one example in twenty has none."""
    X = rng.normal(size=(n, 4))
    Y = (X[:, :3] + 0.7 * rng.normal(size=(n, 3)) > 0.3).astype(int)
    Y[~Y.any(axis=1), 0] = 1
    return X, np.where(rng.random(n)[:, None] < 0.05, 0, Y)


@pytest.mark.validity
@pytest.mark.parametrize("together", [True, False], ids=["batch", "one by one"])
@pytest.mark.parametrize("learner", [ExtraTreeClassifier(), MLkNNClassifier(3)], ids=["tree", "neighbours"])
@pytest.mark.parametrize("rule", RULES)
def test_rules_keep_their_promise_around_real_learners_with_all_defaults(rule, learner, together):
    """200 sets of 60 examples in 5 folds, four new objects each, random_state=0, default measure and empty labelset."""
    missed = np.empty((200, len(LEVELS)))
    for number, rng in enumerate(np.random.default_rng(11).spawn(200)):
        X, Y = simulate(rng, 64)
        model = CrossConformalClassifier(learner, cv=N_FOLDS, guarantee=rule, random_state=0).fit(X[:60], Y[:60])
        batches = [slice(60, 64)] if together else [slice(i, i + 1) for i in range(60, 64)]
        regions = [[model.predict_labelsets(X[batch]).region(level) for level in LEVELS] for batch in batches]
        missed[number] = np.mean(
            [
                [np.mean(~region.contains(Y[batch])) for region in own]
                for own, batch in zip(regions, batches, strict=True)
            ],
            axis=0,
        )
    refuse_levels(missed, [promise_of(region) for region in regions[0]])


@pytest.mark.validity
@pytest.mark.parametrize("measure", [None, "auto"], ids=["default", "auto"])
def test_inductive_default_keeps_its_promise_around_a_deep_tree(measure):
    """150 sets of 60 examples, five new objects each, random_state=0: what is learned for the measure is no leak."""
    missed = np.empty((150, len(LEVELS)))
    for number, rng in enumerate(np.random.default_rng(12).spawn(150)):
        X, Y = simulate(rng, 65)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = InductiveConformalClassifier(ExtraTreeClassifier(), measure=measure, random_state=0)
            pred = model.fit(X[:60], Y[:60]).predict_labelsets(X[60:])
        missed[number] = [np.mean(~pred.region(level).contains(Y[60:])) for level in LEVELS]
    refuse_levels(missed, [promise_of(pred.region(level)) for level in LEVELS])

"""Label probabilities are sums over candidates, depend on the object, and serve the metrics."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import expit, logit
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.multiclass import OneVsRestClassifier

from brute_force import labelsets_of
from labelsure import (
    CrossConformalClassifier,
    InductiveConformalClassifier,
    calibrate_outputs,
    load_model,
    save_model,
)
from labelsure.conformal import _probabilities
from labelsure.conformal._probabilities import learn_thresholds
from labelsure.engine import Allowed, AtLeast, AtMost
from labelsure.measures import ForestMeasure, LogLossMeasure, PosteriorMeasure, PowerMeasure

pytestmark = pytest.mark.filterwarnings("ignore:.*examples have no label")
GIVEN = PosteriorMeasure(prior_exponent=0.7, marginals_share=0.6, temperature=1.3, intercepts=0.1)
RULES = {
    "none": lambda _: None,
    "few labels": lambda q: AtMost(max(q - 2, 1), list(range(q))),
    "some label": lambda q: AtLeast(1, list(range(q))),
    "listed": lambda q: Allowed(np.eye(q, dtype=int)),
}
LEARNER = OneVsRestClassifier(LogisticRegression())


@pytest.fixture(scope="module")
def data():
    X, Y = make_multilabel_classification(
        260, n_features=6, n_classes=5, n_labels=2, random_state=0
    )
    return X / 10, Y


def drawn(seed, q, rule="none", n=30):
    """Return outputs and labels that obey a rule."""
    rng = np.random.default_rng(seed)
    outputs = rng.random((n, q)) ** 2
    Y = (rng.random((n, q)) < outputs).astype(int)
    obeying = np.ones(n, dtype=bool)
    if rule == "listed":
        Y = np.eye(q, dtype=int)[rng.integers(q, size=n)]
    elif rule != "none":
        Y[:, 0] = 1
        obeying = Y.sum(axis=1) <= max(q - 2, 1) if rule == "few labels" else obeying
    return rng.random((7, q)), outputs[obeying], Y[obeying]


def calibrated(outputs, Y, **settings):
    return calibrate_outputs(
        outputs, Y, **({"training_labels": Y, "measure": GIVEN, "random_state": 0} | settings)
    )


def brute_force(outputs, Y, candidates):
    """Return the marginals of the posterior with the parameters of GIVEN, by its definition."""
    n, frequency = len(Y), (Y.sum(axis=0) + 0.5) / (len(Y) + 1)
    values = (
        (np.log(n * outputs + 0.5) - np.log(n * (1 - outputs) + 0.5)) / 1.3
        + 0.1
        - 0.6 * logit(frequency)
    )
    weights = 2.0 ** np.arange(Y.shape[1])
    codes, counts = np.unique(Y @ weights, return_counts=True)
    counted = dict(zip(codes.tolist(), counts.tolist(), strict=True))
    base = np.exp(candidates @ np.log(frequency) + (1 - candidates) @ np.log1p(-frequency))
    prior = (
        np.array([counted.get(code, 0) for code in (candidates @ weights).tolist()]) + base
    ) / (n + 1)
    p = np.exp(values @ candidates.T + 0.7 * np.log(prior))
    return p @ candidates / p.sum(axis=1, keepdims=True)


@settings(max_examples=20)
@given(
    st.integers(0, 10**6),
    st.integers(3, 16),
    st.sampled_from(list(RULES)),
    st.sampled_from(["allow", "exclude"]),
)
def test_probabilities_are_sums_over_all_candidates(seed, q, rule, empty):
    new, outputs, Y = drawn(seed, q, rule)
    Y[0] = np.arange(q) == 0  # not all empty
    candidates = labelsets_of(np.arange(empty == "exclude", 2**q), q)
    constraint = RULES[rule](q)
    if rule == "few labels":
        candidates = candidates[candidates.sum(axis=1) <= max(q - 2, 1)]
    elif rule == "some label":
        candidates = candidates[candidates.any(axis=1)]
    elif rule == "listed":
        candidates = np.eye(q, dtype=int)
    predictor = calibrated(outputs, Y, constraints=constraint, empty_labelset=empty)
    np.testing.assert_allclose(
        predictor.predict_proba(new), brute_force(new, Y, candidates), atol=1e-10
    )


@settings(max_examples=20)
@given(
    st.integers(0, 10**6),
    st.integers(1, 6),
    st.integers(1, 40),
    st.sampled_from(["none", "few labels", "drawn"]),
    st.booleans(),
)
def test_probabilities_of_one_object_are_those_in_a_batch_of_any_size(
    seed, q, n, rule, has_posterior
):
    _, outputs, Y = drawn(seed, q + 2, "none" if rule == "none" else "few labels")
    new = np.asfortranarray(np.random.default_rng(seed).random((n, q + 2)))
    constraint = None if rule == "none" else RULES["few labels"](q + 2)
    measure = GIVEN if has_posterior else PowerMeasure()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_probabilities, "MOST_LISTED", 2 if rule == "drawn" else 2**16)
        predictor = calibrated(outputs, Y, constraints=constraint, measure=measure)
        together = predictor.predict_proba(new)
        alone = np.vstack([predictor.predict_proba(new[[i]]) for i in range(n)])
    np.testing.assert_array_equal(together, alone)


@settings(max_examples=20)
@given(
    st.integers(0, 10**6), st.integers(1, 8), st.sampled_from(["allow", "exclude"]), st.booleans()
)
def test_probabilities_of_sparse_outputs_are_those_of_dense_ones(seed, q, empty, has_posterior):
    new, outputs, Y = drawn(seed, q)
    Y[0, 0] = 1
    tables = [np.where(table > 0.4, table, 0.1) for table in (outputs, new)]
    stored = [sparse.csr_array(np.where(table > 0.4, table, 0.0)) for table in (outputs, new)]
    settings = {
        "default_output": 0.1,
        "measure": GIVEN if has_posterior else PowerMeasure(),
        "empty_labelset": empty,
    }
    found = [
        calibrated(known, Y, **settings).predict_proba(asked) for known, asked in (tables, stored)
    ]
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("measure", [GIVEN, PowerMeasure()], ids=["posterior", "recalibrated"])
def test_drawn_probabilities_are_near_the_sum(measure, monkeypatch):
    """Six standard errors of 0.016: false alarms in one of 10^8 numbers."""
    new, outputs, Y = drawn(1, 8, "few labels", n=60)
    predictor = calibrated(
        outputs[Y.sum(axis=1) <= 3],
        Y[Y.sum(axis=1) <= 3],
        constraints=AtMost(3, list(range(8))),
        measure=measure,
    )
    exact = predictor.predict_proba(new * 0.5)
    monkeypatch.setattr(_probabilities, "MOST_LISTED", 2)
    estimated = predictor.predict_proba(new * 0.5)
    assert not np.array_equal(exact, estimated)
    np.testing.assert_allclose(estimated, exact, atol=0.1)


def test_probabilities_of_a_forest_measure_are_sums_of_what_its_scores_say(data):
    X, Y = data
    measure = ForestMeasure(GIVEN, n_estimators=10, mix=0.5, random_state=0)
    model = InductiveConformalClassifier(LEARNER, measure=measure, random_state=0).fit(
        X[:200], Y[:200]
    )
    every = labelsets_of(np.arange(32), 5)
    scores = np.array([model.nonconformity(X[200:], np.tile(one, (60, 1))) for one in every])
    p = np.exp(-scores)
    np.testing.assert_allclose(p.sum(axis=0), 1, atol=1e-6)
    np.testing.assert_allclose(model.predict_proba(X[200:]), p.T @ every, atol=1e-6)


@pytest.mark.parametrize("measure", [PowerMeasure(), LogLossMeasure()], ids=repr)
def test_outputs_are_recalibrated_where_scores_are_no_probabilities(measure):
    rng = np.random.default_rng(0)
    p = rng.random((4000, 3))
    Y = (rng.random(p.shape) < p).astype(int)
    too_sure = expit(3 * logit(p) + 1)
    predictor = calibrate_outputs(too_sure[:2000], Y[:2000], measure=measure)
    found = predictor.predict_proba(too_sure[2000:])
    assert np.abs(found - p[2000:]).max() < 0.1 < np.abs(too_sure - p).max()


@given(st.lists(st.integers(0, 20), min_size=1, max_size=12))
def test_thresholds_have_the_largest_expected_f(twentieths):
    p = np.array(twentieths) / 20
    (threshold,) = learn_thresholds(p[:, None])

    def expected(said):
        return 2 * p[said].sum() / (said.sum() + p.sum()) if said.any() else 0.0

    best = max(expected(p >= t) for t in p)
    assert expected(p > threshold) == pytest.approx(best)


def test_answers_are_for_the_metric_named_and_nothing_is_fitted_again(data, tmp_path):
    X, Y = data
    model = CrossConformalClassifier(LEARNER, cv=5, random_state=0).fit(X[:200], Y[:200])
    models, p = model.models_, model.predict_proba(X[200:])
    labelsets = model.predict_labelsets(X[200:]).labelsets
    expected = {
        "exact match": labelsets,
        "hamming": p > 0.5,
        "f1": p > model.calibrator_.thresholds,
    }
    path = tmp_path / "model.zip"
    save_model(model, path)
    for again in (model, pickle.loads(pickle.dumps(model)), load_model(path)):
        for metric, answers in expected.items():
            np.testing.assert_array_equal(
                again.set_params(predict_for=metric).predict(X[200:]), answers
            )
        np.testing.assert_array_equal(again.predict_proba(X[200:]), p)
    assert model.models_ is models
    f1 = [f1_score(Y[200:], expected[metric], average="macro") for metric in ("f1", "exact match")]
    assert f1[0] > f1[1] + 0.02


@pytest.mark.parametrize("predict_for", ["hamming", "f1"])
def test_answers_that_are_no_candidate_become_the_most_plausible_labelset(data, predict_for):
    X, Y = data
    obey = Y.sum(axis=1) <= 2
    X, Y = X[obey], Y[obey]
    rules = {
        "constraints": AtMost(2, list(range(5))),
        "empty_labelset": "exclude",
        "predict_for": predict_for,
    }
    model = CrossConformalClassifier(LEARNER, cv=3, random_state=0, **rules).fit(X[:80], Y[:80])
    answers, p = model.predict(X), model.predict_proba(X)
    own = p > (0.5 if predict_for == "hamming" else model.calibrator_.thresholds)
    allowed = (own.sum(axis=1) <= 2) & own.any(axis=1)
    assert not allowed.all()
    np.testing.assert_array_equal(answers[allowed], own[allowed])
    np.testing.assert_array_equal(answers[~allowed], model.predict_labelsets(X[~allowed]).labelsets)

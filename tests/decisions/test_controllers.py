"""Recall, precision and cover under control around classifiers: as scikit-learn users see them."""

import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from expected_failed_checks import assert_fails_only_where_declared, expected_failed_checks
from labelsure import (
    CoverController,
    MLkNNClassifier,
    PrecisionController,
    RecallController,
    control_cover,
    control_precision,
    control_recall,
)
from labelsure._random import DRAW_UNIT
from labelsure.decisions._controllers import merge_votes
from labelsure.learners import outputs_of

X, Y = make_multilabel_classification(
    n_samples=400, n_features=6, n_classes=4, length=80, random_state=0
)
KINDS = [RecallController, PrecisionController, CoverController]
WITH_FOLDS = [RecallController, CoverController]
KNN = MLkNNClassifier()


class Untouched(ClassifierMixin, BaseEstimator):
    """A classifier that must never be fitted."""

    def fit(self, *examples):
        raise AssertionError(f"something was fitted on {examples}")

    def predict_proba(self, objects):
        raise AssertionError(f"something was asked about {objects}")


@pytest.mark.filterwarnings("ignore:.* calibration examples")
@pytest.mark.parametrize("kind", KINDS)
def test_controllers_pass_the_checks_of_scikit_learn_but_for_those_declared(kind):
    estimator = kind(OneVsRestClassifier(LogisticRegression()), target=0.5)
    expected = expected_failed_checks(estimator)
    results = check_estimator(estimator, expected_failed_checks=expected, on_fail=None)
    assert_fails_only_where_declared(results, expected)


@pytest.mark.parametrize("kind", WITH_FOLDS)
@pytest.mark.parametrize("merge", ["random", "any"])
def test_votes_of_the_folds_decide(kind, merge):
    model = kind(KNN, target=0.7, cv=5, merge=merge, random_state=0).fit(X[:300], Y[:300])
    assert sorted(np.concatenate(model.fold_indices_)) == list(range(300))
    of_folds = [
        p.predict(outputs_of(m, X[300:], 4))
        for p, m in zip(model.predictors_, model.models_, strict=True)
    ]
    votes = np.sum(of_folds, axis=0)
    predicted = model.predict(X[300:])
    if merge == "random":
        assert ((predicted == 1) | (votes < 5)).all()
        assert ((predicted == 0) | (votes > 0)).all()
    else:
        assert predicted.tolist() == (votes >= 1).astype(int).tolist()
    assert "5 folds:" in model.statement_
    assert "at least 0.7" in model.statement_
    assert "folds that were not chosen by their labels" in model.statement_
    assert ("on average over the draws" in model.statement_) == (merge == "random")


def test_draws_belong_to_objects():
    model = RecallController(KNN, target=0.7, cv=5, random_state=0).fit(X[:300], Y[:300])
    together = model.predict(X[300:])
    one_by_one = np.concatenate([model.predict(X[[i]]) for i in range(399, 299, -1)])[::-1]
    assert together.tolist() == one_by_one.tolist()
    assert (
        together != clone(model).set_params(merge="any").fit(X[:300], Y[:300]).predict(X[300:])
    ).any()


@pytest.mark.parametrize("kind", KINDS)
def test_same_seed_same_answers_after_cloning_and_pickling(kind):
    model = kind(KNN, target=0.7, random_state=3).fit(X[:300], Y[:300])
    answers = model.predict(X[300:]).tolist()
    assert clone(model).fit(X[:300], Y[:300]).predict(X[300:]).tolist() == answers
    assert pickle.loads(pickle.dumps(model)).predict(X[300:]).tolist() == answers


def test_controllers_keep_names_and_work_inside_a_pipeline_and_a_grid_search():
    names = ["sea", "city", "wood", "sky"]
    frame, labels = pd.DataFrame(X, columns=list("abcdef")), pd.DataFrame(Y, columns=names)
    model = RecallController(KNN, target=0.7, random_state=0).fit(frame, labels)
    assert model.label_names_ == tuple(names)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"a": "z"}))
    pipeline = make_pipeline(StandardScaler(), RecallController(KNN, random_state=0))
    search = GridSearchCV(
        pipeline, {"recallcontroller__target": [0.5, 0.9]}, scoring="recall_micro", cv=2
    )
    assert search.fit(X, Y).best_params_ == {"recallcontroller__target": 0.9}


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (RecallController, {"target": 1.0}, "target must be a number strictly between 0 and 1"),
        (RecallController, {"method": "other"}, "method must be one of 'crc', 'rcps', got"),
        (RecallController, {"delta": 0.1}, "delta requires method='rcps'"),
        (RecallController, {"method": "rcps", "cv": 5}, "method='rcps' cannot be used with cv"),
        (RecallController, {"cv": 5, "merge": "mean"}, "merge must be one of"),
        (RecallController, {"cv": 1}, "cv must be a whole number of at least 2"),
        (RecallController, {"cv": 5, "prefit": True}, "cv cannot be used with prefit=True"),
        (RecallController, {"calibration_size": 1.5}, "calibration_size must be a share below 1"),
        (RecallController, {"estimator": LinearRegression()}, "estimator must be a classifier"),
        (RecallController, {"estimator": MLkNNClassifier}, "got the class MLkNNClassifier"),
        (PrecisionController, {"thresholds": "many"}, "thresholds must be a whole number or"),
        (PrecisionController, {"correction": "none"}, "correction must be one of"),
        (CoverController, {"form": "number"}, "form must be one of 'count', 'chance'"),
    ],
)
def test_bad_parameters_are_named_before_anything_is_fitted(kind, options, message):
    with pytest.raises(ValueError, match=message):
        kind(**{"estimator": Untouched(), **options}).fit(X, Y)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (Y + 1, "y must hold only 0 and 1, got 2"),
        (np.full(Y.shape, np.nan), "y must have at least one known label in every row"),
    ],
)
def test_bad_labels_are_named_before_anything_is_fitted(labels, message):
    with pytest.raises(ValueError, match=message):
        RecallController(Untouched()).fit(X, labels)


def test_too_few_examples_are_said_and_promise_nothing_wrong():
    with pytest.warns(UserWarning, match="5 calibration examples are too few to certify"):
        model = RecallController(KNN, calibration_size=5, random_state=0).fit(X, Y)
    assert not model.reached_
    assert model.predict(X).all()
    with pytest.warns(UserWarning, match="no label will be predicted"):
        silent = PrecisionController(KNN, target=0.99, calibration_size=5, random_state=0).fit(X, Y)
    assert not silent.predict(X).any()


def test_unknown_labels_calibrate_and_do_not_train():
    """The classifier inside sees only examples that are known completely."""
    hidden = Y.astype(float)
    hidden[np.random.default_rng(0).random(Y.shape) < 0.1] = np.nan
    hidden[np.isnan(hidden).all(axis=1), 0] = 0.0
    for kind in (RecallController, PrecisionController):
        model = kind(KNN, target=0.6, calibration_size=150, random_state=0).fit(X, hidden)
        (rows,) = model.fold_indices_
        others = np.setdiff1d(np.arange(400), rows)
        complete = others[~np.isnan(hidden[others]).any(axis=1)]
        fitted = clone(KNN).fit(X[complete], Y[complete])
        control = control_recall if kind is RecallController else control_precision
        assert model.predictors_ == [
            control(fitted.predict_proba(X[rows]), hidden[rows], target=0.6)
        ]
        assert "examples have unknown labels" in model.statement_
    folds = RecallController(KNN, target=0.6, cv=4, random_state=0).fit(X, hidden)
    assert "of the 400 examples have unknown labels" in folds.statement_


def test_unknown_labels_are_refused_where_they_cannot_be_used():
    hidden = Y.astype(float)
    hidden[:, 0] = np.nan
    with pytest.raises(ValueError, match="in every training example of a fold, and the estimator"):
        RecallController(KNN).fit(X, hidden)
    with pytest.raises(ValueError, match=r"Label 0 is unknown \(NaN\) for all examples that a"):
        RecallController(Untouched()).fit(X, hidden)
    with pytest.raises(ValueError, match="whether all true labels are covered is unknown"):
        CoverController(Untouched()).fit(X, hidden)


def test_classifiers_of_one_label_train_on_all_that_is_known():
    hidden = Y.astype(float)
    hidden[np.random.default_rng(0).random(Y.shape) < 0.4] = np.nan
    hidden[np.isnan(hidden).all(axis=1), 0] = 0.0
    model = RecallController(
        OneVsRestClassifier(LogisticRegression()), target=0.6, random_state=0
    ).fit(X, hidden)
    (rows,) = model.fold_indices_
    train = np.setdiff1d(np.arange(400), rows)
    for j in range(4):
        known = train[~np.isnan(hidden[train, j])]
        alone = LogisticRegression().fit(X[known], hidden[known, j])
        np.testing.assert_allclose(
            outputs_of(model.models_[0], X, 4)[:, j], alone.predict_proba(X)[:, 1], atol=1e-4
        )


BETTING_FREE = {"method": "rcps", "delta": 0.2, "bound": "hoeffding-bentkus"}


@pytest.mark.parametrize(
    ("kind", "control", "options"),
    [
        (RecallController, control_recall, {}),
        (RecallController, control_recall, BETTING_FREE),
        (PrecisionController, control_precision, {"thresholds": 21, "delta": 0.2}),
        (CoverController, control_cover, {"form": "chance"}),
    ],
)
def test_controller_is_the_array_function_of_a_model_that_has_not_seen_the_examples(
    kind, control, options
):
    options = {"target": 0.7, **options}
    model = kind(KNN, calibration_size=100, random_state=0, **options).fit(X[:300], Y[:300])
    (rows,) = model.fold_indices_
    others = np.setdiff1d(np.arange(300), rows)
    fitted = clone(KNN).fit(X[others], Y[others])
    expected = control(fitted.predict_proba(X[rows]), Y[rows], **options)
    assert len(rows) == 100
    assert (np.diff(rows) < 0).any()  # bets must not meet examples as they were sorted
    assert model.predictors_ == [expected] and model.statement_ == expected.statement
    again = kind(fitted, prefit=True, **options).fit(X[rows], Y[rows])
    assert again.predictors_ == [expected]
    new = expected.predict(fitted.predict_proba(X[300:]))
    assert model.predict(X[300:]).tolist() == again.predict(X[300:]).tolist() == new.tolist()


@given(arrays(np.int64, (5, 1, 3), elements=st.integers(0, 1)))
def test_random_votes_keep_a_label_exactly_as_often_as_folds_predict_it(folds):
    """The first draw that drops a label, found among all 2^31 by where the votes say it is."""
    for label, votes in enumerate(folds.sum(axis=0)[0].tolist()):
        kept = -(-votes * DRAW_UNIT // 5)  # draws 1 .. kept keep it, a share of at least votes / 5
        assert Fraction(kept, DRAW_UNIT) >= Fraction(votes, 5)
        for draw in {1, kept, kept + 1, DRAW_UNIT} - {0, DRAW_UNIT + 1}:
            assert merge_votes(folds, np.array([draw]))[0, label] == (draw <= kept)

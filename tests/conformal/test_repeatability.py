"""The same results with any number of jobs, an int random_state, any process and thread."""

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from labelsure import (
    CrossConformalClassifier,
    FullConformalClassifier,
    InductiveConformalClassifier,
    MLkNNClassifier,
    MLRBFClassifier,
)

KINDS = [CrossConformalClassifier, InductiveConformalClassifier, FullConformalClassifier]
FOREST = RandomForestClassifier(4)


@pytest.fixture
def data():
    return make_multilabel_classification(60, n_features=6, n_classes=3, random_state=0)


@pytest.fixture
def frames(data):
    X, Y = data
    return pd.DataFrame(X, columns=list("abcdef")), pd.DataFrame(
        Y, columns=["beach", "sunset", "urban"]
    )


def small(kind, estimator=None, **parameters):
    """A conformal classifier of this kind that is quick to fit."""
    own = {CrossConformalClassifier: {"cv": 3}}.get(kind, {})
    estimator = MLkNNClassifier(3) if estimator is None else estimator
    return kind(estimator, **({"random_state": 0} | own | parameters))


def assert_same_model(model, expected, X):
    for fitted, other in zip(model.calibrator_.folds, expected.calibrator_.folds, strict=True):
        np.testing.assert_array_equal(fitted.scores, other.scores)
    for indices, other in zip(model.fold_indices_, expected.fold_indices_, strict=True):
        np.testing.assert_array_equal(indices, other)
    np.testing.assert_array_equal(
        model.predict_labelsets(X).p_values(), expected.predict_labelsets(X).p_values()
    )
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))


@pytest.mark.parametrize("smoothed", [False, True])
def test_cross_conformal_results_do_not_depend_on_n_jobs(smoothed):
    """Large enough for joblib to memory-map (1 MB) and for BLAS and k-means to use threads."""
    X, Y = make_multilabel_classification(700, n_features=250, n_classes=4, random_state=0)
    X = X + np.random.default_rng(0).normal(size=X.shape)
    base = make_pipeline(StandardScaler(), MLRBFClassifier(centre_fraction=0.2))
    models = [
        CrossConformalClassifier(base, cv=4, smoothed=smoothed, random_state=5, n_jobs=n_jobs).fit(
            X[:600], Y[:600]
        )
        for n_jobs in (1, 2, -1)
    ]
    assert_same_model(models[1], models[0], X[600:])
    assert_same_model(models[2], models[0], X[600:])
    with joblib.parallel_config(backend="threading"):
        in_threads = clone(models[1]).fit(X[:600], Y[:600])
    assert_same_model(in_threads, models[0], X[600:])


@pytest.mark.parametrize("kind", KINDS)
def test_settings_of_sklearn_reach_workers_and_threads(kind, frames):
    """With pandas output a later step may select columns by name: in every process, or in none."""
    X, Y = frames
    by_name = make_column_transformer(("passthrough", ["a", "b"]))
    base = make_pipeline(StandardScaler(), by_name, MLkNNClassifier(3))
    with sklearn.config_context(transform_output="pandas"):
        tables = [
            small(kind, base, n_jobs=n_jobs)
            .fit(X[:20], Y[:20])
            .predict_labelsets(X[58:])
            .p_values()
            for n_jobs in (1, 2)
        ]
    np.testing.assert_array_equal(tables[0], tables[1])


@pytest.mark.parametrize("kind", KINDS)
def test_an_int_repeats_everything(kind, data):
    X, Y = data

    def p_values(random_state, estimator=FOREST):
        model = small(kind, estimator, smoothed=True, random_state=random_state)
        return model.fit(X[:20], Y[:20]).predict_labelsets(X[56:]).p_values()

    np.testing.assert_array_equal(p_values(3), p_values(3))
    assert np.any(p_values(3) != p_values(4))
    assert np.any(p_values(None) != p_values(None))
    np.testing.assert_array_equal(
        p_values(np.random.RandomState(3)), p_values(np.random.RandomState(3))
    )
    grid = {"randomforestclassifier__n_estimators": [2, 3]}
    nested = GridSearchCV(make_pipeline(RandomForestClassifier()), grid, cv=2)
    np.testing.assert_array_equal(p_values(3, nested), p_values(3, nested))


def test_the_users_own_seed_stays(data):
    X, Y = data
    cross = CrossConformalClassifier(
        RandomForestClassifier(2, random_state=11), cv=3, random_state=0
    ).fit(X, Y)
    assert [model.estimator.random_state for model in cross.models_] == [11, 11, 11]
    cross = CrossConformalClassifier(RandomForestClassifier(2), cv=3, random_state=0).fit(X, Y)
    assert len({model.estimator.random_state for model in cross.models_}) == 3  # each fold its own
    inductive = InductiveConformalClassifier(
        RandomForestClassifier(2, random_state=11), random_state=0
    ).fit(X, Y)
    assert inductive.models_[0].estimator.random_state == 11
    full = FullConformalClassifier(RandomForestClassifier(2, random_state=11), random_state=0).fit(
        X, Y
    )
    assert full.base_.random_state == 11

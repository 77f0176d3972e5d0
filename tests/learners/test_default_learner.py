"""The learner for ``estimator=None``: missing features, sparse rows, unknown labels, weights."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from expected_failed_checks import assert_fails_only_where_declared, expected_failed_checks
from labelsure import CrossConformalClassifier, InductiveConformalClassifier, load_model, save_model
from labelsure.learners._tables import default_learner

X, Y = make_multilabel_classification(140, n_features=6, n_classes=3, random_state=0)
NEW = X[120:]


def fitted(X, Y, kind=InductiveConformalClassifier, **params):
    return kind(random_state=0).fit(X[:120], Y[:120], **params)


@pytest.mark.filterwarnings("ignore")
def test_check_estimator_fails_where_it_does_for_other_learners():
    # one check wants the labels that are more likely than not
    model = CrossConformalClassifier(cv=2, predict_for="hamming", random_state=0)
    expected = expected_failed_checks(model)
    assert_fails_only_where_declared(
        check_estimator(model, expected_failed_checks=expected, on_fail=None), expected
    )


def test_dense_features_are_scaled_around_their_means():
    usual = make_pipeline(StandardScaler(), MultiOutputClassifier(LogisticRegression()))
    expected = [each[:, 1] for each in usual.fit(X, Y).predict_proba(X)]
    outputs = [each[:, 1] for each in default_learner().fit(X, Y).predict_proba(X)]
    np.testing.assert_allclose(outputs, expected, atol=1e-12)


@pytest.mark.filterwarnings("error")
def test_units_and_offsets_do_not_matter():
    shifted = X * 10.0 ** np.arange(-3, 3) + 1000
    outputs, others = (fitted(rows, Y).predict_proba(rows[120:]) for rows in (X, shifted))
    np.testing.assert_allclose(outputs, others, atol=0.01)


@pytest.mark.filterwarnings("error")
def test_sparse_rows_stay_sparse_and_say_nearly_the_same():
    model = fitted(sparse.csr_array(X), Y)
    learner = model.models_[0].estimator
    assert sparse.issparse(learner[:-1].transform(sparse.csr_array(NEW)))
    outputs = model.predict_proba(sparse.csr_array(NEW))
    np.testing.assert_allclose(model.predict_proba(NEW), outputs, rtol=1e-9)
    np.testing.assert_allclose(fitted(X, Y).predict_proba(NEW), outputs, atol=0.05)
    dense = fitted(X, Y)
    np.testing.assert_allclose(
        dense.predict_proba(sparse.csr_array(NEW)), dense.predict_proba(NEW), rtol=1e-9
    )


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_missing_features_are_filled(form):
    gaps = X.copy()
    gaps[::7, 2] = np.nan
    gaps[:, 4] = np.nan
    outputs = fitted(form(gaps), Y).predict_proba(form(gaps)[120:])
    assert np.isfinite(outputs).all()


def test_unknown_labels_train_where_they_are_known(tmp_path):
    unknown = Y.astype(float)
    unknown[::5, 1] = np.nan
    model = fitted(X, unknown)
    assert len(model.models_[0].estimator.models) == 3
    save_model(model, tmp_path / "model.labelsure")
    loaded = load_model(tmp_path / "model.labelsure")
    np.testing.assert_array_equal(loaded.predict_proba(NEW), model.predict_proba(NEW))


def test_weights_reach_the_learner():
    weights = np.arange(120) % 3
    weighted = fitted(X, Y, sample_weight=weights).predict_proba(NEW)
    assert not np.allclose(weighted, fitted(X, Y).predict_proba(NEW))

"""What scikit-learn and the house ask of every classifier of this room."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import check_estimator
from threadpoolctl import threadpool_limits

from expected_failed_checks import assert_fails_only_where_declared, expected_failed_checks
from labelsure.paper import BPMLLClassifier, MLkNNClassifier, MLNBClassifier, MLRBFClassifier

ESTIMATORS = {
    "MLRBF": MLRBFClassifier(centre_fraction=0.1, random_state=0),
    "MLkNN": MLkNNClassifier(5),
    "BPMLL": BPMLLClassifier(n_epochs=5, random_state=0),
    "MLNB": MLNBClassifier(n_generations=5, random_state=0),
}


@pytest.fixture
def data():
    X, Y = make_multilabel_classification(80, n_features=12, n_classes=4, random_state=0)
    return X, Y


def scores_of(model, X):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.decision_function(X)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_check_estimator_fails_only_where_declared(name):
    expected = expected_failed_checks(ESTIMATORS[name])
    results = check_estimator(ESTIMATORS[name], expected_failed_checks=expected, on_fail=None)
    assert_fails_only_where_declared(results, expected)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimator_clones_pickles_and_repeats_itself(name, data):
    X, Y = data
    model = clone(ESTIMATORS[name]).fit(X, Y)
    expected = scores_of(model, X)
    assert expected.shape == Y.shape
    np.testing.assert_array_equal(scores_of(clone(ESTIMATORS[name]).fit(X, Y), X), expected)
    np.testing.assert_array_equal(scores_of(pickle.loads(pickle.dumps(model)), X), expected)
    assert clone(model).get_params() == ESTIMATORS[name].get_params()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimator_works_in_pipeline_search_and_scorers(name, data):
    X, Y = data
    parameter = {
        "MLRBF": {"scaling": [0.5, 2.0]},
        "MLkNN": {"n_neighbors": [3, 8]},
        "BPMLL": {"n_epochs": [2, 4]},
        "MLNB": {"smoothing": [0.5, 1.0]},
    }[name]
    step = type(ESTIMATORS[name]).__name__.lower()
    grid = {f"{step}__{key}": values for key, values in parameter.items()}
    search = GridSearchCV(
        make_pipeline(MinMaxScaler(), ESTIMATORS[name]), grid, cv=KFold(2), error_score="raise"
    )
    search.fit(X, Y)
    assert search.predict(X).shape == Y.shape
    assert search.score(X, Y) == np.mean(np.all(search.predict(X) == Y, axis=1))
    # two labels are where a flat classes_ would pass for a binary task
    for columns in ([0, 1], [0, 1, 2, 3]):
        score = cross_val_score(
            ESTIMATORS[name], X, Y[:, columns], cv=2, scoring="roc_auc", error_score="raise"
        )
        assert np.all(np.isfinite(score))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimator_reads_frames_lists_and_odd_arrays_alike(name, data):
    X, Y = data
    X = np.round(X).astype(np.float32)  # the same in single precision
    expected = scores_of(clone(ESTIMATORS[name]).fit(X.astype(float), Y), X.astype(float))
    frame, labels = (
        pd.DataFrame(X, columns=list("abcdefghijkl")),
        pd.DataFrame(Y, columns=list("wxyz")),
    )
    from_frame = clone(ESTIMATORS[name]).fit(frame, labels.astype(bool))
    assert from_frame.feature_names_in_.tolist() == list("abcdefghijkl")
    np.testing.assert_allclose(scores_of(from_frame, frame), expected, atol=1e-9)
    padded = np.zeros((len(X), 24), dtype=np.float32)
    padded[:, ::2] = X
    for objects, targets in [
        (X, Y.tolist()),
        (X.tolist(), Y),
        (padded[:, ::2], np.asfortranarray(Y)),
        (X, Y * 1.0),
    ]:
        model = clone(ESTIMATORS[name]).fit(objects, targets)
        np.testing.assert_allclose(scores_of(model, objects), expected, atol=1e-9)
    model = clone(ESTIMATORS[name]).fit(sparse.csr_matrix(X), sparse.csc_matrix(Y))
    np.testing.assert_allclose(scores_of(model, sparse.csr_array(X)), expected, atol=1e-7)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimator_answers_do_not_depend_on_threads_or_on_other_objects(name, data):
    X, Y = data
    answers = []
    for n_threads in (1, 2):
        with threadpool_limits(limits=n_threads):
            model = clone(ESTIMATORS[name]).fit(X, Y)
            answers.append(scores_of(model, X))
    np.testing.assert_array_equal(*answers)
    np.testing.assert_array_equal(np.vstack([scores_of(model, row[None]) for row in X]), answers[0])


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimator_adds_up_sparse_entries_stored_in_parts(name, data):
    X, Y = data
    whole = sparse.csr_array(X)
    parts = sparse.csr_array(
        (
            np.repeat(whole.data, 2) * np.tile([3.0, -2.0], whole.nnz),
            np.repeat(whole.indices, 2),
            2 * whole.indptr,
        ),
        shape=X.shape,
    )
    expected = scores_of(clone(ESTIMATORS[name]).fit(whole, Y), whole)
    np.testing.assert_allclose(
        scores_of(clone(ESTIMATORS[name]).fit(parts, Y), parts), expected, atol=1e-9
    )
    assert parts.nnz == 2 * whole.nnz  # the caller's matrix stays as it is


@pytest.mark.parametrize(
    "Y",
    [
        np.tile([0, 1, 0], (10, 1)),  # no label varies
        np.zeros((10, 2), dtype=int),  # all rows empty
        np.array([[0, 1]] * 5 + [[1, 1]] * 5),  # one is always on
        np.array([[0], [1]] * 5),  # a single label
        np.ones((10, 1), dtype=int),
        np.eye(10, dtype=int),  # each label on once
    ],
)
@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.filterwarnings("error")
def test_estimator_takes_odd_labels(name, Y):
    X = np.column_stack([np.arange(10.0), np.arange(10.0) % 3, np.ones(10)])
    X[5] = X[4]
    model = clone(ESTIMATORS[name]).fit(X, Y)
    scores = scores_of(model, X)
    assert scores.shape == Y.shape
    assert np.all(np.isfinite(scores))
    assert set(np.unique(model.predict(X))) <= {0, 1}
    constant = np.ptp(Y, axis=0) == 0
    if name != "BPMLL" or Y.shape[1] > 1:
        np.testing.assert_array_equal(model.predict(X)[:, constant], Y[:, constant])


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.filterwarnings("error")
def test_estimator_takes_a_single_object(name):
    model = clone(ESTIMATORS[name]).fit([[1.0, 2.0]], [[1, 0, 1]])
    assert np.all(np.isfinite(scores_of(model, [[1.0, 2.0], [3.0, -4.0]])))


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize(
    ("X", "Y", "message"),
    [
        ([[0.0], [np.nan]], [[0], [1]], "Input X contains NaN"),
        ([[0.0], [np.inf]], [[0], [1]], "Input X contains infinity"),
        ([[0.0], [1.0]], [[0], [2]], "Y must hold only 0 and 1, got 2 in row 1, column 0"),
        ([[0.0], [1.0]], [[0.0], [np.nan]], "Y must hold only 0 and 1, got nan"),
        ([[0.0], [1.0]], [0, 1], "Y must be a label matrix of shape"),
        ([[0.0], [1.0]], [[0]], "X and Y must have the same number of rows, got 2 and 1"),
        ([[0.0], [1.0]], None, "requires y to be passed, but the target y is None"),
    ],
)
def test_estimator_refuses_bad_input(name, X, Y, message):
    with pytest.raises(ValueError, match=message):
        clone(ESTIMATORS[name]).fit(X, Y)

"""The table pipeline: preparation of numbers, categories and texts, learned in each fold."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from labelsure import CrossConformalClassifier
from labelsure.learners import PooledClassifier, table_pipeline, table_pool
from labelsure.learners._tables import MIN_FREQUENCY
from labelsure.measures import LogLossMeasure


def make_rows(n=60, seed=0):
    """Return a number with gaps, a category code and a text, and two labels that depend on them."""
    rng = np.random.default_rng(seed)
    number, code = rng.normal(size=n), rng.integers(3, size=n).astype(float)
    texts = np.where(rng.random(n) < 0.5, "the printer burns", "an invoice is late")
    Y = np.column_stack([number > 0, texts == "the printer burns"]).astype(int)
    number[::10] = np.nan
    X = np.empty((n, 3), dtype=object)
    X[:, 0], X[:, 1], X[:, 2] = number, code, texts
    return X, Y


def logistic():
    return OneVsRestClassifier(LogisticRegression())


def test_all_three_kinds_are_learned_from():
    X, Y = make_rows()
    model = table_pipeline([0], [1], [2], logistic()).fit(X[:40], Y[:40])
    assert np.mean(model.predict(X[40:]) == Y[40:]) > 0.85
    # a number and its gap, three categories, seven words
    assert model[0].transform(X[:1]).shape == (1, 2 + 3 + 7)


def test_names_of_columns_do_as_well():
    pandas = pytest.importorskip("pandas")
    X, Y = make_rows()
    frame = pandas.DataFrame(
        {"size": X[:, 0].astype(float), "plan": X[:, 1].astype(str), "title": X[:, 2]}
    )
    by_name = table_pipeline(["size"], ["plan"], ["title"], logistic()).fit(frame, Y)
    by_place = table_pipeline([0], [1], [2], logistic()).fit(X, Y)
    np.testing.assert_allclose(by_name.predict_proba(frame), by_place.predict_proba(X))


def test_rare_and_unknown_categories_are_one():
    codes = np.array([[0.0]] * 10 + [[1.0]] * 10 + [[2.0]] * (MIN_FREQUENCY - 1))
    Y = (codes == 1).astype(int).repeat(2, axis=1)
    columns = table_pipeline([], [0], [], logistic()).fit(codes, Y)[0]
    assert columns.transform([[0.0], [2.0], [-1.0], [np.nan]]).tolist() == [
        [1, 0, 0],
        [0, 0, 1],
        [0, 0, 1],
        [0, 0, 1],
    ]


@pytest.mark.parametrize(
    ("scaling", "values"), [("standard", [-1, 1]), ("unit", [0, 1]), ("none", [2, 4])]
)
def test_numbers_are_scaled_as_asked(scaling, values):
    columns = table_pipeline([0], [], [], logistic(), scaling=scaling).fit(
        [[2.0], [4.0]], np.array([[0], [1]])
    )[0]
    assert columns.transform([[2.0], [4.0]]).ravel().tolist() == values


def test_zeros_of_sparse_rows_stay_where_they_are():
    X = sparse.csr_matrix([[0.0, 2.0, 1.0], [4.0, 0.0, 0.0], [0.0, 1.0, 2.0]] * 5)
    Y = np.array([[0, 1], [1, 0], [1, 1]] * 5)
    model = table_pipeline([0, 1], [2], [], logistic(), dense=False, sparse_input=True).fit(X, Y)
    features = model[0].transform(X[:2])
    assert sparse.issparse(features)
    assert features.toarray().tolist() == [[0, 1, 0, 1, 0], [1, 0, 1, 0, 0]]
    dense = table_pipeline([0, 1], [2], [], logistic(), sparse_input=True).fit(X, Y)
    assert np.array_equal(dense[0].transform(X[:2]), features.toarray())


def test_a_pool_stays_a_pool_so_that_folds_share_models():
    pool = table_pool()
    assert table_pipeline([0, 1], [], [], pool) is pool
    prepared = table_pipeline([0], [1], [2], pool)
    assert isinstance(prepared, PooledClassifier)
    assert [name for name, _ in prepared.estimators] == [name for name, _ in pool.estimators]
    # the steps of the pool are unchanged
    assert [len(member.steps) for _, member in pool.estimators if hasattr(member, "steps")] == [
        2,
        4,
        3,
    ]


def test_a_prepared_pool_is_fitted_once_per_fold():
    """Within a Pipeline it would learn its weights from inner folds in every fold."""
    X, Y = make_rows(40)
    members = [("trees", ExtraTreesClassifier(5)), ("linear", LogisticRegression())]
    pool = table_pipeline([0], [1], [2], PooledClassifier(members))
    pool.set_params(
        linear__columns__numbers=table_pipeline([0], [1], [2], logistic())[0].transformers[0][1]
    )
    model = CrossConformalClassifier(pool, cv=5, measure=LogLossMeasure(), random_state=0).fit(X, Y)
    assert model.pools_share_


def test_folds_learn_the_preparation_from_their_training_parts_alone():
    """Words only in calibration examples are no features; their numbers do not affect scaling."""
    X, Y = make_rows(30)
    X[:10, 2] = "zebra"
    X[:10, 0] = 1000.0
    folds = [(np.arange(10, 30), np.arange(10)), (np.arange(10), np.arange(10, 30))]
    model = CrossConformalClassifier(
        table_pipeline([0], [1], [2], logistic()),
        cv=folds,
        measure=LogLossMeasure(),
        random_state=0,
    ).fit(X, Y)
    columns = model.models_[0].estimator[0]
    assert "zebra" not in columns.named_transformers_["text_0"].vocabulary_
    known = X[10:, 0].astype(float)
    assert columns.named_transformers_["numbers"][0].statistics_[0] == np.nanmedian(known)

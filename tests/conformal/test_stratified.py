"""Folds with like shares of every label."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score

from labelsure import (
    CrossConformalClassifier,
    MLkNNClassifier,
    MultiLabelStratifiedKFold,
    PooledClassifier,
)


def parts_of(splitter, Y):
    return [test for _, test in splitter.split(None, Y)]


def label_matrices(min_rows=6):
    shapes = st.tuples(st.integers(min_rows, 40), st.integers(1, 5))
    return hnp.arrays(np.int8, shapes, elements=st.integers(0, 1) | st.just(0))


@given(label_matrices(), st.integers(2, 6), st.booleans(), st.integers(0, 5))
def test_folds_share_out_all_rows_in_sizes_that_differ_by_at_most_one(Y, n_splits, shuffle, seed):
    splits = list(
        MultiLabelStratifiedKFold(n_splits, shuffle=shuffle, random_state=seed).split(Y, Y)
    )
    np.testing.assert_array_equal(
        np.sort(np.concatenate([test for _, test in splits])), np.arange(len(Y))
    )
    for train, test in splits:
        np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(len(Y)))
        assert abs(len(test) - len(Y) / n_splits) < 1


@given(label_matrices(), st.integers(2, 6), st.integers(0, 5))
def test_rarest_label_is_spread_as_evenly_as_can_be(Y, n_splits, seed):
    counts = Y.sum(axis=0, dtype=int)
    if (counts > 0).any():
        rarest = np.flatnonzero(counts == counts[counts > 0].min())
        given_out = [
            Y[test].sum(axis=0)[rarest]
            for test in parts_of(MultiLabelStratifiedKFold(n_splits, random_state=seed), Y)
        ]
        # of labels that are equally rare, the first drawn
        assert np.ptp(given_out, axis=0).min() <= 1


def test_seed_decides_and_order_does_without_shuffling():
    _, Y = make_multilabel_classification(60, n_classes=4, random_state=0)

    def folds(**parameters):
        return [test.tolist() for test in parts_of(MultiLabelStratifiedKFold(4, **parameters), Y)]

    assert folds(random_state=0) == folds(random_state=0) != folds(random_state=1)
    assert folds(shuffle=False) == folds(shuffle=False)


def test_sparse_labels_never_become_dense():
    """As a dense matrix this would take a terabyte."""
    rows = np.arange(10**6)
    Y = sparse.csr_array(
        (np.ones(10**6, dtype=np.int8), (rows, rows % 10**3)), shape=(10**6, 10**6)
    )
    first = next(MultiLabelStratifiedKFold(10, random_state=0).split(None, Y))[1]
    assert np.ptp(np.bincount(first % 10**3)) == 0


def test_splitter_serves_scikit_learn_and_our_predictors():
    X, Y = make_multilabel_classification(80, n_classes=3, random_state=0)
    splitter = MultiLabelStratifiedKFold(4, random_state=0)
    assert np.isfinite(
        cross_val_score(MLkNNClassifier(), X, Y, cv=splitter, error_score="raise")
    ).all()
    search = GridSearchCV(
        MLkNNClassifier(), {"n_neighbors": [3, 5]}, cv=splitter, error_score="raise"
    ).fit(X, Y)
    assert search.n_splits_ == splitter.get_n_splits() == 4
    model = CrossConformalClassifier(MLkNNClassifier(), cv=splitter).fit(X, Y)
    for rows, test in zip(model.fold_indices_, parts_of(splitter, Y), strict=True):
        np.testing.assert_array_equal(rows, test)
    pool = PooledClassifier(
        [("forest", RandomForestClassifier(5))], cv=splitter, random_state=0
    ).fit(X, Y)
    assert pool.out_of_fold_outputs_.shape == Y.shape


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (None, np.ones(9), r"y must be a label matrix .* got an array of shape \(9,\)"),
        (None, np.full((9, 2), 2), "y must hold only 0 and 1, got 2"),
        (
            None,
            sparse.csr_array(np.full((9, 2), 2)),
            "The entries of y must hold only 0 and 1, got 2",
        ),
        (None, np.full((9, 2), np.nan), "y must hold only 0 and 1, got nan"),
        (None, np.ones((4, 2)), "n_splits=5 folds need at least 5 examples, got n_samples=4"),
        (
            np.ones((8, 1)),
            np.ones((9, 2)),
            "X and y must have the same number of rows, got 8 and 9",
        ),
        (None, None, "y is required"),
    ],
)
def test_wrong_labels_are_refused(X, y, message):
    with pytest.raises(ValueError, match=message):
        MultiLabelStratifiedKFold(5).split(X, y)

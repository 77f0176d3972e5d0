"""Members of the table pool: neighbours that take weights, ridge regression with probabilities."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier

from labelsure.learners._table_members import NeighbourClassifier, RidgeProbabilities


@pytest.fixture
def data():
    X, Y = make_multilabel_classification(90, n_features=4, n_classes=3, random_state=0)
    X[5] = X[6]  # a tie
    return X, Y


def test_neighbours_without_weights_are_those_of_scikit_learn(data):
    X, Y = data
    theirs = KNeighborsClassifier(7, weights="distance").fit(X[:70], Y[:70]).predict_proba(X)
    ours = NeighbourClassifier(7).fit(X[:70], Y[:70])
    expected = np.column_stack([shares[:, 1] for shares in theirs])
    np.testing.assert_allclose(ours.predict_proba(X), expected, atol=1e-12)
    np.testing.assert_array_equal(ours.predict(X), expected > 0.5)


def test_neighbours_that_weigh_nothing_are_not_there(data):
    X, Y = data
    weights = np.where(np.arange(90) % 3 == 0, 0.0, 2.0)
    some = NeighbourClassifier(7).fit(X, Y, sample_weight=weights).predict_proba(X)
    np.testing.assert_array_equal(
        some, NeighbourClassifier(7).fit(X[weights > 0], Y[weights > 0]).predict_proba(X)
    )


def test_neighbours_may_be_more_than_there_are_examples():
    np.testing.assert_allclose(
        NeighbourClassifier(10).fit([[0.0], [2.0]], [1, 0]).predict_proba([[1.0]]), [[0.5]]
    )


def test_neighbours_are_looked_for_among_evenly_chosen_rows(data):
    X, Y = data
    chosen = np.array([0, 29, 59, 89])
    few = NeighbourClassifier(2, max_rows=4).fit(X, Y).predict_proba(X)
    np.testing.assert_array_equal(
        few, NeighbourClassifier(2).fit(X[chosen], Y[chosen]).predict_proba(X)
    )


@pytest.mark.parametrize("n_labels", [1, 3])
def test_ridge_probabilities_are_above_a_half_where_its_decisions_are_positive(data, n_labels):
    X, Y = data
    ridge = RidgeProbabilities(0.1).fit(X, Y[:, :n_labels])
    own = Y[:, 0] if n_labels == 1 else Y
    decisions = clone(RidgeClassifier(0.1)).fit(X, own).decision_function(X).reshape(90, n_labels)
    probabilities = ridge.predict_proba(X)
    assert probabilities.shape == (90, n_labels)
    np.testing.assert_array_equal(probabilities > 0.5, decisions > 0)
    np.testing.assert_allclose(
        np.log(probabilities) - np.log1p(-probabilities), 2 * decisions, atol=1e-9
    )

"""Draws belong to objects: the same answers alone, in batches, in any order and process."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from labelsure import (
    CrossConformalClassifier,
    FullConformalClassifier,
    InductiveConformalClassifier,
    LabelWiseConformalClassifier,
    PowerMeasure,
    calibrate_outputs,
)
from labelsure.predictions import LabelWisePredictions

pytestmark = pytest.mark.filterwarnings("ignore:.*cannot be reached", "ignore:X .* feature names")

LEVELS = (0.15, 0.3, 0.5)


class Places(ClassifierMixin, BaseEstimator):
    """Its outputs are the row numbers of the examples in a query: it depends on order alone."""

    def fit(self, X, Y):
        self.X_, self.n_labels_ = X, Y.shape[1]
        return self

    def predict_proba(self, X):
        return np.tile(
            np.arange(1, X.shape[0] + 1)[:, None] / (X.shape[0] + 1), (1, self.n_labels_)
        )


TREE = DecisionTreeClassifier(max_depth=3, random_state=0)
MODELS = {
    "exact": lambda seed: CrossConformalClassifier(
        TREE, cv=4, guarantee="exact", empty_labelset="allow", random_state=seed
    ),
    "smoothed cross": lambda seed: CrossConformalClassifier(
        TREE, cv=4, smoothed=True, empty_labelset="allow", random_state=seed
    ),
    "smoothed inductive": lambda seed: InductiveConformalClassifier(
        TREE, smoothed=True, empty_labelset="allow", random_state=seed
    ),
    "smoothed label-wise": lambda seed: LabelWiseConformalClassifier(
        TREE, smoothed=True, random_state=seed
    ),
    "smoothed label-wise cross": lambda seed: LabelWiseConformalClassifier(
        TREE, cv=4, smoothed=True, random_state=seed
    ),
    "smoothed full": lambda seed: FullConformalClassifier(
        KNeighborsClassifier(2), smoothed=True, empty_labelset="allow", random_state=seed
    ),
    "order of full": lambda seed: FullConformalClassifier(
        Places(), empty_labelset="allow", random_state=seed
    ),
}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(72, 3)).astype(float)
    return X, (X[:, :2] + rng.normal(size=(72, 2)) > 1.5).astype(int)


@pytest.fixture(scope="module")
def fitted(data):
    """Return a function that fits each model once."""
    known = {}

    def fit(name, seed=0):
        if (name, seed) not in known:
            n = 16 if "full" in name else 60
            known[name, seed] = MODELS[name](seed).fit(data[0][:n], data[1][:n])
        return known[name, seed]

    return fit


def answers(predictions):
    """Return all that a draw may change, one row per object."""
    if isinstance(predictions, LabelWisePredictions):
        return predictions.p_values.reshape(len(predictions), -1)
    regions = [predictions.region(level) for level in LEVELS]
    held = [
        region.contains(labelset) for region in regions for labelset in predictions.candidates()
    ]
    return np.column_stack([predictions.p_values(), *held])


def ask(model, X):
    """Return the model's answers for objects."""
    return answers(
        model.predict_labels(X) if hasattr(model, "predict_labels") else model.predict_labelsets(X)
    )


@pytest.mark.parametrize("name", MODELS)
def test_answers_are_the_same_one_by_one_in_batches_shuffled_and_pickled(name, data, fitted):
    model, X = fitted(name), data[0][60:]
    expected = ask(model, X)
    np.testing.assert_array_equal(np.vstack([ask(model, X[[i]]) for i in range(len(X))]), expected)
    np.testing.assert_array_equal(np.vstack([ask(model, X[:5]), ask(model, X[5:])]), expected)
    order = np.random.default_rng(1).permutation(len(X))
    np.testing.assert_array_equal(ask(model, X[order]), expected[order])
    np.testing.assert_array_equal(ask(pickle.loads(pickle.dumps(model)), X[::-1]), expected[::-1])


@pytest.mark.parametrize("name", MODELS)
def test_equal_objects_share_a_draw_and_others_do_not(name, data, fitted):
    model, X = fitted(name), np.unique(data[0], axis=0)
    table = ask(model, np.vstack([X, X[::-1]]))
    np.testing.assert_array_equal(table[: len(X)], table[len(X) :][::-1])
    assert len(np.unique(table, axis=0)) > 3


@pytest.mark.parametrize("options", [{"smoothed": True}, {"guarantee": "exact"}], ids=str)
def test_draws_of_outputs_belong_to_outputs_or_to_objects_where_they_are_given(options):
    rng = np.random.default_rng(0)
    outputs = rng.random((40, 3))
    Y = (rng.random((40, 3)) < outputs).astype(int)
    common = {
        "measure": PowerMeasure(),
        "folds": np.arange(40) % 4,
        "random_state": 0,
        "empty_labelset": "allow",
    }
    predictor = calibrate_outputs(outputs, Y, **common, **options)
    new, X = rng.random((4, 12, 3)), rng.normal(size=(12, 2))
    for objects in (None, X):

        def ask_rows(rows, objects=objects):
            return answers(
                predictor.predict_labelsets(
                    new[:, rows], None if objects is None else objects[rows]
                )
            )

        expected = ask_rows(np.arange(12))
        np.testing.assert_array_equal(np.vstack([ask_rows([i]) for i in range(12)]), expected)
        np.testing.assert_array_equal(ask_rows(np.arange(12)[::-1]), expected[::-1])
    assert (answers(predictor.predict_labelsets(new)) != expected).any()
    as_matrices = [sparse.csr_array(part) for part in new]
    if "smoothed" in options:
        np.testing.assert_array_equal(
            answers(predictor.predict_labelsets(as_matrices)),
            answers(predictor.predict_labelsets(new)),
        )

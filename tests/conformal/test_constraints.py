"""Constraints in predictors: regions stay valid, violations are reported, invalid ones refused."""

import pickle
import re
import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone

from labelsure import (
    CrossConformalClassifier,
    FullConformalClassifier,
    InductiveConformalClassifier,
    MLkNNClassifier,
    calibrate_outputs,
)
from labelsure.engine import Allowed, AtLeast, AtMost, Hierarchy, Implies
from labelsure.measures import MaxNormMeasure

TREE = Hierarchy({1: 0, 2: 0, 3: 2})
BASE = MLkNNClassifier(5)


def tree_data(n_examples, rng, *, n_features=4):
    """Return objects with five labels, the first four in a tree, and outputs that roughly match."""
    Y = rng.integers(0, 2, size=(n_examples, 5))
    Y[:, 1:3] &= Y[:, :1]
    Y[:, 3] &= Y[:, 2]
    X = Y @ rng.normal(size=(5, n_features)) + rng.normal(size=(n_examples, n_features))
    return X, Y, expit(3 * Y - 1.5 + 1.5 * rng.normal(size=Y.shape))


@pytest.fixture(scope="module")
def data():
    X, Y, _ = tree_data(90, np.random.default_rng(0))
    return X, Y


def test_regions_under_constraints_keep_their_promise():
    """Inductive regions of 99 examples at 20 %, 400 data sets of 20 new objects, labels in a tree.

    Regions miss at most 20 %, with a standard error below 0.0055, so the share is above 0.2 + 4 *
    0.0055 in at most one of 30 000 runs with new seeds. Regions are a quarter smaller than without
    constraints.
    """
    missed, sizes, without = [], [], []
    for rng in np.random.default_rng(1).spawn(400):
        _, Y, outputs = tree_data(119, rng)
        predictor = calibrate_outputs(outputs[:99], Y[:99], constraints=TREE)
        region = predictor.predict_labelsets(outputs[99:]).region(0.2)
        missed.append(np.mean(~region.contains(Y[99:])))
        sizes.append(region.sizes.mean())
        without.append(
            calibrate_outputs(outputs[:99], Y[:99])
            .predict_labelsets(outputs[99:])
            .region(0.2)
            .sizes.mean()
        )
    assert np.std(missed) / np.sqrt(len(missed)) < 0.0055
    assert np.mean(missed) <= 0.2 + 4 * 0.0055
    assert np.mean(missed) > 0.15  # not vacuous
    assert np.mean(sizes) < 0.75 * np.mean(without)


@pytest.mark.parametrize(
    "kind", [CrossConformalClassifier, InductiveConformalClassifier, FullConformalClassifier]
)
def test_examples_that_break_constraints_are_refused_or_drop_them(kind, data):
    X, Y = data[0][:30], data[1][:30].copy()
    Y[[3, 7], 0], Y[[3, 7], 1] = 0, 1
    model = kind(
        BASE,
        constraints=[TREE, AtMost(5, range(5))],
        **({"cv": 3} if kind is CrossConformalClassifier else {}),
    )
    with pytest.raises(
        ValueError, match=r"but 2 of 30 examples \(rows 3, 7\) break Hierarchy.*on_violation"
    ):
        model.fit(X, Y)
    with pytest.warns(UserWarning, match="2 of 30 examples .* break Hierarchy") as caught:
        model.set_params(on_violation="drop").fit(X, Y)
    assert caught[0].filename == __file__
    if kind is CrossConformalClassifier:
        assert model.predict_labelsets(X[:2]).p_values().shape[1] == 32
    with pytest.warns(UserWarning, match="Going on without"):
        model.set_params(constraints=TREE).fit(X, Y)
    if kind is CrossConformalClassifier:
        assert "obey" not in model.predict_labelsets(X[:2]).region(0.2).statement
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        model.set_params(constraints=AtMost(5, range(5))).fit(X, Y)  # nobody breaks it


@pytest.mark.parametrize(
    ("constraints", "words"),
    [
        ([Implies("dog", 0)], "got 'dog'"),
        ([AtMost(0, [0]), AtLeast(1, [0, 1]), AtMost(0, [1])], "contradicts those before it"),
        (3, "must be constraints"),
    ],
)
@pytest.mark.parametrize(
    "kind", [CrossConformalClassifier, InductiveConformalClassifier, FullConformalClassifier]
)
def test_bad_constraints_are_refused_before_anything_is_fitted(kind, constraints, words, data):
    with pytest.raises(ValueError, match=re.escape(words)):
        kind(BASE, constraints=constraints).fit(*data)
    with pytest.raises(ValueError, match=re.escape(words)):
        calibrate_outputs(np.full((3, 2), 0.5), np.eye(3, 2, dtype=int), constraints=constraints)


def test_sparse_outputs_under_constraints_answer_like_dense_ones():
    Y, outputs = np.eye(4, dtype=int), np.full((4, 4), 0.2) + 0.6 * np.eye(4)
    thin, dense = (
        calibrate_outputs(form(outputs), Y, constraints=AtMost(1, range(4)))
        .predict_labelsets(form(outputs))
        .p_values()
        for form in (sparse.csr_matrix, np.asarray)
    )
    assert np.array_equal(thin, dense)


def test_maximum_of_many_labels_is_refused_unless_labelsets_are_listed():
    rng = np.random.default_rng(0)
    Y = np.eye(30, dtype=int)
    outputs, maximum = rng.random((30, 30)), MaxNormMeasure()
    with pytest.raises(ValueError, match=r"is a maximum over labels, .* up to 24 labels"):
        calibrate_outputs(outputs, Y, constraints=AtMost(1, range(30)), measure=maximum)
    predictor = calibrate_outputs(outputs, Y, constraints=Allowed(Y), measure=maximum)
    assert (predictor.predict(outputs).sum(axis=1) == 1).all()


def test_only_the_empty_labelset_is_refused_where_it_is_excluded():
    outputs, Y = np.array([[0.1, 0.2], [0.2, 0.1]]), np.array([[0, 0], [1, 0]])
    with (
        pytest.raises(ValueError, match="allow the empty labelset only"),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", UserWarning)
        calibrate_outputs(outputs, Y, constraints=AtMost(0, [0, 1]), empty_labelset="exclude")


def test_constraints_survive_cloning_pickling_and_recalibration(data):
    X, Y = data
    model = CrossConformalClassifier(BASE, cv=3, random_state=0, constraints=[TREE])
    fitted = clone(model).fit(X[:70], Y[:70])
    expected = fitted.predict_labelsets(X[70:]).p_values()
    assert np.array_equal(
        pickle.loads(pickle.dumps(fitted)).predict_labelsets(X[70:]).p_values(), expected
    )
    free = clone(model).set_params(constraints=None).fit(X[:70], Y[:70])
    again = free.recalibrate(X[:70], Y[:70], constraints=[TREE])
    assert np.array_equal(again.predict_labelsets(X[70:]).p_values(), expected)
    assert free.predict_labelsets(X[70:]).p_values().shape[1] == 32
    assert pickle.loads(pickle.dumps(fitted.predict_labelsets(X[70:]).region(0.1))).statement

"""Weighted predictors: every p-value against its definition, and weights of nothing and of everything."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from labelsure import InductiveConformalClassifier, calibrate_outputs
from labelsure.conformal._merging import WEIGHT_UNITS
from labelsure.engine._p_values import LARGEST
from labelsure.learners import outputs_of

BASE = DecisionTreeClassifier(max_depth=3, random_state=0)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    return X, (X[:, [0, 1, 2, 0]] + rng.normal(size=(90, 4)) > 0.4).astype(int)


def test_weighted_p_values_equal_their_definition(data):
    X, Y = data
    weight = lambda X: np.exp(X[:, 0])  # noqa: E731
    model = InductiveConformalClassifier(BASE, weight=weight, random_state=0, empty="allow").fit(
        X[:80], Y[:80]
    )
    pred = model.predict_labelsets(X[80:])
    candidates = pred.candidates()
    own = weight(X[model.fold_indices_[0]])
    (fold,) = model.calibrator_.folds
    energy = fold.measure.energy(outputs_of(model.models_[0], X[80:], 4))
    for i, w in enumerate(weight(X[80:])):
        scores = energy.scores(candidates, objects=np.full(len(candidates), i))
        expected = [(own[fold.scores >= s].sum() + w) / (own.sum() + w) for s in scores]
        np.testing.assert_allclose(pred.p_values()[i], expected, rtol=1e-7)


def test_equal_weights_change_nothing(data):
    X, Y = data
    plain = InductiveConformalClassifier(BASE, random_state=0).fit(X[:60], Y[:60])
    equal = InductiveConformalClassifier(
        BASE, weight=lambda X: np.full(len(X), 0.3), random_state=0
    )
    equal.fit(X[:60], Y[:60])
    expected, weighted = plain.predict_labelsets(X[60:]), equal.predict_labelsets(X[60:])
    assert np.array_equal(expected.p_values(), weighted.p_values())
    assert np.array_equal(expected.labelsets, weighted.labelsets)
    assert np.array_equal(expected.region(0.1).sizes, weighted.region(0.1).sizes)


def test_objects_without_weight_and_with_all_of_it():
    """A new object that weighs nothing is compared with the others alone; one that outweighs all has p-values of 1."""
    outputs = np.array([[0.9], [0.6], [0.2]])
    X = np.array([[1.0], [2.0], [1.0]])
    predictor = calibrate_outputs(
        outputs, [[1], [1], [1]], X=X, weight=lambda X: np.asarray(X)[:, 0], empty="allow"
    )
    new = np.array([[0.5]] * 4)
    pred = predictor.predict_labelsets(new, [[0.0], [4.0], [1e30], [WEIGHT_UNITS * 4.0]])
    on = pred.p_value([1])
    np.testing.assert_allclose(on, [1 / 4, 5 / 8, 1, 1], atol=1e-7)
    assert LARGEST > WEIGHT_UNITS * 2**20

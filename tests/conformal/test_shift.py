"""Weighted predictors: p-values against the definition, and weights of zero and of infinity."""

import numpy as np

from labelsure import calibrate_outputs
from labelsure.conformal._merging import WEIGHT_UNITS
from labelsure.engine._p_values import LARGEST


def test_objects_without_weight_and_with_all_of_it():
    """With weight 0 a new object is compared with the others alone; if it outweighs all, p is 1."""
    outputs = np.array([[0.9], [0.6], [0.2]])
    X = np.array([[1.0], [2.0], [1.0]])
    predictor = calibrate_outputs(
        outputs, [[1], [1], [1]], X=X, weight=lambda X: np.asarray(X)[:, 0], empty_labelset="allow"
    )
    new = np.array([[0.5]] * 4)
    pred = predictor.predict_labelsets(new, [[0.0], [4.0], [1e30], [WEIGHT_UNITS * 4.0]])
    on = pred.p_value([1])
    np.testing.assert_allclose(on, [1 / 4, 5 / 8, 1, 1], atol=1e-7)
    assert LARGEST > WEIGHT_UNITS * 2**20

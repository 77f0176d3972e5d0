"""The p-value table of all of yeast, against plain numpy."""

import numpy as np
import pytest

from labelsure import CrossConformalClassifier, MLRBFClassifier, PowerMeasure, load_dataset
from labelsure.measures._labelset_bits import decode

N_CHUNK = 64


@pytest.fixture(scope="module")
def yeast_predictions():
    data = load_dataset("yeast")
    measure = PowerMeasure(d=4, pair_penalty=1.0)
    model = CrossConformalClassifier(
        MLRBFClassifier(), measure=measure, cv=15, empty="exclude", random_state=0
    )
    return model.fit(data.X_train, data.Y_train).predict_labelsets(data.X_test)


def pair_costs(fold, labelsets):
    on = labelsets.astype(np.int64)
    return ((on @ np.triu(fold.energy.pairwise, 1)) * on).sum(axis=1)


def plain_counts(fold, objects, labelsets, pairs):
    """Return #{calibration scores >= score} by a matrix product and a binary search."""
    # Sums of whole numbers below 2^53 are exact in float64, and BLAS is faster than numpy's integer
    # product.
    sums = fold.energy.unary[objects].astype(np.float64) @ labelsets.T.astype(np.float64)
    scores = sums.astype(np.int64) + pairs + fold.energy.constant[objects, None]
    return len(fold.calibration) - np.searchsorted(fold.calibration, scores)


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.validity)])
def test_p_value_table_of_yeast_equals_plain_numpy(yeast_predictions, every):
    """Of every fourth block of objects, or of all."""
    engine = yeast_predictions._engine
    assert (engine.n_objects, engine.n_candidates, len(engine.folds), engine.denominators[0]) == (
        917,
        16383,
        15,
        1501,
    )
    table = yeast_predictions.p_values()
    labelsets = decode(np.arange(1, 2**14), 14)
    pairs = [pair_costs(fold, labelsets) for fold in engine.folds]
    assert any(costs.any() for costs in pairs)
    for start in range(0, 917, every * N_CHUNK):
        objects = slice(start, start + N_CHUNK)
        counts = sum(
            plain_counts(fold, objects, labelsets, costs)
            for fold, costs in zip(engine.folds, pairs, strict=True)
        )
        assert np.array_equal(table[objects], (counts + 1) / 1501)

"""Sparse outputs give the very answers that the same outputs give as dense arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from labelsure import PowerMeasure, calibrate_outputs
from labelsure.measures import FunctionMeasure, MahalanobisMeasure
from labelsure.measures._sparse_outputs import SparseOutputs

pytestmark = pytest.mark.filterwarnings("ignore:.*examples have no label")


def largest_error(outputs, labelset):
    return np.abs(labelset - outputs).max(axis=1)


def draw_outputs(rng, n_objects, n_labels, default):
    values = rng.integers(0, 9, size=(n_objects, n_labels)) / 8  # few values: ties
    stored = rng.random((n_objects, n_labels)) < 0.4
    matrix = sparse.csr_matrix((values[stored], np.nonzero(stored)), shape=values.shape)
    return matrix, np.where(stored, values, default)


def both_predictions(seed, *, smoothed, empty, pair_penalty, default, n_folds):
    rng = np.random.default_rng(seed)
    n_labels = int(rng.integers(1, 11))
    matrix, dense = draw_outputs(rng, 20, n_labels, default)
    Y = (rng.random(dense.shape) < dense).astype(int)
    Y[0, 0] = 1  # not all empty
    settings = {
        "measure": PowerMeasure(2, pair_penalty=pair_penalty),
        "folds": None if n_folds == 1 else rng.permutation(np.arange(20) % n_folds),
        "training_labels": Y if n_folds == 1 else None,
        "smoothed": smoothed,
        "random_state": 0,
        "empty_labelset": empty,
    }
    new = [draw_outputs(rng, 3, n_labels, default) for _ in range(n_folds)]
    predictions = []
    for part, outputs in enumerate((matrix, dense)):
        predictor = calibrate_outputs(outputs, Y, default_output=default, **settings)
        per_fold = [pair[part] for pair in new]
        predictions.append(predictor.predict_labelsets(per_fold[0] if n_folds == 1 else per_fold))
    return *predictions, rng.integers(0, 2, size=(3, n_labels))


@given(
    seed=st.integers(0, 10**6),
    smoothed=st.booleans(),
    empty=st.sampled_from(["allow", "exclude"]),
    pair_penalty=st.sampled_from([0.0, 1.0]),
    default=st.sampled_from([0.0, 0.125, 0.375]),
    n_folds=st.integers(1, 3),
)
def test_sparse_outputs_answer_like_dense_ones(
    seed, smoothed, empty, pair_penalty, default, n_folds
):
    thin, dense, Y = both_predictions(
        seed,
        smoothed=smoothed,
        empty=empty,
        pair_penalty=pair_penalty,
        default=default,
        n_folds=n_folds,
    )
    top, expected = thin.top(3), dense.top(3)
    assert np.array_equal(top.p_values, expected.p_values)
    real = expected.p_values > 0  # there may be fewer than three candidates
    assert np.array_equal(top.labelsets[real], expected.labelsets[real])
    assert np.array_equal(thin.label_p_values, dense.label_p_values)
    assert np.array_equal(thin.p_value(Y), dense.p_value(Y))
    assert np.array_equal(thin.p_values(), dense.p_values())
    for method in ("difference", "mass"):
        assert np.array_equal(thin.rank_labels(method=method), dense.rank_labels(method=method))
    for significance in (0.05, 0.3, 0.6):
        region, wanted = thin.region(significance), dense.region(significance)
        assert region.sizes.tolist() == wanted.sizes.tolist()
        assert np.array_equal(region.contains(Y), wanted.contains(Y))
        assert np.array_equal(region.inner, wanted.inner)
        assert np.array_equal(region.outer, wanted.outer)
        for i in range(3):
            assert np.array_equal(region[i].members().labelsets, wanted[i].members().labelsets)
            assert np.array_equal(
                region[i].members(limit=2).labelsets, wanted[i].members(limit=2).labelsets
            )
            assert sorted(map(tuple, region[i])) == sorted(map(tuple, wanted[i]))


@pytest.mark.parametrize("default", [0.5, -0.1, 1.0])
def test_default_output_must_mean_off(default):
    with pytest.raises(ValueError, match=r"default_output must lie between 0 and 0\.5"):
        calibrate_outputs(sparse.csr_matrix([[0.2, 0.8]]), [[0, 1]], default_output=default)


def test_sparse_outputs_are_checked():
    with pytest.raises(ValueError, match=r"outputs must lie between 0 and 1, got 1\.5"):
        calibrate_outputs(sparse.csr_matrix([[0.2, 1.5]]), [[0, 1]])
    predictor = calibrate_outputs(sparse.csr_matrix([[0.2, 0.5]]), [[0, 1]])
    with pytest.raises(ValueError, match=r"outputs must have shape \(n_objects, 2\), got \(1, 3\)"):
        predictor.predict_labelsets(sparse.csr_matrix([[0.2, 0.5, 0.1]]))


@pytest.mark.parametrize(
    "measure",
    [PowerMeasure(), MahalanobisMeasure(residuals="absolute"), FunctionMeasure(largest_error)],
    ids=["power", "own pairs", "own scores"],
)
def test_outputs_are_made_dense_some_objects_at_a_time(measure, monkeypatch):
    matrix, dense = draw_outputs(np.random.default_rng(1), 40, 3, 0.0)
    Y = (dense > 0.5).astype(int)
    expected = calibrate_outputs(
        dense, Y, measure=measure, training_labels=Y, training_outputs=dense
    )
    monkeypatch.setattr("labelsure.measures._sparse_outputs.DENSE_ROWS_BYTES", 8 * 3 * 7)
    assert SparseOutputs(matrix, 0.0, n_labels=3).blocks()[:2] == [slice(0, 7), slice(7, 14)]
    predictor = calibrate_outputs(
        matrix, Y, measure=measure, training_labels=Y, training_outputs=matrix
    )
    assert np.array_equal(
        predictor.predict_labelsets(matrix).p_values(), expected.predict_labelsets(dense).p_values()
    )
    assert predictor.predict_labelsets(matrix[:0]).labelsets.shape == (0, 3)

"""Learners by name."""

import numpy as np
import pytest
from scipy import sparse

from labelsure.cli._arguments import LEARNERS
from labelsure.cli._learners import make_table_learner
from labelsure.datasets import Column, TableSchema
from labelsure.learners import fit_base, outputs_of
from labelsure.paper import MLkNNClassifier


def schema_of(X):
    columns = tuple(Column(f"x{j}", "numeric") for j in range(X.shape[1]))
    return TableSchema(columns, ("a", "b"), sparse=sparse.issparse(X))


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("name", LEARNERS)
def test_learners_have_outputs_with_gaps_in_the_features_too(name, is_sparse):
    rng = np.random.default_rng(0)
    X = rng.random((40, 5)) * [1, 10, 100, 1, 1]
    Y = (X[:, :3] > [0.5, 5, 50]).astype(int)
    X[0, 0] = np.nan
    X = sparse.csr_matrix(X) if is_sparse else X
    outputs = outputs_of(fit_base(make_table_learner(name, schema_of(X)), X, Y), X, 3)
    assert outputs.shape == (40, 3)
    assert outputs[Y == 1].mean() > outputs[Y == 0].mean()


def test_learners_scale_features_as_the_paper_did():
    rng = np.random.default_rng(0)
    X = rng.random((30, 3)) * [1, 1000, 1]
    Y = (X[:, [0, 2]] > 0.5).astype(int)
    scaled = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    expected = outputs_of(fit_base(MLkNNClassifier(), scaled, Y), scaled, 2)
    assert np.array_equal(
        outputs_of(fit_base(make_table_learner("ml-knn", schema_of(X)), X, Y), X, 2), expected
    )

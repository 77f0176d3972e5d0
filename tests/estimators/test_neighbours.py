"""The exact neighbour search against a full sort of exactly computed distances."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from labelsure.estimators import _neighbours
from labelsure.estimators._neighbours import find_neighbours


def sort_all(X, references, n_neighbours, *, exclude_self=False):
    """Slow twin: every distance summed coordinate by coordinate, then a stable sort."""
    nearest = []
    for i, x in enumerate(X):
        distances = np.array([np.sum((x - y) ** 2) for y in references])
        if exclude_self:
            distances[i] = np.inf
        nearest.append(np.argsort(distances, kind="stable")[:n_neighbours])
    return np.array(nearest).reshape(len(X), n_neighbours)


any_values = st.sampled_from([0.0, -0.0, 0.1, 0.2, 0.3, 1.0, -1.0, 1e-9, 1e6])
# squares of these add up without rounding, in whatever order a sparse sum takes
exact_values = st.sampled_from([0.0, -0.0, 0.25, 0.5, 1.0, -1.0, 3.0, 2.0**-10, 2.0**10])


@given(data=st.data(), as_sparse=st.booleans(), exclude_self=st.booleans())
@settings(max_examples=150, deadline=None)
def test_find_neighbours_equals_full_sort_with_ties(data, as_sparse, exclude_self):
    n, n_references, d = data.draw(st.integers(1, 8)), data.draw(st.integers(2, 9)), data.draw(st.integers(1, 4))
    values = exact_values if as_sparse else any_values
    references = data.draw(arrays(float, (n_references, d), elements=values))
    X = references if exclude_self else data.draw(arrays(float, (n, d), elements=values))
    n_neighbours = data.draw(st.integers(0, n_references - 1))
    expected = sort_all(X, references, n_neighbours, exclude_self=exclude_self)
    if as_sparse:
        X, references = sparse.csr_matrix(X), sparse.csr_array(references)
    np.testing.assert_array_equal(find_neighbours(X, references, n_neighbours, exclude_self=exclude_self), expected)


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e9])
def test_find_neighbours_survives_a_large_offset(offset):
    # far from the origin the fast distances are mostly rounding: nothing may be ruled out by them
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5)) + offset
    X[30:] = X[:30]
    np.testing.assert_array_equal(find_neighbours(X, X, 7, exclude_self=True), sort_all(X, X, 7, exclude_self=True))


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_find_neighbours_puts_duplicates_in_order(make):
    rng = np.random.default_rng(2)
    references = rng.normal(size=(5, 40))[rng.integers(0, 5, size=60)]
    X = rng.normal(size=(30, 40))
    nearest = find_neighbours(make(X), make(references), 60)
    for row in nearest:
        for duplicates in np.split(row, np.flatnonzero(np.any(np.diff(references[row], axis=0), axis=1)) + 1):
            assert np.all(np.diff(duplicates) > 0)
        assert len(np.unique(row)) == 60


def test_find_neighbours_is_the_same_in_small_batches(monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 3, size=(40, 6)).astype(float)
    at_once = find_neighbours(X, X, 9, exclude_self=True)
    monkeypatch.setattr(_neighbours, "MAX_BATCH_VALUES", 100)
    np.testing.assert_array_equal(find_neighbours(X, X, 9, exclude_self=True), at_once)


def test_find_neighbours_takes_squares_that_overflow():
    X = np.array([[1e200], [-1e200], [1e200], [0.0]])
    assert find_neighbours(X, X, 1, exclude_self=True).ravel().tolist() == [2, 0, 0, 0]

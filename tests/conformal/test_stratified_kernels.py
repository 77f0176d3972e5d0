"""Iterative stratification: the kernel against its slow twin."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

import stratified_reference
from labelsure.conformal._stratified_kernels import assign_folds


@st.composite
def problems(draw):
    n_folds = draw(st.integers(2, 6))
    shape = (draw(st.integers(n_folds, 30)), draw(st.integers(1, 6)))
    Y = draw(hnp.arrays(np.int8, shape, elements=st.integers(0, 1) | st.just(0)))
    draws = draw(
        hnp.arrays(np.int64, shape[0], elements=st.integers(0, 2**31 - 1) | st.integers(0, 3))
    )
    return Y, draws, n_folds


def folds_of(Y, draws, n_folds):
    rows, columns = sparse.csr_array(Y), sparse.csc_array(Y)
    arrays = [
        part.astype(np.int64)
        for matrix in (rows, columns)
        for part in (matrix.indptr, matrix.indices)
    ]
    return assign_folds(*arrays, draws, n_folds)


@given(problems())
def test_assign_folds_equals_reference(problem):
    Y, draws, n_folds = problem
    np.testing.assert_array_equal(
        folds_of(Y, draws, n_folds), stratified_reference.assign_folds(Y, draws, n_folds)
    )


def test_no_more_folds_are_larger_than_have_to_be():
    """With many labels per row, folds are filled up at different times."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        Y, draws = rng.integers(0, 2, (16, 10)).astype(np.int8), rng.integers(0, 2**31, 16)
        folds = folds_of(Y, draws, 5)
        assert sorted(np.bincount(folds, minlength=5).tolist()) == [3, 3, 3, 3, 4]
        np.testing.assert_array_equal(folds, stratified_reference.assign_folds(Y, draws, 5))

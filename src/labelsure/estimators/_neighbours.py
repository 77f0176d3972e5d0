"""The nearest neighbours of objects, exactly: equal distances are equal, and ties go to the lower row number."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import gen_batches
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from labelsure._core.types import BoolArray, FloatArray, IntArray
from labelsure.estimators._base import as_dense

MAX_BATCH_VALUES = 2**23
"""Numbers held at once in a table of distances or of coordinate differences: 64 MiB."""


def find_neighbours(X: Any, references: Any, n_neighbours: int, *, exclude_self: bool = False) -> IntArray:
    r"""Return the rows of ``references`` nearest to each row of ``X`` in Euclidean distance, nearest first.

    A matrix product gives all distances fast but with rounding errors that tell duplicates apart at random. So it is
    used only to rule out what cannot be among the nearest, whatever the rounding; the squared distances of the few
    rows left are summed coordinate by coordinate, where duplicates agree to the last bit, and ties go to the lower row.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_objects, n_features)
        The objects. Sparse ones hold one entry per cell, in order (scipy's canonical format).
    references : array or CSR matrix of shape (n_references, n_features)
        Where to look for neighbours.
    n_neighbours : int
        How many, at most n_references (one fewer where an object may not be its own neighbour).
    exclude_self : bool, default=False
        Whether row i of ``X`` *is* row i of ``references`` and must not count as its own neighbour.

    Returns
    -------
    array of shape (n_objects, n_neighbours)
        Row numbers.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [1.0], [3.0]])
    >>> find_neighbours(X, X, 2, exclude_self=True).tolist()
    [[1, 2], [2, 0], [1, 0], [1, 2]]
    """
    neighbours = np.empty((X.shape[0], n_neighbours), dtype=np.int64)
    if n_neighbours == 0:
        return neighbours
    X, references = _alike(X, references), _alike(references, references)
    norms = row_norms(references, squared=True)
    for batch in gen_batches(X.shape[0], max(1, MAX_BATCH_VALUES // references.shape[0])):
        own = np.arange(X.shape[0])[batch] if exclude_self else None
        near = _rule_out_the_far(X[batch], references, norms, n_neighbours, own)
        neighbours[batch] = _nearest_of(near, X[batch], references, n_neighbours)
    return neighbours


def _alike(X: Any, references: Any) -> Any:
    """Return X dense or sparse as ``references`` are."""
    return as_dense(X) if isinstance(references, np.ndarray) else sparse.csr_array(X)


def _rule_out_the_far(X: Any, references: Any, norms: FloatArray, n_neighbours: int, own: IntArray | None) -> BoolArray:
    """Mark every pair that may be among the nearest, with room for the rounding of the fast distances."""
    own_norms = row_norms(X, squared=True)[:, np.newaxis]
    with np.errstate(over="ignore", invalid="ignore"):  # squares of huge values: NaN rules nothing out
        distances = safe_sparse_dot(X, references.T, dense_output=True)
        distances *= -2.0
        distances += own_norms
        distances += norms
        if own is not None:
            distances[np.arange(len(own)), own] = np.inf
        farthest = np.partition(distances, n_neighbours - 1, axis=1)[:, [n_neighbours - 1]]
        # a sum of d products is off by at most d eps times the sum of their sizes, fast or slow; 8 leaves slack
        rounding = 8 * (X.shape[1] + 4) * np.finfo(np.float64).eps * (own_norms + norms.max())
        near: BoolArray = ~(distances > farthest + rounding)
    if own is not None:
        near[np.arange(len(own)), own] = False
    return near


def _nearest_of(near: BoolArray, X: Any, references: Any, n_neighbours: int) -> IntArray:
    """Return, for each row of X, the nearest of the marked references."""
    rows, columns = np.nonzero(near)
    distances = np.empty(len(rows))
    for batch in gen_batches(len(rows), max(1, MAX_BATCH_VALUES // X.shape[1])):
        distances[batch] = _squared_row_norms(X[rows[batch]] - references[columns[batch]])
    by_distance = np.lexsort((columns, distances, rows))
    first = np.searchsorted(rows, np.arange(X.shape[0]))[:, np.newaxis]
    nearest: IntArray = columns[by_distance][first + np.arange(n_neighbours)]
    return nearest


def _squared_row_norms(differences: Any) -> FloatArray:
    """Return the sum of squares of each row; the same rows give the same bits."""
    with np.errstate(over="ignore"):
        squares = differences**2 if isinstance(differences, np.ndarray) else differences.power(2)
        sums: FloatArray = np.asarray(squares.sum(axis=1)).ravel()
    return sums

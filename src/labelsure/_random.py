"""Random draws: all come from one random_state, and draws for an object depend on that object."""

import hashlib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from labelsure._checks import FloatArray, IntArray, is_number

MAX_SEED = np.iinfo(np.int32).max

DRAW_UNIT = 2**31
"""The unit of a draw u, from 1 to 2^31 of them, never 0, so that P(p <= eps) <= eps is exact."""

SMOOTHING, MERGING, ORDER, LABELSETS = range(1, 5)
"""Streams: what is drawn for one purpose says nothing about what is drawn for another."""

BLOCK_NUMBERS = 2**20
"""Entries hashed at a time, to bound memory."""

UInt64Array = np.ndarray[tuple[int, ...], np.dtype[np.uint64]]


def draw_seeds(random_state: Any, n_seeds: int) -> list[int]:
    """Draw ``n_seeds`` seeds from an int, a RandomState or None, as scikit-learn reads it.

    Examples
    --------
    >>> draw_seeds(0, 2) == draw_seeds(0, 2)
    True
    """
    rng = check_random_state(random_state)
    return [int(seed) for seed in rng.randint(MAX_SEED, size=n_seeds)]


def set_missing_seeds(estimator: BaseEstimator, seed: int) -> BaseEstimator:
    """Set every ``random_state`` of the estimator that is None, nested ones too, to ``seed``.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> set_missing_seeds(SGDClassifier(), 3).random_state
    3
    >>> set_missing_seeds(SGDClassifier(random_state=7), 3).random_state
    7
    """
    params = estimator.get_params(deep=True)
    states = [name for name in params if name.rpartition("__")[2] == "random_state"]
    missing = {name: seed for name in states if params[name] is None}
    estimator.set_params(**missing)  # scikit-learn's FrozenEstimator returns nothing here
    return estimator


def draw_uniforms(seed: int, stream: int, keys: UInt64Array) -> IntArray:
    """Draw a number from 1 to ``DRAW_UNIT`` for each object, independently of all other objects.

    Parameters
    ----------
    seed : int
        Drawn from the user's random_state when the predictor was fitted.
    stream : int
        What the draws are for.
    keys : uint64 array of shape (n,)
        Of the objects, see :func:`object_keys`.

    Examples
    --------
    >>> together = draw_uniforms(0, SMOOTHING, object_keys([[1.0, 2.0], [3.0, 0.0]]))
    >>> alone = draw_uniforms(0, SMOOTHING, object_keys([[3.0, 0.0]]))
    >>> bool(together[1] == alone[0])
    True
    """
    mixed: UInt64Array = _mix(keys ^ _mix(np.uint64(seed * 8 + stream)))
    return (mixed >> np.uint64(33)).astype(np.int64) + 1


def draw_table(seed: int, stream: int, key: np.uint64, shape: tuple[int, int]) -> FloatArray:
    """Draw a table of uniform numbers between 0 and 1 for one object."""
    numbers = np.arange(math.prod(shape), dtype=np.uint64).reshape(shape)
    mixed: UInt64Array = _mix(numbers + _mix(key ^ _mix(np.uint64(seed * 8 + stream))))
    return np.ldexp((mixed >> np.uint64(11)).astype(np.float64), -53)


def draw_order(seed: int, x: Any, n: int) -> IntArray:
    """Draw an order of ``n`` examples for one object, given as a single row."""
    key = int(_mix(object_keys(x) ^ _mix(np.uint64(seed * 8 + ORDER)))[0])
    return np.random.RandomState([key & 0xFFFFFFFF, key >> 32]).permutation(n).astype(np.int64)


def join_keys(parts: Sequence[UInt64Array]) -> UInt64Array:
    """Return one key for each object from those of several tables about it, in the order given."""
    joined = np.zeros(len(parts[0]), dtype=np.uint64)
    for part in parts:
        joined = _mix(joined ^ part)
    return joined


def object_keys(objects: Any, *, default: float = 0.0) -> UInt64Array:
    """Return 64 bits for each object, equal for equal rows, dense or sparse.

    A row's key is the sum, modulo 2^64, of a hash of each entry that is not 0 and of its column.

    Parameters
    ----------
    objects : array-like, sparse matrix, DataFrame, or list of rows or texts
        One row per object.
    default : float
        What a sparse matrix has where nothing is stored.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> X = np.array([[0.0, 1.5], [2.0, 0.0]])
    >>> bool((object_keys(X) == object_keys(csr_array(X))).all())
    True
    """
    if sparse.issparse(objects):
        return _keys_of_sparse(objects, default)
    # a DataFrame may have numbers, texts and dates beside each other
    if hasattr(objects, "columns"):
        keys = np.zeros(len(objects), dtype=np.uint64)
        for j, name in enumerate(objects.columns):
            if hasattr(objects, "iloc"):
                column = objects.iloc[:, j]
            else:  # pyarrow's columns are the data, polars' and pandas' their names
                column = name if hasattr(objects, "column_names") else objects[name]
            keys += _hash_entries(_bits_of_entries(np.asarray(column)), np.array([j]))
        return keys
    if not hasattr(objects, "dtype") and not hasattr(objects, "__array__"):
        # each row of a list by itself: the others may be of another kind or length
        return np.array([_key_of_row(row) for row in objects], dtype=np.uint64)
    array = np.asarray(objects)
    rows = array.reshape(len(array), math.prod(array.shape[1:]))
    n_rows = max(1, BLOCK_NUMBERS // max(rows.shape[1], 1))
    starts, columns = range(0, len(rows), n_rows), np.arange(rows.shape[1])
    hashed = (
        _hash_entries(_bits_of_entries(rows[start : start + n_rows]), columns) for start in starts
    )
    blocks = [block.sum(axis=1, dtype=np.uint64) for block in hashed]
    return np.concatenate([np.empty(0, dtype=np.uint64), *blocks])


def _keys_of_sparse(matrix: Any, default: float) -> UInt64Array:
    """Return the keys that the rows would have as dense ones."""
    if matrix.ndim != 2:
        raise ValueError(f"A sparse X must have one row per object, got shape {matrix.shape}.")
    rows = sparse.csr_array(matrix, copy=True)
    rows.sum_duplicates()
    of_default = _hash_entries(
        _bits_of_entries(np.full(rows.shape[1], default)), np.arange(rows.shape[1])
    )
    # modulo 2^64, as all sums here
    more = _hash_entries(_bits_of_entries(rows.data), rows.indices) - of_default[rows.indices]
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(more, dtype=np.uint64)])
    of_rows: UInt64Array = sums[rows.indptr[1:]] - sums[rows.indptr[:-1]]
    keys: UInt64Array = of_rows + of_default.sum(dtype=np.uint64)
    return keys


def _key_of_row(row: Any) -> np.uint64:
    """Return the key of a list's row: numbers, texts, both of them, or a single text."""
    try:
        array = np.asarray(row)
    except ValueError:  # rows within the row, of different lengths
        array = np.array(row, dtype=object)
    if array.dtype.kind not in "biuf":
        array = np.array(row, dtype=object)  # a number beside a text stays a number
    key: np.uint64 = _hash_entries(_bits_of_entries(array.ravel()), np.arange(array.size)).sum(
        dtype=np.uint64
    )
    return key


def _bits_of_entries(values: np.ndarray[Any, Any]) -> UInt64Array:
    """Return 64 bits for each entry: those of a number as a float, else a digest."""
    if values.dtype.kind in "biuf":
        numbers = np.asarray(values, dtype=np.float64) + 0.0  # -0.0 becomes 0.0
        return np.where(np.isnan(numbers), np.nan, numbers).view(np.uint64)
    cells = [_bits_of_cell(cell) for cell in values.ravel()]
    return np.array(cells, dtype=np.uint64).reshape(values.shape)


def _bits_of_cell(cell: Any) -> np.uint64 | UInt64Array:
    """Return the bits of a number as a float; a digest of anything that no float can hold."""
    try:
        return _bits_of_entries(np.array(float(cell))) if is_number(cell) else _digest(cell)
    except OverflowError:
        return _digest(cell)


def _digest(cell: Any) -> np.uint64:
    if isinstance(cell, np.ndarray):
        cell = cell.tobytes()
    content = cell if isinstance(cell, bytes) else str(cell).encode()
    return np.uint64(int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little"))


def _hash_entries(bits: UInt64Array, columns: IntArray) -> UInt64Array:
    """Return a hash of each entry and its column; 0 for entries that are 0."""
    hashed = _mix(bits ^ _mix(columns.astype(np.uint64) + np.uint64(1)))
    return np.where(bits == 0, np.uint64(0), hashed)


def _mix(words: Any) -> Any:
    """Return words in which every bit depends on all bits of the input (SplitMix64's finaliser)."""
    with np.errstate(over="ignore"):
        words = words + np.uint64(0x9E3779B97F4A7C15)
        words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))

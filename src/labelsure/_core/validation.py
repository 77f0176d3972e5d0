"""Checks at the door: what was expected, what arrived, what to do."""

from collections.abc import Sequence
from fractions import Fraction
from numbers import Integral, Number, Real
from typing import Any

import numpy as np
from scipy import sparse

from labelsure._core.types import FloatArray, LabelMatrix, LabelMatrixLike


def check_label_matrix(
    Y: LabelMatrixLike,
    *,
    name: str = "Y",
    n_labels: int | None = None,
    label_names: Sequence[str] | None = None,
) -> LabelMatrix:
    """Return ``Y`` as a dense (n, q) array of zeros and ones, or say what is wrong with it.

    Parameters
    ----------
    Y : array-like, sparse matrix or DataFrame of shape (n, q)
        Zeros and ones (or booleans), one column per label.
    name : str
        The argument's name, for the error message.
    n_labels : int or None
        The number of columns required.
    label_names : sequence of str or None
        The labels' names where they are known: the columns of a DataFrame are then taken by name, in this order.

    Examples
    --------
    >>> check_label_matrix([[True, False], [0, 1.0]]).tolist()
    [[1, 0], [0, 1]]
    >>> check_label_matrix([[1, 2]])
    Traceback (most recent call last):
    ...
    ValueError: Y must hold only 0 and 1, got 2 in row 0, column 1. ...
    """
    own_names = label_names_of(Y)
    if own_names is not None and label_names is not None:
        Y = _take_by_name(Y, own_names, tuple(label_names), name)
    array = _dense(Y, name)
    if array.ndim != 2:
        raise ValueError(
            f"{name} must be a label matrix of shape (n_objects, n_labels), got an array of shape {array.shape}."
            " Use one 0/1 column per label (sklearn.preprocessing.MultiLabelBinarizer makes one from lists of labels;"
            f" for a single label pass {name}.reshape(-1, 1))."
        )
    if array.shape[1] == 0:
        raise ValueError(f"{name} must have at least one label (column), got shape {array.shape}.")
    if n_labels is not None and array.shape[1] != n_labels:
        raise ValueError(f"{name} must have {n_labels} columns, one per label, got {array.shape[1]}.")
    _check_zeros_and_ones(array, name)
    return np.ascontiguousarray(array.astype(np.int8))


def _dense(Y: LabelMatrixLike, name: str) -> np.ndarray[Any, Any]:
    if Y is None:
        raise ValueError(f"{name} is required: pass a label matrix of shape (n_objects, n_labels), got None.")
    try:
        return np.asarray(Y.toarray() if sparse.issparse(Y) else Y)
    except ValueError as error:
        raise ValueError(
            f"{name} must be a rectangular label matrix with one 0/1 column per label, got rows of different length."
            " sklearn.preprocessing.MultiLabelBinarizer turns lists of labels into such a matrix."
        ) from error


def _check_zeros_and_ones(array: np.ndarray[Any, Any], name: str) -> None:
    if array.dtype.kind in "biufc":
        right = (array == 0) | (array == 1)
    else:  # one by one: pandas' NA, dates or nested arrays do not survive a comparison with numbers
        right = np.array([_is_zero_or_one(value) for value in array.astype(object).flat], dtype=bool)
    wrong = ~right.reshape(array.shape)
    if np.any(wrong):
        row, column = np.argwhere(wrong)[0]
        value = array[row, column]
        shown = value.item() if isinstance(value, np.generic) else value
        raise ValueError(
            f"{name} must hold only 0 and 1, got {shown!r} in row {row}, column {column}."
            " Encode each label as one 0/1 column, for instance with sklearn.preprocessing.MultiLabelBinarizer."
        )


def _is_zero_or_one(value: Any) -> bool:
    return isinstance(value, Number | np.bool_) and value in (0, 1)


def label_names_of(Y: LabelMatrixLike) -> tuple[str, ...] | None:
    """Return the column names of a DataFrame, or None where ``Y`` carries no names.

    Examples
    --------
    >>> label_names_of([[0, 1]]) is None
    True
    """
    columns = getattr(Y, "columns", None)
    return None if columns is None else tuple(str(column) for column in columns)


def _take_by_name(Y: Any, own: tuple[str, ...], wanted: tuple[str, ...], name: str) -> Any:
    """Return the table with its columns in the order of the names wanted, or say which are missing or unknown."""
    if own == wanted:
        return Y
    missing = [label for label in wanted if label not in own]
    unknown = [label for label in own if label not in wanted]
    if missing or unknown or len(own) != len(wanted):
        listed = f" without {missing[0]!r}" if missing else f" with {unknown[0]!r}" if unknown else ""
        raise ValueError(
            f"{name} must have the {len(wanted)} labels that were learned as columns, in any order, got {len(own)}"
            f" columns{listed}. The labels are {', '.join(map(repr, wanted[:5]))}{', ...' if len(wanted) > 5 else ''};"
            f" pass an array without names to have columns taken by position."
        )
    return Y[[list(Y.columns)[own.index(label)] for label in wanted]]


def check_same_length(X: Any, Y: Any, *, names: tuple[str, str] = ("X", "Y")) -> None:
    """Raise ValueError unless ``X`` and ``Y`` have the same number of rows."""
    n_x, n_y = n_rows(X), n_rows(Y)
    if n_x != n_y:
        raise ValueError(
            f"{names[0]} and {names[1]} must have the same number of rows, got {n_x} and {n_y}."
            " Each row of one describes the same object as that row of the other."
        )


def n_rows(X: Any) -> int:
    """Return the number of rows of an array, sparse matrix, DataFrame or list."""
    shape = getattr(X, "shape", None)
    return int(shape[0]) if shape else len(X)


def check_outputs(
    outputs: Any, *, name: str = "outputs", n_labels: int | None = None, label_names: Sequence[str] | None = None
) -> FloatArray:
    """Return a learner's outputs as an (n, q) array of finite numbers between 0 and 1, or say what is wrong.

    The columns of a DataFrame are taken by name where ``label_names`` are given, as in :func:`check_label_matrix`.

    Examples
    --------
    >>> check_outputs([[0.25, 1]]).tolist()
    [[0.25, 1.0]]
    """
    own_names = label_names_of(outputs)
    if own_names is not None and label_names is not None:
        outputs = _take_by_name(outputs, own_names, tuple(label_names), name)
    columns = "n_labels" if n_labels is None else n_labels
    try:
        array = np.asarray(outputs, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be a dense array of numbers of shape (n_objects, {columns}),"
            f" got a {type(outputs).__name__} that numpy cannot read as one ({error})."
        ) from error
    if array.ndim != 2 or (n_labels is not None and array.shape[1] != n_labels):
        raise ValueError(f"{name} must have shape (n_objects, {columns}), got {array.shape}.")
    wrong = ~((array >= 0) & (array <= 1))
    if np.any(wrong):
        row, column = np.argwhere(wrong)[0]
        raise ValueError(
            f"{name} must lie between 0 and 1, got {array[row, column]} in row {row}, column {column}."
            " Turn raw scores into probabilities first, for instance with scipy.special.expit."
        )
    return array


def check_significance(significance: Any) -> Fraction:
    """Return a significance level as an exact fraction.

    A float is read as the fraction with a denominator up to 10^9 that is nearest to it as printed, so 0.1, 1 - 0.9
    and numpy.float32(0.1) are all one tenth, and comparisons with p-values are comparisons of integers. Levels so
    near to 0 or 1 that there is no such fraction are taken as printed.

    Examples
    --------
    >>> check_significance(1 - 0.9)
    Fraction(1, 10)
    """
    is_number = isinstance(significance, Real) and not isinstance(significance, bool)
    if not is_number or not 0 < significance < 1:
        raise ValueError(
            f"significance must be a number strictly between 0 and 1, got {significance!r}."
            " For 95 % confidence pass significance=0.05."
        )
    printed = Fraction(str(significance))  # the shortest decimal that is this number in its own precision
    nearest = printed.limit_denominator(10**9)
    return nearest if 0 < nearest < 1 else printed


def check_choice(value: Any, choices: tuple[str, ...], *, name: str) -> str:
    """Return ``value`` if it is one of ``choices``, else raise ValueError listing them."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}, got {value!r}.")
    return value


def check_number(value: Any, *, name: str, above: float = -np.inf, at_least: float = -np.inf) -> float:
    """Return a finite real number within its bounds, or raise ValueError naming the parameter."""
    valid = isinstance(value, Real) and not isinstance(value, bool) and np.isfinite(float(value))
    if not valid or float(value) <= above or float(value) < at_least:
        bound = (
            f" above {above:g}" if np.isfinite(above) else f" of at least {at_least:g}" if np.isfinite(at_least) else ""
        )
        raise ValueError(f"{name} must be a finite number{bound}, got {value!r}.")
    return float(value)


def check_count(value: Any, *, name: str, at_least: int = 1) -> int:
    """Return a whole number of at least ``at_least``, or raise ValueError naming the parameter."""
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < at_least:
        raise ValueError(f"{name} must be a whole number of at least {at_least}, got {value!r}.")
    return int(value)


def check_examples(outputs: Any, Y: LabelMatrixLike) -> tuple[FloatArray, LabelMatrix, tuple[str, ...] | None]:
    """Return the outputs, labels and label names of at least one calibration example, or say what is wrong with them.

    Where both are DataFrames, the columns of ``outputs`` are taken in the order of those of ``Y``.
    """
    labels, names = check_label_matrix(Y), label_names_of(Y)
    checked = check_outputs(outputs, n_labels=labels.shape[1], label_names=names)
    check_same_length(checked, labels, names=("outputs", "Y"))
    if len(labels) == 0:
        raise ValueError("outputs and Y must hold at least one calibration example, got none.")
    return checked, labels, label_names_of(outputs) if names is None else names

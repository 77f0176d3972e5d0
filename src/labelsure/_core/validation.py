"""Checks at the door: what was expected, what arrived, what to do."""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from fractions import Fraction
from functools import lru_cache
from numbers import Integral, Real
from typing import Any, TypeGuard

import numpy as np
from scipy import sparse
from sklearn.utils.validation import _num_samples

from labelsure._core.dlpack import to_host
from labelsure._core.entries import CANNOT_BE_READ, as_numbers, find_entry, find_no_number
from labelsure._core.optional import import_optional
from labelsure._core.types import FloatArray, LabelMatrix, LabelMatrixLike

n_rows: Callable[[Any], int] = _num_samples
"""The number of rows of an array, sparse matrix, DataFrame or list."""


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
    if Y is None:
        raise ValueError(f"{name} is required: pass a label matrix of shape (n_objects, n_labels), got None.")
    Y = Y if label_names is None else take_by_name(Y, label_names, name=name)
    try:
        Y = Y if isinstance(Y, np.ndarray) else to_host(Y)
        array = np.asarray(Y.toarray() if sparse.issparse(Y) else Y)
    except CANNOT_BE_READ as error:
        got = "rows of different length" if isinstance(Y, list | tuple) else f"a {type(Y).__name__} ({error})"
        raise ValueError(
            f"{name} must be a rectangular label matrix with one 0/1 column per label, got {got}."
            " sklearn.preprocessing.MultiLabelBinarizer turns lists of labels into such a matrix."
        ) from error
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
    plain = array is Y and array.dtype.kind in "biuf"  # the usual array, in which all entries are numbers
    odd = None if plain else find_no_number(Y, array)
    if odd or not (right := (array == 0) | (array == 1)).all():
        raise ValueError(
            f"{name} must hold only 0 and 1, got {odd or find_entry(~right, array)}."
            " Encode each label as one 0/1 column, for instance with sklearn.preprocessing.MultiLabelBinarizer."
        )
    return np.ascontiguousarray(array.astype(np.int8))


def label_names_of(Y: LabelMatrixLike) -> tuple[str, ...] | None:
    """Return the column names of a DataFrame, or None where ``Y`` carries no names.

    Examples
    --------
    >>> label_names_of([[0, 1]]) is None
    True
    """
    columns = getattr(Y, "column_names", getattr(Y, "columns", None))  # pyarrow's columns are the data themselves
    return None if columns is None else tuple(str(column) for column in columns)


def check_label_names(label_names: Sequence[str], n_labels: int) -> tuple[str, ...]:
    """Return the names of all labels as texts; refuse a wrong number of them and a name twice.

    Examples
    --------
    >>> check_label_names(["sea", "sea"], 2)
    Traceback (most recent call last):
    ...
    ValueError: Label names must differ, got 'sea' for the labels 0 and 1. Rename one of them.
    """
    names = _texts(label_names)
    if names is None:
        got = f"the string {shown(label_names)}" if isinstance(label_names, str) else shown(label_names)
        raise ValueError(f"label_names must be a sequence of {n_labels} names, got {got}.")
    if len(names) != n_labels:
        raise ValueError(f"label_names must name the {n_labels} labels, got {len(names)} names.")
    if len(set(names)) < n_labels:
        second = next(j for j, name in enumerate(names) if name in names[:j])
        raise ValueError(
            f"Label names must differ, got {names[second]!r} for the labels {names.index(names[second])} and {second}."
            " Rename one of them."
        )
    return names


def _texts(names: Any) -> tuple[str, ...] | None:
    """Return a sequence of names as texts, or None where it is none."""
    listed = hasattr(names, "__len__") and hasattr(names, "__iter__") and getattr(names, "ndim", 1) == 1
    return tuple(map(str, names)) if listed and not isinstance(names, str | bytes | Mapping | Set) else None


@lru_cache(maxsize=8)
def made_up_names(n_labels: int) -> tuple[str, ...]:
    """Return what labels are called that have no names."""
    return tuple(f"label_{j}" for j in range(n_labels))


def take_by_name(table: Any, label_names: Sequence[str], *, name: str) -> Any:
    """Return a table with its columns in the order of the names, or say which are missing or unknown.

    Arrays have no names, and names that were made up (0, 1, ... by pandas, label_0, label_1, ... by us) do not count
    beside other ones: then columns are taken by position.
    """
    own, wanted = label_names_of(table), tuple(label_names)
    if own is None or own == wanted:
        return table
    columns = dict(zip(own, getattr(table, "column_names", table.columns), strict=True))
    missing = [label for label in wanted if label not in columns]
    if not missing and len(own) == len(wanted):
        chosen = [columns[label] for label in wanted]
        return table.select(chosen) if hasattr(table, "column_names") else table[chosen]
    if any(names in (made_up_names(len(names)), tuple(map(str, range(len(names))))) for names in (own, wanted)):
        return table
    unknown = [label for label in own if label not in set(wanted)]
    listed = f" without {missing[0]!r}" if missing else f" with {unknown[0]!r}" if unknown else ""
    raise ValueError(
        f"{name} must have the {len(wanted)} labels as columns, in any order, got {len(own)} columns{listed}."
        f" {list_labels(wanted)} Pass an array without names to have columns taken by position."
    )


def list_labels(label_names: Sequence[str]) -> str:
    """Return a sentence with the first few names, for error messages."""
    return f"The labels are {', '.join(map(repr, label_names[:5]))}{', ...' if len(label_names) > 5 else ''}."


def row_index_of(X: Any) -> Any:
    """Return what rows are called: a pandas index, a polars Series of row numbers, None for anything without names."""
    if type(X).__module__.startswith("polars."):
        return import_optional("polars", extra="polars", purpose="X").int_range(len(X), eager=True)
    return X.index if hasattr(X, "iloc") else None


def check_same_length(X: Any, Y: Any, *, names: tuple[str, str] = ("X", "Y")) -> None:
    """Raise ValueError unless ``X`` and ``Y`` have the same number of rows."""
    for table, name in zip((X, Y), names, strict=True):
        if getattr(table, "ndim", 1) == 0 or not (hasattr(table, "shape") or hasattr(table, "__len__")):
            raise ValueError(f"{name} must have one row per object, got {shown(table)}.")
    n_x, n_y = n_rows(X), n_rows(Y)
    if n_x != n_y:
        raise ValueError(
            f"{names[0]} and {names[1]} must have the same number of rows, got {n_x} and {n_y}."
            " Each row of one describes the same object as that row of the other."
        )


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
    outputs = outputs if label_names is None else take_by_name(outputs, label_names, name=name)
    columns = "n_labels" if n_labels is None else n_labels
    plain = type(outputs) is np.ndarray and outputs.dtype.kind in "biuf"  # the usual array, with nothing odd in it
    given = outputs if plain else as_numbers(to_host(outputs), name=name, shape=f"(n_objects, {columns})")
    if given.ndim != 2 or (n_labels is not None and given.shape[1] != n_labels):
        raise ValueError(f"{name} must have shape (n_objects, {columns}), got {given.shape}.")
    array: FloatArray = given.astype(np.float64, order="C", copy=False)
    if not (inside := (array >= 0) & (array <= 1)).all():
        raise ValueError(
            f"{name} must lie between 0 and 1, got {find_entry(~inside, array)}."
            " Turn raw scores into probabilities first, for instance with scipy.special.expit."
        )
    return array


def check_significance(
    significance: Any,
    *,
    name: str = "significance",
    example: str = "For 95 % confidence pass significance=0.05.",
) -> Fraction:
    """Return a significance level, or another number strictly between 0 and 1, as an exact fraction.

    A float is read as the fraction with a denominator up to 10^9 that is nearest to it as printed, so 0.1, 1 - 0.9
    and numpy.float32(0.1) are all one tenth, and comparisons with p-values are comparisons of integers. Levels so
    near to 0 or 1 that there is no such fraction are taken as printed.

    Examples
    --------
    >>> check_significance(1 - 0.9)
    Fraction(1, 10)
    """
    if not is_real(significance) or not 0 < significance < 1:
        raise ValueError(f"{name} must be a number strictly between 0 and 1, got {shown(significance)}. {example}")
    printed = Fraction(str(significance))  # the shortest decimal that is this number in its own precision
    nearest = printed.limit_denominator(10**9)
    return nearest if 0 < nearest < 1 else printed


def choose_significance(significance: Any, confidence: Any) -> Any:
    """Return the significance of a region: as given, or one minus the confidence.

    Warns the caller of ``region`` where a confidence was probably passed as a significance.

    Examples
    --------
    >>> choose_significance(0.05, None), choose_significance(None, 0.9)
    (0.05, 0.1)
    """
    if (significance is None) == (confidence is None):
        both = f"significance={shown(significance)} and confidence={shown(confidence)}"
        raise ValueError(
            f"region takes either significance or confidence, got {'neither' if confidence is None else both}."
            " For 95 % confidence pass confidence=0.95, or significance=0.05, which is the same."
        )
    if confidence is not None:
        example = "For 95 % confidence pass confidence=0.95."
        return float(1 - check_significance(confidence, name="confidence", example=example))
    level = check_significance(significance)
    if level > Fraction(1, 2):
        accepted, sure = (f"{float(100 * share):g} %" for share in (level, 1 - level))
        warnings.warn(
            f"region({significance}) accepts errors for {accepted} of the objects: its confidence is {sure}. For"
            f" {accepted} confidence ask for region(confidence={float(level):g}). Where {sure} is meant,"
            f" region(confidence={float(1 - level):g}) asks for it without this warning.",
            stacklevel=3,
        )
    return significance


def check_choice(value: Any, choices: tuple[str, ...], *, name: str) -> str:
    """Return ``value`` if it is one of ``choices``, else raise ValueError listing them."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}, got {shown(value)}.")
    return value


def check_number(value: Any, *, name: str, above: float = -np.inf, at_least: float = -np.inf) -> float:
    """Return a finite real number within its bounds, or raise ValueError naming the parameter."""
    try:
        number = float(value) if is_real(value) else np.nan
    except OverflowError:  # a whole number beyond all floats
        number = np.inf
    if not np.isfinite(number) or number <= above or number < at_least:
        bound = (
            f" above {above:g}" if np.isfinite(above) else f" of at least {at_least:g}" if np.isfinite(at_least) else ""
        )
        raise ValueError(f"{name} must be a finite number{bound}, got {shown(value)}.")
    return number


def check_count(value: Any, *, name: str, at_least: int = 1) -> int:
    """Return a whole number of at least ``at_least``, or raise ValueError naming the parameter."""
    if not is_whole(value) or int(value) < at_least:
        raise ValueError(f"{name} must be a whole number of at least {at_least}, got {shown(value)}.")
    return int(value)


def check_flag(value: Any, *, name: str) -> bool:
    """Return a truth value of Python or numpy, or raise ValueError naming the parameter: a text would count as True."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {shown(value)}.")
    return bool(value)


def shown(value: Any) -> str:
    """Return a value as an error message shows it: long ones in part."""
    if isinstance(value, int) and value.bit_length() > 200:
        return f"a whole number of {value.bit_length()} bits"
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}..."


def is_real(value: Any) -> bool:
    """Whether a value is a real number; numpy counts durations among them, and Python truth values."""
    return isinstance(value, Real) and not isinstance(value, bool | np.timedelta64)


def is_list(value: Any) -> TypeGuard[Iterable[Any]]:
    """Whether a value lists others; a text, bytes and an array without dimensions do not."""
    return isinstance(value, Iterable) and not isinstance(value, str | bytes) and getattr(value, "ndim", 1) > 0


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number, see :func:`is_real`."""
    return isinstance(value, Integral) and is_real(value)


def read_labels(
    Y: LabelMatrixLike, label_names: Sequence[str] | None, *, name: str = "Y"
) -> tuple[LabelMatrix, tuple[str, ...] | None]:
    """Return labels to learn from, and what they are called: as told, else as the columns of a DataFrame.

    Columns with the names told are taken in that order; columns with other names are renamed.
    """
    own = label_names_of(Y)
    by_name = own is not None and sorted(own) == sorted(_texts(label_names) or ())
    labels = check_label_matrix(Y, name=name, label_names=label_names if by_name else None)
    names = own if label_names is None else label_names
    return labels, None if names is None else check_label_names(names, labels.shape[1])


def check_examples(
    outputs: Any, Y: LabelMatrixLike, label_names: Sequence[str] | None = None
) -> tuple[FloatArray, LabelMatrix, tuple[str, ...] | None]:
    """Return the outputs, labels and label names of at least one calibration example, or say what is wrong with them.

    Where both are DataFrames, the columns of ``outputs`` are taken in the order of those of ``Y``.
    """
    labels, names = read_labels(Y, label_names)
    checked = check_outputs(outputs, n_labels=labels.shape[1], label_names=names)
    check_same_length(checked, labels, names=("outputs", "Y"))
    if len(labels) == 0:
        raise ValueError("outputs and Y must hold at least one calibration example, got none.")
    return checked, labels, label_names_of(outputs) if names is None else names

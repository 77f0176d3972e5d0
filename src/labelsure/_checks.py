"""Input checks with messages (expected, got, do this), and the types that rooms exchange."""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from difflib import get_close_matches
from fractions import Fraction
from functools import lru_cache
from numbers import Integral, Number, Real
from typing import Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import _num_samples

from labelsure._errors import import_optional

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
Int32Array: TypeAlias = NDArray[np.int32]
BoolArray: TypeAlias = NDArray[np.bool_]
LabelMatrix: TypeAlias = NDArray[np.int8]
"""Zeros and ones of shape (n, q): row i holds the labels of object i."""

MatrixLike: TypeAlias = Any
"""What scikit-learn accepts as X: array, sparse matrix, DataFrame, list of rows."""

LabelMatrixLike: TypeAlias = Any
"""What users hold as Y: array, sparse matrix, DataFrame, nested list; zeros and ones."""


def to_host(values: Any) -> Any:
    """Return an array of another library as one of numpy, be it on a GPU; anything else as it is.

    Examples
    --------
    >>> to_host([1, 2])
    [1, 2]
    """
    if isinstance(values, np.ndarray) or not hasattr(values, "__dlpack_device__"):
        return values
    try:
        if hasattr(values, "detach"):  # a tensor of torch, which may be part of a graph
            values = values.detach().cpu()
        elif hasattr(values, "get"):  # an array of CuPy
            return values.get()
        return np.asarray(values) if hasattr(values, "__array__") else np.from_dlpack(values)
    except (BufferError, RuntimeError, TypeError) as error:
        raise ValueError(
            f"A {type(values).__name__} of type {getattr(values, 'dtype', 'unknown')} cannot be"
            f" read: {error}. Pass an array of numbers that numpy knows, in memory, or on a GPU by"
            " torch or CuPy."
        ) from error


CANNOT_BE_READ = (TypeError, ValueError, OverflowError, RuntimeError)
"""What numpy, or a table or tensor itself, raises where it cannot become an array."""


def find_no_number(values: Any, array: np.ndarray[Any, Any]) -> str | None:
    """Return the first entry that is not a real number, with its position, or None if all are.

    Strings that look like numbers, dates, durations, complex numbers and masked entries do not
    count; NaN does.

    Parameters
    ----------
    values : array-like
        What the user passed.
    array : array
        What numpy made of it.

    Examples
    --------
    >>> import numpy as np
    >>> find_no_number([["1"]], np.array([["1"]]))
    "'1' in row 0, column 0"
    """
    if masked := _find_masked(values):
        return masked
    if array.dtype.kind in "biuf":
        return None
    # .astype(object) would make whole numbers of dates and durations in nanoseconds
    if array.dtype.kind != "O":
        first = find_entry(np.ones(array.shape, dtype=bool), array)
        return first or f"an array of type {array.dtype}"
    wrong = [not is_number(value) for value in array.flat]
    return find_entry(np.array(wrong, dtype=bool).reshape(array.shape), array)


def _find_masked(values: Any) -> str | None:
    """Return the first masked entry of an array or a list of arrays, or None if there is none."""
    rows = values if isinstance(values, list | tuple) else (values,)
    if not any(isinstance(row, np.ma.MaskedArray) and np.ma.is_masked(row) for row in rows):
        return None
    return f"a masked entry{_place(np.argwhere(np.ma.getmaskarray(np.ma.array(values)))[0])}"


def check_unmasked(X: Any, *, name: str = "X") -> None:
    """Raise ValueError if objects have masked entries, whose hidden values a learner would read.

    Examples
    --------
    >>> import numpy as np
    >>> check_unmasked(np.ma.array([[1.5, 2.5]], mask=[[False, True]]))
    Traceback (most recent call last):
    ...
    ValueError: X must have no masked entries, got a masked entry in row 0, column 1. ...
    """
    if masked := _find_masked(X):
        raise ValueError(
            f"{name} must have no masked entries, got {masked}. Fill them with what they should"
            " count as, or with numpy.nan for a classifier that takes missing values:"
            f" {name}.filled(numpy.nan)."
        )


def as_array(values: Any, *, name: str, shape: str) -> np.ndarray[Any, Any]:
    """Return an array without masked entries, of any dtype, or raise ValueError.

    Parameters
    ----------
    values : array-like
        What the user passed.
    name, shape : str
        The argument's name and the shape it should have, for the error message.
    """
    check_unmasked(values, name=name)
    try:
        return np.asarray(values)
    except CANNOT_BE_READ as error:
        raise ValueError(
            f"{name} must be an array of shape {shape}, got a {type(values).__name__} that numpy"
            f" cannot read as one ({error})."
        ) from None


def as_numbers(values: Any, *, name: str, shape: str) -> np.ndarray[Any, Any]:
    """Return an array of real numbers in a numeric dtype, or raise ValueError.

    Parameters
    ----------
    values : array-like
        What the user passed.
    name, shape : str
        The argument's name and the shape it should have, for the error message.
    """
    try:
        if sparse.issparse(values):
            raise TypeError("a sparse matrix, of which toarray() makes a dense one")
        array = np.asarray(values)
        odd = find_no_number(values, array)
        problem = odd and f" with {odd}"
        if odd is None and array.dtype == object:
            # a list of no rows has no columns
            array = np.asarray(array.tolist()).reshape(array.shape)
            array = array.astype(np.float64) if array.dtype == object else array
    except CANNOT_BE_READ as error:
        problem = f" that numpy cannot read as one ({error})"
    if problem:
        raise ValueError(
            f"{name} must be a dense array of numbers of shape {shape}, got a"
            f" {type(values).__name__}{problem}."
        )
    return array


def is_number(value: Any) -> bool:
    """Whether a value is a real number or a boolean; numpy's timedelta64 does not count."""
    return isinstance(value, Number | np.bool_) and not isinstance(
        value, complex | np.complexfloating | np.timedelta64
    )


def find_entry(wrong: np.ndarray[Any, Any], array: np.ndarray[Any, Any]) -> str | None:
    """Return the first entry that is wrong, and where it is, or None where none is."""
    if not np.any(wrong):
        return None
    place = np.argwhere(wrong)[0]
    value = array[tuple(place)]
    plain = isinstance(value, np.generic) and not isinstance(value, np.datetime64 | np.timedelta64)
    return f"{value.item() if plain else value!r}{_place(place)}"


def _place(place: np.ndarray[Any, Any]) -> str:
    """Write where an entry of an array of up to two dimensions is."""
    words = {1: " at position {}", 2: " in row {}, column {}"}
    return words.get(len(place), "").format(*place)


n_rows: Callable[[Any], int] = _num_samples
"""The number of rows of an array, sparse matrix, DataFrame or list."""


def check_label_matrix(
    Y: LabelMatrixLike,
    *,
    name: str = "Y",
    n_labels: int | None = None,
    label_names: Sequence[str] | None = None,
) -> LabelMatrix:
    """Return ``Y`` as a dense (n, q) array of zeros and ones, or raise ValueError.

    Parameters
    ----------
    Y : array-like, sparse matrix or DataFrame of shape (n, q)
        Zeros and ones (or booleans), one column per label.
    name : str
        The argument's name, for the error message.
    n_labels : int or None
        The number of columns required.
    label_names : sequence of str or None
        The labels' names where they are known: the columns of a DataFrame are then taken by name,
        in this order.

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
        raise ValueError(
            f"{name} is required: pass a label matrix of shape (n_objects, n_labels), got None."
        )
    Y = Y if label_names is None else take_by_name(Y, label_names, name=name)
    try:
        Y = Y if isinstance(Y, np.ndarray) else to_host(Y)
        array = np.asarray(Y.toarray() if sparse.issparse(Y) else Y)
    except CANNOT_BE_READ as error:
        are_rows = isinstance(Y, list | tuple)
        got = "rows of different length" if are_rows else f"a {type(Y).__name__} ({error})"
        raise ValueError(
            f"{name} must be a rectangular label matrix with one 0/1 column per label, got {got}."
            " sklearn.preprocessing.MultiLabelBinarizer turns lists of labels into such a matrix."
        ) from error
    if array.ndim != 2:
        raise ValueError(
            f"{name} must be a label matrix of shape (n_objects, n_labels), got an array of shape"
            f" {array.shape}. Use one 0/1 column per label"
            " (sklearn.preprocessing.MultiLabelBinarizer makes one from lists of labels; for a"
            f" single label pass {name}.reshape(-1, 1))."
        )
    if array.shape[1] == 0:
        raise ValueError(f"{name} must have at least one label (column), got shape {array.shape}.")
    if n_labels is not None and array.shape[1] != n_labels:
        raise ValueError(
            f"{name} must have {n_labels} columns, one per label, got {array.shape[1]}."
        )
    # the usual array, in which all entries are numbers
    plain = array is Y and array.dtype.kind in "biuf"
    odd = None if plain else find_no_number(Y, array)
    if odd or not (right := (array == 0) | (array == 1)).all():
        raise ValueError(
            f"{name} must hold only 0 and 1, got {odd or find_entry(~right, array)}. Encode each"
            " label as one 0/1 column, for instance with sklearn.preprocessing.MultiLabelBinarizer."
        )
    return np.ascontiguousarray(array.astype(np.int8))


def label_names_of(Y: LabelMatrixLike) -> tuple[str, ...] | None:
    """Return the column names of a DataFrame, or None where ``Y`` carries no names.

    Examples
    --------
    >>> label_names_of([[0, 1]]) is None
    True
    """
    # pyarrow's columns are the data themselves
    columns = getattr(Y, "column_names", getattr(Y, "columns", None))
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
        got = ("the string " if isinstance(label_names, str) else "") + shown(label_names)
        raise ValueError(f"label_names must be a sequence of {n_labels} names, got {got}.")
    if len(names) != n_labels:
        raise ValueError(f"label_names must name the {n_labels} labels, got {len(names)} names.")
    if len(set(names)) < n_labels:
        second = next(j for j, name in enumerate(names) if name in names[:j])
        raise ValueError(
            f"Label names must differ, got {names[second]!r} for the labels"
            f" {names.index(names[second])} and {second}. Rename one of them."
        )
    return names


def _texts(names: Any) -> tuple[str, ...] | None:
    """Return a sequence of names as strings, or None if it is not a sequence."""
    has_items = hasattr(names, "__len__") and hasattr(names, "__iter__")
    if not has_items or getattr(names, "ndim", 1) != 1:
        return None
    return None if isinstance(names, str | bytes | Mapping | Set) else tuple(map(str, names))


@lru_cache(maxsize=8)
def made_up_names(n_labels: int) -> tuple[str, ...]:
    """Return what labels are called that have no names."""
    return tuple(f"label_{j}" for j in range(n_labels))


def take_by_name(table: Any, label_names: Sequence[str], *, name: str) -> Any:
    """Return a table with its columns in the order of ``label_names``, or raise ValueError.

    Arrays have no names, and names that were made up (0, 1, ... by pandas, label_0, label_1, ... by
    us) do not count beside other ones: then columns are taken by position.
    """
    own, wanted = label_names_of(table), tuple(label_names)
    if own is None or own == wanted:
        return table
    columns = dict(zip(own, getattr(table, "column_names", table.columns), strict=True))
    missing = [label for label in wanted if label not in columns]
    if not missing and len(own) == len(wanted):
        chosen = [columns[label] for label in wanted]
        return table.select(chosen) if hasattr(table, "column_names") else table[chosen]
    made_up = made_up_names(len(own)), made_up_names(len(wanted))
    if {own, wanted} & {*made_up, *(tuple(map(str, range(len(names)))) for names in made_up)}:
        return table
    unknown = [label for label in own if label not in set(wanted)]
    listed = f" without {missing[0]!r}" if missing else f" with {unknown[0]!r}" if unknown else ""
    raise ValueError(
        f"{name} must have the {len(wanted)} labels as columns, in any order, got {len(own)}"
        f" columns{listed}. {list_labels(wanted)} Pass an array without names to have columns taken"
        " by position."
    )


def list_labels(label_names: Sequence[str]) -> str:
    """Return a sentence with the first few names, for error messages."""
    more = ", ..." if len(label_names) > 5 else ""
    return f"The labels are {', '.join(map(repr, label_names[:5]))}{more}."


def row_index_of(X: Any) -> Any:
    """Return the row index: of pandas as it is, of polars row numbers, None for unnamed rows."""
    if type(X).__module__.startswith("polars."):
        return import_optional("polars", extra="polars", purpose="X").int_range(len(X), eager=True)
    return X.index if hasattr(X, "iloc") else None


def check_same_length(X: Any, Y: Any, *, names: tuple[str, str] = ("X", "Y")) -> None:
    """Raise ValueError unless ``X`` and ``Y`` have the same number of rows."""
    for table, name in zip((X, Y), names, strict=True):
        has_rows = hasattr(table, "shape") or hasattr(table, "__len__")
        if getattr(table, "ndim", 1) == 0 or not has_rows:
            raise ValueError(f"{name} must have one row per object, got {shown(table)}.")
    n_x, n_y = n_rows(X), n_rows(Y)
    if n_x != n_y:
        raise ValueError(
            f"{names[0]} and {names[1]} must have the same number of rows, got {n_x} and {n_y}."
            " Each row of one describes the same object as that row of the other."
        )


def check_outputs(
    outputs: Any,
    *,
    name: str = "outputs",
    n_labels: int | None = None,
    label_names: Sequence[str] | None = None,
) -> FloatArray:
    """Return a learner's outputs as an (n, q) array of numbers in [0, 1], or raise ValueError.

    The columns of a DataFrame are taken by name where ``label_names`` are given, as in
    :func:`check_label_matrix`.

    Examples
    --------
    >>> check_outputs([[0.25, 1]]).tolist()
    [[0.25, 1.0]]
    """
    outputs = outputs if label_names is None else take_by_name(outputs, label_names, name=name)
    columns = "n_labels" if n_labels is None else n_labels
    # the usual array, with nothing odd in it
    plain = type(outputs) is np.ndarray and outputs.dtype.kind in "biuf"
    given = outputs
    if not plain:
        given = as_numbers(to_host(outputs), name=name, shape=f"(n_objects, {columns})")
    if given.ndim != 2 or (n_labels is not None and given.shape[1] != n_labels):
        raise ValueError(f"{name} must have shape (n_objects, {columns}), got {given.shape}.")
    array: FloatArray = given.astype(np.float64, order="C", copy=False)
    if not (inside := (array >= 0) & (array <= 1)).all():
        raise ValueError(
            f"{name} must lie between 0 and 1, got {find_entry(~inside, array)}. Turn raw scores"
            " into probabilities first, for instance with scipy.special.expit."
        )
    return array


def check_significance(
    significance: Any,
    *,
    name: str = "significance",
    example: str = "For 95 % confidence pass significance=0.05.",
) -> Fraction:
    """Return a significance level, or any number strictly between 0 and 1, as an exact fraction.

    A float is read as the fraction with a denominator up to 10^9 that is nearest to it as printed,
    so 0.1, 1 - 0.9 and numpy.float32(0.1) are all one tenth, and comparisons with p-values are
    comparisons of integers. Levels too close to 0 or 1 for such a fraction are taken as
    printed.

    Examples
    --------
    >>> check_significance(1 - 0.9)
    Fraction(1, 10)
    """
    if not is_real(significance) or not 0 < significance < 1:
        raise ValueError(
            f"{name} must be a number strictly between 0 and 1, got {shown(significance)}."
            f" {example}"
        )
    # the shortest decimal that is this number in its own precision
    printed = Fraction(str(significance))
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
            "region takes either significance or confidence, got"
            f" {'neither' if confidence is None else both}. For 95 % confidence pass"
            " confidence=0.95, or significance=0.05, which is the same."
        )
    if confidence is not None:
        example = "For 95 % confidence pass confidence=0.95."
        return float(1 - check_significance(confidence, name="confidence", example=example))
    level = check_significance(significance)
    if level > Fraction(1, 2):
        accepted, sure = (f"{float(100 * share):g} %" for share in (level, 1 - level))
        warnings.warn(
            f"region({significance}) accepts errors for {accepted} of the objects: its confidence"
            f" is {sure}. For {accepted} confidence ask for region(confidence={float(level):g})."
            f" Where {sure} is meant, region(confidence={float(1 - level):g}) asks for it without"
            " this warning.",
            stacklevel=3,
        )
    return significance


def check_choice(value: Any, choices: tuple[str, ...], *, name: str) -> str:
    """Return ``value`` if it is one of ``choices``, else raise ValueError listing them."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}, got {shown(value)}.")
    return value


def check_number(
    value: Any, *, name: str, above: float = -np.inf, at_least: float = -np.inf
) -> float:
    """Return a finite real number within its bounds, or raise ValueError naming the parameter."""
    try:
        number = float(value) if is_real(value) else np.nan
    except OverflowError:  # a whole number beyond all floats
        number = np.inf
    if not np.isfinite(number) or number <= above or number < at_least:
        bound = f" above {above:g}" if np.isfinite(above) else ""
        bound = bound or (f" of at least {at_least:g}" if np.isfinite(at_least) else "")
        raise ValueError(f"{name} must be a finite number{bound}, got {shown(value)}.")
    return number


def check_count(value: Any, *, name: str, at_least: int = 1) -> int:
    """Return a whole number of at least ``at_least``, or raise ValueError naming the parameter."""
    if not is_whole(value) or int(value) < at_least:
        raise ValueError(
            f"{name} must be a whole number of at least {at_least}, got {shown(value)}."
        )
    return int(value)


def check_flag(value: Any, *, name: str) -> bool:
    """Return a boolean, or raise ValueError naming the parameter; a string is not a boolean."""
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
    """Whether a value is a real number; booleans and numpy's timedelta64 do not count."""
    return isinstance(value, Real) and not isinstance(value, bool | np.timedelta64)


def is_list(value: Any) -> TypeGuard[Iterable[Any]]:
    """Whether a value lists others; a text, bytes and an array without dimensions do not."""
    return (
        isinstance(value, Iterable)
        and not isinstance(value, str | bytes)
        and getattr(value, "ndim", 1) > 0
    )


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number, see :func:`is_real`."""
    return isinstance(value, Integral) and is_real(value)


def read_labels(
    Y: LabelMatrixLike, label_names: Sequence[str] | None, *, name: str = "Y"
) -> tuple[LabelMatrix, tuple[str, ...] | None]:
    """Return labels to learn from with their names: the given ones, else the columns' names.

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
    """Return outputs, labels and label names of at least one calibration example, all checked.

    Where both are DataFrames, the columns of ``outputs`` are taken in the order of those of ``Y``.
    """
    labels, names = read_labels(Y, label_names)
    checked = check_outputs(outputs, n_labels=labels.shape[1], label_names=names)
    check_same_length(checked, labels, names=("outputs", "Y"))
    if len(labels) == 0:
        raise ValueError("outputs and Y must hold at least one calibration example, got none.")
    return checked, labels, label_names_of(outputs) if names is None else names


def split_unknown(Y: LabelMatrixLike) -> tuple[Any, Any]:
    """Return a label matrix with 0 for NaN, and a mask of the NaN entries, None if there are none.

    DataFrames stay DataFrames, with the names of their columns.

    Examples
    --------
    >>> filled, unknown = split_unknown([[1.0, float("nan")], [0.0, 1.0]])
    >>> filled.tolist(), unknown.tolist()
    ([[1.0, 0.0], [0.0, 1.0]], [[False, True], [False, False]])
    """
    if Y is None or hasattr(Y, "tocsr"):  # of a sparse matrix every entry is known
        return Y, None
    try:
        array = np.asarray(Y)
        is_frame = hasattr(Y, "isna")
        missing = np.asarray(Y.isna()) if is_frame else array != array  # noqa: PLR0124 - any dtype
    except CANNOT_BE_READ:  # rows of different lengths, reported by the checks of labels
        return Y, None
    if not isinstance(missing, np.ndarray) or not missing.any():
        return Y, None
    filled = np.where(missing, 0, array)
    if not hasattr(Y, "columns"):
        return filled, missing
    if hasattr(Y, "from_arrays"):  # of pyarrow
        return tuple(
            type(Y).from_arrays(list(part.T), names=Y.column_names) for part in (filled, missing)
        )
    names = {"columns" if hasattr(Y, "iloc") else "schema": list(Y.columns)}  # of pandas, of polars
    return type(Y)(filled, **names), type(Y)(missing, **names)


def read_unknown(
    missing: Any, label_names: Sequence[str] | None, *, name: str = "y"
) -> BoolArray | None:
    """Return the mask of unknown labels, its columns in the order used by :func:`read_labels`.

    Raise ValueError where nothing is known about a label.

    Examples
    --------
    >>> read_unknown([[False, True], [False, True]], ["sea", "city"])
    Traceback (most recent call last):
    ...
    ValueError: y must have a known entry for every label, got only NaN for 'city'. Leave ...
    """
    if missing is None:
        return None
    marked, names = read_labels(missing, label_names, name=name)
    unknown: BoolArray = marked.astype(bool)
    nothing = np.flatnonzero(unknown.all(axis=0))
    if len(nothing):
        label = int(nothing[0])
        which = f"label {label}" if names is None else repr(names[label])
        raise ValueError(
            f"{name} must have a known entry for every label, got only NaN for {which}. Leave the"
            " label out."
        )
    return unknown


def check_gaps(
    Y: LabelMatrixLike, *, name: str = "Y", n_labels: int | None, label_names: Sequence[str] | None
) -> tuple[LabelMatrix, BoolArray | None]:
    """Return labels, 0 where unknown, and the mask of unknown labels, None if all are known.

    Examples
    --------
    >>> labels, unknown = check_gaps([[1.0, float("nan")]], n_labels=2, label_names=None)
    >>> labels.tolist(), unknown.tolist()
    ([[1, 0]], [[False, True]])
    """
    filled, missing = split_unknown(Y)
    labels = check_label_matrix(filled, name=name, n_labels=n_labels, label_names=label_names)
    if missing is None:
        return labels, None
    return labels, check_label_matrix(
        missing, name=name, n_labels=n_labels, label_names=label_names
    ).astype(bool)


LIBRARIES = ("pandas", "polars")


def library_of(table: Any) -> str | None:
    """Return "pandas" or "polars" for their tables, columns and indexes, None for anything else.

    Examples
    --------
    >>> library_of([[0, 1]]) is None
    True
    """
    package = type(table).__module__.partition(".")[0]
    return package if package in LIBRARIES else None


def quote(text: str, *, limit: int = 60) -> str:
    """Return ``text`` quoted for a message, cut where it is long.

    Examples
    --------
    >>> quote("abc"), quote("x" * 9, limit=5)
    ("'abc'", "'xxxxx...'")
    """
    return repr(text if len(text) <= limit else text[:limit] + "...")


def plural(number: int, noun: str) -> str:
    """Return a number with a noun, ``"2 labels"``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return a hint at the name that is most like one that is not known, if any is."""
    # its cost grows with the square
    near = get_close_matches(name, names, n=1) if len(name) < 100 else []
    return f" Did you mean {quote(near[0])}?" if near else ""

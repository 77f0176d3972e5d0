"""The entries of what a user passed: which are numbers, which are none, and where."""

from numbers import Number
from typing import Any

import numpy as np
from scipy import sparse

CANNOT_BE_READ = (TypeError, ValueError, OverflowError, RuntimeError)
"""What numpy, or a table or tensor itself, raises where it cannot become an array."""


def find_no_number(values: Any, array: np.ndarray[Any, Any]) -> str | None:
    """Return the first entry that is no real number, and where it is, or None where there is no such entry.

    Strings that look like numbers, dates, durations, complex numbers and masked entries are none; NaN is one.

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
    if array.dtype.kind != "O":  # .astype(object) would make whole numbers of dates and durations in nanoseconds
        return find_entry(np.ones(array.shape, dtype=bool), array) or f"an array of type {array.dtype}"
    wrong = [not is_number(value) for value in array.flat]
    return find_entry(np.array(wrong, dtype=bool).reshape(array.shape), array)


def _find_masked(values: Any) -> str | None:
    """Return the first entry of a masked array, or of a list of them, that is masked, or None where there is none."""
    rows = values if isinstance(values, list | tuple) else (values,)
    if not any(isinstance(row, np.ma.MaskedArray) and np.ma.is_masked(row) for row in rows):
        return None
    return f"a masked entry{_place(np.argwhere(np.ma.getmaskarray(np.ma.array(values)))[0])}"


def check_unmasked(X: Any, *, name: str = "X") -> None:
    """Raise ValueError where objects have masked entries: a learner would take what is below the mask.

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
            f"{name} must have no masked entries, got {masked}. Fill them with what they should count as, or with"
            f" numpy.nan for a classifier that takes missing values: {name}.filled(numpy.nan)."
        )


def as_array(values: Any, *, name: str, shape: str) -> np.ndarray[Any, Any]:
    """Return an array of anything without masked entries, or say what is wrong.

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
            f"{name} must be an array of shape {shape}, got a {type(values).__name__} that numpy cannot read as one"
            f" ({error})."
        ) from None


def as_numbers(values: Any, *, name: str, shape: str) -> np.ndarray[Any, Any]:
    """Return an array of real numbers in one of numpy's types, whole numbers as such, or say what is wrong.

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
            array = np.asarray(array.tolist()).reshape(array.shape)  # a list of no rows has no columns
            array = array.astype(np.float64) if array.dtype == object else array
    except CANNOT_BE_READ as error:
        problem = f" that numpy cannot read as one ({error})"
    if problem:
        raise ValueError(
            f"{name} must be a dense array of numbers of shape {shape}, got a {type(values).__name__}{problem}."
        )
    return array


def is_number(value: Any) -> bool:
    """Tell whether a value is a real number or a boolean, of Python or of numpy; for numpy a duration is a number."""
    return isinstance(value, Number | np.bool_) and not isinstance(value, complex | np.complexfloating | np.timedelta64)


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

"""Tables of pandas and polars: which one a table is of, and making either from columns."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from labelsure._core.optional import import_optional
from labelsure._core.validation import check_choice

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


def choose_library(library: str | None, index: Any) -> str:
    """Return the library asked for: by name or, for None, the one that the objects came in, else pandas."""
    return library_of(index) or "pandas" if library is None else check_choice(library, LIBRARIES, name="library")


def name_columns(label_names: Sequence[str], taken: Mapping[str, Any], prefix: str) -> list[str]:
    """Return what the columns of labels are called, or raise ValueError where a column of that name is there already.

    Examples
    --------
    >>> name_columns(["sea", "size"], {"size": [3]}, "")
    Traceback (most recent call last):
    ...
    ValueError: to_frame has a column 'size' of its own beside that of the label. Pass prefix="label_" ...
    """
    columns = [prefix + name for name in label_names]
    clashes = [column for column in columns if column in taken]
    if clashes:
        raise ValueError(
            f"to_frame has a column {clashes[0]!r} of its own beside that of the label."
            ' Pass prefix="label_" to put this before the names of all labels.'
        )
    return columns


def make_frame(columns: Mapping[str, Any], *, index: Any = None, library: str | None = None) -> Any:
    """Return a DataFrame of pandas or polars, one row per object.

    Parameters
    ----------
    columns : mapping of names to arrays of shape (n,)
        In order.
    index : pandas index, polars Series or None
        What the objects are called. Where polars is asked for, a pandas index becomes the first columns.
    library : {"pandas", "polars"} or None
        None: the one of the index, else pandas.

    Examples
    --------
    >>> print(make_frame({"sea": [1, 0]}))
       sea
    0    1
    1    0
    """
    if choose_library(library, index) == "pandas":
        pandas = import_optional("pandas", extra="pandas", purpose="to_frame")
        return pandas.DataFrame(dict(columns), index=None if library_of(index) == "polars" else index)
    polars = import_optional("polars", extra="polars", purpose="to_frame")
    names = {} if index is None or library_of(index) == "polars" else _columns_of_index(index, columns)
    # lists of texts, because polars reads arrays of objects as Python objects
    return polars.DataFrame({**names, **{name: _plain(values) for name, values in columns.items()}})


def make_long_frame(
    tables: Mapping[str, Any], *, label_names: Sequence[str], index: Any = None, library: str | None = None
) -> Any:
    """Return a DataFrame with one row per object and label, from tables of shape (n, q).

    Of pandas it is indexed by object and label, of polars these are its first columns.

    Examples
    --------
    >>> print(make_long_frame({"value": np.array([[1, 0]])}, label_names=["sea", "city"]))
                  value
    object label
    0      sea        1
           city       0
    """
    n, q = next(iter(tables.values())).shape
    columns = {name: table.reshape(n * q) for name, table in tables.items()}
    keys = _columns_of_index(index, {"label": None, **columns}, n)
    keys = {name: np.repeat(np.asarray(values), q) for name, values in keys.items()}
    keys["label"] = np.array(list(label_names) * n, dtype=object)
    if choose_library(library, index) == "polars":
        return make_frame({**keys, **columns}, library="polars")
    pandas = import_optional("pandas", extra="pandas", purpose="to_frame")
    rows = pandas.MultiIndex.from_arrays(list(keys.values()), names=list(keys))
    return pandas.DataFrame(columns, index=rows)


def _columns_of_index(index: Any, taken: Mapping[str, Any], n: int = 0) -> dict[str, Any]:
    """Return an index as columns, called as its levels are or, where they have no name of their own, "object".

    Where a label is called so, it is "object_", so that neither column is lost.
    """
    unnamed = "object"
    while unnamed in taken:
        unnamed += "_"
    if not hasattr(index, "get_level_values"):
        return {unnamed: np.arange(n) if index is None else index}
    if index.nlevels > 1:
        unnamed = "object_{}"
    names = [unnamed.format(level) if name in (None, *taken) else str(name) for level, name in enumerate(index.names)]
    return {name: index.get_level_values(level) for level, name in enumerate(names)}


def _plain(values: Any) -> Any:
    array = np.asarray(values)
    return array.tolist() if array.dtype == object else array

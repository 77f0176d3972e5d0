"""Answers as tables, and names of labels: one entry per object, or one per object and label."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from labelsure._checks import (
    LIBRARIES,
    BoolArray,
    FloatArray,
    IntArray,
    check_choice,
    library_of,
    shown,
)
from labelsure._errors import import_optional

LAYOUTS = ("wide", "long")


class RepeatedValues(NamedTuple):
    """A column by its different values, and which of them each row has.

    Attributes
    ----------
    values : list
        Each value once.
    places : int array of shape (n,)
        Where among them the value of each row is; -1 where a row has none.

    Examples
    --------
    >>> RepeatedValues([("sea",), ("sea", "city")], np.array([0, 1, 0, -1])).to_list()
    [('sea',), ('sea', 'city'), ('sea',), None]
    """

    values: list[Any]
    places: IntArray

    def to_list(self) -> list[Any]:
        """Return the value of each row, None where it has none."""
        values = [*self.values, None]  # -1 is the last
        return [values[place] for place in self.places.tolist()]


def repeat_labels(label_names: Sequence[str], chosen: BoolArray) -> RepeatedValues:
    """Return the names of the labels that are chosen for each object, (n, q) -> n tuples.

    Examples
    --------
    >>> chosen = np.array([[True, False], [True, True], [True, False]])
    >>> repeat_labels(["sea", "city"], chosen).values
    [('sea',), ('sea', 'city')]
    """
    packed = np.packbits(chosen, axis=1)
    known: dict[bytes, int] = {}
    keys = packed.view(f"V{packed.shape[1]}")[:, 0].tolist()
    places = np.array([known.setdefault(key, len(known)) for key in keys], dtype=np.int64)
    first = np.zeros(len(known), dtype=np.int64)
    first[places[::-1]] = np.arange(len(keys))[::-1]
    names = np.array(label_names, dtype=object)
    return RepeatedValues([tuple(names[chosen[i]].tolist()) for i in first], places)


def name_labels(label_names: Sequence[str], chosen: BoolArray) -> list[tuple[str, ...]]:
    """Return the names of the labels that are chosen for each object, (n, q) -> n tuples.

    Objects with the same labels share one.

    Examples
    --------
    >>> name_labels(["sea", "city"], np.array([[True, False], [True, True]]))
    [('sea',), ('sea', 'city')]
    """
    return repeat_labels(label_names, chosen).to_list()


def describe_labels(possible: BoolArray, *, neither: str) -> np.ndarray[Any, Any]:
    """Return what is said about labels that may be off and may be on, (n, q, 2) -> (n, q)."""
    words = np.array([[neither, "sure"], ["ruled out", "possible"]], dtype=object)
    off, on = np.moveaxis(possible.astype(int), 2, 0)
    described: np.ndarray[Any, Any] = words[off, on]
    return described


def choose_library(library: str | None, index: Any) -> str:
    """Return the library by name or, for None, the one that the objects came in, else pandas."""
    if library is None:
        return library_of(index) or "pandas"
    return check_choice(library, LIBRARIES, name="library")


def name_columns(label_names: Sequence[str], taken: Mapping[str, Any], prefix: str) -> list[str]:
    """Return the column names of labels, or raise ValueError where a column has that name.

    Examples
    --------
    >>> name_columns(["sea", "size"], {"size": [3]}, "")
    Traceback (most recent call last):
    ...
    ValueError: to_frame has a column 'size' of its own beside that of the label. Pass
    prefix="label_" ...
    """
    if not isinstance(prefix, str):
        raise ValueError(
            f"prefix must be a text to put before the names of labels, got {shown(prefix)}."
        )
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
        What the objects are called. For polars, a pandas index becomes the first
        columns.
    library : {"pandas", "polars"} or None
        None: the one of the index, else pandas.

    Examples
    --------
    >>> print(make_frame({"sea": [1, 0]}))
       sea
    0    1
    1    0
    """
    numbered = library_of(index) == "polars"
    if choose_library(library, index) == "pandas":
        pandas = import_optional("pandas", extra="pandas", purpose="to_frame")
        return pandas.DataFrame(dict(columns), index=None if numbered else index)
    polars = import_optional("polars", extra="polars", purpose="to_frame")
    names = {} if index is None or numbered else _columns_of_index(index, columns)
    # lists of texts, because polars reads arrays of objects as Python objects
    return polars.DataFrame({**names, **{name: _plain(values) for name, values in columns.items()}})


def make_long_frame(
    tables: Mapping[str, Any],
    *,
    label_names: Sequence[str],
    index: Any = None,
    library: str | None = None,
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
    """Return an index as columns, named like its levels; a level without a name is "object".

    Where a label is called so, it is "object_", so that neither column is lost.
    """
    unnamed = "object"
    while unnamed in taken:
        unnamed += "_"
    if not hasattr(index, "get_level_values"):
        return {unnamed: np.arange(n) if index is None else index}
    if index.nlevels > 1:
        unnamed = "object_{}"
    names = [
        unnamed.format(level) if name in (None, *taken) else str(name)
        for level, name in enumerate(index.names)
    ]
    return {name: index.get_level_values(level) for level, name in enumerate(names)}


def _plain(values: Any) -> Any:
    array = np.asarray(values)
    return array.tolist() if array.dtype == object else array


def frame_of_labels(
    source: Any,
    cells: np.ndarray[Any, Any],
    called: str,
    layout: str,
    prefix: str,
    library: str | None,
    *,
    p_values: Callable[[], FloatArray],
    figures: Callable[[], Mapping[str, Any]] = dict,
) -> Any:
    """Return a DataFrame of what is said about each label of each object.

    Parameters
    ----------
    source : predictions or region
        With the ``label_names`` and the ``index`` of its objects.
    cells : array of shape (n, q)
        What is said.
    called : str
        What the column of cells is called in a long table.
    layout, prefix, library
        As users give them: "wide" or "long", what is put before the names of labels, and "pandas",
        "polars" or None for what the objects came in.
    p_values : callable
        Returns those of "off" and "on", shape (n, q, 2), for a long table.
    figures : callable
        Returns further columns of a wide table, one entry per object.
    """
    if check_choice(layout, LAYOUTS, name="layout") == "wide":
        more = figures()
        columns = dict(zip(name_columns(source.label_names, more, prefix), cells.T, strict=True))
        return make_frame({**columns, **more}, index=source.index, library=library)
    of_values = p_values()
    tables = {"p_off": of_values[:, :, 0], "p_on": of_values[:, :, 1], called: cells}
    names = name_columns(source.label_names, {}, prefix)
    return make_long_frame(tables, label_names=names, index=source.index, library=library)

"""Answers as a table of the kind that the objects came in."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from labelsure._core.optional import import_optional
from labelsure.datasets import table_library
from labelsure.predictions import RepeatedValues

TEXT = "string"
SPARK = {"labels": "array<string>", "number": "double", "count": "bigint", "large count": "double", "text": "string"}


def import_arrow() -> Any:
    """Return pyarrow, or say how to install it."""
    return import_optional("pyarrow", extra="cli", purpose="Batches of tables")


def arrow_schema(kinds: Mapping[str, Any]) -> Any:
    """Return the schema of pyarrow of a table of answers.

    Parameters
    ----------
    kinds : mapping
        What each column is, as in :attr:`AnswerColumns.kinds`, or its type.
    """
    pa = import_arrow()
    known = {
        "labels": pa.list_(pa.string()),
        "number": pa.float64(),
        "count": pa.int64(),
        "large count": pa.float64(),
        "text": pa.string(),
    }
    return pa.schema([(name, known[kind] if isinstance(kind, str) else kind) for name, kind in kinds.items()])


def arrow_table(columns: Mapping[str, Any], kinds: Mapping[str, Any]) -> Any:
    """Return columns as a table of pyarrow.

    Parameters
    ----------
    columns : mapping
        As :meth:`AnswerColumns.of` returns them; others as arrays.
    kinds : mapping
        As in :func:`arrow_schema`.
    """
    pa, schema = import_arrow(), arrow_schema(kinds)
    return pa.table([_arrow_column(pa, columns[field.name], field.type) for field in schema], schema=schema)


def _arrow_column(pa: Any, cells: Any, kind: Any) -> Any:
    if isinstance(cells, RepeatedValues):
        return pa.array(cells.values, kind).take(pa.array(cells.places, mask=cells.places < 0))
    return pa.array(cells, kind, from_pandas=True) if isinstance(cells, np.ndarray) else cells


def pandas_table(columns: Mapping[str, Any], kinds: Mapping[str, Any], index: Any = None) -> Any:
    """Return columns as a DataFrame of pandas: labels as tuples of names, which rows may share."""
    pandas = import_optional("pandas", extra="pandas", purpose="A table of pandas")
    found = {name: _pandas_column(pandas, name, columns[name], kind) for name, kind in kinds.items()}
    rows = range(len(next(iter(found.values())))) if index is None else index
    return pandas.DataFrame(found, index=rows, columns=list(found))


def _pandas_column(pandas: Any, name: str, cells: Any, kind: Any) -> Any:
    """Return one column as an array, of the same type whatever is in it."""
    texts = pandas.Series(["a"]).dtype  # str from pandas 3 on, object before
    if isinstance(cells, RepeatedValues):
        values = np.empty(len(cells.values) + 1, dtype=object)  # the last is None
        values[:-1] = cells.values
        found = values[cells.places]
        return pandas.array(found, dtype=texts) if kind == "text" else found
    if isinstance(cells, np.ndarray):
        return cells
    expected = kind.to_pandas_dtype() if str(kind) != TEXT else None
    if expected is None:
        return pandas.array(np.array(cells.to_pylist(), dtype=object), dtype=texts)
    if cells.null_count and np.dtype(expected).kind in "iub":
        raise ValueError(
            f"the column {name!r} to keep has {cells.null_count} empty cells, which pandas does not know for {kind}."
            f" Keep it as a float, {{{name!r}: 'float64'}}, or as text."
        )
    return cells.to_pandas().array


def make_table(like: Any, columns: Mapping[str, Any], kinds: Mapping[str, Any]) -> Any:
    """Return columns as a table of the kind of another, with its index; of pandas, for arrays."""
    library = table_library(like)
    if library in (None, "pandas"):
        return pandas_table(columns, kinds, None if library is None else like.index)
    table = arrow_table(columns, kinds)
    if library == "polars":
        return import_optional("polars", extra="polars", purpose="A table of polars").from_arrow(table)
    if hasattr(like, "to_batches"):
        return table
    return table.to_batches()[0] if table.num_rows else import_arrow().RecordBatch.from_pylist([], schema=table.schema)


def spark_types(kinds: Mapping[str, Any]) -> str:
    """Return columns in the words of Spark's SQL."""
    words = {name: SPARK[kind] if isinstance(kind, str) else _spark_word(kind) for name, kind in kinds.items()}
    return ", ".join(f"`{name}` {word}" for name, word in words.items())


def _spark_word(kind: Any) -> str:
    known = {
        "string": "string", "bool": "boolean", "double": "double", "float": "float", "int64": "bigint", "int32": "int",
        "int16": "smallint", "int8": "tinyint", "date32[day]": "date", "timestamp[us]": "timestamp_ntz",
        "binary": "binary",
    }  # fmt: skip
    if str(kind) not in known:
        raise ValueError(f"Spark has no type for columns of {kind}. Keep them as one of {', '.join(known)}.")
    return known[str(kind)]

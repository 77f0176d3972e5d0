"""Tables that are in memory already: DataFrames of pandas and polars, tables and record batches of pyarrow."""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from labelsure._core.frames import library_of
from labelsure._core.optional import import_optional
from labelsure.datasets._arrow_files import check_names, cut_batches
from labelsure.datasets._errors import DatasetError
from labelsure.datasets._raw import ArrowBatch, TableFile

HERE = Path("the table")


def table_library(table: Any) -> str | None:
    """Return "pandas", "polars" or "pyarrow" for their tables, None for anything else.

    Examples
    --------
    >>> table_library([[0, 1]]) is None
    True
    """
    if not hasattr(table, "columns"):
        return None
    return "pyarrow" if type(table).__module__.startswith("pyarrow.") else library_of(table)


def names_of_columns(table: Any) -> tuple[str, ...]:
    """Return the names of a table's columns as texts."""
    names = table.schema.names if table_library(table) == "pyarrow" else table.columns
    return tuple(str(name) for name in names)


def as_arrow(table: Any, names: Sequence[str]) -> Any:
    """Return some columns of a table as a table of pyarrow.

    Parameters
    ----------
    table : DataFrame of pandas or polars, table or record batch of pyarrow
        The table.
    names : sequence of str
        Columns, each of which it has.

    Raises
    ------
    DatasetError
        Where cells of a column are of several types.
    """
    pa = import_optional("pyarrow", extra="tables", purpose="A table in memory")
    library, places = table_library(table), [names_of_columns(table).index(name) for name in names]
    if library == "pyarrow":
        return pa.table([table.column(place) for place in places], names=list(names))
    if library == "polars":
        return table[:, places].to_arrow()
    columns = table.iloc[:, places].set_axis(list(names), axis=1)
    try:
        return pa.Table.from_pandas(columns, preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        said = " ".join(map(str, error.args))
        raise DatasetError(
            f"{HERE} has a column whose cells are of several types ({said}). Make them of one."
        ) from None


class MemoryTable(TableFile):
    """A table in memory, read as if it were a file."""

    endings = ()

    def __init__(self, table: Any) -> None:
        self.path, self.kinds, self._table = HERE, {}, table
        self.names, self.n_rows = names_of_columns(table), len(table)
        check_names(self.path, self.names)

    def batches(self, names: Collection[str], size: int) -> Iterator[ArrowBatch]:
        """Yield all rows, ``size`` at a time and then the rest."""
        pa = import_optional("pyarrow", extra="tables", purpose="A table in memory")
        found = as_arrow(self._table, [name for name in self.names if name in names])
        yield from cut_batches(pa, found.to_batches(), size)

"""CSV and Parquet, read by pyarrow in record batches: memory does not grow with the file."""

import csv
import re
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from labelsure._core.optional import import_optional
from labelsure.datasets._errors import DatasetError, shown
from labelsure.datasets._files import check_encoding, reading
from labelsure.datasets._raw import ArrowBatch, TableFile

DELIMITERS = (",", ";", "\t", "|")
BLOCK_BYTES = 2**20
LONGEST_CELL = 2**17
"""Characters of a cell that the csv module reads by default; a longer one is a quote that never ends."""


def import_arrow(module: str, path: Path) -> Any:
    """Return a module of pyarrow, or say how to install it."""
    try:
        return import_optional(module, extra="tables", purpose=f"Reading {path.name}")
    except ImportError as error:
        raise DatasetError(str(error)) from error


class CsvFile(TableFile):
    """A text file with a line of names, then a line per row; every cell is read as text and converted afterwards."""

    endings = (".csv", ".tsv")

    def __init__(self, path: Path) -> None:
        self.path, self.kinds = path, {}
        self._csv = import_arrow("pyarrow.csv", path)
        check_encoding(path)
        with reading(path), path.expanduser().open(encoding="utf-8-sig", newline="") as file:
            try:
                first = file.readline()
                delimiter = "\t" if path.suffix.lower() == ".tsv" else _delimiter_of(first)
                file.seek(0)
                reader = csv.reader(file, delimiter=delimiter)
                self.names = tuple(check_cells(next(reader, [])))
            except UnicodeDecodeError:
                raise DatasetError(f"{path} {NOT_UTF8}") from None
            except csv.Error as error:
                raise DatasetError(f"{path}, line 1: names of columns cannot be read ({error}). {QUOTES}") from None
        self._delimiter, self._header_lines = delimiter, reader.line_num  # names may have line breaks in them
        if not first.strip():
            raise DatasetError(
                f"{path} {'begins with a blank line' if first else 'is empty'}: expected names of columns."
            )
        check_names(path, self.names)

    def batches(self, names: Collection[str], size: int) -> Iterator[ArrowBatch]:
        """Yield all rows, ``size`` at a time and then the rest."""
        pa, options = import_arrow("pyarrow", self.path), self._csv
        with self._parsing():
            reader = options.open_csv(
                str(self.path.expanduser()),
                read_options=options.ReadOptions(
                    block_size=BLOCK_BYTES, column_names=list(self.names), skip_rows=self._header_lines
                ),
                parse_options=options.ParseOptions(delimiter=self._delimiter, newlines_in_values=True),
                convert_options=options.ConvertOptions(
                    column_types=dict.fromkeys(self.names, pa.string()),
                    include_columns=[name for name in self.names if name in names],
                    strings_can_be_null=False,
                ),
            )
            yield from cut_batches(pa, reader, size)

    @contextmanager
    def _parsing(self) -> Iterator[None]:
        import pyarrow as pa

        try:
            with reading(self.path):
                yield
        except DatasetError as error:
            cause = error.__cause__
            if not isinstance(cause, pa.ArrowInvalid):
                raise
            if "UTF8" in str(cause):
                raise DatasetError(f"{self.path} {NOT_UTF8}") from None
            if "Empty CSV" in str(cause):  # no rows: nothing to yield
                return
            raise DatasetError(self._what_is_wrong(str(cause))) from None

    def _what_is_wrong(self, said: str) -> str:
        """Find the line that is too long, or the row with too many cells or too few, which pyarrow does not tell."""
        if "straddl" in said:
            return self._what_is_too_long()
        with suppress(csv.Error), self.path.expanduser().open(encoding="utf-8-sig", newline="") as file:
            rows = csv.reader(file, delimiter=self._delimiter)
            for number, row in enumerate(map(check_cells, rows)):
                if row and len(row) != len(self.names):
                    return (
                        f"{self.path}, row {number} (line {rows.line_num}): expected {len(self.names)} cells, one per"
                        f" column, got {len(row)}. Quote cells that hold the delimiter {self._delimiter!r}."
                    )
        return f"{self.path} cannot be read as CSV: {said[:MOST_SAID]}. {QUOTES}"

    def _what_is_too_long(self) -> str:
        limit = f"{BLOCK_BYTES // 10**6} MB"
        with self.path.expanduser().open("rb") as file:
            for number, line in enumerate(file, start=1):
                if len(line) > BLOCK_BYTES:
                    return (
                        f"{self.path}, line {number}: expected a row of at most {limit}, got {len(line) / 1e6:.1f} MB."
                        " Shorten its cells, or save the table as Parquet."
                    )
        return f"{self.path}: a row is longer than {limit}, so a quote may have no end. {QUOTES}"


class ParquetFile(TableFile):
    """A Parquet file, whose columns have types of their own."""

    endings = (".parquet", ".pq")

    def __init__(self, path: Path) -> None:
        self.path = path
        parquet, pa = import_arrow("pyarrow.parquet", path), import_arrow("pyarrow", path)
        with reading(path):
            try:
                self._file = parquet.ParquetFile(path.expanduser(), pre_buffer=False)  # else all that was read stays
            except pa.ArrowInvalid as error:
                raise DatasetError(
                    f"{path} is not a whole Parquet file ({str(error).splitlines()[0]}). Get it again."
                ) from error
        schema = self._file.schema_arrow
        self.names, self.n_rows = tuple(schema.names), self._file.metadata.num_rows
        check_names(path, self.names)
        self.kinds = {field.name: _kind_of(pa.types, field.type) for field in schema}

    def batches(self, names: Collection[str], size: int) -> Iterator[ArrowBatch]:
        """Yield all rows, ``size`` at a time and then the rest."""
        pa = import_arrow("pyarrow", self.path)
        columns = [name for name in self.names if name in names]
        with reading(self.path):
            yield from cut_batches(pa, self._file.iter_batches(batch_size=size, columns=columns), size)


MOST_SAID = 200
QUOTES = "Check its quotes and delimiters."
NOT_UTF8 = "is not in UTF-8. Save it in that encoding, for example with: iconv -f latin1 -t utf-8"


def check_cells(row: list[str]) -> list[str]:
    """Raise csv.Error where a cell is too long: other packages raise the csv module's own limit for the process."""
    if max(map(len, row), default=0) > LONGEST_CELL:
        raise csv.Error(f"field larger than field limit ({LONGEST_CELL})")
    return row


def check_names(path: Path, names: tuple[str, ...]) -> None:
    """Raise DatasetError where columns have no name, or share one."""
    counts = Counter(names)
    for number, name in enumerate(names, start=1):
        if not name.strip():
            raise DatasetError(f"{path}, column {number}: the column has no name. Name every column.")
        if counts[name] > 1:
            raise DatasetError(f"{path}: two columns are called {shown(name)}. Rename one of them.")


def cut_batches(pa: Any, batches: Any, size: int) -> Iterator[ArrowBatch]:
    """Yield record batches of whatever lengths as batches of ``size`` rows, and the rest."""
    waiting: list[Any] = []
    n_waiting = start = 0
    for batch in batches:
        waiting.append(batch)
        n_waiting += batch.num_rows
        if n_waiting >= size:
            table, place = pa.Table.from_batches(waiting), 0
            while n_waiting - place >= size:
                yield ArrowBatch(start, table.slice(place, size))
                place, start = place + size, start + size
            waiting, n_waiting = table.slice(place).to_batches(), n_waiting - place
    if n_waiting:
        yield ArrowBatch(start, pa.Table.from_batches(waiting))


def _delimiter_of(line: str) -> str:
    """Return what separates the names in the first line: the usual delimiter that is there most often, outside quotes.

    Examples
    --------
    >>> _delimiter_of('"a, b, c";place, town;size')
    ';'
    """
    return max(DELIMITERS, key=re.sub('"[^"]*"', "", line).count)


def _kind_of(types: Any, kind: Any) -> str:
    """Return how a column of a type is read, or the sentence that says why it is not."""
    if types.is_dictionary(kind):
        return _kind_of(types, kind.value_type) if not types.is_integer(kind.value_type) else "categorical"
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_null(kind):
        return "numeric"
    if types.is_string(kind) or types.is_large_string(kind) or types.is_boolean(kind) or types.is_string_view(kind):
        return "categorical"
    if types.is_temporal(kind):
        return "dates"
    return f"cells of type {kind}"

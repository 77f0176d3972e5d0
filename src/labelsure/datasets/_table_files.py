"""Tables in CSV, Parquet, ARFF and libsvm, and in memory, read in batches without a schema."""

import codecs
import csv
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from io import BytesIO, StringIO
from itertools import islice
from os import PathLike, fspath
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from labelsure._checks import library_of, quote
from labelsure._errors import DatasetError, import_optional
from labelsure.datasets._arff import ArffReader
from labelsure.datasets._cells import Cells
from labelsure.datasets._files import check_encoding, reading

PathLikeText: TypeAlias = str | PathLike[str]
DELIMITERS = (",", ";", "\t", "|")
BLOCK_BYTES = 2**20
LONGEST_NAME = 2**17
"""The longest cell that the csv module reads by default; longer ones are unclosed quotes."""
ROWS_LOOKED_AT = 10_000
LABELS, FEATURE = "labels", "f"
"""The name of libsvm's column of labels, and the prefix of its numbered features."""
NOT_UTF8 = "is not in UTF-8. Save it in that encoding, for example with: iconv -f latin1 -t utf-8"


@dataclass(eq=False)
class ArrowBatch:
    """Some rows of a table of pyarrow that follow each other; ``start`` rows come before them."""

    start: int
    table: Any

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.table.num_rows)

    def column(self, name: str) -> Cells:
        """Return the cells of one column as an array of pyarrow."""
        return self.table.column(name).combine_chunks()


@dataclass(eq=False)
class MatrixBatch:
    """Rows of numbers, an array or a csr matrix, which stand for words in some columns."""

    start: int
    matrix: Any
    places: Mapping[str, int]  # the column of the matrix that has each name
    words: Mapping[str, Mapping[float, str]] = field(default_factory=dict)
    labels: Any = None  # a further column, of texts

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.matrix.shape[0])

    def column(self, name: str) -> Cells:
        """Return the cells of a column as numbers or words; zeros if a libsvm file lacks it."""
        if name not in self.places:
            return self.labels if name == LABELS else np.zeros(self.n_rows)
        cells = self.matrix[:, [self.places[name]]]
        values = (cells.toarray() if sparse.issparse(cells) else cells).ravel()
        if name not in self.words:
            return values
        return np.array([self.words[name].get(value) for value in values.tolist()], dtype=object)


Batch: TypeAlias = ArrowBatch | MatrixBatch


class TableFile:
    """A table that is read in batches."""

    endings: ClassVar[tuple[str, ...]] = ()
    path: Path
    names: tuple[str, ...]
    kinds: Mapping[str, str]  # how columns are read, or why not; others are inferred
    n_rows: int | None = None  # where that is known beforehand
    sparse: bool = False

    def batches(self, names: Collection[str], size: int) -> Iterator[Batch]:
        """Yield all rows, ``size`` at a time and then the rest, with at least the columns named."""
        raise NotImplementedError


class CsvFile(TableFile):
    """A text file with a header line; cells are read as text and converted afterwards."""

    endings = (".csv", ".tsv")

    def __init__(self, path: Path) -> None:
        self.path, self.kinds = path, {}
        _import_arrow("pyarrow.csv", path)
        check_encoding(path)
        with reading(path), path.expanduser().open(encoding="utf-8-sig", newline="") as file:
            try:
                head = StringIO(file.read(BLOCK_BYTES), newline="")
            except UnicodeDecodeError:
                raise DatasetError(f"{path} {NOT_UTF8}") from None
        first = head.readline()
        if not first.strip():
            raise DatasetError(
                f"{path} {'begins with a blank line' if first else 'is empty'}: expected names of"
                " columns."
            )
        unquoted = re.sub('"[^"]*"', "", first)
        is_tsv = path.suffix.lower() == ".tsv"
        self._delimiter = "\t" if is_tsv else max(DELIMITERS, key=unquoted.count)
        head.seek(0)
        reader = csv.reader(head, delimiter=self._delimiter)
        names: list[str] = []
        with suppress(csv.Error):
            names = next(reader)
        if not names or max(map(len, names)) > LONGEST_NAME:
            raise DatasetError(
                f"{path}, line 1: names of columns cannot be read. Check quotes and delimiters."
            )
        self.names = tuple(names)
        self._header_lines = reader.line_num  # names may have line breaks in them
        _check_column_names(path, self.names)

    def batches(self, names: Collection[str], size: int) -> Iterator[ArrowBatch]:
        import pyarrow as pa
        from pyarrow import csv as options

        wrong: list[Any] = []

        def stop_at(row: Any) -> str:
            wrong.append(row)
            return "error"

        with reading(self.path):
            try:
                reader = options.open_csv(
                    str(self.path.expanduser()),
                    read_options=options.ReadOptions(
                        block_size=BLOCK_BYTES,
                        column_names=list(self.names),
                        skip_rows=self._header_lines,
                        use_threads=False,  # threads do not know the number of a wrong row
                    ),
                    parse_options=options.ParseOptions(
                        delimiter=self._delimiter,
                        newlines_in_values=True,
                        invalid_row_handler=stop_at,
                    ),
                    convert_options=options.ConvertOptions(
                        column_types=dict.fromkeys(self.names, pa.string()),
                        include_columns=[name for name in self.names if name in names],
                        strings_can_be_null=False,
                    ),
                )
                yield from _cut_batches(reader, size)
            except pa.ArrowInvalid as error:
                if "Empty CSV" not in str(error):  # no rows: nothing to yield
                    raise DatasetError(self._explain(str(error), wrong)) from None

    def _explain(self, said: str, wrong: Sequence[Any]) -> str:
        """Return a message for an error of pyarrow, given the malformed row if there is one."""
        if "UTF8" in said:
            return f"{self.path} {NOT_UTF8}"
        for row in wrong:
            return (
                f"{self.path}, row {row.number - self._header_lines}: expected {len(self.names)}"
                f" cells, one per column, got {row.actual_columns} in {quote(row.text)}. Quote"
                f" cells with the delimiter {self._delimiter!r}."
            )
        if "straddl" not in said:
            return (
                f"{self.path} cannot be read as CSV: {said[:200]}. Check its quotes and delimiters."
            )
        with self.path.expanduser().open("rb") as file:
            long = (number for number, text in enumerate(file, 1) if len(text) > BLOCK_BYTES)
            line = "".join(f", line {number}" for number in islice(long, 1))
        return (
            f"{self.path}{line}: a row is longer than {BLOCK_BYTES // 10**6} MB, or a quote has no"
            " end. Shorten its cells, check its quotes, or save the table as Parquet."
        )


class ParquetFile(TableFile):
    """A Parquet file, whose columns have types of their own."""

    endings = (".parquet", ".pq")

    def __init__(self, path: Path) -> None:
        self.path = path
        parquet, pa = _import_arrow("pyarrow.parquet", path), _import_arrow("pyarrow", path)
        with reading(path):
            try:
                # with pre_buffer all that was read stays in memory
                self._file = parquet.ParquetFile(path.expanduser(), pre_buffer=False)
            except pa.ArrowInvalid as error:
                said = str(error).splitlines()[0]
                raise DatasetError(
                    f"{path} is not a whole Parquet file ({said}). Get it again."
                ) from error
        schema = self._file.schema_arrow
        self.names, self.n_rows = tuple(schema.names), self._file.metadata.num_rows
        _check_column_names(path, self.names)
        self.kinds = {field.name: _kind_of(pa.types, field.type) for field in schema}

    def batches(self, names: Collection[str], size: int) -> Iterator[ArrowBatch]:
        columns = [name for name in self.names if name in names]
        with reading(self.path):
            yield from _cut_batches(self._file.iter_batches(batch_size=size, columns=columns), size)


class ArffFile(TableFile):
    """An ARFF file, dense or sparse; its labels are zeros and ones in columns like any other."""

    endings = (".arff",)

    def __init__(self, path: Path) -> None:
        self.path, self._reader = path, ArffReader(path)
        self.sparse, attributes = self._reader.is_sparse, self._reader.attributes
        self.names = tuple(attribute.name for attribute in attributes)
        self._words = {
            attribute.name: {code: value for value, code in attribute.codes.items()}
            for attribute in attributes
            if attribute.codes and not attribute.is_binary
        }
        self.kinds = dict.fromkeys(self.names, "numeric") | dict.fromkeys(
            self._words, "categorical"
        )

    def batches(self, names: Collection[str], size: int) -> Iterator[MatrixBatch]:  # noqa: ARG002
        places = {name: place for place, name in enumerate(self.names)}
        start = 0
        for lines, matrix in self._reader.batches(size):
            cells = matrix if self.sparse else matrix.toarray()
            yield MatrixBatch(start, cells, places, self._words)
            start += len(lines)


class LibsvmFile(TableFile):
    """A file in libsvm's multi-label format: ``label,label index:value index:value ...``."""

    endings = (".svm", ".libsvm", ".svmlight")
    sparse = True

    def __init__(self, path: Path) -> None:
        check_encoding(path)
        self.path = path
        used: set[int] = set()  # indices may be hashes: not all numbers up to the largest one
        for _, matrix, _ in self._parse_rows(ROWS_LOOKED_AT):
            used.update(matrix.indices.tolist())
        self._indices = sorted(used)
        self.names = (LABELS, *(FEATURE + str(index) for index in self._indices))
        self.kinds = dict.fromkeys(self.names[1:], "numeric")

    def batches(self, names: Collection[str], size: int) -> Iterator[MatrixBatch]:  # noqa: ARG002
        places = {name: place for place, name in enumerate(self.names[1:])}
        for start, matrix, labels in self._parse_rows(size):
            columns = np.searchsorted(self._indices, matrix.indices)
            shape = (matrix.shape[0], len(self._indices))
            cells = [",".join(f"{label:.15g}" for label in row) or None for row in labels]
            narrow = sparse.csr_matrix((matrix.data, columns, matrix.indptr), shape=shape)
            yield MatrixBatch(start, narrow, places, labels=np.array(cells, dtype=object))

    def _parse_rows(self, size: int) -> Iterator[tuple[int, Any, Any]]:
        start = 0
        with reading(self.path), self.path.expanduser().open("rb") as file:
            rows = (line for line in file if line.partition(b"#")[0].strip())
            while lines := list(islice(rows, size)):
                yield start, *self._parse(start, lines)
                start += len(lines)

    def _parse(self, start: int, lines: list[bytes]) -> tuple[Any, Any]:
        text = BytesIO(b"".join(lines).removeprefix(codecs.BOM_UTF8))
        try:
            matrix, labels = load_svmlight_file(text, multilabel=True, zero_based=True)
        except (ValueError, OverflowError) as error:
            for place, line in enumerate(lines if len(lines) > 1 else ()):
                self._parse(start + place, [line])  # the first wrong row raises
            raise DatasetError(
                f"{self.path}, row {start + 1}: {error}. Expected numbers of labels separated by"
                " commas, then index:value with ascending indices. Correct the row."
            ) from error
        matrix.eliminate_zeros()
        return matrix, labels


class MemoryTable(TableFile):
    """A table of pandas, polars or pyarrow, read like a file."""

    def __init__(self, table: Any) -> None:
        self.path = Path("the table")
        self.kinds = {}
        self._table = table
        self.names, self.n_rows = names_of_columns(table), len(table)
        _check_column_names(self.path, self.names)

    def batches(self, names: Collection[str], size: int) -> Iterator[ArrowBatch]:
        found = as_arrow(self._table, [name for name in self.names if name in names])
        yield from _cut_batches(found.to_batches(), size)


TABLE_FILES: tuple[type[Any], ...] = (CsvFile, ParquetFile, ArffFile, LibsvmFile)
ENDINGS = tuple(ending for kind in TABLE_FILES for ending in kind.endings)


def open_file(path: PathLikeText) -> TableFile:
    """Return the file behind a path, by its ending."""
    found = Path(fspath(path))
    kind = next((kind for kind in TABLE_FILES if found.suffix.lower() in kind.endings), None)
    if kind is None:
        raise DatasetError(
            f"{found} must end in {', '.join(ENDINGS)}, got {found.suffix or 'no ending'!r}."
        )
    place = found.expanduser()
    if not place.is_file():
        what = "is a folder, not a file" if place.is_dir() else "does not exist"
        what = "is a link that leads to no file" if place.is_symlink() else what
        raise DatasetError(f"{found} {what}. Check the path.")
    file: TableFile = kind(found)
    return file


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
    """
    pa = import_optional("pyarrow", extra="cli", purpose="A table in memory")
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
            f"the table has a column with cells of several types ({said}). Make them of one."
        ) from None


def _import_arrow(module: str, path: Path) -> Any:
    """Return a module of pyarrow, or say how to install it."""
    try:
        return import_optional(module, extra="cli", purpose=f"Reading {path.name}")
    except ImportError as error:
        raise DatasetError(str(error)) from error


def _check_column_names(path: Path, names: tuple[str, ...]) -> None:
    """Raise DatasetError where columns have no name, or share one."""
    counts = Counter(names)
    for number, name in enumerate(names, start=1):
        if not name.strip():
            raise DatasetError(
                f"{path}, column {number}: the column has no name. Name every column."
            )
        if counts[name] > 1:
            raise DatasetError(f"{path}: two columns are called {quote(name)}. Rename one of them.")


def _cut_batches(batches: Iterable[Any], size: int) -> Iterator[ArrowBatch]:
    """Yield record batches of whatever lengths as batches of ``size`` rows, and the rest."""
    import pyarrow as pa

    start, waiting = 0, None
    for batch in batches:
        rows = pa.Table.from_batches([batch])
        waiting = rows if waiting is None else pa.concat_tables([waiting, rows])
        while len(waiting) >= size:
            yield ArrowBatch(start, waiting.slice(0, size))
            start, waiting = start + size, waiting.slice(size)
    if waiting is not None and len(waiting):
        yield ArrowBatch(start, waiting)


def _kind_of(types: Any, kind: Any) -> str:
    """Return how a column of a type is read, or the sentence that says why it is not."""
    if types.is_dictionary(kind):
        coded = types.is_integer(kind.value_type)
        return "categorical" if coded else _kind_of(types, kind.value_type)
    numbers = types.is_integer, types.is_floating, types.is_decimal, types.is_null
    if any(is_such(kind) for is_such in numbers):
        return "numeric"
    texts = types.is_string, types.is_large_string, types.is_string_view, types.is_boolean
    if any(is_such(kind) for is_such in texts):
        return "categorical"
    return "dates" if types.is_temporal(kind) else f"cells of type {kind}"

"""Tables for models: any file in batches of features and labels, by the schema of the model."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from labelsure._checks import IntArray, quote
from labelsure._errors import DatasetError
from labelsure.datasets._cells import (
    CellError,
    code_categories,
    names_of,
    numbers,
    words,
    zeros_and_ones,
)
from labelsure.datasets._schema import Column, TableSchema, few_names, infer_schema
from labelsure.datasets._table_files import (
    FEATURE,
    ROWS_LOOKED_AT,
    Batch,
    LibsvmFile,
    MatrixBatch,
    MemoryTable,
    PathLikeText,
    TableFile,
    open_file,
    table_library,
)


@dataclass(frozen=True, eq=False)
class TableBatch:
    """Some rows of a table that follow each other, as arrays.

    Attributes
    ----------
    start : int
        How many rows come before them.
    X : array or csr_matrix of shape (n, p)
        Features in the order of the schema: float64, or objects where a column is text. Categories
        are codes, NaN where they are missing and -1 where the schema does not know them.
    Y : array of shape (n, q) or None
        Zeros and ones, if labels are read.
    kept : dict
        The columns to keep, as strings, None for an empty cell.

    Examples
    --------
    >>> TableBatch(0, np.zeros((2, 1)), None, {}).n_rows
    2
    """

    start: int
    X: Any
    Y: IntArray | None
    kept: dict[str, Any]

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.X.shape[0])


@dataclass(eq=False)
class Table:
    """A file that is read by a schema: iterate over it for batches, or :meth:`read` all of it.

    Made by :func:`open_table`.

    Attributes
    ----------
    n_rows : int or None
        How many rows there are, where the file says so beforehand.
    labels : bool
        Whether labels are read.
    ignored : tuple of str
        Columns of the file that are not read.
    unseen : Counter
        How many cells of each categorical column held a value that the schema does not know, so
        far.
    """

    file: TableFile
    schema: TableSchema
    batch_size: int
    keep: tuple[str, ...]
    labels: bool | None
    ignored: tuple[str, ...] = ()
    unseen: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        present = set(self.file.names)
        label_columns = self.schema.label_columns
        if self.labels is None:
            self.labels = bool(label_columns) and present.issuperset(label_columns)
        features = [column.name for column in self.schema.columns]
        wanted = [*features, *(label_columns if self.labels else ()), *self.keep]
        absent = [name for name in wanted if name not in present]
        if isinstance(self.file, LibsvmFile):  # what a sparse row leaves out is zero
            absent = [name for name in absent if not name.removeprefix(FEATURE).isdigit()]
        if absent:
            what = "column" if len(absent) == 1 else f"{len(absent)} columns"
            raise DatasetError(
                f"{self.file.path} lacks the {what} {few_names([quote(name) for name in absent])}."
                f" Its columns are {few_names(self.file.names)}."
            )
        known = {*wanted, *label_columns}
        self.ignored = tuple(name for name in self.file.names if name not in known)
        self._wanted = [name for name in wanted if name in present]

    @property
    def n_rows(self) -> int | None:
        """How many rows there are, where the file says so beforehand."""
        return self.file.n_rows

    def __iter__(self) -> Iterator[TableBatch]:
        self.unseen.clear()
        for batch in self.file.batches(self._wanted, self.batch_size):
            kept = {name: words(batch.column(name)) for name in self.keep}
            with np.errstate(invalid="ignore"):
                yield TableBatch(batch.start, self._features(batch), self._labels(batch), kept)

    def read(self) -> TableBatch:
        """Return all rows at once; DatasetError if there are none."""
        parts = list(self)
        if not parts:
            raise DatasetError(f"{self.file.path} has no rows below its header. Add some.")
        blocks = [part.X for part in parts]
        X = sparse.vstack(blocks, format="csr") if sparse.issparse(blocks[0]) else np.vstack(blocks)
        labels = [part.Y for part in parts if part.Y is not None]
        kept = {name: np.concatenate([part.kept[name] for part in parts]) for name in self.keep}
        return TableBatch(0, X, np.vstack(labels) if labels else None, kept)

    def _features(self, batch: Batch) -> Any:
        """Return the features of a batch by the schema."""
        if self.schema.sparse and isinstance(batch, MatrixBatch) and sparse.issparse(batch.matrix):
            return self._sparse_features(batch)
        X = np.column_stack([self._cells(batch, column) for column in self.schema.columns])
        return sparse.csr_matrix(X) if self.schema.sparse and not self.schema.of_kind("text") else X

    def _sparse_features(self, batch: MatrixBatch) -> Any:
        """Return sparse rows with the schema's columns, without filling them up."""
        names = [column.name for column in self.schema.columns]
        coded = set(self.schema.of_kind("categorical"))
        there = [j for j, name in enumerate(names) if name in batch.places and j not in coded]
        found = batch.matrix[:, [batch.places[names[j]] for j in there]].tocoo()
        try:
            numbers(found.data)
        except CellError as error:
            row, place = (int(at[error.position]) for at in found.coords)
            raise self._wrong(batch, names[there[place]], CellError(row, str(error))) from None
        parts = [(found.data, found.row, np.array(there, dtype=np.int64)[found.col])]
        for j in coded:
            codes = self._cells(batch, self.schema.columns[j])
            at = np.flatnonzero(codes)
            parts.append((codes[at], at, np.full(len(at), j)))
        values, rows, places = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        return sparse.csr_matrix((values, (rows, places)), shape=(batch.n_rows, len(names)))

    def _cells(self, batch: Batch, column: Column) -> Any:
        """Return one feature as numbers, codes or texts."""
        cells = batch.column(column.name)
        try:
            if column.kind == "numeric":
                return numbers(cells)
        except CellError as error:
            raise self._wrong(batch, column.name, error) from None
        if column.kind == "text":
            return np.array([text or "" for text in words(cells).tolist()], dtype=object)
        codes = code_categories(cells, column.categories)
        if n_unseen := int(np.sum(codes == -1)):
            self.unseen[column.name] += n_unseen
        return codes

    def _labels(self, batch: Batch) -> IntArray | None:
        if not self.labels:
            return None
        schema = self.schema
        Y = np.zeros((batch.n_rows, len(schema.label_names)), dtype=np.int64)
        if schema.names_in is None:
            wrong: dict[str, CellError] = {}
            for j, name in enumerate(schema.label_names):
                try:
                    Y[:, j] = zeros_and_ones(batch.column(name))
                except CellError as error:
                    wrong[name] = error
            if wrong:
                first, *others = wrong
                also = f" Look at {few_names(list(map(quote, others)))} as well." if others else ""
                together = CellError(wrong[first].position, f"{wrong[first]}{also}")
                raise self._wrong(batch, first, together)
            return Y
        places = {name: j for j, name in enumerate(schema.label_names)}
        for i, names in enumerate(names_of(batch.column(schema.names_in), schema.separator)):
            for name in names:
                if name not in places:
                    known = few_names(schema.label_names)
                    text = f"{quote(name)} is not a label that the model knows ({known})."
                    text += " Correct or remove it."
                    raise self._wrong(batch, schema.names_in, CellError(i, text))
                Y[i, places[name]] = 1
        return Y

    def _wrong(self, batch: Batch, name: str, error: CellError) -> DatasetError:
        row = batch.start + error.position + 1
        return DatasetError(f"{self.file.path}, row {row}, column {quote(name)}: {error}")


def open_table(
    path: PathLikeText | Any,
    schema: TableSchema | None = None,
    *,
    labels: bool | None = False,
    keep: Sequence[str] = (),
    batch_size: int = ROWS_LOOKED_AT,
) -> Table:
    r"""Open a table, from a file or in memory, to read it in batches by a model's schema.

    Columns are found by their names, wherever they stand. Memory does not grow with the file.

    Parameters
    ----------
    path : path, DataFrame of pandas or polars, or table or record batch of pyarrow
        The file or table.
    schema : TableSchema or None
        What its columns are, which a table in memory needs; None looks at all rows first, see
        :func:`infer_schema`.
    labels : bool or None, default=False
        Whether to read the labels, which must be there then; None reads them if they are there.
    keep : sequence of str
        Further columns to read as texts.
    batch_size : int
        Rows at a time. What is read does not depend on it.

    Returns
    -------
    Table
        Iterate over it; ``read()`` returns all rows at once.

    Raises
    ------
    DatasetError
        If the file cannot be opened or lacks a column; while it is read, with the row and the
        column, if a cell is not as the schema says.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> head = "@attribute width numeric\n@attribute place {coast,town}\n@attribute sea {0,1}\n"
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "pictures.arff")
    ...     _ = path.write_text(head + "@data\n640,coast,1\n?,town,0\n320,coast,1\n")
    ...     for batch in open_table(path, infer_schema(path, ["sea"]), labels=True, batch_size=2):
    ...         print(batch.X.tolist(), batch.Y.tolist())
    [[640.0, 0.0], [nan, 1.0]] [[1], [0]]
    [[320.0, 0.0]] [[1]]
    """
    if batch_size < 1:
        raise DatasetError(f"batch_size must be at least 1, got {batch_size}.")
    if table_library(path) is None:
        return Table(open_file(path), schema or infer_schema(path), batch_size, tuple(keep), labels)
    if schema is None:
        raise DatasetError(
            "a table in memory is read by a schema, got none. Pass that of the model's file."
        )
    return Table(MemoryTable(path), schema, batch_size, tuple(keep), labels)

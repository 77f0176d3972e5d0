"""Tables for models: any file in batches of features and labels, by the schema of the model."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from labelsure._core.types import IntArray
from labelsure.datasets._cells import CellError, check_size, code_categories, names_of, numbers, words, zeros_and_ones
from labelsure.datasets._errors import DatasetError, shown
from labelsure.datasets._infer import BATCH_ROWS, PathLikeText, few_names, infer_schema, open_file
from labelsure.datasets._line_files import FEATURE, LibsvmFile
from labelsure.datasets._memory import MemoryTable, table_library
from labelsure.datasets._raw import MatrixBatch, RawBatch, TableFile
from labelsure.datasets._schema import TableSchema


@dataclass(frozen=True, eq=False)
class TableBatch:
    """Some rows of a table that follow each other, as arrays.

    Attributes
    ----------
    start : int
        How many rows come before them.
    X : array or csr_matrix of shape (n, p)
        Features in the order of the schema: float64, or objects where a column is text. Categories are codes, NaN
        where they are missing and -1 where the schema does not know them.
    Y : array of shape (n, q) or None
        Zeros and ones, where labels were asked for.
    kept : dict
        Further columns that were asked for, as texts, None where a cell is empty.

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
    file : TableFile
        The file.
    schema : TableSchema
        What its columns are.
    n_rows : int or None
        How many rows there are, where the file says so beforehand.
    labels : bool
        Whether labels are read.
    ignored : tuple of str
        Columns of the file that nobody asked for.
    unseen : Counter
        How many cells of each categorical column held a value that the schema does not know, so far.
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
        if self.labels is None:
            self.labels = bool(self.schema.label_columns) and present.issuperset(self.schema.label_columns)
        features = [column.name for column in self.schema.columns]
        wanted = [*features, *(self.schema.label_columns if self.labels else ()), *self.keep]
        absent = [name for name in wanted if name not in present]
        if isinstance(self.file, LibsvmFile):  # what a sparse row leaves out is zero
            absent = [name for name in absent if not name.removeprefix(FEATURE).isdigit()]
        if absent:
            what = "column" if len(absent) == 1 else f"{len(absent)} columns"
            raise DatasetError(
                f"{self.file.path} lacks the {what} {few_names([shown(name) for name in absent])}. Its columns are"
                f" {few_names(self.file.names)}."
            )
        known = {*wanted, *self.schema.label_columns}
        self.ignored = tuple(name for name in self.file.names if name not in known)
        self._wanted = [name for name in wanted if name in present]

    @property
    def n_rows(self) -> int | None:
        """How many rows there are, where the file says so beforehand."""
        return self.file.n_rows

    def __iter__(self) -> Iterator[TableBatch]:
        self.unseen.clear()
        for batch in self.file.batches(self._wanted, self.batch_size):
            with np.errstate(invalid="ignore"):
                yield TableBatch(batch.start, self._features(batch), self._labels(batch), self._kept(batch))

    def read(self) -> TableBatch:
        """Return all rows at once.

        Raises
        ------
        DatasetError
            If there are none.
        """
        parts = list(self)
        if not parts:
            raise DatasetError(f"{self.file.path} has no rows below its header. Add some.")
        stack: Any = sparse.vstack if self.schema.sparse else np.vstack
        X = stack([part.X for part in parts])
        labels = [part.Y for part in parts if part.Y is not None]
        kept = {name: np.concatenate([part.kept[name] for part in parts]) for name in self.keep}
        return TableBatch(0, X.tocsr() if self.schema.sparse else X, np.vstack(labels) if labels else None, kept)

    def _features(self, batch: RawBatch) -> Any:
        """Return the features of a batch by the schema."""
        if self.schema.sparse and isinstance(batch, MatrixBatch) and sparse.issparse(batch.matrix):
            return self._sparse_features(batch)
        columns = [self._cells(batch, column.name, j) for j, column in enumerate(self.schema.columns)]
        if self.schema.of_kind("text"):
            X = np.empty((batch.n_rows, len(columns)), dtype=object)
            for j, cells in enumerate(columns):
                X[:, j] = cells
            return X
        dense = np.column_stack(columns)
        return sparse.csr_matrix(dense) if self.schema.sparse else dense

    def _sparse_features(self, batch: MatrixBatch) -> Any:
        """Return sparse rows with the schema's columns, without filling them up."""
        matrix, schema = batch.matrix, self.schema
        used, inverse = np.unique(matrix.indices, return_inverse=True)
        names = {batch.places[name]: name for name in self.file.names if name in schema.positions}
        numeric = {place: schema.positions[name] for place, name in names.items()}
        for j in schema.of_kind("categorical"):
            numeric.pop(batch.places[schema.columns[j].name], None)
        target = np.array([numeric.get(place, -1) for place in used.tolist()], dtype=np.int64)[inverse]
        rows = np.repeat(np.arange(batch.n_rows), np.diff(matrix.indptr))
        stays = target >= 0
        try:
            check_size(np.where(stays, matrix.data, 0.0))
        except CellError as error:
            name = schema.columns[int(target[error.position])].name
            raise self._wrong(batch, name, CellError(int(rows[error.position]), str(error))) from None
        parts = [(matrix.data[stays], rows[stays], target[stays])]
        for j in schema.of_kind("categorical"):
            codes = self._cells(batch, schema.columns[j].name, j)
            at = np.flatnonzero(codes)
            parts.append((codes[at], at, np.full(len(at), j)))
        values, rows, columns = (np.concatenate(part) for part in zip(*parts, strict=True))
        return sparse.csr_matrix((values, (rows, columns)), shape=(batch.n_rows, len(schema.columns)))

    def _cells(self, batch: RawBatch, name: str, j: int) -> Any:
        """Return one feature as numbers, codes or texts."""
        column = self.schema.columns[j]
        try:
            if column.kind == "numeric":
                return numbers(batch.column(name))
            if column.kind == "categorical":
                codes = code_categories(batch.column(name), column.categories)
                self.unseen.update({name: int(n)} if (n := np.sum(codes == -1)) else {})
                return codes
            return np.array([text or "" for text in words(batch.column(name)).tolist()], dtype=object)
        except CellError as error:
            raise self._wrong(batch, name, error) from None

    def _labels(self, batch: RawBatch) -> IntArray | None:
        if not self.labels:
            return None
        schema = self.schema
        if schema.names_in is None:
            Y = np.empty((batch.n_rows, len(schema.label_names)), dtype=np.int64)
            wrong = {}
            for j, name in enumerate(schema.label_names):
                try:
                    Y[:, j] = zeros_and_ones(batch.column(name))
                except CellError as error:
                    wrong[name] = error
            if wrong:
                first, *others = wrong
                also = f" Look at {few_names(list(map(shown, others)))} as well." if others else ""
                raise self._wrong(batch, first, CellError(wrong[first].position, f"{wrong[first]}{also}"))
            return Y
        Y = np.zeros((batch.n_rows, len(schema.label_names)), dtype=np.int64)
        places = {name: j for j, name in enumerate(schema.label_names)}
        for i, names in enumerate(names_of(batch.column(schema.names_in), schema.separator)):
            for name in names:
                if name not in places:
                    known = f"{shown(name)} is not a label that the model knows ({few_names(schema.label_names)})."
                    raise self._wrong(batch, schema.names_in, CellError(i, f"{known} Correct or remove it."))
                Y[i, places[name]] = 1
        return Y

    def _kept(self, batch: RawBatch) -> dict[str, Any]:
        return {name: words(batch.column(name)) for name in self.keep}

    def _wrong(self, batch: RawBatch, name: str, error: CellError) -> DatasetError:
        row = batch.start + error.position + 1
        return DatasetError(f"{self.file.path}, row {row}, column {shown(name)}: {error}")


def open_table(
    path: PathLikeText | Any,
    schema: TableSchema | None = None,
    *,
    labels: bool | None = False,
    keep: Sequence[str] = (),
    batch_size: int = BATCH_ROWS,
) -> Table:
    r"""Open a CSV, Parquet, ARFF or libsvm file, or a table in memory, and read it in batches by a model's schema.

    Columns are found by their names, wherever they stand. Memory does not grow with the file.

    Parameters
    ----------
    path : path, DataFrame of pandas or polars, or table or record batch of pyarrow
        The file or table.
    schema : TableSchema or None
        What its columns are, which a table in memory needs; None looks at all rows first, see :func:`infer_schema`.
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
        If the file cannot be opened or lacks a column; while it is read, with the row and the column, if a cell is not
        as the schema says.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> rows = ["@attribute width numeric", "@attribute place {coast,town}"]
    >>> rows += ["@attribute sea {0,1}", "@attribute city {0,1}", "@data"]
    >>> rows += ["640,coast,1,0", "?,town,0,1", "320,coast,1,1"]
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "pictures.arff")
    ...     _ = path.write_text("\n".join(rows))
    ...     schema = infer_schema(path, ["sea", "city"])
    ...     for batch in open_table(path, schema, labels=True, batch_size=2):
    ...         print(batch.X.tolist(), batch.Y.tolist())
    [[640.0, 0.0], [nan, 1.0]] [[1, 0], [0, 1]]
    [[320.0, 0.0]] [[1, 1]]
    """
    if batch_size < 1:
        raise DatasetError(f"batch_size must be at least 1, got {batch_size}.")
    if table_library(path) is None:
        return Table(open_file(path), schema or infer_schema(path), batch_size, tuple(keep), labels)
    if schema is None:
        raise DatasetError("a table in memory is read by a schema, got none. Pass that of the model's file.")
    return Table(MemoryTable(path), schema, batch_size, tuple(keep), labels)

"""A table in, a table of answers out: what every engine that works on parts of a table can call."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any
from uuid import uuid4

from labelsure._core.optional import import_optional
from labelsure._core.validation import check_count, check_significance, is_list, n_rows, shown
from labelsure.batches._columns import AnswerColumns
from labelsure.batches._running import naming
from labelsure.batches._sources import InFile, InMemory, features_of, limit_cores
from labelsure.batches._tables import arrow_schema, arrow_table, import_arrow, make_table, pandas_table, spark_types
from labelsure.conformal import answer_batch
from labelsure.datasets import TableSchema, as_arrow, names_of_columns, table_library

Keep = Sequence[str] | Mapping[str, Any]
MOST_LISTED = 1_000_000
"""Labelsets that a table of answers can list for each row."""


class TablePredictor:
    """A function from tables to tables of answers, whose columns and types are known beforehand.

    It can be pickled and looks at nothing but the table, so that Dask, Ray, Spark, polars or a plain loop can call it
    on parts of a table, in any order and in any process. What it answers for a row does not depend on the others, also
    where p-values are drawn. The answers have the library and, of pandas, the index of the table.

    Parameters
    ----------
    model : fitted predictor, or str or path
        Whatever has ``predict_labelsets``, or the file that it was saved in. Of a file only the path is pickled, and
        every process reads it once: the way for engines that send the function with each task.
    significance : float, default=0.05
        The level at which labels are sure, possible or ruled out; 0.05 for 95 % confidence.
    top : int, default=5
        How many of the most plausible labelsets to list.
    keep : sequence of str, or mapping of str to types
        Columns of the table to take over, as texts or as the types of pyarrow that are given: ``["name"]``,
        ``{"id": "int64"}``.
    columns : sequence of str
        The columns that the model takes, in order, where it was fitted on arrays, which have no names. Without them,
        all columns that are not kept.
    schema : TableSchema or None, default=None
        How the cells of columns become features. A file that ``labelsure fit`` wrote has its own, which comes first.
    n_jobs : int or None, default=None
        How many cores a call may use; None for one, because engines make several calls at a time.
    trusted : sequence of str
        As in :func:`labelsure.model_file.load_model`.

    Attributes
    ----------
    columns : AnswerColumns
        What is answered.

    Raises
    ------
    BatchError
        By calls, where a table cannot be predicted; it says which rows, and why.

    See Also
    --------
    predict_batches : Calls it for one table after the other, here or on the workers of a Dask cluster.

    Examples
    --------
    >>> import pandas as pd
    >>> from labelsure import calibrate_outputs
    >>> from labelsure.batches import TablePredictor
    >>> model = calibrate_outputs([[0.9, 0.2], [0.3, 0.8]], [[1, 0], [0, 1]], label_names=["sea", "city"])
    >>> predictor = TablePredictor(model, significance=0.5, top=1, keep={"id": "int64"})
    >>> photos = pd.DataFrame({"id": [7, 8], "sea": [0.8, 0.1], "city": [0.3, 0.9]}, index=["a", "b"])
    >>> print(predictor(photos)[["id", "labels", "sure", "n_labelsets", "top1_p"]].round(3))
       id   labels     sure  n_labelsets  top1_p
    a   7   (sea,)   (sea,)            1   0.667
    b   8  (city,)  (city,)            1   1.000
    """

    def __init__(
        self,
        model: Any,
        *,
        significance: float = 0.05,
        top: int = 5,
        keep: Keep = (),
        columns: Sequence[str] = (),
        schema: TableSchema | None = None,
        n_jobs: int | None = None,
        trusted: Sequence[str] = (),
    ) -> None:
        check_significance(significance)
        n_top, jobs = check_count(top, name="top", at_least=0), 1 if n_jobs is None else n_jobs
        if n_top > MOST_LISTED:
            raise ValueError(f"top must be at most {MOST_LISTED}, got {shown(top)}: each has two columns of its own.")
        self._source: InFile | InMemory
        if isinstance(model, str | PathLike):
            self._source = InFile.at(model, trusted, jobs)
            self._facts = self._source.facts
        else:
            self._facts = InMemory(model).facts
            self._source = InMemory(limit_cores(model, jobs))
        self._schema = schema
        self.columns = AnswerColumns(self._facts.n_labels, significance, n_top)
        self._takes = tuple(columns)
        self._token = uuid4().hex  # a model is not read through to tell it from another
        self._keep = _types_of(keep)
        taken = [name for name in self._keep if name in self.columns.kinds]
        if taken:
            raise ValueError(f"the answers have a column {taken[0]!r} of their own. Rename that of the table.")

    def __repr__(self) -> str:
        model = self._source.path.name if isinstance(self._source, InFile) else type(self._source.model).__name__
        return f"TablePredictor({model}, significance={self.columns.significance}, top={self.columns.n_top})"

    def __dask_tokenize__(self) -> Any:
        """Return what Dask tells functions apart by."""
        return type(self).__name__, self._token

    def __call__(self, table: Any) -> Any:
        """Return the answers for a table.

        Parameters
        ----------
        table : DataFrame of pandas or polars, table or record batch of pyarrow, array or sparse matrix
            With the columns that the model takes; those of an array are these.

        Returns
        -------
        table
            Of the same kind, of pandas for arrays, with one row per row.
        """
        with naming(_rows_of(table)):
            return self.answer(table)

    def map(self, tables: Iterable[Any]) -> Iterator[Any]:
        """Yield the answers for one table after the other, which is what Spark's ``mapInPandas`` calls.

        Parameters
        ----------
        tables : iterable of tables
            As in a call.
        """
        return map(self, tables)

    def answer(self, table: Any) -> Any:
        """Return the answers for a table as a call does, with errors as they come.

        Parameters
        ----------
        table : table
            As in a call.
        """
        kept = self._kept(table)
        if n_rows(table):
            trained = self._source.load()
            schema = trained.schema or self._schema
            X = features_of(table, self._facts, schema, self._takes or self._all_but_kept(table))
            found = self.columns.of(answer_batch(trained.model, X))
        else:
            found = self.columns.nothing()
        return make_table(table, {**kept, **found}, self._kinds)

    @property
    def schema(self) -> Any:
        """What the answers are made of, as a schema of pyarrow."""
        return arrow_schema(self._kinds)

    @property
    def meta(self) -> Any:
        """What the answers are made of, as an empty DataFrame of pandas: ``meta=`` of Dask's ``map_partitions``."""
        return pandas_table(self._nothing(), self._kinds)

    @property
    def polars_schema(self) -> Any:
        """What the answers are made of, as ``schema=`` of ``map_batches`` of a LazyFrame of polars."""
        polars = import_optional("polars", extra="polars", purpose="polars_schema")
        return polars.from_arrow(arrow_table(self._nothing(), self._kinds)).schema

    @property
    def spark_schema(self) -> str:
        """What the answers are made of, as ``schema=`` of Spark's ``mapInPandas`` and ``mapInArrow``."""
        return spark_types(self._kinds)

    @property
    def _kinds(self) -> dict[str, Any]:
        return {**self._keep, **self.columns.kinds}

    def _nothing(self) -> dict[str, Any]:
        none = {name: import_arrow().array([], kind) for name, kind in self._keep.items()}
        return {**none, **self.columns.nothing()}

    def _kept(self, table: Any) -> dict[str, Any]:
        """Return the columns to take over as arrays of pyarrow."""
        if not self._keep:
            return {}
        there = names_of_columns(table) if table_library(table) else ()
        absent = [name for name in self._keep if name not in there]
        if absent:
            raise ValueError(f"the table has no column {absent[0]!r} to keep; its columns are {', '.join(there)}.")
        found = as_arrow(table, list(self._keep))
        return {name: found.column(name).cast(kind).combine_chunks() for name, kind in self._keep.items()}

    def _all_but_kept(self, table: Any) -> list[str]:
        there = names_of_columns(table) if table_library(table) else ()
        return [name for name in there if name not in self._keep]


def _types_of(keep: Keep) -> dict[str, Any]:
    """Return the columns to keep with their types of pyarrow."""
    if isinstance(keep, str):
        raise TypeError(f"keep must be a sequence of columns, got the text {keep!r}. Pass [{keep!r}].")
    if not is_list(keep) or not all(isinstance(name, str) for name in keep):
        raise TypeError(f"keep must list names of columns, or map them to types of pyarrow, got {shown(keep)}.")
    asked = keep if isinstance(keep, Mapping) else dict.fromkeys(keep, "string")
    return {name: _type_of(name, kind) for name, kind in asked.items()}


def _type_of(name: str, kind: Any) -> Any:
    """Return a type of pyarrow, given itself or by its name."""
    pa = import_arrow()
    try:
        return pa.type_for_alias(kind) if isinstance(kind, str) else pa.field(name, kind).type
    except (TypeError, ValueError) as error:
        raise ValueError(f"keep[{name!r}] must be a type of pyarrow such as 'int64', got {shown(kind)}.") from error


def _rows_of(table: Any) -> str:
    """Say which rows a table has, so that they can be found again."""
    number = n_rows(table)
    if not number or table_library(table) != "pandas":
        return f"a table of {number} rows"
    first, last = table.index[0], table.index[-1]
    return f"row {first!r}" if number == 1 else f"the {number} rows from {first!r} to {last!r}"

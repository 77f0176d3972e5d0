"""Predictions for tables that do not fit into memory: batch by batch, or with another engine."""

import hashlib
import json
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from labelsure._checks import check_count, check_significance, is_list, n_rows, shown
from labelsure._errors import BatchError, import_optional
from labelsure._files import full_path
from labelsure.conformal import OutputsPredictor
from labelsure.conformal._base import answer_batch
from labelsure.datasets import TableSchema, open_table
from labelsure.datasets._table_files import as_arrow, names_of_columns, table_library
from labelsure.model_file import ModelFileError, open_model, read_manifest
from labelsure.predictions._frames import RepeatedValues, repeat_labels

__all__ = ["BatchError", "TablePredictor", "predict_batches"]

Keep = Sequence[str] | Mapping[str, Any]
MODELS_KEPT = 4
MOST_LISTED = 1_000_000
"""Labelsets that a table of answers can list for each row."""
INT64_LABELS = 62
"""Labels beyond which the number of labelsets may not fit into 64 bits."""

_reading = threading.Lock()


@contextmanager
def naming(rows: str) -> Iterator[None]:
    """Turn whatever goes wrong inside into a BatchError that says for which rows."""
    try:
        yield
    except Exception as error:
        text = " ".join(str(error).split())
        text = text if isinstance(error, ValueError) else f"{type(error).__name__}: {text}"
        raise BatchError(f"{rows} cannot be predicted: {text}") from error


class Trained(NamedTuple):
    """A model from a file, and the schema of its tables, None if the file has none."""

    model: Any
    schema: TableSchema | None


def open_with_schema(path: str | PathLike[str], *, trusted: Sequence[str] = ()) -> Trained:
    """Return a model from a file with its table schema; ModelFileError on a schema mismatch."""
    opened = open_model(path, trusted=trusted)
    if opened.table is None:
        return Trained(opened.model, None)
    model, schema = opened.model, TableSchema.from_json(opened.table)
    n_labels, n_features = len(schema.label_names), len(schema.columns)
    if (
        getattr(model, "n_labels_", n_labels) != n_labels
        or (getattr(model, "label_names_", None) or schema.label_names) != schema.label_names
        or getattr(model, "n_features_in_", None) not in (None, n_features)
    ):
        raise ModelFileError(
            f"{path} was saved with the description of another table: its labels or columns are not"
            " those of the model. Save it again with the schema that it was fitted by."
        )
    return Trained(model, schema)


def limit_cores(model: Any, n_jobs: int | None) -> Any:
    """Return a shallow copy of a predictor with another ``n_jobs``; the answers are the same."""
    limited = copy(model)
    for name in ("calibrator_", "calibrator"):
        if hasattr(model, name):
            setattr(limited, name, replace(getattr(model, name), n_jobs=n_jobs))
    if hasattr(model, "n_jobs"):
        limited.n_jobs = n_jobs
    return limited


def arrow_table(columns: Mapping[str, Any], schema: Any) -> Any:
    """Return columns as a table of pyarrow: RepeatedValues, arrays of numpy or of pyarrow."""
    pa = import_arrow()

    def array_of(cells: Any, kind: Any) -> Any:
        if isinstance(cells, RepeatedValues):
            return pa.array(cells.values, kind).take(pa.array(cells.places, mask=cells.places < 0))
        return pa.array(cells, kind, from_pandas=True) if isinstance(cells, np.ndarray) else cells

    return pa.table([array_of(columns[field.name], field.type) for field in schema], schema=schema)


def import_arrow() -> Any:
    """Return pyarrow, or say how to install it."""
    return import_optional("pyarrow", extra="cli", purpose="Batches of tables")


class TablePredictor:
    """A function from tables to tables of answers, whose columns and types are known beforehand.

    It can be pickled and looks at nothing but the table, so that Dask, Ray, Spark, polars or a
    plain loop can call it on parts of a table, in any order and in any process. What it answers for
    a row does not depend on the others, also where p-values are drawn. The answers have the library
    and, of pandas, the index of the table.

    Parameters
    ----------
    model : fitted predictor, or str or path
        Whatever has ``predict_labelsets``, or the file that it was saved in. Of a file only the
        path is pickled, and every process reads it once: the way for engines that send the function
        with each task.
    significance : float, default=0.05
        The level at which labels are sure, possible or ruled out; 0.05 for 95 % confidence.
    top : int, default=5
        How many of the most plausible labelsets to list.
    keep : sequence of str, or mapping of str to types
        Columns of the table to take over, as texts or as the types of pyarrow that are given:
        ``["name"]``, ``{"id": "int64"}``.
    columns : sequence of str
        The columns that the model takes, in order, where it was fitted on arrays, which have no
        names. Without them, all columns that are not kept.
    schema : TableSchema or None, default=None
        How the cells of columns become features. A file that ``labelsure fit`` wrote has its own,
        which comes first.
    n_jobs : int or None, default=None
        How many cores a call may use; None for one, because engines make several calls at a time.
    trusted : sequence of str
        As in :func:`labelsure.model_file.load_model`.

    Attributes
    ----------
    schema : pyarrow.Schema
        The columns of the answers with their types.

    Raises
    ------
    BatchError
        By calls, where a table cannot be predicted; it says which rows, and why.

    See Also
    --------
    predict_batches : Calls it for one table after the other.

    Examples
    --------
    >>> import pandas as pd
    >>> from labelsure import calibrate_outputs
    >>> from labelsure.batches import TablePredictor
    >>> names = ["sea", "city"]
    >>> model = calibrate_outputs([[0.9, 0.2], [0.3, 0.8]], [[1, 0], [0, 1]], label_names=names)
    >>> predictor = TablePredictor(model, significance=0.5, top=1, keep={"id": "int64"})
    >>> photos = pd.DataFrame({"id": [7, 8], "sea": [0.8, 0.1], "city": [0.3, 0.9]}, ["a", "b"])
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
        self._significance, self._top = significance, check_count(top, name="top", at_least=0)
        if self._top > MOST_LISTED:
            raise ValueError(
                f"top must be at most {MOST_LISTED}, got {shown(top)}: each has two columns of its"
                " own."
            )
        n_jobs = 1 if n_jobs is None else n_jobs
        self._columns, self._table_schema = tuple(columns), schema
        self._file: tuple[Any, ...] | None = None
        if isinstance(model, str | PathLike):
            path = _path_of(model)
            self._file = path, _digest_of(path), tuple(trusted), n_jobs
            model = self._trained().model
        n_labels = _check_predictor(model)
        self._model = limit_cores(model, n_jobs) if self._file is None else None
        self._kept = _types_of(keep)
        answers = _types_of_answers(n_labels, self._top)
        if taken := [name for name in self._kept if name in answers]:
            raise ValueError(
                f"the answers have a column {taken[0]!r} of their own. Rename that of the table."
            )
        self.schema = import_arrow().schema([*self._kept.items(), *answers.items()])

    def __call__(self, table: Any) -> Any:
        """Return the answers for a table.

        Parameters
        ----------
        table : DataFrame of pandas or polars, table or record batch of pyarrow, array
            With the columns that the model takes; those of an array are these.

        Returns
        -------
        table
            Of the same kind, of pandas for arrays, with one row per row.
        """
        with naming(_rows_of(table)):
            return self.answer(table)

    def answer(self, table: Any) -> Any:
        """Return the answers for a table as a call does, with errors as they come."""
        library, kept = table_library(table), self._take_over(table)
        if not n_rows(table):
            found, cells = self.schema.empty_table(), {}
        else:
            cells = {**kept, **self.cells(self._features(table, library))}
            found = arrow_table(cells, self.schema)
        if library in (None, "pandas"):
            return _as_pandas(found, cells, None if library is None else table.index)
        if library == "polars":
            polars = import_optional("polars", extra="polars", purpose="A table of polars")
            return polars.from_arrow(found)
        if hasattr(table, "to_batches"):
            return found
        batches = [*found.to_batches(), import_arrow().RecordBatch.from_pylist([], self.schema)]
        return batches[0]

    def cells(self, X: Any) -> dict[str, Any]:
        """Return the columns of answers for features: arrays, or ``RepeatedValues`` of texts."""
        answers = answer_batch(self._trained().model, X)
        predictions = answers.predictions
        cells: dict[str, Any] = predictions.summary(self._significance, top=self._top).columns()
        cells["labels"] = repeat_labels(predictions.label_names, answers.labels.astype(bool))
        kind = self.schema.field("n_labelsets").type.to_pandas_dtype()
        return {**cells, "n_labelsets": cells["n_labelsets"].astype(kind)}

    def _trained(self) -> Trained:
        if self._file is None:
            return Trained(self._model, self._table_schema)
        with _reading:  # threads of a worker read a file once
            model, schema = _read_once(*self._file)
        return Trained(model, schema or self._table_schema)

    def _features(self, table: Any, library: str | None) -> Any:
        """Return the model's features for the rows of a table, by its schema, by names, or all."""
        if library is None:
            return table
        model, schema = self._trained()
        if schema is not None:
            return open_table(table, schema, batch_size=len(table)).read().X
        there = names_of_columns(table)
        known = getattr(model, "feature_names_in_", None)
        if isinstance(model, OutputsPredictor):
            known = model.calibrator.label_names
        names = self._columns or [name for name in there if name not in self._kept]
        names = names if known is None else [str(name) for name in known]
        if absent := [name for name in names if name not in there]:
            raise ValueError(
                f"the table lacks {len(absent)} of the {len(names)} columns that the model takes,"
                f" {absent[0]!r} among them."
            )
        chosen = [there.index(name) for name in names]
        if library == "pyarrow":
            found = as_arrow(table, names).to_pandas()
        else:
            found = table.iloc[:, chosen] if library == "pandas" else table[:, chosen]
        return np.asarray(found.to_numpy()) if known is None else found

    def _take_over(self, table: Any) -> dict[str, Any]:
        """Return the columns to keep as arrays of pyarrow."""
        if not self._kept:
            return {}
        there = names_of_columns(table) if table_library(table) else ()
        if absent := [name for name in self._kept if name not in there]:
            raise ValueError(
                f"the table has no column {absent[0]!r} to keep; its columns are"
                f" {', '.join(there)}."
            )
        found = as_arrow(table, list(self._kept))
        return {
            name: found.column(name).cast(kind).combine_chunks()
            for name, kind in self._kept.items()
        }


def predict_batches(model: Any, batches: Iterable[Any], **options: Any) -> Iterator[Any]:
    """Yield the answers for one batch of rows after the other, in bounded memory.

    Batches are taken from the iterator only when answers are requested. The answers are the same to
    the last bit, and come in the same order, however the rows are cut into batches.

    Parameters
    ----------
    model : fitted predictor, or str or path
        Whatever has ``predict_labelsets``, or the file that it was saved in.
    batches : iterable of tables or arrays
        DataFrames of pandas or polars, tables of pyarrow, arrays or sparse matrices.
    **options
        As in :class:`TablePredictor`.

    Yields
    ------
    table
        The answers for a batch, of its kind; see :class:`TablePredictor`.

    Raises
    ------
    BatchError
        Where a batch cannot be predicted, with its number and its rows. Those before it have been
        yielded then.

    Examples
    --------
    >>> import numpy as np
    >>> from labelsure import calibrate_outputs
    >>> from labelsure.batches import predict_batches
    >>> model = calibrate_outputs([[0.9, 0.2], [0.3, 0.8]], [[1, 0], [0, 1]])
    >>> batches = (np.random.default_rng(i).random((1000, 2)) for i in range(3))
    >>> [len(answers) for answers in predict_batches(model, batches, significance=0.5)]
    [1000, 1000, 1000]
    """
    return _answer_in_order(TablePredictor(model, **options), batches)


def _answer_in_order(predictor: TablePredictor, batches: Iterable[Any]) -> Iterator[Any]:
    start = 0
    for number, batch in enumerate(batches):
        stop = start + n_rows(batch)
        rows = f"row {start}" if stop == start + 1 else f"rows {start} to {stop - 1}"
        with naming(f"batch {number} ({rows}, both counted from 0)"):
            answers = predictor.answer(batch)
        yield answers
        start = stop


@lru_cache(maxsize=MODELS_KEPT)
def _read_once(path: Path, digest: str, trusted: tuple[str, ...], n_jobs: int) -> Trained:
    trained = open_with_schema(path, trusted=trusted)
    if _digest_of(path) != digest:
        raise ModelFileError(
            f"{path} is another file than it was: make a new TablePredictor of it."
        )
    return trained._replace(model=limit_cores(trained.model, n_jobs))


def _path_of(path: str | PathLike[str]) -> Path:
    if "\0" in str(path):
        raise ValueError(
            f"model must be a predictor or the path of its file, got {path!r}, which no file is"
            " called."
        )
    return full_path(path)


def _digest_of(path: Path) -> str:
    return hashlib.sha256(json.dumps(read_manifest(path), sort_keys=True).encode()).hexdigest()


def _check_predictor(model: Any) -> int:
    """Return how many labels a fitted predictor has; TypeError if it is not one."""
    if not hasattr(model, "predict_labelsets"):
        raise TypeError(
            "model must be a fitted predictor of labelsets, with predict_labelsets, or the path of"
            f" its file, got a {type(model).__name__}."
        )
    if getattr(model, "fold_numbers", None) is not None:
        raise TypeError(
            "model was calibrated with outputs in folds, and takes new outputs of each fold's"
            " model: several tables at once. Give predict_labelsets all of them, or calibrate"
            " without folds."
        )
    n_labels = getattr(model, "n_labels_", getattr(model, "n_labels", None))
    if n_labels is None:
        raise TypeError(
            f"model must be fitted, got a {type(model).__name__} that is not: call fit first."
        )
    return int(n_labels)


def _types_of_answers(n_labels: int, n_top: int) -> dict[str, Any]:
    """Return the columns of answers with their types of pyarrow."""
    pa = import_arrow()
    labels, number = pa.list_(pa.string()), pa.float64()
    types = {"labels": labels, "confidence": number, "credibility": number}
    types |= {"sure": labels, "possible": labels, "ruled_out": labels}
    types["n_labelsets"] = pa.int64() if n_labels <= INT64_LABELS else number
    for k in range(1, n_top + 1):
        types |= {f"top{k}": labels, f"top{k}_p": number}
    return {**types, "note": pa.string()}


def _types_of(keep: Keep) -> dict[str, Any]:
    """Return the columns to keep with their types of pyarrow."""
    if isinstance(keep, str):
        raise TypeError(
            f"keep must be a sequence of columns, got the text {keep!r}. Pass [{keep!r}]."
        )
    if not is_list(keep) or not all(isinstance(name, str) for name in keep):
        raise TypeError(
            f"keep must list names of columns, or map them to types of pyarrow, got {shown(keep)}."
        )
    pa, types = import_arrow(), {}
    given = keep if isinstance(keep, Mapping) else dict.fromkeys(keep, "string")
    for name, kind in given.items():
        try:
            is_text = isinstance(kind, str)
            types[name] = pa.type_for_alias(kind) if is_text else pa.field(name, kind).type
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"keep[{name!r}] must be a type of pyarrow such as 'int64', got {shown(kind)}."
            ) from error
    return types


def _as_pandas(table: Any, cells: Mapping[str, Any], index: Any) -> Any:
    """Return a table of pyarrow as a DataFrame of pandas, with labels as tuples of names."""
    pandas = import_optional("pandas", extra="pandas", purpose="A table of pandas")

    def column_of(name: str) -> Any:
        if isinstance(cells.get(name), RepeatedValues) and name != "note":
            values, places = cells[name]
            labels = np.empty(len(values) + 1, dtype=object)  # the last is None, for -1
            labels[:-1] = values
            return labels[places]
        return table.column(name).to_pandas().array

    columns = {name: column_of(name) for name in table.column_names}
    return pandas.DataFrame(columns, index=range(table.num_rows) if index is None else index)


def _rows_of(table: Any) -> str:
    """Say which rows a table has, so that they can be found again."""
    number = n_rows(table)
    if not number or table_library(table) != "pandas":
        return f"a table of {number} rows"
    first, last = table.index[0], table.index[-1]
    return f"row {first!r}" if number == 1 else f"the {number} rows from {first!r} to {last!r}"

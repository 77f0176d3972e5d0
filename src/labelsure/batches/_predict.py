"""One table after the other, however many there are."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from labelsure._core.validation import n_rows
from labelsure.batches._predictor import Keep, TablePredictor
from labelsure.batches._running import map_batches
from labelsure.datasets import TableSchema


def predict_batches(
    model: Any,
    batches: Iterable[Any],
    *,
    significance: float = 0.05,
    top: int = 5,
    keep: Keep = (),
    columns: Sequence[str] = (),
    schema: TableSchema | None = None,
    n_jobs: int | None = None,
    trusted: Sequence[str] = (),
    client: Any = None,
) -> Iterator[Any]:
    """Yield the answers for one batch of rows after the other, in bounded memory.

    Batches are taken from the iterator only as answers are asked for: one at a time or, with a client, as many as its
    workers have something to do with. The answers are the same to the last bit, and come in the same order, however
    the rows are cut into batches and however many workers there are.

    Parameters
    ----------
    model : fitted predictor, or str or path
        Whatever has ``predict_labelsets``, or the file that it was saved in. With a client, workers are sent the model;
        of a file they are sent the path, and must be able to read it.
    batches : iterable of tables or arrays
        DataFrames of pandas or polars, tables of pyarrow, arrays or sparse matrices.
    significance, top, keep, columns, schema, n_jobs, trusted
        As in :class:`TablePredictor`.
    client : distributed.Client or None, default=None
        Of a Dask cluster, on which the batches are worked on.

    Yields
    ------
    table
        The answers for a batch, of its kind; see :class:`TablePredictor`.

    Raises
    ------
    BatchError
        Where a batch cannot be predicted, with its number and its rows. Those before it have been yielded then.

    Examples
    --------
    >>> import numpy as np
    >>> from labelsure import calibrate_outputs
    >>> from labelsure.batches import predict_batches
    >>> model = calibrate_outputs([[0.9, 0.2], [0.3, 0.8]], [[1, 0], [0, 1]], label_names=["sea", "city"])
    >>> batches = (np.random.default_rng(i).random((1000, 2)) for i in range(3))
    >>> [len(answers) for answers in predict_batches(model, batches, significance=0.5)]
    [1000, 1000, 1000]
    """
    options: dict[str, Any] = {"significance": significance, "top": top, "keep": keep, "columns": columns}
    predictor = TablePredictor(model, **options, schema=schema, n_jobs=n_jobs, trusted=trusted)
    return map_batches(_Answerer(predictor.answer), _numbered(batches), rows_of=_rows_of, client=client)


class _Numbered(NamedTuple):
    number: int
    start: int
    batch: Any


@dataclass(frozen=True)
class _Answerer:
    answer: Callable[[Any], Any]

    def __call__(self, numbered: _Numbered) -> Any:
        return self.answer(numbered.batch)


def _numbered(batches: Iterable[Any]) -> Iterator[_Numbered]:
    start = 0
    for number, batch in enumerate(batches):
        yield _Numbered(number, start, batch)
        start += n_rows(batch)


def _rows_of(numbered: _Numbered) -> str:
    start, n = numbered.start, n_rows(numbered.batch)
    rows = f"row {start}" if n == 1 else f"rows {start} to {start + n - 1}"
    return f"batch {numbered.number} ({rows}, both counted from 0)"

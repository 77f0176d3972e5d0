"""Batches in, answers out in the same order: one after the other here, or a few at a time on a Dask cluster."""

from asyncio import CancelledError
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class BatchError(RuntimeError):
    """Some rows cannot be predicted; the message says which, and why.

    Examples
    --------
    >>> from labelsure import calibrate_outputs
    >>> from labelsure.batches import predict_batches
    >>> predictor = calibrate_outputs([[0.9, 0.2], [0.3, 0.8]], [[1, 0], [0, 1]])
    >>> list(predict_batches(predictor, [[[0.8, 0.3]], [[0.1]]]))
    Traceback (most recent call last):
    ...
    labelsure.batches._running.BatchError: batch 1 (row 1, both counted from 0) cannot be predicted: ...
    """


def map_batches(
    function: Callable[[Item], Result], items: Iterable[Item], *, rows_of: Callable[[Item], str], client: Any = None
) -> Iterator[Result]:
    """Yield ``function(item)`` for all items in their order, of which few are in memory at any time.

    Items are taken only when there is somebody to work on them. With a client that is a worker of its cluster: the
    function is sent there once, and twice as many items as the workers have threads are under way. An item whose worker
    dies is given to another.

    Parameters
    ----------
    function : callable
        To be pickled, with a client.
    items : iterable
        Batches.
    rows_of : callable
        Says which rows an item has, for errors.
    client : distributed.Client or None, default=None
        Of a Dask cluster.

    Raises
    ------
    BatchError
        Where the function fails for an item, Dask gives it up, or no worker is left and none comes for two minutes.
        What came before has been yielded then.

    Examples
    --------
    >>> list(map_batches(abs, [-1, 2], rows_of=str))
    [1, 2]
    """
    if client is None:
        return _here(function, iter(items), rows_of)
    if client.asynchronous:
        raise ValueError("client must not be asynchronous: batches are waited for. Pass a Client without asynchronous.")
    return _there(function, iter(items), rows_of, client)


def in_words(error: BaseException) -> str:
    """Return an error in one line."""
    text = " ".join(str(error).split())
    return text if isinstance(error, ValueError) else f"{type(error).__name__}: {text}"


@contextmanager
def naming(rows: str) -> Iterator[None]:
    """Turn whatever goes wrong inside into a BatchError that says for which rows."""
    try:
        yield
    except (Exception, CancelledError) as error:  # a future of Dask that is lost is cancelled
        raise BatchError(f"{rows} cannot be predicted: {in_words(error)}") from error


def _here(function: Callable[[Any], Result], items: Iterator[Any], rows_of: Callable[[Any], str]) -> Iterator[Result]:
    for item in items:
        with naming(rows_of(item)):
            result = function(item)
        yield result


def _there(
    function: Callable[[Any], Result], items: Iterator[Any], rows_of: Callable[[Any], str], client: Any
) -> Iterator[Result]:
    from labelsure.batches._workers import Workers

    waiting: deque[tuple[str, Any]] = deque()  # which rows, and their future
    with Workers(function, client) as workers:
        while True:
            for item in islice(items, max(0, workers.at_a_time() - len(waiting))):
                rows = rows_of(item)
                with naming(rows):
                    waiting.append((rows, workers.submit(item)))
            if not waiting:
                return
            rows, future = waiting.popleft()
            with naming(rows):
                result: Result = workers.result_of(future)
            del future  # so that the cluster forgets the result
            yield result

"""Threads for kernels that release the interpreter lock."""

import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from joblib import effective_n_jobs

from labelsure._core.progress import progress_bar

Item = TypeVar("Item")
Result = TypeVar("Result")

_this_thread = threading.local()


def map_in_threads(
    function: Callable[[Item], Result], items: Sequence[Item], *, n_jobs: int | None, description: str
) -> Iterable[Result]:
    """Yield ``function(item)`` in the items' order, computed by ``n_jobs`` threads, with a progress bar.

    Parameters
    ----------
    n_jobs : int or None
        As in joblib: None is 1, -1 is all cores.

    Examples
    --------
    >>> list(map_in_threads(abs, [-1, 2], n_jobs=2, description="taking sizes"))
    [1, 2]
    """
    n_threads = min(effective_n_jobs(n_jobs), len(items))
    if n_threads <= 1:
        yield from progress_bar(map(function, items), description=description, total=len(items))
        return
    pool = ThreadPoolExecutor(n_threads)
    stop = threading.Event()
    answers = pool.map(partial(_work, stop, function), items)
    try:
        yield from progress_bar(answers, description=description, total=len(items))
    finally:  # after an interrupt too: what has not begun never does, and what has ends when it looks up next
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)


def stop_if_asked() -> None:
    """Raise CancelledError in a thread of ``map_in_threads`` whose answers nobody waits for any more.

    An interrupt is heard by the main thread alone, and Python waits for all others before it ends. So what takes long
    calls this from time to time; elsewhere it does nothing.
    """
    stop: threading.Event | None = getattr(_this_thread, "stop", None)
    if stop is not None and stop.is_set():
        raise CancelledError


def _work(stop: threading.Event, function: Callable[[Item], Result], item: Item) -> Result:
    _this_thread.stop = stop
    return function(item)

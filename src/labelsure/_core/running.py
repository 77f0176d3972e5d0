"""How work runs: numerical libraries in one thread, our kernels in several, with a progress bar."""

import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import AbstractContextManager
from multiprocessing import parent_process
from typing import Any, TypeVar

from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController
from tqdm import tqdm

_libraries: dict[int, ThreadpoolController] = {}
"""What was found last, by the number of modules there were."""

SECONDS_BEFORE_SHOWN = 2.0


def one_thread() -> AbstractContextManager[object]:
    """Return a context in which BLAS and OpenMP use one thread.

    Examples
    --------
    >>> with one_thread():
    ...     sum([1, 2])
    3
    """
    # Finding the libraries takes milliseconds, longer than many a fit; new ones can only have come with new modules.
    n_modules, libraries = len(sys.modules), _libraries.get(len(sys.modules))
    if libraries is None:
        _libraries.clear()
        libraries = _libraries[n_modules] = ThreadpoolController()
    limit: AbstractContextManager[object] = libraries.limit(limits=1)
    return limit


def progress_bar(iterable: Iterable[Any] | None = None, *, description: str, total: int | None = None) -> Any:
    """Return a bar that appears after two seconds, and only on a terminal.

    Parameters
    ----------
    iterable : iterable or None
        What to walk through; without it call ``update`` on the bar, which is a context manager.
    description : str
        What is being done.
    total : int or None
        The number of steps, where the iterable does not tell.

    Examples
    --------
    >>> [step for step in progress_bar(range(3), description="counting")]
    [0, 1, 2]
    """
    # worker processes and programs without a console have nobody watching
    watched = parent_process() is None and sys.stderr is not None and sys.stderr.isatty()
    style = {"delay": SECONDS_BEFORE_SHOWN, "leave": False, "dynamic_ncols": True, "disable": not watched}
    return tqdm(iterable, desc=description, total=total, **style)


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
    stop = threading.Event()
    pool = ThreadPoolExecutor(n_threads, initializer=setattr, initargs=(_this_thread, "stop", stop))
    try:
        yield from progress_bar(pool.map(function, items), description=description, total=len(items))
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

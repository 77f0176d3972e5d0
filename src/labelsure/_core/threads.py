"""Threads for kernels that release the interpreter lock."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from joblib import effective_n_jobs

from labelsure._core.progress import progress_bar

Item = TypeVar("Item")
Result = TypeVar("Result")


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
    try:
        yield from progress_bar(pool.map(function, items), description=description, total=len(items))
    finally:  # after an interrupt too: what has not begun never does, and nobody waits for what has
        pool.shutdown(wait=False, cancel_futures=True)

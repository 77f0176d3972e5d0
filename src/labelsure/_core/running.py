"""How work runs: numerical libraries in one thread, our kernels in several, with a progress bar and few warnings."""

import contextlib
import os
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import AbstractContextManager
from multiprocessing import parent_process
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed
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


Warned: TypeAlias = Counter[tuple[type[Warning], str]]
"""How often each warning was given, in the order in which they came first."""

OURS = (str(Path(__file__).parents[1]) + os.sep, contextlib.__file__)


def run_jobs(jobs: Any, *, n_jobs: int | None, description: str, total: int, require: str | None = None) -> list[Any]:
    """Return what delayed calls return, in their order, in processes as joblib is told, with a progress bar.

    Warnings that they give, in whatever process, are given once for each category, with how many there were.

    Parameters
    ----------
    jobs : iterable
        Calls made by ``sklearn.utils.parallel.delayed``.
    n_jobs : int or None
        As in joblib.
    description : str
        What is being done, for the bar and for warnings.
    total : int
        The number of jobs.
    require : "sharedmem" or None
        "sharedmem": they run in threads.

    Examples
    --------
    >>> run_jobs([delayed(abs)(-1), delayed(abs)(2)], n_jobs=1, description="taking sizes", total=2)
    [1, 2]
    """
    with one_thread(), collect_warnings(description) as warned:
        watched = (delayed(_watch)(os.getpid(), job.__wrapped__, *rest) for job, *rest in jobs)
        results = Parallel(n_jobs=n_jobs if total > 1 else 1, return_as="generator", require=require)(watched)
        answers = []
        for answer, elsewhere in progress_bar(results, description=description, total=total):
            answers.append(answer)
            warned.update(elsewhere)
        return answers


def _watch(parent: int, function: Callable[..., Any], args: Any, kwargs: Any) -> tuple[Any, Warned]:
    """Return what a call returns, and the warnings that it gave if this is another process than the parent's."""
    if os.getpid() == parent:
        return function(*args, **kwargs), Counter()
    with warnings.catch_warnings(record=True) as caught:
        return function(*args, **kwargs), _count(caught)


@contextlib.contextmanager
def collect_warnings(doing: str) -> Iterator[Warned]:
    """Hold back the warnings given inside and give each category once, with how many there were and the first text.

    What filters ignore is ignored, and what they make errors of stays an error. In other threads than the main one
    warnings pass as they come, because to hold them back is safe in one thread only.

    Parameters
    ----------
    doing : str
        What is being done inside.

    Yields
    ------
    Counter
        Of warnings that were collected elsewhere, to be given with the others.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as given, collect_warnings("fitting folds"):
    ...     for label in (38, 40):
    ...         warnings.warn(f"Label {label} is rare")
    >>> print(given[0].message)
    2 warnings while fitting folds, 2 different ones; the first: Label 38 is rare
    """
    elsewhere: Warned = Counter()
    caught: list[warnings.WarningMessage] = []
    try:
        if threading.current_thread() is not threading.main_thread():
            yield elsewhere
            return
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", append=True)  # unless told otherwise, so that all are counted
            yield elsewhere
    finally:  # after errors too
        _give(_count(caught) + elsewhere, doing)


def _count(caught: Sequence[warnings.WarningMessage]) -> Warned:
    return Counter((warning.category, str(warning.message)) for warning in caught)


def _give(warned: Warned, doing: str) -> None:
    """Give one warning of each category, as if the first caller outside of this package had met it."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(OURS):
        frame, level = frame.f_back, level + 1
    for category in dict.fromkeys(category for category, _ in warned):
        texts = {text: n for (of, text), n in warned.items() if of is category}
        n, first = sum(texts.values()), next(iter(texts))
        different = f", {len(texts)} different ones; the first: " if len(texts) > 1 else ", all the same: "
        message = first if n == 1 else f"{n} warnings while {doing}{different}{first}"
        try:
            given: Warning = category(message)
        except TypeError:  # some categories are made of more than a text
            given = UserWarning(f"{category.__name__}: {message}")
        warnings.warn(given, stacklevel=level)


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

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
from functools import partial
from multiprocessing import parent_process
from pathlib import Path
from typing import Any, TypeAlias, TypeVar
from uuid import uuid4

from joblib import cpu_count, effective_n_jobs, parallel_config
from sklearn import config_context, get_config
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import ThreadpoolController, threadpool_info
from tqdm import tqdm

from labelsure._core.cluster import active_cluster, cluster_for_us_alone, run_on_cluster
from labelsure._core.limits import find_libraries, limit_to_one_thread
from labelsure._core.warnings_elsewhere import recorded_warnings

_libraries: dict[int, ThreadpoolController] = {}
"""What was found last, by the number of modules there were."""

SECONDS_BEFORE_SHOWN = 2.0
SECONDS_BETWEEN = 1.0

_this_thread = threading.local()


def one_thread() -> AbstractContextManager[object]:
    """Return a context in which BLAS and OpenMP use one thread; several threads may enter it at once.

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
        libraries = _libraries[n_modules] = find_libraries()
    return limit_to_one_thread(libraries)


class _Bar(tqdm):
    """A bar that a thread draws as well, so that it appears, and its clock goes on, while no step is finished."""

    last_print_t: float

    def __init__(self, *args: Any, **options: Any) -> None:
        self._ended, self._drawn = threading.Event(), False
        super().__init__(*args, **options)
        threading.Thread(target=self._draw, daemon=True).start()

    def _draw(self) -> None:
        seconds = self.delay
        while not self._ended.wait(seconds):
            with self.get_lock():
                if self._ended.is_set():
                    return
                self.refresh(nolock=True)
                self._drawn, seconds = True, SECONDS_BETWEEN

    def close(self) -> None:
        """Take the bar away."""
        if not self._ended.is_set():
            self._ended.set()
            with self.get_lock():
                if self._drawn:
                    self.last_print_t = max(self.last_print_t, self.start_t + self.delay)  # else it would stay
        super().close()


def progress_bar(iterable: Iterable[Any] | None = None, *, description: str, total: int | None = None) -> Any:
    """Return a bar that appears after two seconds, and only on a terminal: steps done of how many, and the time left.

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
    in_worker = parent_process() is not None or getattr(_this_thread, "in_worker", False)
    watched = not in_worker and sys.stderr is not None and sys.stderr.isatty()
    if not watched:
        return tqdm(iterable, desc=description, total=total, disable=True)
    style: dict[str, Any] = {"delay": SECONDS_BEFORE_SHOWN, "leave": False, **_size_of_terminal()}
    return _Bar(iterable, desc=description, total=total, **style)


def _size_of_terminal() -> dict[str, Any]:
    """Return how wide a bar is: as the terminal, or 80 columns where that says it has none, as under ``script``."""
    try:
        known = os.get_terminal_size(sys.stderr.fileno()).columns > 0
    except (AttributeError, OSError, ValueError):  # no terminal at all
        known = True
    return {"dynamic_ncols": True} if known else {"ncols": 80, "nrows": 24}


Warned: TypeAlias = Counter[tuple[type[Warning], str]]
"""How often each warning was given, in the order in which they came first."""

OURS = (str(Path(__file__).parents[1]) + os.sep, contextlib.__file__)


def run_jobs(
    jobs: Any,
    *,
    n_jobs: int | None,
    description: str,
    total: int,
    require: str | None = None,
    taken: Callable[[int, Any], None] | None = None,
) -> list[Any]:
    """Return what delayed calls return, in their order, in processes as joblib is told, with a progress bar.

    Under ``joblib.parallel_config("dask")`` they run on the cluster, unless there is only one, or n_jobs is 1. Warnings
    that they give, in whatever process, are given once for each category, with how many there were.

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
    taken : callable or None
        Called in this process with the number of a job and what it returned, as soon as it is finished.

    Examples
    --------
    >>> run_jobs([delayed(abs)(-1), delayed(abs)(2)], n_jobs=1, description="taking sizes", total=2)
    [1, 2]
    """
    with one_thread(), collect_warnings(description) as warned:
        # as they come, so that what is finished can be kept at once
        results = _start(jobs, n_jobs, description, total, require)
        answers: dict[int, Any] = {}
        given: dict[int, Warned] = {}
        try:
            for i, answer, elsewhere in progress_bar(results, description=description, total=total):
                answers[i], given[i] = answer, elsewhere
                if taken is not None:
                    taken(i, answer)
        finally:
            for i in sorted(given):
                warned.update(given[i])
        return [answers[i] for i in sorted(answers)]


def _start(jobs: Any, n_jobs: int | None, description: str, total: int, require: str | None) -> Iterator[Any]:
    """Return an iterator of what jobs return, watched, in the order in which they finish."""
    cluster, home = active_cluster(), (_HERE, os.getpid())
    if cluster is not None and require is None and n_jobs != 1 and total > 1:
        work = partial(_watch_in_worker, home, get_config(), list(warnings.filters))
        return run_on_cluster(cluster, work, [(job.__wrapped__, *rest) for job, *rest in jobs], doing=description)
    here: dict[str, Any] = {"n_jobs": n_jobs if total > 1 else 1, "require": require}
    watch: Callable[..., Any] = _watch
    if cluster is not None:
        here = {"n_jobs": count_threads(n_jobs) if total > 1 else 1, "backend": "threading"}
        watch = partial(_watch_beside_cluster, cluster if total == 1 and n_jobs != 1 else None)
    watched = (delayed(watch)(home, i, job.__wrapped__, *rest) for i, (job, *rest) in enumerate(jobs))
    results: Iterator[Any] = Parallel(return_as="generator_unordered", **here)(watched)
    return results


_HERE = uuid4().hex
"""Tells this process from those of other machines, whose numbers may be the same; forks have it with other numbers."""


def _watch(
    home: tuple[str, int], i: int, function: Callable[..., Any], args: Any, kwargs: Any
) -> tuple[int, Any, Warned]:
    """Return its number, what a call returns, and the warnings it gave if this is another process than the home."""
    if home == (_HERE, os.getpid()):
        return i, function(*args, **kwargs), Counter()
    with warnings.catch_warnings(record=True) as caught:
        return i, function(*args, **kwargs), _count(caught)


def _watch_beside_cluster(cluster: Any, *call: Any) -> tuple[int, Any, Warned]:
    """Do the same here while joblib is told to use a cluster: only jobs of ours inside may use it."""
    with cluster_for_us_alone(cluster):
        return _watch(*call)


def _watch_in_worker(
    home: tuple[str, int], config: dict[str, Any], filters: Any, i: int, function: Any, args: Any, kwargs: Any
) -> tuple[int, Any, Warned]:
    """Do the same in a worker of a cluster, where several threads may do so, and learners have one core each."""
    _this_thread.in_worker = True
    try:
        with one_thread(), cluster_for_us_alone(None), config_context(**config):
            if home == (_HERE, os.getpid()):
                return i, function(*args, **kwargs), Counter()
            with recorded_warnings(filters) as caught:
                _warn_of_threads()
                return i, function(*args, **kwargs), _count(caught)
    finally:
        _this_thread.in_worker = False


def _warn_of_threads() -> None:
    """Warn where BLAS has several threads all the same: OpenBLAS listens to the main thread only, and this is none."""
    several = [library for library in threadpool_info() if library["user_api"] == "blas" and library["num_threads"] > 1]
    if several:
        warnings.warn(
            f"this worker's BLAS has {several[0]['num_threads']} threads, by which results may differ in the last bit,"
            " and workers get into each other's way. Start workers with OMP_NUM_THREADS=1 and OPENBLAS_NUM_THREADS=1"
            " in their environment; a worker with a nanny has that by itself.",
            stacklevel=2,
        )


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


def count_threads(n_jobs: int | None) -> int:
    """Return how many threads of this process ``n_jobs`` is; under Dask joblib would count the cores of the cluster.

    Examples
    --------
    >>> count_threads(3)
    3
    """
    if active_cluster() is None:
        return int(effective_n_jobs(n_jobs))
    with parallel_config(backend="threading", n_jobs=-1):
        return min(int(effective_n_jobs(n_jobs)), int(cpu_count()))


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
    n_threads = min(count_threads(n_jobs), len(items))
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

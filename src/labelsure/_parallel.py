"""Parallel work: limits on BLAS threads, joblib, Dask, threads, progress bars and warnings."""

import contextlib
import os
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from multiprocessing import parent_process
from pathlib import Path
from typing import Any, TypeAlias, TypeVar
from uuid import uuid4

import threadpoolctl
from joblib import effective_n_jobs, parallel_config
from joblib.parallel import get_active_backend
from sklearn import config_context, get_config
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import ThreadpoolController
from tqdm import tqdm

_libraries: dict[int, ThreadpoolController] = {}
"""What was found last, by the number of modules there were."""

SECONDS_BEFORE_SHOWN = 2.0
SECONDS_BETWEEN = 1.0

_this_thread = threading.local()


class _Shared:
    """Who wants BLAS in one thread, and how many it had.

    BLAS has one number of threads for the whole process. If each user of it put back what he found,
    the first to leave would give threads to the others, whose sums would come out differently, and
    the last might leave one thread for ever. So the first sets it and the last puts it back.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.n_inside = 0
        self.limited: ThreadpoolController | None = None
        self.before: list[tuple[Any, int]] = []

    def enter(self, libraries: ThreadpoolController) -> None:
        with self.lock:
            self.n_inside += 1
            if self.limited is libraries:
                return
            self.limited = libraries  # the first inside, or libraries have been loaded meanwhile
            _take_control()
            for library in libraries.lib_controllers:
                if library.user_api == "blas":
                    self.before.append((library, library.get_num_threads()))
                    library.set_num_threads(1)

    def leave(self) -> None:
        with self.lock:
            self.n_inside -= 1
            if self.n_inside:
                return
            self.limited = None
            _take_control()
            while self.before:
                library, n_threads = self.before.pop()
                library.set_num_threads(n_threads)
            _take_control()


def _take_control() -> None:
    """Let this thread set the number of threads: newer threadpoolctl obeys one thread only."""
    take = getattr(threadpoolctl.OpenBLASController, "clear_controlling_thread", None)
    if take is not None:
        take(force=True)


_shared = _Shared()


def _renew_lock() -> None:
    _shared.lock = threading.Lock()


if hasattr(os, "register_at_fork"):  # another thread, which the child does not have, may hold it
    os.register_at_fork(after_in_child=_renew_lock)


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Limit BLAS and OpenMP to one thread; several threads may be inside at the same time.

    Examples
    --------
    >>> with one_thread():
    ...     sum([1, 2])
    3
    """
    # Finding the libraries takes milliseconds, longer than many a fit; new ones can only have come
    # with new modules.
    n_modules, libraries = len(sys.modules), _libraries.get(len(sys.modules))
    if libraries is None:
        _libraries.clear()
        libraries = _libraries[n_modules] = ThreadpoolController()
    _shared.enter(libraries)
    try:
        with libraries.limit(limits=1, user_api="openmp"):  # OpenMP has a number for each thread
            yield
    finally:
        _shared.leave()


class _Bar(tqdm):
    """A bar that a thread refreshes, so that it shows before the first step has finished."""

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
                    # else it would stay
                    self.last_print_t = max(self.last_print_t, self.start_t + self.delay)
        super().close()


def progress_bar(
    iterable: Iterable[Any] | None = None, *, description: str, total: int | None = None
) -> Any:
    """Return a progress bar that appears after two seconds, and only on a terminal.

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
    # not in worker processes, nor in programs without a console
    watched = parent_process() is None and sys.stderr is not None and sys.stderr.isatty()
    if not watched:
        return tqdm(iterable, desc=description, total=total, disable=True)
    style: dict[str, Any] = {"delay": SECONDS_BEFORE_SHOWN, "leave": False, **_size_of_terminal()}
    return _Bar(iterable, desc=description, total=total, **style)


def _size_of_terminal() -> dict[str, Any]:
    """Return a bar's width: the terminal's, or 80 if it reports none, as under ``script``."""
    try:
        known = os.get_terminal_size(sys.stderr.fileno()).columns > 0
    except (AttributeError, OSError, ValueError):  # no terminal at all
        known = True
    return {"dynamic_ncols": True} if known else {"ncols": 80, "nrows": 24}


Warned: TypeAlias = Counter[tuple[type[Warning], str]]
"""How often each warning was given, in the order in which they came first."""

OURS = (str(Path(__file__).parent) + os.sep, contextlib.__file__)


def run_jobs(
    jobs: Any,
    *,
    n_jobs: int | None,
    description: str,
    total: int,
    require: str | None = None,
    taken: Callable[[int, Any], None] | None = None,
) -> list[Any]:
    """Run delayed calls with joblib and a progress bar; return their results in order.

    Under ``joblib.parallel_config("dask")`` they run on the cluster, unless there is only one, or
    n_jobs is 1. Warnings that they give, in whatever process, are given once for each category,
    with how many there were.

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
        Called in this process with the number of a job and what it returned, as soon as it is
        finished.

    Examples
    --------
    >>> run_jobs([delayed(abs)(-1), delayed(abs)(2)], n_jobs=1, description="taking sizes", total=2)
    [1, 2]
    """
    with one_thread(), collect_warnings(description) as warned:
        # as they come, so that what is finished can be kept at once
        results = _start(jobs, n_jobs, total, require)
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


def _start(jobs: Any, n_jobs: int | None, total: int, require: str | None) -> Iterator[Any]:
    """Return an iterator of what jobs return, watched, in the order in which they finish."""
    options: dict[str, Any] = {"n_jobs": n_jobs, "require": require}
    if total <= 1 or n_jobs == 1:
        options = {"backend": "sequential"}  # only what is nested inside may go elsewhere
    elif require is None and (cluster := _active_cluster()) is not None:
        return _on_cluster(cluster, list(jobs))
    watched = (
        delayed(_watch)(_home(), i, job.__wrapped__, *rest) for i, (job, *rest) in enumerate(jobs)
    )
    results: Iterator[Any] = Parallel(return_as="generator_unordered", **options)(watched)
    return results


def _active_cluster() -> Any:
    """Return joblib's backend for Dask if that is where jobs go now, else None."""
    backend = get_active_backend()[0]
    return backend if type(backend).__name__ == "DaskDistributedBackend" else None


def _on_cluster(backend: Any, jobs: list[Any]) -> Iterator[Any]:
    """Yield the results of jobs on the workers of joblib's Dask client; raise their errors.

    joblib's own loop (1.6) waits for ever for a job that Dask gives up because workers died over
    it, and works here where the cluster has one core. It scatters shared data, of which Dask's
    memory manager soon keeps a single copy that dies with its worker: here a task that can run
    again returns them.
    """
    import distributed

    as_completed: Any = distributed.as_completed
    client = backend.client
    backend.effective_n_jobs(-1)  # waits for a first worker
    shared = {id(value): value for value in jobs[0][1] if not isinstance(value, PLAIN)}
    shared = {id(value): value for value in jobs[-1][1] if id(value) in shared}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph")
        sent = {key: client.submit(_give_back, value, pure=False) for key, value in shared.items()}
    given = _home(), get_config(), list(warnings.filters)
    futures = []
    for i, (job, args, kwargs) in enumerate(jobs):
        call = job.__wrapped__, tuple(sent.get(id(value), value) for value in args), kwargs
        futures.append(
            client.submit(_watch_in_worker, *given, i, *call, pure=False, **backend.submit_kwargs)
        )
    try:
        with backend.retrieval_context():  # inside a task of Dask it leaves the thread to others
            for future in as_completed(futures, loop=client.loop):
                yield future.result()
                future.release()
    finally:
        client.cancel(futures)


def _give_back(value: Any) -> Any:
    return value


def _home() -> tuple[str, int]:
    return _HERE, os.getpid()


_HERE = uuid4().hex
"""Identifies this process together with its process id, which other machines may also use."""

PLAIN = (type(None), bool, int, float, str)


def _watch(
    home: tuple[str, int], i: int, function: Callable[..., Any], args: Any, kwargs: Any
) -> tuple[int, Any, Warned]:
    """Return the job's number, its result, and its warnings if this process is not home."""
    if home == _home():
        return i, function(*args, **kwargs), Counter()
    with warnings.catch_warnings(record=True) as caught:
        return i, function(*args, **kwargs), _count_warnings(caught)


def _watch_in_worker(
    home: tuple[str, int], config: dict[str, Any], filters: list[Any], *call: Any
) -> Any:
    """Run :func:`_watch` in a Dask worker, where a learner has one core and starts no tasks."""
    with (
        one_thread(),
        parallel_config(backend="sequential"),
        config_context(**config),
        warnings.catch_warnings(),
    ):
        warnings.filters = filters
        return _watch(home, *call)


@contextlib.contextmanager
def collect_warnings(doing: str) -> Iterator[Warned]:
    """Collect warnings and give each category once, with the number of warnings and the first text.

    What filters ignore is ignored, and what they make errors of stays an error. In other threads
    than the main one warnings pass as they come, because to hold them back is safe in one thread
    only.

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
            # unless told otherwise, so that all are counted
            warnings.simplefilter("always", append=True)
            yield elsewhere
    finally:  # after errors too
        _give(_count_warnings(caught) + elsewhere, doing)


def _count_warnings(caught: Sequence[warnings.WarningMessage]) -> Warned:
    return Counter((warning.category, str(warning.message)) for warning in caught)


def _give(warned: Warned, doing: str) -> None:
    """Give one warning of each category, attributed to the first caller outside of this package."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(OURS):
        frame, level = frame.f_back, level + 1
    for category in dict.fromkeys(category for category, _ in warned):
        texts = {text: n for (of, text), n in warned.items() if of is category}
        n, first = sum(texts.values()), next(iter(texts))
        different = (
            f", {len(texts)} different ones; the first: " if len(texts) > 1 else ", all the same: "
        )
        message = first if n == 1 else f"{n} warnings while {doing}{different}{first}"
        try:
            given: Warning = category(message)
        except TypeError:  # some categories take more than a text
            given = UserWarning(f"{category.__name__}: {message}")
        warnings.warn(given, stacklevel=level)


Item = TypeVar("Item")
Result = TypeVar("Result")


def count_threads(n_jobs: int | None) -> int:
    """Return the number of threads of this process for ``n_jobs``, also under Dask.

    Examples
    --------
    >>> count_threads(3)
    3
    """
    with (
        contextlib.nullcontext()
        if _active_cluster() is None
        else parallel_config(backend="threading")
    ):
        return int(effective_n_jobs(n_jobs))


def map_in_threads(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    *,
    n_jobs: int | None,
    description: str,
) -> Iterable[Result]:
    """Yield ``function(item)`` in order, computed by ``n_jobs`` threads, with a progress bar.

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
        yield from progress_bar(
            pool.map(function, items), description=description, total=len(items)
        )
    finally:  # also after an interrupt: waiting calls never start, running ones stop soon
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)


def stop_if_asked() -> None:
    """Raise CancelledError in a thread of ``map_in_threads`` whose results are no longer needed.

    An interrupt is heard by the main thread alone, and Python waits for all others before it ends.
    So what takes long calls this from time to time; elsewhere it does nothing.
    """
    stop: threading.Event | None = getattr(_this_thread, "stop", None)
    if stop is not None and stop.is_set():
        raise CancelledError

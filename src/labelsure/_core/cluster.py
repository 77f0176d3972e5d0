"""Jobs on the Dask cluster that joblib is told to use: what they have in common travels once to each worker.

joblib's own way to Dask sends what it shares to one worker, whose death then loses it, has batches in batches where
learners use joblib too, and cannot say which job failed. So jobs are handed to its client here.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import MethodType
from typing import Any, NamedTuple, TypeAlias
from uuid import uuid4

from joblib import parallel_config
from joblib.parallel import get_active_backend

from labelsure._core.optional import import_optional
from labelsure._core.versions import find_difference, versions

Call: TypeAlias = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]

ROUNDS_PER_CORE = 16
"""Tasks for each core of the cluster where there are more jobs than that; the scheduler takes a millisecond for one."""

SECONDS_FOR_WORKERS = 120.0
"""How long to wait for another worker where the last one has died."""

MOST_IN_A_TASK = 100_000
"""Bytes that travel through the scheduler as a part of the task; more is sent to a worker first."""

_this_thread = threading.local()

PLAIN = (type(None), bool, int, float, str)


class ClusterError(RuntimeError):
    """A Dask cluster that cannot finish: its scheduler is gone, its workers die again and again, or are unlike us."""


def refuse_other_versions(ours: Mapping[str, str], worker: str) -> None:
    """Raise ClusterError in a worker whose numbers could differ; for every task, because workers may come at any time.

    Parameters
    ----------
    ours : mapping
        The :func:`versions` of the process that has sent the task.
    worker : str
        The worker's address.
    """
    found = find_difference(ours)
    if found is not None:
        raise ClusterError(f"worker {worker} has {found}")


def active_cluster() -> Any:
    """Return joblib's backend for Dask if that is where jobs go now, else None.

    Examples
    --------
    >>> active_cluster() is None
    True
    """
    backend = getattr(_this_thread, "cluster", None) or get_active_backend()[0]
    return backend if type(backend).__name__ == "DaskDistributedBackend" else None


@contextmanager
def cluster_for_us_alone(cluster: Any) -> Iterator[None]:
    """Hide the cluster from learners, who would have tasks of their own, so that only :func:`active_cluster` finds it.

    Parameters
    ----------
    cluster : joblib's DaskDistributedBackend or None
        None: we do not find one either.

    Examples
    --------
    >>> with cluster_for_us_alone(None):
    ...     get_active_backend()[0].effective_n_jobs(8)
    1
    """
    before = getattr(_this_thread, "cluster", None)
    _this_thread.cluster = cluster
    try:
        with parallel_config(backend="sequential"):
            yield
    finally:
        _this_thread.cluster = before


def run_on_cluster(backend: Any, work: Callable[..., Any], calls: Sequence[Call], *, doing: str) -> Iterator[Any]:
    """Yield what ``work(number, function, args, kwargs)`` returns for each call, as soon as a worker has it.

    A worker that dies is none of our business as long as others live: Dask has its jobs done again, and what was lost
    with the last worker is sent again.

    Parameters
    ----------
    backend : joblib's DaskDistributedBackend
        With the client, and the user's wishes for tasks.
    work : callable
        Pickled for every task.
    calls : sequence of (function, args, kwargs)
        Objects that are in several of them travel once to each worker that needs them, and are shared by its threads.
    doing : str
        What the calls do, for Dask's dashboard and for errors.

    Raises
    ------
    ClusterError
        If workers die again and again over the same calls, if none comes, if one has other versions than there are
        here, or if the scheduler is gone.
    """
    n_cores = _count_cores(backend, doing)
    common, private = _divide(calls)
    n_tasks = min(len(calls), ROUNDS_PER_CORE * n_cores)
    numbered = list(enumerate(private))
    missing = {place: numbered[place::n_tasks] for place in range(n_tasks)}
    n_lost, allowed = 0, _allowed_deaths()
    with _waiting_in_a_worker():
        while missing:
            before = len(missing)
            for place, answers in _run_once(backend, work, common, missing, doing=doing, n_calls=len(calls)):
                del missing[place]
                yield from answers
            n_lost = n_lost + 1 if len(missing) == before else 0
            if n_lost > allowed:
                raise ClusterError(_killed(doing, missing[min(missing)], len(calls), n_lost, "the only one there was"))


def _count_cores(backend: Any, doing: str) -> int:
    """Return how many cores the cluster has; where it has none, a first worker is waited for."""
    client = backend.client
    try:
        return int(backend.effective_n_jobs(-1))
    except Exception as error:
        if client.status == "running" and isinstance(error, TimeoutError):
            raise ClusterError(_no_workers(client, doing, backend.wait_for_workers_timeout)) from error
        if client.status != "running" or isinstance(error, OSError):
            raise ClusterError(_gone(client, doing)) from error
        raise


class Common:
    """Objects that several calls have in common; a class of ours, so that they travel as one."""

    def __init__(self, objects: Sequence[Any]) -> None:
        self.objects = objects

    def __sizeof__(self) -> int:
        """Return the bytes that Dask counts, which travel; it does not know sparse arrays by itself."""
        import cloudpickle

        buffers: list[Any] = []  # what pickling would copy is only looked at
        rest = cloudpickle.dumps(self.objects, protocol=5, buffer_callback=buffers.append)
        return len(rest) + sum(int(buffer.raw().nbytes) for buffer in buffers)


class Place(NamedTuple):
    """Stands for an object among the common ones, or for a method of it."""

    place: int
    method: str | None = None

    def find(self, common: Common) -> Any:
        """Return what it stands for."""
        found = common.objects[self.place]
        return found if self.method is None else getattr(found, self.method)


def _divide(calls: Sequence[Call]) -> tuple[Common, list[Any]]:
    """Return what several calls have in common, and the calls with places where that was."""
    owners = [function.__self__ if isinstance(function, MethodType) else None for function, _, _ in calls]
    used = Counter(id(value) for value in owners if value is not None)
    for _, args, kwargs in calls:
        used.update({id(value) for value in (*args, *kwargs.values()) if not isinstance(value, PLAIN)})
    places: dict[int, Place] = {}
    objects: list[Any] = []

    def put(value: Any) -> Any:
        if used[id(value)] < 2 or isinstance(value, PLAIN):
            return value
        if id(value) not in places:
            places[id(value)] = Place(len(objects))
            objects.append(value)
        return places[id(value)]

    private: list[Any] = []
    for (function, args, kwargs), owner in zip(calls, owners, strict=True):
        place: Any = function if owner is None else put(owner)
        called = place._replace(method=function.__name__) if isinstance(place, Place) else function
        private.append((called, tuple(map(put, args)), {name: put(value) for name, value in kwargs.items()}))
    return Common(objects), private


def _run_once(
    backend: Any, work: Any, common: Common, missing: dict[int, Any], *, doing: str, n_calls: int
) -> Iterator[tuple[int, list[Any]]]:
    """Have all tasks done, and yield places and answers; those that are lost with a worker are left out."""
    distributed, client = _distributed(), backend.client
    sent: list[Any] = []
    try:
        try:
            futures = _submit(backend, work, common, missing, name=doing.replace(" ", "_"), sent=sent)
        except TimeoutError as error:
            raise ClusterError(_no_workers(client, doing, SECONDS_FOR_WORKERS)) from error
        except Exception as error:
            # a worker that died while data were on the way to it, or the scheduler, which is looked at below
            if client.status == "running" and not isinstance(error, OSError):
                raise
            futures = {}
        for future, answer in distributed.as_completed(
            list(futures), loop=client.loop, with_results=True, raise_errors=False
        ):
            place = futures[future]
            if future.status == "finished":
                future.release()
                yield place, answer
            elif future.status == "error":
                _, failure, trace = answer
                if isinstance(failure, distributed.KilledWorker):
                    last, n_killed = failure.last_worker.address, failure.allowed_failures + 1
                    raise ClusterError(_killed(doing, missing[place], n_calls, n_killed, last)) from failure
                raise failure.with_traceback(trace)
        if client.status != "running":
            raise ClusterError(_gone(client, doing))
    finally:
        if client.status == "running":  # data need not stay; after an error, or an interrupt, nobody waits for the rest
            with suppress(Exception):
                client.cancel(sent)


def _submit(
    backend: Any, work: Any, common: Common, missing: dict[int, Any], *, name: str, sent: list[Any]
) -> dict[Any, int]:
    """Send data and tasks to the cluster, and return the futures with their places; all that is sent is put on a list.

    What a task alone needs is pickled here, so that the task has objects of its own, which it may change.
    """
    import cloudpickle

    client, workers = backend.client, backend.submit_kwargs.get("workers")
    n_copies = max(min(len(missing), len(client.ncores(workers))), 1)
    limits = {"workers": workers, "timeout": SECONDS_FOR_WORKERS}
    sent += client.scatter([common], broadcast=n_copies, hash=False, **limits)
    payloads = {place: cloudpickle.dumps(numbered) for place, numbered in missing.items()}
    large = [place for place, pickled in payloads.items() if len(pickled) > MOST_IN_A_TASK]
    if large:
        sent += client.scatter([payloads[place] for place in large], hash=False, **limits)
        payloads |= dict(zip(large, sent[1:], strict=True))
    futures = {}
    for place, payload in payloads.items():
        key = f"{name}-{uuid4().hex}"
        given = versions(), work, sent[0], payload
        future = client.submit(_do_there, *given, key=key, pure=False, **backend.submit_kwargs)
        futures[future] = place
        sent.append(future)
    return futures


def _do_there(ours: Mapping[str, str], *given: Any) -> list[Any]:
    """Do some of the calls in a worker, unless its numbers could differ."""
    refuse_other_versions(ours, _distributed().get_worker().address)
    return _do(*given)


def _do(work: Any, common: Common, payload: bytes) -> list[Any]:
    """Do some of the calls."""
    import pickle

    def fill(value: Any) -> Any:
        return value.find(common) if isinstance(value, Place) else value

    return [
        work(number, fill(function), tuple(map(fill, args)), {name: fill(value) for name, value in kwargs.items()})
        for number, (function, args, kwargs) in pickle.loads(payload)
    ]


@contextmanager
def _waiting_in_a_worker() -> Iterator[None]:
    """Leave a worker's thread to others while waiting, if this is one: else no thread may be left for the jobs."""
    distributed = _distributed()
    if not hasattr(distributed.utils.thread_state, "execution_state"):
        yield
        return
    distributed.secede()
    try:
        yield
    finally:
        distributed.rejoin()


def _distributed() -> Any:
    return import_optional("distributed", extra="dask", purpose="A Dask cluster")


def _allowed_deaths() -> int:
    import dask

    return int(dask.config.get("distributed.scheduler.allowed-failures"))


def _at(client: Any) -> str:
    """Return where the scheduler is; a client that has given up no longer knows."""
    return "" if client.scheduler is None else f" at {client.scheduler.address}"


def _gone(client: Any, doing: str) -> str:
    return (
        f"The Dask scheduler{_at(client)} went away while {doing}. Start it again with its workers, connect anew, and"
        " repeat this."
    )


def _no_workers(client: Any, doing: str, seconds: float) -> str:
    cluster = f"the Dask cluster{_at(client)}"
    return f"While {doing}, {cluster} had no workers for {seconds:.0f} s. Start some, and repeat this."


def _killed(doing: str, task: Sequence[tuple[int, Any]], n_calls: int, n_killed: int, last: str) -> str:
    first, *others = (number + 1 for number, _ in task)
    which = f"job {first}{f' and {len(others)} more' if others else ''} of {n_calls}"
    return (
        f"While {doing}, {which} was given up after {n_killed} workers died over it, the last one {last}. Most often"
        " there is too little memory: start fewer workers on each machine, or workers with a larger memory limit; their"
        " logs say more."
    )

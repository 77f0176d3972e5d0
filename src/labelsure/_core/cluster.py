"""Jobs on the Dask cluster that joblib is told to use: what they have in common travels once to each worker.

joblib's own way to Dask sends what it shares to one worker, whose death then loses it, has batches in batches where
learners use joblib too, and cannot say which job failed. So jobs are handed to its client here.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, TypeAlias
from uuid import uuid4

from joblib.parallel import get_active_backend

from labelsure._core.optional import import_optional

Call: TypeAlias = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]

ROUNDS_PER_CORE = 16
"""Tasks for each core of the cluster where there are more jobs than that; the scheduler takes a millisecond for one."""

MOST_IN_A_TASK = 100_000
"""Bytes that travel through the scheduler as a part of the task; more is sent to a worker first."""

PLAIN = (type(None), bool, int, float, str)


class ClusterError(RuntimeError):
    """A Dask cluster that cannot finish: its scheduler is gone, or its workers die again and again."""


def active_cluster() -> Any:
    """Return joblib's backend for Dask if that is where jobs go now, else None.

    Examples
    --------
    >>> active_cluster() is None
    True
    """
    backend, _ = get_active_backend()
    return backend if type(backend).__name__ == "DaskDistributedBackend" else None


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
        If workers die again and again over the same calls, or if the scheduler is gone.
    """
    n_cores = backend.effective_n_jobs(-1)  # waits for a first worker
    common, private = _divide(calls)
    n_tasks = min(len(calls), ROUNDS_PER_CORE * n_cores)
    tasks = [list(range(len(calls)))[first::n_tasks] for first in range(n_tasks)]
    missing = {place: [(number, private[number]) for number in numbers] for place, numbers in enumerate(tasks)}
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


class Common:
    """Objects that several calls have in common; a class of ours, so that they travel as one."""

    def __init__(self, objects: Sequence[Any]) -> None:
        self.objects = objects

    def __sizeof__(self) -> int:
        """Return the bytes that Dask counts."""
        from dask.sizeof import sizeof

        return sum(sizeof(value) for value in self.objects)


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
    owners = [getattr(function, "__self__", None) for function, _, _ in calls]
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
    distributed, client, futures = _distributed(), backend.client, {}
    try:
        workers = backend.submit_kwargs.get("workers")
        n_copies = min(len(missing), len(client.ncores(workers)))
        sent = client.scatter([common], broadcast=max(n_copies, 1), hash=False, workers=workers)
        payloads = _send(client, list(missing.values()), workers)
        for place, payload in zip(missing, payloads, strict=True):
            key = f"{doing.replace(' ', '_')}-{uuid4().hex}"
            future = client.submit(_do, work, sent[0], payload, key=key, pure=False, **backend.submit_kwargs)
            futures[future] = place
        for future, answer in distributed.as_completed(
            list(futures), loop=client.loop, with_results=True, raise_errors=False
        ):
            place = futures.pop(future)
            if future.status == "finished":
                yield place, answer
            elif future.status == "error":
                _, error, trace = answer
                if isinstance(error, distributed.KilledWorker):
                    last, n_killed = error.last_worker.address, error.allowed_failures + 1
                    raise ClusterError(_killed(doing, missing[place], n_calls, n_killed, last)) from error
                raise error.with_traceback(trace)
            elif client.status != "running":
                raise ClusterError(
                    f"The Dask scheduler at {client.scheduler.address} went away while {doing}. Start it again with"
                    " its workers, make a new Client, and repeat this."
                )
    finally:
        if futures and client.status == "running":  # an error, or an interrupt: nobody waits for the others
            with suppress(Exception):
                client.cancel(list(futures))


def _send(client: Any, private: Sequence[Any], workers: Any) -> list[Any]:
    """Return what tasks get, pickled: small things as they are, large ones as futures of what is on a worker already.

    Pickled, so that every task has objects of its own, which it may change.
    """
    import cloudpickle

    pickled = [cloudpickle.dumps(numbered) for numbered in private]
    large = [place for place, content in enumerate(pickled) if len(content) > MOST_IN_A_TASK]
    payloads: list[Any] = list(pickled)
    if large:
        sent = client.scatter([pickled[place] for place in large], hash=False, workers=workers)
        for place, future in zip(large, sent, strict=True):
            payloads[place] = future
    return payloads


def _do(work: Any, common: Common, payload: bytes) -> list[Any]:
    """Do some of the calls, in a worker."""
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


def _killed(doing: str, task: Sequence[tuple[int, Any]], n_calls: int, n_killed: int, last: str) -> str:
    first, *others = (number + 1 for number, _ in task)
    which = f"job {first}{f' and {len(others)} more' if others else ''} of {n_calls}"
    return (
        f"While {doing}, {which} was given up after {n_killed} workers died over it, the last one {last}. Most often"
        " there is too little memory: start fewer workers on each machine, or workers with a larger memory limit; their"
        " logs say more."
    )

"""How much faster are fits on a Dask cluster, and what would a hundred workers be worth?"""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from math import ceil, log2
from typing import Any

import numpy as np
from joblib import parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.parallel import delayed

from benchmarks._answers import NotMeasuredError, Table
from benchmarks._figures import Figure
from labelsure import CrossConformalClassifier, PowerMeasure
from labelsure._core.running import run_jobs

TITLE = "Fits on a Dask cluster"
METHOD = (
    "`CrossConformalClassifier` with a learner that keeps one core busy for about five seconds in every fold, under"
    ' `joblib.parallel_config("dask")`, on a local cluster of processes with one thread each; as many folds as divide'
    " evenly. Seconds of the clock around `fit`, workers started and imports done before. The hundred workers are"
    " a simulation, not a measurement: folds of several lengths are dealt out to the workers one after another, with"
    " what was measured here for the scheduler's and client's work on each task, for a byte sent to a worker, and for"
    " the bytes of data and of a fold's model; data spread over the workers as in a tree."
)
SECONDS, N_FOLDS = 5.0, 4
MANY_WORKERS = 100
MEGABYTES = 200
PACKAGES = ("dask", "distributed")


def measure(seconds: float = SECONDS) -> list[Figure | Table]:
    """Return how much two workers are worth, more where there are more cores, and a hundred in a simulation."""
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        raise NotMeasuredError(f"it takes dask and distributed ({error})") from error
    n_steps = steps_in(seconds)
    n_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    took, costs = {}, None
    for n_workers in sorted({1, 2, *(2**k for k in range(2, 8) if 2**k <= n_cores), n_cores}):
        with local_client(n_workers) as client:
            n_folds = N_FOLDS * ceil(n_workers / N_FOLDS)
            took[n_workers] = seconds_of_a_fit(client, n_folds, n_steps) / n_folds
            costs = costs or measure_costs(client)
    assert costs is not None
    growth = [[n, per_fold, took[1] / per_fold] for n, per_fold in took.items()]
    simulated = [
        [length, n_folds, length * n_folds / makespan(costs, n_folds, length, MANY_WORKERS)]
        for length in (5.0, 60.0, 600.0)
        for n_folds in (10, 100, 1000)
    ]
    return [
        Figure(f"two workers against one, folds of {seconds:.0f} s", took[1] / took[2], "x", at_least=1.6),
        Figure("scheduler and client for each task", 1000 * costs.per_task, "ms"),
        Figure("data sent to a worker", 1 / costs.per_byte / 1e6, "MB/s"),
        Figure(f"simulated: {MANY_WORKERS} workers, 100 folds of 60 s", simulated[4][2], "x"),
        Table("Growth in workers, measured", ["workers", "seconds per fold", "times one worker"], growth),
        Table(
            f"Simulated: {MANY_WORKERS} workers, {MEGABYTES} MB of data",
            ["seconds of a fold", "folds", "times one worker"],
            simulated,
        ),
    ]


class Busy(ClassifierMixin, BaseEstimator):
    """Keeps one core busy for so many steps when it is fitted; knows how often each label is on."""

    def __init__(self, n_steps: int = 1) -> None:
        self.n_steps = n_steps

    def fit(self, _X: Any, y: Any) -> "Busy":
        work(self.n_steps)
        self.frequencies_ = np.mean(y, axis=0)
        return self

    def predict_proba(self, X: Any) -> Any:
        return np.tile(self.frequencies_, (len(X), 1))


def work(n_steps: int) -> float:
    """Do so many steps of arithmetic that no library spreads over cores."""
    total = 0.0
    for step in range(n_steps):
        total += (step * 2654435761) % 4294967296 / 4294967296
    return total


def steps_in(seconds: float) -> int:
    """Return how many steps take this long on one core that is free."""
    n_steps = 1_000_000
    start = time.thread_time()
    work(n_steps)
    return max(1, round(n_steps * seconds / (time.thread_time() - start)))


@contextmanager
def local_client(n_workers: int) -> Iterator[Any]:
    """A client of a cluster of processes here, which have imported everything."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(n_workers)
        seconds_of_a_fit(client, max(2, n_workers), 1)
        yield client


def seconds_of_a_fit(client: Any, n_folds: int, n_steps: int) -> float:
    """Return how long a fit takes on the cluster."""
    rng = np.random.default_rng(0)
    X = rng.random((400, 10))
    Y = (X[:, :4] > rng.random((400, 4))).astype(np.int8)
    model = CrossConformalClassifier(Busy(n_steps), cv=n_folds, measure=PowerMeasure(), random_state=0)
    with parallel_config("dask", client=client):
        start = time.perf_counter()
        model.fit(X, Y)
        return time.perf_counter() - start


@dataclass(frozen=True)
class Costs:
    """What a task and a byte cost in seconds, and how many bytes there are."""

    per_task: float
    per_byte: float
    data_bytes: float
    model_bytes: float


def measure_costs(client: Any, n_tasks: int = 64) -> Costs:
    """Return what tasks that do nothing take, and what it takes to send data to a worker."""
    few, many = (_seconds_of_nothing(client, n) for n in (2, n_tasks))
    data = np.random.default_rng(0).random(MEGABYTES * 125_000)
    start = time.perf_counter()
    sent = client.scatter([data], hash=False)
    seconds = time.perf_counter() - start
    client.cancel(sent)
    return Costs(max(many - few, 0.0) / (n_tasks - 2), seconds / data.nbytes, data.nbytes, data.nbytes / 100)


def _seconds_of_nothing(client: Any, n_tasks: int) -> float:
    with parallel_config("dask", client=client):
        start = time.perf_counter()
        run_jobs([delayed(abs)(-k) for k in range(n_tasks)], n_jobs=None, description="nothing", total=n_tasks)
        return time.perf_counter() - start


def makespan(costs: Costs, n_folds: int, seconds: float, n_workers: int) -> float:
    """Return when the last model would be back, in a simulation.

    The client hands tasks out one after another; data reach the workers as in a tree that doubles at every step; a
    worker that is free takes the next task; models come back to the client one at a time.
    """
    ready = costs.data_bytes * costs.per_byte * ceil(log2(n_workers + 1))
    free: list[float] = [ready] * n_workers
    heapify(free)
    finished: list[float] = []
    for number in range(n_folds):
        begins = max(heappop(free), ready + (number + 1) * costs.per_task)
        heappush(free, begins + seconds)
        finished.append(begins + seconds)
    return _back(sorted(finished), costs.model_bytes * costs.per_byte)


def _back(finished: Sequence[float], takes: float) -> float:
    """Return when the last model is back."""
    clock = 0.0
    for end in finished:
        clock = max(clock, end) + takes
    return clock

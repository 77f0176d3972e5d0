"""A function on the workers of a Dask cluster: sent to each of them once, those included that come later."""

import contextlib
from asyncio import CancelledError
from collections.abc import Callable
from itertools import count
from typing import Any, Self
from uuid import uuid4

import dask.config
from distributed import WorkerPlugin, get_worker

from labelsure._core.cluster import SECONDS_FOR_WORKERS, ClusterError, refuse_other_versions
from labelsure._core.versions import versions

PER_THREAD = 2
"""Batches under way for each thread: one that is worked on, and one that waits."""

SECONDS_BETWEEN_LOOKS = 10.0
"""How often it is looked whether there is anybody left to wait for."""

NO_WARNING = {"distributed.admin.large-graph-warning-threshold": "1TB"}
"""A batch may be large: it is sent with its task so that it is still there when the worker that had it is not."""


class Shipped(WorkerPlugin):
    """A function that Dask gives to every worker, also to one that takes the place of another."""

    def __init__(self, name: str, function: Callable[[Any], Any]) -> None:
        self.name, self.function, self.versions = name, function, versions()

    def setup(self, worker: Any) -> None:
        """Refuse a worker whose answers could differ, if it is there already; where it comes later, Dask goes on."""
        refuse_other_versions(self.versions, worker.address)


def call_shipped(name: str, item: Any) -> Any:
    """Call the function of that name for an item, on a worker."""
    worker = get_worker()
    shipped: Any = worker.plugins[name]
    refuse_other_versions(shipped.versions, worker.address)
    return shipped.function(item)


class Workers:
    """The workers of a cluster while a function is there."""

    def __init__(self, function: Callable[[Any], Any], client: Any) -> None:
        self._function, self._client = function, client
        self._name, self._numbers = f"labelsure-{uuid4().hex}", count()
        self._under_way: dict[str, Any] = {}

    def __enter__(self) -> Self:
        try:
            self._client.register_plugin(Shipped(self._name, self._function), name=self._name)
        except BaseException:  # other workers have it already
            self.__exit__()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        # where the scheduler is gone there is nothing left to tidy up
        with contextlib.suppress(Exception, CancelledError):
            if self._client.status == "running":
                self._client.cancel(list(self._under_way.values()))
                self._client.unregister_worker_plugin(self._name)

    def at_a_time(self) -> int:
        """Return how many items may be under way: workers may come and go."""
        n_threads = 0
        with contextlib.suppress(Exception):  # where the scheduler is gone, the items under way tell
            n_threads = sum(self._client.nthreads().values())
        return max(1, PER_THREAD * n_threads)

    def submit(self, item: Any) -> Any:
        """Return the future of an item."""
        key = f"{self._name}-{next(self._numbers)}"
        with dask.config.set(NO_WARNING):
            future = self._client.submit(call_shipped, self._name, item, key=key, pure=False)
        self._under_way[key] = future
        return future

    def result_of(self, future: Any) -> Any:
        """Return what the function returned; Dask itself would wait for ever for the first worker."""
        alone = 0.0
        try:
            while True:
                try:
                    return future.result(timeout=SECONDS_BETWEEN_LOOKS)
                except TimeoutError:
                    if future.status == "error":  # the function's own
                        raise
                alone = 0.0 if self._client.nthreads() else alone + SECONDS_BETWEEN_LOOKS
                if alone >= SECONDS_FOR_WORKERS:
                    raise ClusterError(f"there were no workers for {alone:.0f} s. Start some, and repeat this.")
        finally:
            self._under_way.pop(future.key, None)

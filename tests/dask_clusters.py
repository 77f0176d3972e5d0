"""Dask clusters for tests: real ones, of processes of this machine."""

from contextlib import contextmanager


@contextmanager
def local_cluster(n_workers, **options):
    """A cluster of processes with one thread each."""
    from distributed import LocalCluster

    settings = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0", "memory_limit": 0} | options
    with LocalCluster(n_workers=n_workers, **settings) as cluster:
        yield cluster

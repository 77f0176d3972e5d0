"""Dask clusters for tests: real ones, of processes of this machine."""

import os
import subprocess
import sys
from contextlib import contextmanager


@contextmanager
def local_cluster(n_workers, **options):
    """A cluster of processes with one thread each."""
    from distributed import LocalCluster

    settings = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0", "memory_limit": 0} | options
    with LocalCluster(n_workers=n_workers, **settings) as cluster:
        yield cluster


def start_dask(*words):
    """Start a command of Dask as in a shell, with what tests can import, and return its process."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment}
    return subprocess.Popen([sys.executable, "-m", "dask", *words, "--no-dashboard"], **silent)

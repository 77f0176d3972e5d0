"""Dask clusters for tests: real ones, of processes of this machine."""

import os
import subprocess
import sys
from contextlib import contextmanager

OTHER_NUMPY = """
from importlib import metadata

metadata.version = lambda package, found=metadata.version: "0.1" if package == "numpy" else found(package)
"""
"""What a worker runs first, as if another numpy were installed there."""


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


@contextmanager
def worker_that_comes_later(address, folder, does_first):
    """A worker that is started in a shell, and runs a program first, which may make it unlike us."""
    program = folder / "does_first.py"
    program.write_text(does_first)
    words = ("--nthreads", "1", "--no-nanny", "--preload", str(program))
    process = start_dask("worker", address, *words)
    try:
        yield
    finally:
        process.kill()
        process.wait()

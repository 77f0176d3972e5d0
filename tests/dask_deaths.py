"""Learners and clusters that really die, for tests of what is left then."""

import os
import signal
import threading
import time
from contextlib import contextmanager
from multiprocessing import parent_process
from pathlib import Path
from uuid import uuid4

from dask_clusters import start_dask
from labelsure import MLkNNClassifier

PATIENCE = 180


def wait_until(condition):
    """Return what the condition says as soon as it is true."""
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
    return found


class Deadly(MLkNNClassifier):
    """Kills the worker that fits it, as often as there are files left in a folder, always without one."""

    def __init__(self, folder=None):
        super().__init__(3)
        self.folder = folder

    def fit(self, X, y):
        if parent_process() is not None and self._takes_a_life():
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(X, y)

    def _takes_a_life(self):
        if self.folder is None:
            return True
        for path in Path(self.folder).iterdir():
            try:
                path.unlink()
            except FileNotFoundError:  # another worker was quicker
                continue
            return True
        return False


class Patient(MLkNNClassifier):
    """Says by a file that it has begun, and waits for ever."""

    def __init__(self, begun=None):
        super().__init__(3)
        self.begun = begun

    def fit(self, X, y):
        Path(self.begun).touch()
        threading.Event().wait()
        return super().fit(X, y)


class Pausing(MLkNNClassifier):
    """Leaves a file for every fit that is begun, and has the worker of the second begin no other task after it."""

    def __init__(self, fits=None):
        super().__init__(3)
        self.fits = fits

    def fit(self, X, y):
        Path(self.fits, uuid4().hex).touch()
        if len([*Path(self.fits).iterdir()]) == 2:
            from distributed import Status, get_worker

            worker = get_worker()
            worker.loop.add_callback(setattr, worker, "status", Status.paused)
        return super().fit(X, y)


@contextmanager
def commands_of_dask(folder, *, n_workers=1):
    """A scheduler and workers that were started in a shell; yields the address and their processes."""
    contact = folder / "scheduler.json"
    where = ("--scheduler-file", str(contact))
    processes = [start_dask("scheduler", "--host", "127.0.0.1", "--port", "0", *where)]
    try:
        wait_until(contact.is_file)
        processes += [start_dask("worker", *where, "--nthreads", "1") for _ in range(n_workers)]
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.wait()

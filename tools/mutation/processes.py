"""Many short-lived processes, forked from one that has everything imported but labelsure and its tests."""

import contextlib
import importlib
import json
import os
import resource
import shutil
import signal
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BEFOREHAND = (
    "coverage", "hypothesis.strategies", "hypothesis.extra.numpy", "joblib", "numba", "numpy", "pandas", "pytest",
    "scipy.optimize", "scipy.sparse", "scipy.special", "scipy.stats", "sklearn.calibration", "sklearn.datasets",
    "sklearn.dummy", "sklearn.ensemble", "sklearn.linear_model", "sklearn.model_selection", "sklearn.naive_bayes",
    "sklearn.neighbors", "sklearn.neural_network", "sklearn.pipeline", "sklearn.preprocessing", "sklearn.tree",
    "sklearn.utils.estimator_checks", "threadpoolctl", "tqdm",
)  # fmt: skip
MEMORY = 6 << 30
"""A mutant may not take the machine's memory with it."""


@dataclass
class Job:
    """What runs in a process, for at most so many seconds; it is given a file for notes, and returns what to keep."""

    name: str
    run: Callable[[Path], dict[str, Any]]
    limit: float


@dataclass
class _Running:
    job: Job
    folder: Path
    started: float


def import_beforehand() -> None:
    """Import what every process needs, once; what is not installed is not needed."""
    for name in BEFOREHAND:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def run_all(jobs: list[Job], workers: int, seconds: float) -> Iterator[tuple[Job, dict[str, Any]]]:
    """Yield what became of each job as it ends; after so many seconds no new one begins, and open ones are dropped."""
    waiting, running, end = list(reversed(jobs)), {}, time.monotonic() + seconds
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        while running or (waiting and time.monotonic() < end):
            while waiting and len(running) < workers and time.monotonic() < end:
                pid, started = _start(waiting.pop(), Path(folder))
                running[pid] = started
            for pid, one in list(running.items()):
                ended = _ended(pid, one)
                if ended is not None:
                    del running[pid]
                    yield one.job, _outcome(*ended, one)
                    shutil.rmtree(one.folder, ignore_errors=True)
                elif time.monotonic() > end:
                    _end(pid)
                    del running[pid]
            time.sleep(0.02)


def _start(job: Job, folder: Path) -> tuple[int, _Running]:
    own = Path(tempfile.mkdtemp(dir=folder))
    pid = os.fork()
    if pid:
        return pid, _Running(job, own, time.monotonic())
    code = 1
    try:
        os.setsid()
        os.environ["TMPDIR"] = tempfile.tempdir = str(own)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        log = os.open(own / "log", os.O_CREAT | os.O_WRONLY)
        os.dup2(log, 1)
        os.dup2(log, 2)
        outcome = job.run(own / "note")
        (own / "outcome").write_text(json.dumps(outcome), encoding="utf-8")
        code = 0
    except BaseException:
        (own / "log").write_text(traceback.format_exc(), encoding="utf-8")
    finally:
        os._exit(code)


def _ended(pid: int, one: _Running) -> tuple[int, float] | None:
    """Return how a process ended and what it used; None while it runs. What it has started ends with it."""
    ended, status, used = os.wait4(pid, os.WNOHANG)
    if ended:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        return status, used.ru_utime + used.ru_stime
    if time.monotonic() - one.started > one.job.limit:
        return signal.SIGPROF, _end(pid)
    return None


def _end(pid: int) -> float:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    _, _, used = os.wait4(pid, 0)
    return used.ru_utime + used.ru_stime


def _outcome(status: int, used: float, one: _Running) -> dict[str, Any]:
    """Return what the process left; one that a signal ended hung (its timer ran out) or crashed, in the test noted."""
    took = {"took": round(time.monotonic() - one.started, 2), "used": round(used, 2)}
    if (one.folder / "outcome").exists():
        return json.loads((one.folder / "outcome").read_text(encoding="utf-8")) | took
    note = one.folder / "note"
    test = note.read_text(encoding="utf-8") if note.exists() else ""
    if os.WIFSIGNALED(status):
        kind = "timeout" if os.WTERMSIG(status) == signal.SIGPROF else "crash"
        return {"status": kind, "by": test} | took
    log = (one.folder / "log").read_text(encoding="utf-8", errors="replace")
    if "MemoryError" in log[-2000:]:
        return {"status": "crash", "by": test} | took
    return {"status": "error", "by": log[-2000:]} | took

"""Commands in processes that are killed by SIGKILL, at a file operation or from outside."""

import multiprocessing
import os
import signal
import sys
import time
from pathlib import Path

CONTEXT = multiprocessing.get_context("forkserver")
# a server that has imported everything forks a process for each command: imports take longer than
# the commands do
CONTEXT.set_forkserver_preload(
    ["labelsure.cli", "labelsure.cli._learners",
     "labelsure.conformal", "labelsure.datasets", "labelsure.model_file", "labelsure.predictions",
     "numba", "pandas", "pyarrow.csv", "pyarrow.parquet", "scipy.optimize", "scipy.stats",
     "sklearn.compose", "sklearn.impute", "sklearn.linear_model", "sklearn.multiclass",
     "sklearn.pipeline", "sklearn.preprocessing", "skops.io"]
)  # fmt: skip

OPERATIONS = ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir")
LIMIT = 300
"""Seconds until a command counts as stuck."""


def run_killed_at(words, folder, number):
    """Run a command that kills itself at a given file operation in the folder; return its code."""
    process, _ = _start(words, folder, number)
    return _end(process)


def run_killed_when(words, folder, reached):
    """Run a command and kill it as soon as ``reached()``; return its code."""
    process, _ = _start(words, folder, 0)
    start = time.monotonic()
    while process.is_alive() and not reached() and time.monotonic() - start < LIMIT:
        time.sleep(0.001)
    process.kill()
    return _end(process)


def run_with_a_worker_killed(words, folder, reached):
    """Run a command and kill one of its workers as soon as ``reached()``; return the exit code."""
    process, _ = _start(words, folder, 0)
    start = time.monotonic()
    while process.is_alive() and not reached() and time.monotonic() - start < LIMIT:
        time.sleep(0.001)
    os.kill(_workers_of(process.pid)[0], signal.SIGKILL)
    return _end(process)


def _workers_of(number):
    """The processes that loky started for a process."""
    children = [
        int(child)
        for task in Path(f"/proc/{number}/task").glob("*/children")
        for child in task.read_text().split()
    ]
    return [
        child for child in children if b"LokyProcess" in Path(f"/proc/{child}/cmdline").read_bytes()
    ]


def run_counted(words, folder, *, most_bytes=None):
    """Run a command to its end; return its code and the number of file operations in the folder.

    With ``most_bytes`` no file may grow beyond that, as on a full disk; what it says is in
    said.txt.
    """
    process, reader = _start(words, folder, 0, most_bytes)
    counted = reader.recv()
    return _end(process), counted


def _start(words, folder, number, most_bytes=None):
    reader, writer = CONTEXT.Pipe(duplex=False)
    process = CONTEXT.Process(target=_run, args=(words, str(folder), number, most_bytes, writer))
    process.start()
    writer.close()
    return process, reader


def _end(process):
    process.join(LIMIT)
    assert process.exitcode is not None, "the command is stuck"
    return process.exitcode


def _run(words, folder, number, most_bytes, writer):
    from labelsure.cli import main

    os.chdir(folder)
    with open("said.txt", "w") as said:  # noqa: PTH123 - the folder is the current one
        os.dup2(said.fileno(), sys.stdout.fileno())
        os.dup2(said.fileno(), sys.stderr.fileno())
    done = 0

    def watch(event, about):
        nonlocal done
        if event in OPERATIONS and _is_inside(folder, event, about):
            done += 1
            if done == number:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)
    if most_bytes is not None:
        import resource

        # Python ignores SIGXFSZ
        resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, resource.RLIM_INFINITY))
    code = main(words)
    writer.send(done)
    sys.stdout.flush()
    os._exit(code)


def _is_inside(folder, event, about):
    """Whether an operation is on a file of the folder; trees are removed by relative names."""
    if not isinstance(about[0], str):
        return False
    return about[0].startswith(folder) or (
        event in ("os.remove", "os.rmdir") and not about[0].startswith("/")
    )

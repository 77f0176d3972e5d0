"""How long does it take to reproduce the paper from a cold start?"""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks._data import load_if_there
from benchmarks._figures import Figure

TITLE = "The paper's tables from a cold start"
METHOD = (
    "Wall time of `labelsure reproduce scene yeast`, one seed, on all cores, in a new process with"
    " an empty cache of compiled code, so compilation is included; the slower of two such runs."
)
REPEATS = 2


def measure() -> list[Figure]:
    """Return the seconds of the command."""
    load_if_there("scene")  # else the command would time its download
    seconds = max(_run_cold() for _ in range(REPEATS))
    return [Figure("labelsure reproduce scene yeast", seconds, "s", at_most=120)]


def _run_cold() -> float:
    command = shutil.which("labelsure", path=str(Path(sys.executable).parent))
    if command is None:
        raise RuntimeError(
            "The command labelsure is not installed beside this interpreter: pip install -e ."
        )
    with TemporaryDirectory() as cache:
        start = time.perf_counter()
        done = subprocess.run(
            [command, "reproduce", "scene", "yeast"],
            env={**os.environ, "NUMBA_CACHE_DIR": cache},
            capture_output=True,
            text=True,
            check=False,
        )
        seconds = time.perf_counter() - start
    if done.returncode:
        raise RuntimeError(f"labelsure reproduce failed: {done.stderr.strip()}")
    return seconds

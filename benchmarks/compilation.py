"""What does first use cost, before compiled code is kept?"""

import json
import os
import subprocess
import sys
from tempfile import TemporaryDirectory

from benchmarks._figures import Figure

TITLE = "Compiling"
METHOD = (
    "Seconds of the processor for one table, one `top(2)`, the size of one region and the labels' p-values of one"
    " object, with the paper's measure, in this order, in a new process with an empty cache of compiled code, and in a"
    " second process that finds it there; the lesser of two runs each. Importing numba is shown by itself, importing"
    " labelsure is not included."
)
REPEATS = 2
PROGRAM = """
import json, time
import numpy as np
from labelsure import PowerMeasure, calibrate_outputs
rng = np.random.default_rng(0)
outputs = rng.random((60, 30))
Y = (rng.random((60, 30)) < outputs).astype(np.int8)
options = {"folds": np.arange(60) % 3, "measure": PowerMeasure()}
few, many = (calibrate_outputs(outputs[:, :q], Y[:, :q], **options) for q in (10, 30))
one = np.repeat(rng.random((1, 1, 30)), 3, axis=0)
small, large = few.predict_labelsets(one[:, :, :10]), many.predict_labelsets(one)
def import_numba():
    import numba
steps = {
    "importing numba": import_numba,
    "the table": small.p_values,
    "`top(2)`": lambda: large.top(2),
    "a region's size": lambda: large.region(0.5).sizes,
    "labels' p-values": lambda: large.label_p_values,
}
seconds = {}
for name, step in steps.items():
    start = time.process_time()
    step()
    seconds[name] = time.process_time() - start
print(json.dumps(seconds))
"""


def measure() -> list[Figure]:
    """Return the seconds of each step and of all together, compiled and from the cache."""
    runs = [first_and_second_use() for _ in range(REPEATS)]
    first, second = (_least([run[i] for run in runs]) for i in range(2))
    numba = first.pop("importing numba")
    del second["importing numba"]
    return [
        Figure("importing numba", numba, "s"),
        *(Figure(f"first use: {name}", value, "s") for name, value in first.items()),
        Figure("first use: together", sum(first.values()), "s", at_most=5),
        Figure("from the cache: together", sum(second.values()), "s"),
    ]


def first_and_second_use() -> tuple[dict[str, float], dict[str, float]]:
    """Return the seconds of each step in a process that compiles, and in one that finds what that one kept."""
    with TemporaryDirectory() as cache:
        return _run(cache), _run(cache)


def _run(cache: str) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"The program failed: {done.stderr.strip()}")
    seconds: dict[str, float] = json.loads(done.stdout)
    return seconds


def _least(runs: list[dict[str, float]]) -> dict[str, float]:
    return {name: min(run[name] for run in runs) for name in runs[0]}

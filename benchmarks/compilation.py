"""What does first use cost, before compiled code is kept?"""

import json
import os
import subprocess
import sys
from tempfile import TemporaryDirectory

from benchmarks._figures import Figure

TITLE = "Compiling"
METHOD = (
    "CPU seconds for the first questions about one object: `top(2)`, the size of a region, the labels' p-values and, up"
    " to 20 labels, all p-values. With 8 labels tables answer everything, with 14 some questions, with 30 none. The"
    " measure is the paper's, in the last row with a penalty for pairs. Each row is measured in a new process with an"
    " empty cache of compiled code, and again in a second process that finds the cache; the better of two runs. The"
    " time to import numba is shown separately, that to import labelsure is not included."
)
REPEATS = 2
USES = {"8 labels": (8, 0.0), "14 labels": (14, 0.0), "30 labels": (30, 0.0), "30 labels, pairs": (30, 1.0)}
PROGRAM = """
import json, sys, time
import numpy as np
from labelsure import PowerMeasure, calibrate_outputs
n_labels, pair_penalty = int(sys.argv[1]), float(sys.argv[2])
rng = np.random.default_rng(0)
outputs = rng.random((60, n_labels))
Y = (rng.random((60, n_labels)) < outputs).astype(np.int8)
measure = PowerMeasure(pair_penalty=pair_penalty)
predictor = calibrate_outputs(outputs, Y, folds=np.arange(60) % 3, measure=measure)
predictions = predictor.predict_labelsets(np.repeat(rng.random((1, 1, n_labels)), 3, axis=0))
start = time.process_time()
import numba
imported = time.process_time()
if n_labels <= 20:
    predictions.p_values()
predictions.top(2)
predictions.region(0.5).sizes
predictions.label_p_values
print(json.dumps({"importing numba": imported - start, "answers": time.process_time() - imported}))
"""


def measure() -> list[Figure]:
    """Return the seconds of each use, compiled and from the cache."""
    runs = {use: [first_and_second_use(use) for _ in range(REPEATS)] for use in USES}
    importing = min(first["importing numba"] for pairs in runs.values() for first, _ in pairs)
    first, second = (
        [
            Figure(f"{name}: {use}", min(pair[i]["answers"] for pair in pairs), "s", at_most=5 if i == 0 else None)
            for use, pairs in runs.items()
        ]
        for i, name in enumerate(("first use", "from the cache"))
    )
    return [Figure("importing numba", importing, "s"), *first, *second]


def first_and_second_use(use: str) -> tuple[dict[str, float], dict[str, float]]:
    """Return the seconds of a process that compiles, and of one that finds what that one kept."""
    with TemporaryDirectory() as cache:
        return _run(use, cache), _run(use, cache)


def _run(use: str, cache: str) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, USES[use])],
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"The program failed: {done.stderr.strip()}")
    seconds: dict[str, float] = json.loads(done.stdout)
    return seconds

"""What does first use cost, before compiled code is kept?"""

import json
import os
import subprocess
import sys
from tempfile import TemporaryDirectory

from benchmarks._figures import Figure

TITLE = "Compiling"
METHOD = (
    "CPU seconds for the first question about one object under the default measure. With 8 labels"
    " tables answer, with 30 searches. Each row is measured in a new process with an empty cache of"
    " compiled code, and includes making the predictions. Then those of `labelsure compile`, and of"
    " the slowest question in a process after it. The time to import numba is shown separately,"
    " that to import labelsure is not included."
)
BAR = 3
QUESTIONS = {
    "best labelset, confidence": "predictions.labelsets, predictions.confidence",
    "`top(5)`": "predictions.top(5)",
    "sizes": "region.sizes",
    "inner and outer": "region.inner, region.outer",
    "p-values of labels": "predictions.label_p_values",
    "members": "region[0].members(limit=5)",
    "`contains`": "region.contains(Y[:1])",
}
PROGRAM = """
import json, sys, time
import numpy as np
from labelsure import calibrate_outputs
n_labels, question = int(sys.argv[1]), sys.argv[2]
rng = np.random.default_rng(0)
outputs = rng.random((60, n_labels))
Y = (rng.random((60, n_labels)) < outputs).astype(np.int8)
start = time.process_time()
import numba
imported = time.process_time()
predictor = calibrate_outputs(outputs, Y, folds=np.arange(60) % 3)
predictions = predictor.predict_labelsets(np.repeat(rng.random((1, 1, n_labels)), 3, axis=0))
region = predictions.region(0.5)
exec(question)
print(json.dumps([imported - start, time.process_time() - imported]))
"""
COMPILE = """
import time
from labelsure import compile_kernels
start = time.process_time()
compile_kernels()
print([0.0, time.process_time() - start])
"""


def measure() -> list[Figure]:
    """Return the seconds of each question, then of compiling beforehand and of what remains."""
    uses = {
        f"{n_labels} labels: {name}": (n_labels, name) for n_labels in (8, 30) for name in QUESTIONS
    }
    taken = {use: _first_use(*asked) for use, asked in uses.items()}
    with TemporaryDirectory() as cache:
        compiling = _run(COMPILE, cache)[1]
        after = max(_run(PROGRAM, cache, "30", question)[1] for question in QUESTIONS.values())
    return [
        Figure("importing numba", min(importing for importing, _ in taken.values()), "s"),
        *(Figure(use, seconds, "s", at_most=BAR) for use, (_, seconds) in taken.items()),
        Figure("`labelsure compile`", compiling, "s"),
        Figure("30 labels: the slowest question after it", after, "s", at_most=BAR),
    ]


def _first_use(n_labels: int, name: str) -> tuple[float, float]:
    """Return the seconds of importing numba and of a question in a process without a cache."""
    with TemporaryDirectory() as cache:
        return _run(PROGRAM, cache, str(n_labels), QUESTIONS[name])


def _run(program: str, cache: str, *words: str) -> tuple[float, float]:
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"The program failed: {done.stderr.strip()}")
    importing, answer = json.loads(done.stdout)
    return importing, answer

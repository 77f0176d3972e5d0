"""How does the p-value table compare with other packages?"""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks._answers import NotMeasuredError
from benchmarks._figures import Figure
from benchmarks._inductive import InductiveTask, inductive_yeast
from benchmarks._measuring import fastest, in_new_process, peak_growth
from benchmarks._rivals import CrepesTable, MulaconfTable, labelsure_table, numpy_table, reversed_bits

TITLE = "Other packages"
PACKAGES = ("crepes", "mulaconf", "torch")
METHOD = (
    "The p-values of all 16 384 labelsets for the 917 test objects of yeast, from one ML-RBF model and 450 calibration"
    " examples (inductive), on one thread; the score is the sum of the squared errors, the one that all can use."
    " labelsure, numpy (a matrix product and one `searchsorted`) and mulaconf (`InductiveConformalPredictor.predict`,"
    ' measure "norm", which is the square root of that score and so ranks labelsets alike) start from the outputs;'
    " crepes (`ConformalClassifier.predict_p`, not smoothed) knows nothing of labelsets and gets all their scores ready"
    " made, not counted here. numpy and mulaconf work on as many objects at a time as is fastest, mulaconf also with"
    " its own setting. Wall time, the least of several calls taking turns, of crepes a single call."
    " The p-values of labelsure, numpy and crepes are equal to the last bit. mulaconf computes with 32-bit floats, so"
    " scores closer than that to a calibration score are counted on the wrong side: the share of such p-values and the"
    " largest difference are given. labelsure's other scores have no counterpart to compare with: mulaconf has no"
    " cross-conformal predictor, crepes no scores of labelsets."
    " Memory is by how much the process grew at its highest, in a process of its own, the result included."
)
CHUNKS = (1, 2, 4, 8, 16, 32, 64)
REPEATS = 5


def measure() -> list[Figure]:
    """Return the others' time over labelsure's, how far p-values agree, and memory."""
    check_installed()
    task = inductive_yeast()
    with threadpool_limits(limits=1):
        figures = _speeds(task)
    names = {"labelsure": "labelsure", "numpy": "numpy", "crepes": "crepes", "mulaconf": "mulaconf, its own setting"}
    memory = {what: in_new_process(_memory, name, task) for name, what in names.items()}
    return [*figures, *(Figure(f"{what}: memory", value, "MiB") for what, value in memory.items())]


def check_installed() -> None:
    """Raise NotMeasuredError where a rival is missing."""
    if missing := [package for package in PACKAGES if find_spec(package) is None]:
        raise NotMeasuredError(f'{", ".join(missing)} not installed: pip install -e ".[rivals]".')


def _speeds(task: InductiveTask) -> list[Figure]:
    ours = labelsure_table(task)
    n_numpy = _fastest_chunk(lambda n: partial(numpy_table, task, n))
    n_mulaconf = _fastest_chunk(partial(MulaconfTable, task))
    crepes, mulaconf = CrepesTable(task), MulaconfTable(task)
    functions = {
        "labelsure": partial(labelsure_table, task),
        f"numpy, {n_numpy} objects at a time": partial(numpy_table, task, n_numpy),
        f"mulaconf, {n_mulaconf} objects at a time": MulaconfTable(task, n_mulaconf),
        "mulaconf, its own setting": mulaconf,
    }
    crepes_seconds, crepes_table = _timed(crepes)
    for theirs in (numpy_table(task, n_numpy), crepes_table):
        if not np.array_equal(ours, theirs):
            raise RuntimeError("The tables differ, so their speeds cannot be compared.")
    seconds = fastest(functions, repeats=REPEATS) | {"crepes, scores given": crepes_seconds}
    unequal, farthest = disagreement(ours, mulaconf())
    own = seconds.pop("labelsure")
    return [
        Figure("labelsure", 1000 * own, "ms"),
        *(Figure(f"against {name}", value / own, "x") for name, value in seconds.items()),
        Figure("mulaconf: p-values that differ", 1e6 * unequal, "in a million"),
        Figure("mulaconf: largest difference of p-values", farthest * (len(task.calibration_labels) + 1), "/ 451"),
    ]


def disagreement(ours: np.ndarray[Any, Any], mulaconf: np.ndarray[Any, Any]) -> tuple[float, float]:
    """Return the share of p-values that differ by more than float32 rounds, and the largest difference."""
    n_labels = ours.shape[1].bit_length() - 1
    differences = np.abs(ours - mulaconf[:, reversed_bits(n_labels)])
    return float((differences > 1e-6).mean()), float(differences.max())


def _fastest_chunk(make: Callable[[int], Callable[[], Any]]) -> int:
    functions = {str(n): make(n) for n in CHUNKS}
    seconds = fastest(functions, repeats=2)
    return int(min(seconds, key=lambda n: seconds[n]))


def _timed(function: Callable[[], Any]) -> tuple[float, Any]:
    results: list[Any] = []
    seconds = fastest({"only": lambda: results.append(function())}, repeats=1)
    return seconds["only"], results[0]


def _memory(name: str, task: InductiveTask) -> float:
    """Return by how many MiB one table makes a process grow, everything loaded and compiled beforehand."""
    start = task._replace(test_outputs=task.test_outputs[:1])
    if name == "labelsure":
        warm, ask = partial(labelsure_table, start), partial(labelsure_table, task)
    elif name == "numpy":
        warm, ask = partial(numpy_table, start, 8), partial(numpy_table, task, 8)
    elif name == "crepes":
        warm, ask = CrepesTable(start), CrepesTable(task)
    else:
        warm, ask = MulaconfTable(start), MulaconfTable(task)
    warm()
    return peak_growth(ask)[1] / 2**20

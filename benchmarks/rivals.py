"""How does the p-value table compare with other packages?"""

import time
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
from benchmarks._rivals import (
    CrepesTable,
    MulaconfTable,
    labelsure_table,
    numpy_table,
    reversed_bits,
)

TITLE = "Other packages"
PACKAGES = ("crepes", "mulaconf", "torch")
METHOD = (
    "The p-values of all 16 384 labelsets for the 917 test objects of yeast, from one ML-RBF model"
    " and 450 calibration examples (inductive), on one thread; the score is the sum of the squared"
    " errors, which all of them can use. labelsure, numpy (a matrix product and one `searchsorted`)"
    " and mulaconf (`InductiveConformalPredictor.predict`,"
    ' measure "norm", which is the square root of that score and so ranks labelsets alike) start'
    " from the outputs; crepes (`ConformalClassifier.predict_p`, not smoothed) knows nothing of"
    " labelsets and gets all their scores ready made, which is not counted here. numpy and mulaconf"
    " work on as many objects at a time as is fastest, mulaconf also with its own setting. CPU"
    " seconds, best of several interleaved runs, of crepes a single run. The p-values of labelsure,"
    " numpy and crepes are equal to the last bit. mulaconf computes with 32-bit floats, so scores"
    " closer than that to a calibration score are counted on the wrong side: the table gives the"
    " share of such p-values and the largest difference. labelsure's other scores have no"
    " counterpart to compare with: mulaconf has no cross-conformal predictor, crepes no scores of"
    " labelsets. Memory is the highest growth of the process, in a process of its own, the result"
    " included."
)
CHUNKS = (1, 2, 4, 8, 16, 32, 64)
REPEATS = 5


def measure() -> list[Figure]:
    """Return the others' time over labelsure's, how far p-values agree, and memory."""
    check_installed()
    task = inductive_yeast()
    crepes_seconds, crepes_memory = in_new_process(_crepes_once, task)
    with threadpool_limits(limits=1):
        figures = _speeds(task, crepes_seconds)
    memory = {
        "labelsure": in_new_process(_memory, labelsure_table, task),
        "numpy": in_new_process(_memory, _numpy_in_chunks, task),
        "mulaconf, its own setting": in_new_process(_memory, _mulaconf_once, task),
        "crepes": crepes_memory,
    }
    return [*figures, *(Figure(f"{what}: memory", value, "MiB") for what, value in memory.items())]


def check_installed() -> None:
    """Raise NotMeasuredError where a rival is missing."""
    if missing := [package for package in PACKAGES if find_spec(package) is None]:
        raise NotMeasuredError(f'{", ".join(missing)} not installed: pip install -e ".[rivals]".')


def _speeds(task: InductiveTask, crepes_seconds: float) -> list[Figure]:
    ours = labelsure_table(task)
    n_numpy = _fastest_chunk(lambda n: partial(numpy_table, task, n))
    n_mulaconf = _fastest_chunk(partial(MulaconfTable, task))
    if not np.array_equal(ours, numpy_table(task, n_numpy)):
        raise RuntimeError(
            "The tables of labelsure and numpy differ, so their speeds cannot be compared."
        )
    mulaconf = MulaconfTable(task)
    unequal, farthest = disagreement(ours, mulaconf())
    functions = {
        "labelsure": partial(labelsure_table, task),
        f"numpy, {n_numpy} objects at a time": partial(numpy_table, task, n_numpy),
        f"mulaconf, {n_mulaconf} objects at a time": MulaconfTable(task, n_mulaconf),
        "mulaconf, its own setting": mulaconf,
    }
    seconds = fastest(functions, repeats=REPEATS, clock=time.process_time) | {
        "crepes, scores given": crepes_seconds
    }
    own = seconds.pop("labelsure")
    return [
        Figure("labelsure", 1000 * own, "ms"),
        *(Figure(f"against {name}", value / own, "x") for name, value in seconds.items()),
        Figure("mulaconf: p-values that differ", 1e6 * unequal, "in a million"),
        Figure(
            "mulaconf: largest difference of p-values",
            farthest * (len(task.calibration_labels) + 1),
            "/ 451",
        ),
    ]


def disagreement(ours: np.ndarray[Any, Any], mulaconf: np.ndarray[Any, Any]) -> tuple[float, float]:
    """Return the share of p-values beyond float32 rounding of ours, and the largest difference."""
    n_labels = ours.shape[1].bit_length() - 1
    differences = np.abs(ours - mulaconf[:, reversed_bits(n_labels)])
    return float((differences > 1e-6).mean()), float(differences.max())


def _fastest_chunk(make: Callable[[int], Callable[[], Any]]) -> int:
    seconds = fastest({str(n): make(n) for n in CHUNKS}, repeats=1, clock=time.process_time)
    return int(min(seconds, key=lambda n: seconds[n]))


def _crepes_once(task: InductiveTask) -> tuple[float, float]:
    """Return the seconds and MiB of crepes, which takes a minute, from one call."""
    table = CrepesTable(task)
    start = time.process_time()
    theirs, growth = peak_growth(table)
    seconds = time.process_time() - start
    if not np.array_equal(labelsure_table(task), theirs):
        raise RuntimeError(
            "The tables of labelsure and crepes differ, so their speeds cannot be compared."
        )
    return seconds, growth / 2**20


def _numpy_in_chunks(task: InductiveTask) -> Any:
    return numpy_table(task, 8)


def _mulaconf_once(task: InductiveTask) -> Any:
    return MulaconfTable(task)()


def _memory(function: Callable[[InductiveTask], Any], task: InductiveTask) -> float:
    """Return the growth of a process in MiB by one table, with everything loaded and compiled."""
    function(task._replace(test_outputs=task.test_outputs[:1]))
    return float(peak_growth(partial(function, task))[1] / 2**20)

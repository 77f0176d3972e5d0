"""How do time and memory grow with labels, folds and calibration examples?"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from benchmarks._answers import Picture
from benchmarks._figures import Figure
from benchmarks._measuring import fastest, in_new_process, peak_growth
from benchmarks._undecided import Task, predict
from labelsure import LabelsetPredictions

TITLE = "Growth"
METHOD = (
    "Made-up outputs with 10 undecided labels; all other labels have the output 0 and cannot be in"
    " a region. Ten folds, 1000 calibration examples and 100 labels unless said otherwise, the"
    " paper's power score, the empty labelset left out, one thread. CPU milliseconds per object,"
    " best of several runs: *best*, the best labelset with confidence and credibility; *region"
    " size* at 90 %, about 750 labelsets; *labels*, those in every and those in some labelset of"
    " that region; and all p-values where there are only 14 labels. Setting up the tables of"
    " calibration scores is included. Memory is the highest growth of the process while it gives"
    " the three answers for all objects, in a process of its own."
)
N_LABELS = (10, 30, 100, 300, 1000, 3000, 10_000)
N_FOLDS = (1, 2, 5, 10, 20)
N_CALIBRATION = (100, 1000, 10_000, 100_000)
N_TABLE_LABELS = 14
N_OBJECTS = 64
REPEATS = 3
SIGNIFICANCE = 0.1


def measure() -> list[Figure | Picture]:
    """Return the curves, and by how much the last part of each grows."""
    label_tasks = [Task(q) for q in N_LABELS]
    memory = {"all answers": [in_new_process(_memory, task) for task in label_tasks]}
    fold_tasks = [Task(100, n_folds=k, n_objects=N_OBJECTS) for k in N_FOLDS]
    calibration_tasks = [Task(100, n_calibration=n, n_objects=N_OBJECTS) for n in N_CALIBRATION]
    milliseconds = "ms by object"
    pictures = [
        Picture(
            "growth_labels", "More labels, ten of them undecided", "labels", milliseconds, N_LABELS,
            _curves(label_tasks),
        ),
        Picture(
            "growth_memory", f"Memory for {Task(0).n_objects} objects", "labels", "MiB", N_LABELS,
            memory,
        ),
        Picture(
            "growth_folds", "More folds", "folds", milliseconds, N_FOLDS,
            _curves_and_table(fold_tasks),
        ),
        Picture(
            "growth_calibration", "More calibration examples", "calibration examples",
            milliseconds, N_CALIBRATION,
            _curves_and_table(calibration_tasks),
        ),
    ]  # fmt: skip
    return [*(figure for picture in pictures for figure in last_steps(picture)), *pictures]


def last_steps(picture: Picture) -> list[Figure]:
    """Return by what factor each curve grows from a tenth of its way to its end."""
    begin = max(i for i, x in enumerate(picture.x) if 10 * x <= picture.x[-1])
    return [
        Figure(
            f"{picture.title}, {picture.x[begin]:g} to {picture.x[-1]:g} {picture.x_label}: {name}",
            values[-1] / values[begin],
            "x",
            at_most=1.2 * picture.x[-1] / picture.x[begin],
        )
        for name, values in picture.curves.items()
    ]


def answers() -> dict[str, Callable[[LabelsetPredictions], Any]]:
    """Return what is asked about predictions, by name."""
    return {
        "best": lambda predictions: predictions.labelsets,
        "region size": lambda predictions: predictions.region(SIGNIFICANCE).sizes,
        "labels": lambda predictions: predictions.region(SIGNIFICANCE).inner,
    }


def _curves(tasks: Sequence[Task]) -> dict[str, list[float]]:
    """Return the milliseconds by object that each answer takes for each task."""
    curves: dict[str, list[float]] = {name: [] for name in answers()}
    for task in tasks:
        predictions = predict(task)
        for answer in answers().values():
            answer(predictions[:1])  # compiles
        functions = {
            name: partial(_ask_afresh, predictions, answer) for name, answer in answers().items()
        }
        seconds = fastest(functions, repeats=REPEATS, clock=time.process_time)
        for name, value in seconds.items():
            curves[name].append(1000 * value / task.n_objects)
    return curves


def _curves_and_table(tasks: Sequence[Task]) -> dict[str, list[float]]:
    """Return the same, and the milliseconds by object of a table of few labels."""
    times = []
    for task in tasks:
        predictions = predict(task._replace(n_labels=N_TABLE_LABELS, n_undecided=N_TABLE_LABELS))
        predictions[:1].p_values()  # compiles
        ask = partial(_ask_afresh, predictions, LabelsetPredictions.p_values)
        seconds = fastest({"table": ask}, repeats=REPEATS, clock=time.process_time)
        times.append(1000 * seconds["table"] / task.n_objects)
    return _curves(tasks) | {f"table of {N_TABLE_LABELS} labels": times}


def _ask_afresh(
    predictions: LabelsetPredictions, answer: Callable[[LabelsetPredictions], Any]
) -> Any:
    """Return an answer of predictions that remember no earlier ones."""
    return answer(predictions[:])


def _memory(task: Task) -> float:
    predictions = predict(task)

    def ask(some: LabelsetPredictions) -> None:
        for answer in answers().values():
            answer(some)

    ask(predictions[:1])
    return peak_growth(lambda: ask(predictions))[1] / 2**20

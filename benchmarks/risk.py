"""How fast is a threshold found that keeps recall or precision under control?"""

import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks._answers import NotMeasuredError
from benchmarks._figures import Figure
from benchmarks._inductive import inductive_yeast
from benchmarks._logistic import logistic_outputs
from benchmarks._measuring import fastest
from labelsure import control_precision, control_recall

TITLE = "Recall and precision under control"
PACKAGES = ("mapie",)
METHOD = (
    "Calibrating a threshold from ready-made outputs: `control_recall` and `control_precision`"
    " against MAPIE's `MultiLabelClassificationController.calibrate`, whose prediction function"
    " returns the same array at no cost, on yeast (450 calibration examples of one ML-RBF model, 14"
    " labels) and on enron (1 123 examples, outputs of logistic regression in ten folds, 53 labels;"
    " those without labels, which MAPIE refuses, left out). Recall 0.9 by conformal risk control;"
    " recall 0.9 by risk-controlling prediction sets with the betting bound, delta 0.1; precision"
    " 0.6 by learn-then-test with Bonferroni's correction on MAPIE's 100 thresholds. For recall"
    " labelsure looks at every threshold, MAPIE at 100; the thresholds are compared before anything"
    " is timed and agree to MAPIE's grid. Precision is not the same in both: an empty set counts as"
    " precise here, as imprecise in MAPIE. CPU seconds, best of several interleaved runs, one"
    " thread."
)
GRID = np.arange(0, 1, 0.01)
REPEATS = 3

Array = np.ndarray[Any, Any]
Controls = dict[str, tuple[Callable[[], Any], Callable[[], Any]]]


def measure() -> list[Figure]:
    """Return labelsure's milliseconds and MAPIE's time over labelsure's."""
    if find_spec("mapie") is None:
        raise NotMeasuredError('mapie not installed: pip install -e ".[rivals]".')
    yeast, enron = inductive_yeast(), logistic_outputs("enron")
    labelled = enron.Y.any(axis=1)
    figures = compare("yeast", yeast.calibration_outputs, yeast.calibration_labels)
    return figures + compare("enron", enron.calibration[labelled], enron.Y[labelled])


def compare(name: str, outputs: Array, Y: Array) -> list[Figure]:
    """Return the figures of one data set."""
    both = controls(outputs, Y)
    ours, theirs = both["recall, crc"]
    check_agreement(ours().threshold, theirs().best_predict_param[0])
    figures = []
    for what, (labelsure, mapie) in both.items():
        seconds = fastest(
            {"labelsure": labelsure, "mapie": mapie}, repeats=REPEATS, clock=time.process_time
        )
        figures += [
            Figure(f"{name}, {what}: labelsure", 1000 * seconds["labelsure"], "ms"),
            Figure(
                f"{name}, {what}: against MAPIE",
                seconds["mapie"] / seconds["labelsure"],
                "x",
                at_least=100,
            ),
        ]
    return figures


def controls(outputs: Array, Y: Array) -> Controls:
    """Return labelsure's and MAPIE's calibration of each kind."""
    from mapie.risk_control import MultiLabelClassificationController

    def mapie(**parameters: Any) -> Any:
        controller = MultiLabelClassificationController(lambda _: outputs, **parameters)
        return controller.calibrate(np.arange(len(Y)), Y)

    return {
        "recall, crc": (
            partial(control_recall, outputs, Y, target=0.9),
            partial(mapie, risk="recall", method="crc", target_level=0.9),
        ),
        "recall, rcps": (
            partial(
                control_recall, outputs, Y, target=0.9, method="rcps", delta=0.1, bound="betting"
            ),
            partial(
                mapie,
                risk="recall",
                method="rcps",
                rcps_bound="wsr",
                target_level=0.9,
                confidence_level=0.9,
            ),
        ),
        "precision, ltt": (
            partial(
                control_precision,
                outputs,
                Y,
                target=0.6,
                delta=0.1,
                thresholds=GRID,
                correction="bonferroni",
                bound="hoeffding-bentkus",
            ),
            partial(mapie, risk="precision", method="ltt", target_level=0.6, confidence_level=0.9),
        ),
    }


def check_agreement(threshold: float, parameter: float) -> None:
    """Raise RuntimeError unless MAPIE's parameter is the last of its grid below the threshold."""
    if parameter != max(0.0, *(lower for lower in GRID if lower < threshold)):
        raise RuntimeError(f"labelsure's threshold {threshold} and MAPIE's {parameter} disagree.")

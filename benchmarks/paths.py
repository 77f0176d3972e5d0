"""How long do people wait with the default measure, beyond the learner's own time?"""

import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from benchmarks._answers import Table
from benchmarks._figures import Figure
from benchmarks._made_up import make_up
from benchmarks._measuring import fastest
from labelsure import CrossConformalClassifier, LabelsetPredictions, calibrate_outputs
from labelsure.estimators import outputs_of
from labelsure.labelsets import FoldEngine
from labelsure.labelsets.arrays._fold_arrays import FoldArrays
from labelsure.labelsets.search._problems import pose_problems

SIGNIFICANCE = 0.1
REPEATS = 5
SHAPES = {6: (2000, 4000), 8: (2000, 4000), 14: (2000, 1000), 22: (4000, 256), 100: (4000, 128), 200: (4000, 64),
          374: (5000, 64), 1000: (11_000, 32)}  # fmt: skip
"""By the number of labels: examples that calibrate, and new objects."""

BARS = {6: 5, 8: 5, 14: 50, 22: 300, 100: 300, 200: 300, 1000: 2000}
"""Microseconds for the best labelset, confidence and credibility of an object."""

SIZE_BARS = {14: 1, 100: 20, 200: 20, 374: 20, 1000: 20}
"""Milliseconds for the size of a region, to one bit where it is too large to be counted."""

LABEL_OBJECTS = 4000  # all: of the time of 32 most would be what any call takes, whatever the number
SIZE_OBJECTS = 16
TITLE = "What people wait for"
METHOD = (
    "`calibrate_outputs` with the default measure and guarantee on made-up outputs of ten folds' models, so that no"
    " learner is in the way: labels with common causes, two to ten on per object, 60 to 11 000 labelsets among"
    " the examples. CPU microseconds per object for a batch, the least of several runs, one thread, kernels compiled"
    " beforehand; each column includes making the predictions, the first. 'One row' is a batch of one, in milliseconds;"
    " sizes are of regions at significance 0.1, to one bit where they are too large to be counted."
    " Last a real learner: one-vs-rest logistic regression on 6 labels and 20 features in ten folds, its own time"
    " beside that of everything."
)
COLUMNS = (
    "labels", "seen labelsets", "making predictions", "setting up a search", "best, confidence, credibility", "p-value",
    "contains", "inner, outer", "sizes, ms", "one row, ms",
)  # fmt: skip


def measure() -> list[Figure | Table]:
    """Return microseconds by object, and milliseconds for one row."""
    rows = [row_of(n_labels, *shape) for n_labels, shape in SHAPES.items()]
    best, one_row, setting_up = (COLUMNS.index(name) for name in (COLUMNS[4], COLUMNS[9], COLUMNS[3]))
    figures = [
        Figure(f"{row[0]} labels: best, confidence, credibility", row[best], "µs", at_most=BARS.get(row[0]))
        for row in rows
    ]
    sizes = COLUMNS.index("sizes, ms")
    figures += [Figure(f"{row[0]} labels: sizes", row[sizes], "ms", at_most=SIZE_BARS.get(row[0])) for row in rows]
    figures += [Figure(f"{row[0]} labels: one row", row[one_row], "ms", at_most=3) for row in rows]
    figures += [Figure("22 labels: setting up an object", rows[3][setting_up], "µs", at_most=10)]
    return [*figures, *with_learner(), Table("By the number of labels", COLUMNS, rows)]


def row_of(n_labels: int, n_examples: int, n_objects: int) -> list[Any]:
    """Return the row of one shape."""
    data = make_up(n_labels, n_examples, n_objects)
    predictor = calibrate_outputs(data.calibration, data.Y, folds=data.fold_of, n_jobs=1)
    predict = predictor.predict_labelsets
    ask(predict(data.new[:, :2]), data.Y_new[:2])  # compiles
    few = min(LABEL_OBJECTS, n_objects)
    engine = predict(data.new)._engine
    seconds = times(
        {
            "make": partial(predict, data.new),
            "pose": partial(pose, engine.arrays if isinstance(engine, FoldEngine) else engine.engine.arrays),
            "best": lambda: best_of(predict(data.new)),
            "p_value": lambda: predict(data.new).p_value(data.Y_new),
            "contains": lambda: predict(data.new).region(SIGNIFICANCE).contains(data.Y_new),
        }
    )
    labels = times({"labels": lambda: labels_of(predict(data.new[:, :few]))})["labels"]
    some = min(SIZE_OBJECTS, n_objects)
    sizes = times({"sizes": lambda: predict(data.new[:, :some]).region(SIGNIFICANCE).sizes})["sizes"]
    one_row = times({"one": lambda: best_of(predict(data.new[:, :1]))})["one"]
    per_object = [1e6 * value / n_objects for value in seconds.values()]
    n_seen = len(np.unique(data.Y, axis=0))
    return [n_labels, n_seen, *per_object, 1e6 * labels / few, 1e3 * sizes / some, 1e3 * one_row]


def with_learner() -> list[Figure]:
    """Return what a call with one row takes, and one with many, and the learner's own part of it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 20))
    Y = (X @ rng.normal(size=(20, 6)) + rng.normal(size=(6000, 6)) > 1.5).astype(np.int8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = CrossConformalClassifier(OneVsRestClassifier(LogisticRegression()), random_state=0, n_jobs=1)
        model.fit(X[:2000], Y[:2000])
    figures = []
    for what, new in (("one row", X[2000:2001]), ("4 000 rows", X[2000:])):
        best_of(model.predict_labelsets(new))
        seconds = times(
            {
                "learner": lambda new=new: [outputs_of(one, new, 6) for one in model.models_],
                "all": lambda new=new: best_of(model.predict_labelsets(new)),
            }
        )
        unit, factor = ("ms", 1e3) if len(new) == 1 else ("µs", 1e6 / len(new))
        figures += [
            Figure(f"logistic regression, 6 labels, {what}: the learner", factor * seconds["learner"], unit),
            Figure(
                f"logistic regression, 6 labels, {what}: beyond it",
                factor * (seconds["all"] - seconds["learner"]),
                unit,
                at_most=3 if len(new) == 1 else 5,
            ),
        ]
    return figures


def times(functions: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Return the least CPU seconds of each function."""
    return fastest(functions, repeats=REPEATS, clock=time.process_time)


def pose(arrays: FoldArrays) -> Any:
    """Set up all objects for a search."""
    return pose_problems(arrays, np.arange(arrays.n_objects))


def best_of(predictions: LabelsetPredictions) -> tuple[Any, ...]:
    """Return the best labelsets with confidence and credibility."""
    return predictions.labelsets, predictions.confidence, predictions.credibility


def labels_of(predictions: LabelsetPredictions) -> tuple[Any, ...]:
    """Return the labels in every and in some labelset of the region."""
    region = predictions.region(SIGNIFICANCE)
    return region.inner, region.outer


def ask(predictions: LabelsetPredictions, Y: Any) -> None:
    """Ask everything that is measured."""
    best_of(predictions), labels_of(predictions), predictions.p_value(Y), predictions.region(SIGNIFICANCE).contains(Y)
    _ = predictions.region(SIGNIFICANCE).sizes

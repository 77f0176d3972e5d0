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
from benchmarks._data import load_if_there
from benchmarks._figures import Figure
from benchmarks._made_up import make_up
from benchmarks._measuring import fastest
from benchmarks._ten_paths import N_OBJECTS, N_TRAINING, POOL_LABELS, measure_set
from labelsure import CrossConformalClassifier, LabelsetPredictions, calibrate_outputs
from labelsure.engine._block import pose_block
from labelsure.engine._fold_arrays import FoldArrays
from labelsure.engine._fold_engine import FoldEngine
from labelsure.learners import outputs_of

SIGNIFICANCE = 0.1
REPEATS = 5
SHAPES = {6: (2000, 4000), 8: (2000, 4000), 14: (2000, 1000), 22: (4000, 256), 100: (4000, 128),
          200: (4000, 64), 374: (5000, 64), 1000: (11_000, 32)}  # fmt: skip
"""By the number of labels: examples that calibrate, and new objects."""

BARS = {6: 5, 8: 5, 14: 50, 22: 300, 100: 300, 200: 300, 1000: 2000}
"""Microseconds for the best labelset, confidence and credibility of an object."""

SIZE_BARS = {14: 1, 100: 20, 200: 20, 374: 20, 1000: 20}
"""Milliseconds for the size of a region, to one bit where it is too large to be counted."""

LABEL_OBJECTS = (
    4000  # all: of the time of 32 most would be what any call takes, whatever the number
)
SIZE_OBJECTS = 16
PARTS = ("shapes", "emotions", "scene", "yeast", "birds", "medical", "enron", "bibtex")
"""Made-up shapes, and data sets: each is measured, kept and shown by itself."""

TITLE = "What people wait for"
METHOD = (
    "Everything with the default measure and guarantee, on one thread, kernels compiled beforehand:"
    " seconds of the processor, the least of several runs but for fits and new processes, which run"
    " once. First made-up outputs of ten folds' models for `calibrate_outputs`, so that no learner"
    " is in the way: labels with common causes, two to ten on per object, 60 to 11 000 labelsets"
    " among the examples. Microseconds by object of a batch; each column includes making the"
    " predictions, the first. 'One row' is a batch of one, in milliseconds; sizes are of regions at"
    " significance 0.1, to one bit where they are too large to be counted. Beside it a real"
    " learner: one-vs-rest logistic regression on 6 labels and 20 features in ten folds, its own"
    " time apart from that of everything beyond it. Then data sets, `CrossConformalClassifier` in"
    f" ten folds on up to {N_TRAINING} training objects and {N_OBJECTS} test objects, with the"
    " learner's own time beside ours: logistic regression as above, a forest of 50 trees, and"
    f" `table_pool` with 50 trees and 20 rounds of boosting (up to {POOL_LABELS} labels; it would"
    " boost for hours with more). Questions are asked of predictions from logistic regression,"
    " significance 0.1, and each column is for that question alone, beyond the learner and making"
    " the predictions. A new process imports labelsure, loads the pickled model and asks for the"
    " best labelset of one object."
)
COLUMNS = (
    "labels", "seen labelsets", "making predictions", "setting up a search",
    "best, confidence, credibility", "p-value", "contains", "top(5)", "inner, outer",
    "label p-values", "sizes, ms", "one row, ms", "calibrating, s",
)  # fmt: skip


def measure(part: str) -> list[Figure | Table]:
    """Return what one part takes."""
    if part != "shapes":
        return list(
            measure_set(
                part, load_if_there(part), REPEATS, say=lambda text: print(f"  {text}", flush=True)
            )
        )
    rows = []
    for n_labels, shape in SHAPES.items():
        print(f"  {n_labels} labels", flush=True)
        rows.append(row_of(n_labels, *shape))
    best, sizes, one_row, setting_up = (
        COLUMNS.index(name)
        for name in (COLUMNS[4], "sizes, ms", "one row, ms", "setting up a search")
    )
    figures = [
        Figure(
            f"{row[0]} labels: best, confidence, credibility",
            row[best],
            "µs",
            at_most=BARS.get(row[0]),
        )
        for row in rows
    ]
    figures += [
        Figure(f"{row[0]} labels: sizes", row[sizes], "ms", at_most=SIZE_BARS.get(row[0]))
        for row in rows
    ]
    figures += [Figure(f"{row[0]} labels: one row", row[one_row], "ms", at_most=3) for row in rows]
    figures += [Figure("22 labels: setting up an object", rows[3][setting_up], "µs", at_most=10)]
    return [*figures, *with_learner(), Table("Made-up outputs, CPU µs by object", COLUMNS, rows)]


def row_of(n_labels: int, n_examples: int, n_objects: int) -> list[Any]:
    """Return the row of one shape."""
    data = make_up(n_labels, n_examples, n_objects)
    start = time.process_time()
    predictor = calibrate_outputs(data.calibration, data.Y, folds=data.fold_of, n_jobs=1)
    calibrating = time.process_time() - start
    predict = predictor.predict_labelsets
    ask(predict(data.new[:, :2]), data.Y_new[:2])  # compiles
    few = min(LABEL_OBJECTS, n_objects)
    engine = predict(data.new)._engine
    seconds = times(
        {
            "make": partial(predict, data.new),
            "pose": partial(
                pose, engine.arrays if isinstance(engine, FoldEngine) else engine.engine.arrays
            ),
            "best": lambda: best_of(predict(data.new)),
            "p_value": lambda: predict(data.new).p_value(data.Y_new),
            "contains": lambda: predict(data.new).region(SIGNIFICANCE).contains(data.Y_new),
        }
    )
    labels = times(
        {
            "top": lambda: predict(data.new[:, :few]).top(5),
            "labels": lambda: labels_of(predict(data.new[:, :few])),
            "p_values": lambda: predict(data.new[:, :few]).label_p_values,
        }
    )
    some = min(SIZE_OBJECTS, n_objects)
    sizes = times({"sizes": lambda: predict(data.new[:, :some]).region(SIGNIFICANCE).sizes})[
        "sizes"
    ]
    one_row = times({"one": lambda: best_of(predict(data.new[:, :1]))})["one"]
    per_object = [1e6 * value / n_objects for value in seconds.values()]
    per_object += [1e6 * value / few for value in labels.values()]
    n_seen = len(np.unique(data.Y, axis=0))
    return [n_labels, n_seen, *per_object, 1e3 * sizes / some, 1e3 * one_row, calibrating]


def with_learner() -> list[Figure]:
    """Return the time of a call with one row and with many, and the learner's share of it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 20))
    Y = (X @ rng.normal(size=(20, 6)) + rng.normal(size=(6000, 6)) > 1.5).astype(np.int8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = CrossConformalClassifier(
            OneVsRestClassifier(LogisticRegression()), random_state=0, n_jobs=1
        )
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
            Figure(
                f"logistic regression, 6 labels, {what}: the learner",
                factor * seconds["learner"],
                unit,
            ),
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
    return pose_block(arrays, np.arange(arrays.n_objects), counted=False)


def best_of(predictions: LabelsetPredictions) -> tuple[Any, ...]:
    """Return the best labelsets with confidence and credibility."""
    return predictions.labelsets, predictions.confidence, predictions.credibility


def labels_of(predictions: LabelsetPredictions) -> tuple[Any, ...]:
    """Return the labels in every and in some labelset of the region."""
    region = predictions.region(SIGNIFICANCE)
    return region.inner, region.outer


def ask(predictions: LabelsetPredictions, Y: Any) -> None:
    """Ask everything that is measured."""
    (
        best_of(predictions),
        labels_of(predictions),
        predictions.p_value(Y),
        predictions.region(SIGNIFICANCE).contains(Y),
    )
    _ = predictions.region(SIGNIFICANCE).sizes, predictions.top(5), predictions.label_p_values

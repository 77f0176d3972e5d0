"""Typical uses of a data set and a learner, with the learner's time and the total time."""

import json
import os
import pickle
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from benchmarks._answers import Cell, Table
from benchmarks._learner_clock import seconds_of
from labelsure import CrossConformalClassifier, LabelsetPredictions, table_pool
from labelsure.datasets import Dataset

SIGNIFICANCE = 0.1
N_FOLDS = 10
N_TRAINING, N_OBJECTS = 1000, 64
POOL_LABELS = 20
"""Boosting for each label, fold and inner fold takes hours with more."""

QUESTIONS: Mapping[str, Callable[[LabelsetPredictions], Any]] = {
    "best, confidence, credibility": lambda made: (
        made.labelsets,
        made.confidence,
        made.credibility,
    ),
    "top(5)": lambda made: made.top(5),
    "label p-values": lambda made: made.label_p_values,
    "inner, outer": lambda made: (made.region(SIGNIFICANCE).inner, made.region(SIGNIFICANCE).outer),
    "sizes": lambda made: made.region(SIGNIFICANCE).sizes,
}
FIT_COLUMNS = (
    "data set",
    "examples",
    "labels",
    "learner",
    "learner alone, s",
    "fit, s",
    "of these beyond the learner",
)
ASK_COLUMNS = ("data set", "labels", "learner alone", "making predictions", *QUESTIONS, "contains")
ROW_COLUMNS = ("data set", "one row: learner alone, ms", "one row: all, ms",
               "new process: learner alone, s", "new process: all, s")  # fmt: skip
FIT, ASK, ROW = (
    "Fitting",
    "Asking, CPU µs by object",
    "One row at a time, and the first call in a new process",
)

FIRST_CALL = """
import json, pickle, sys, time
start = time.process_time()
import labelsure
from labelsure.learners import outputs_of
with open(sys.argv[1], "rb") as file:
    model, row = pickle.load(file)
loaded = time.process_time()
[outputs_of(one, row, model.n_labels_) for one in model.models_]
said = time.process_time()
predictions = model.predict_labelsets(row)
predictions.labelsets, predictions.confidence, predictions.credibility
end = time.process_time()
print(json.dumps([said - loaded, end - start - (said - loaded)]))
"""


def learners(n_labels: int) -> dict[str, Any]:
    """Return the learners to fit with, by name."""
    small = {"trees__n_estimators": 50, "boosting__labels__estimator__max_iter": 20}
    found: dict[str, Any] = {
        "logistic regression": OneVsRestClassifier(LogisticRegression(solver="liblinear")),
        "forest": RandomForestClassifier(50, random_state=0, n_jobs=1),
    }
    if n_labels <= POOL_LABELS:
        found["pool"] = table_pool(random_state=0, n_jobs=1).set_params(**small)
    return found


def measure_set(
    name: str, data: Dataset, repeats: int, say: Callable[[str], None] = print
) -> list[Table]:
    """Return a row of each table about one data set; ``say`` is told what is measured."""
    X, Y = data.X_train[:N_TRAINING], data.Y_train[:N_TRAINING]
    fits: list[list[Cell]] = []
    model: Any = None
    for learner_name, learner in learners(Y.shape[1]).items():
        say(f"{name}: fit with {learner_name}")
        fitted, row = _fit(learner, X, Y)
        fits.append([name, X.shape[0], Y.shape[1], learner_name, *row])
        model = fitted if model is None else model
        if fitted is model:
            say(f"{name}: fit with {learner_name} and measure='auto'")
            fits.append(
                [
                    name,
                    X.shape[0],
                    Y.shape[1],
                    f"{learner_name}, auto",
                    *_fit(learner, X, Y, measure="auto")[1],
                ]
            )
    X_new, Y_new = data.X_test[:N_OBJECTS], data.Y_test[:N_OBJECTS]
    say(f"{name}: questions")
    asked = [name, Y.shape[1], *ask(model, X_new, Y_new, repeats)]
    say(f"{name}: one row, and a new process")
    rows = [name, *one_row(model, X_new[:1], repeats), *first_call(model, X_new[:1])]
    return [
        Table(FIT, FIT_COLUMNS, fits),
        Table(ASK, ASK_COLUMNS, [asked]),
        Table(ROW, ROW_COLUMNS, [rows]),
    ]


def _fit(learner: Any, X: Any, Y: Any, **settings: Any) -> tuple[Any, list[Cell]]:
    model = CrossConformalClassifier(learner, cv=N_FOLDS, random_state=0, n_jobs=1, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # labels that a fold's training part has never, or always
        own, everything = seconds_of(learner, lambda: model.fit(X, Y))
    return model, [own, everything, f"{100 * (1 - own / everything):.0f} %"]


def ask(model: Any, X: Any, Y: Any, repeats: int) -> list[Cell]:
    """Return CPU microseconds by object: learner, predictions beyond it, questions beyond both."""
    questions = {**QUESTIONS, "contains": lambda made: made.region(SIGNIFICANCE).contains(Y)}
    for question in questions.values():
        question(model.predict_labelsets(X))  # compiles
    learner = model.estimator
    taken = [seconds_of(learner, lambda: model.predict_labelsets(X)) for _ in range(repeats)]
    own = min(part for part, _ in taken)
    seconds = [own, min(everything - part for part, everything in taken)]
    seconds += [
        min(_seconds(question, model.predict_labelsets(X)) for _ in range(repeats))
        for question in questions.values()
    ]
    return [1e6 * value / len(Y) for value in seconds]


def _seconds(question: Callable[[Any], Any], made: LabelsetPredictions) -> float:
    """Return the CPU seconds of a question about new predictions, whose answers are cached."""
    start = time.process_time()
    question(made)
    return time.process_time() - start


def one_row(model: Any, row: Any, repeats: int) -> list[Cell]:
    """Return CPU milliseconds of a call for one object: the learner's own, and all."""

    def call() -> None:
        QUESTIONS["best, confidence, credibility"](model.predict_labelsets(row))

    call()
    taken = [seconds_of(model.estimator, call) for _ in range(repeats)]
    return [1e3 * min(own for own, _ in taken), 1e3 * min(everything for _, everything in taken)]


def first_call(model: Any, row: Any) -> list[Cell]:
    """Return CPU seconds of a process that loads the model and asks one object: learner, all."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.pickle"
        path.write_bytes(pickle.dumps((model, row)))
        done = subprocess.run(
            [sys.executable, "-c", FIRST_CALL, str(path)],
            env=os.environ,
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise RuntimeError(f"The process failed: {done.stderr.strip()}")
    own, everything = json.loads(done.stdout)
    return [own, everything]

"""What does the default measure cost beside log loss with a prior?"""

import time
from functools import partial

import numpy as np
from sklearn.base import clone

from benchmarks._answers import Table
from benchmarks._figures import Figure
from benchmarks._logistic import N_OBJECTS, Outputs, logistic_outputs
from benchmarks._measuring import fastest
from benchmarks.search import effort_of
from labelsure.engine._fold_arrays import Fold
from labelsure.engine._fold_engine import FoldEngine
from labelsure.measures import Measure, Need, PosteriorMeasure, make_measure
from labelsure.measures._auto import default_measure

BUDGET = 200_000
TITLE = "The default measure"
METHOD = (
    f"The posterior against log loss with a prior, for the first {N_OBJECTS} test objects and the"
    " outputs of one- vs-rest logistic regression (liblinear) in 10 folds, on one thread. The table"
    " is that of yeast's p-values (14 labels); searches count regions at 90 % (enron has 53 labels,"
    f" bibtex 159) and give up after {BUDGET} evaluations. Times are by labelset, in the table or"
    " found, without fitting and log Z, what makes the probabilities of all labelsets sum to one."
    " That is taken by itself, for made-up outputs after 1000 training examples with three labels"
    " each on average. The posterior's parameters are fixed. Seconds of the processor, best of"
    " several runs, kernels compiled beforehand."
)
FORMER = "log loss with a prior"
SEARCHED = ("enron", "bibtex")
LEVEL = 0.1
REPEATS = 5
N_LABELS = (14, 159, 1_000, 10_000)
N_TRAINING = 1_000


def measure() -> list[Figure | Table]:
    """Return nanoseconds by labelset of both, their ratios, and what log Z takes."""
    found = {"yeast, table": table_nanoseconds(logistic_outputs("yeast"), repeats=REPEATS)}
    for name in SEARCHED:
        found[f"{name}, search"] = search_nanoseconds(
            logistic_outputs(name), budget=BUDGET, repeats=REPEATS
        )
    figures = [
        Figure(
            f"{what}: posterior against {FORMER}",
            times["posterior"] / times[FORMER],
            "x",
            at_most=1.2,
        )
        for what, times in found.items()
    ]
    figures += [
        Figure(f"log Z, {n} labels: by object", log_sum_microseconds(n), "µs") for n in N_LABELS
    ]
    rows = [[what, *times.values()] for what, times in found.items()]
    return [*figures, Table("Nanoseconds by labelset", ["what", *measures()], rows)]


def measures() -> dict[str, Measure]:
    """Return what is compared; neither learns from outputs."""
    return {
        "posterior": default_measure(Need.TRAINING_LABELS),
        FORMER: make_measure("log-loss+prior"),
    }


def engine_of_measure(outputs: Outputs, measure: Measure) -> FoldEngine:
    """Return the engine for the test objects, on one thread; measures are fitted by fold."""
    folds = []
    for k, test in enumerate(outputs.test):
        own = outputs.fold_of == k
        fitted = clone(measure).fit(outputs.Y[~own])
        scores = fitted.energy(outputs.calibration[own]).scores(outputs.Y[own])
        folds.append(Fold(np.sort(scores), fitted.energy(test)))
    return FoldEngine(folds, allow_empty=not outputs.Y.any(axis=1).all(), n_jobs=1)


def table_nanoseconds(outputs: Outputs, *, repeats: int) -> dict[str, float]:
    """Return the time of a table of p-values, by its entries."""
    work = {name: engine_of_measure(outputs, one).p_value_table for name, one in measures().items()}
    n_entries = max(make().size for make in work.values())  # compiles as well
    seconds = fastest(work, repeats=repeats, clock=time.process_time)
    return {name: 1e9 * value / n_entries for name, value in seconds.items()}


def search_nanoseconds(outputs: Outputs, *, budget: int, repeats: int) -> dict[str, float]:
    """Return the time of counting regions, by the labelsets found."""
    times = {}
    for name, one in measures().items():
        engine = engine_of_measure(outputs, one)
        effort_of(engine.take(np.arange(2)), LEVEL, budget=1000, repeats=1)  # compiles
        effort = effort_of(engine, LEVEL, budget=budget, repeats=repeats)
        times[name] = 1e9 * effort.seconds / sum(effort.sizes)
    return times


def log_sum_microseconds(n_labels: int) -> float:
    """Return what log Z of an object takes."""
    rng = np.random.default_rng(0)
    labels = (rng.random((N_TRAINING, n_labels)) < 3 / n_labels).astype(np.int8)
    fitted: PosteriorMeasure = clone(measures()["posterior"]).fit(labels)
    outputs = rng.random((min(1000, 1_000_000 // n_labels), n_labels))
    seconds = fastest(
        {"log Z": partial(fitted.log_sums, outputs)}, repeats=REPEATS, clock=time.process_time
    )
    return 1e6 * seconds["log Z"] / len(outputs)

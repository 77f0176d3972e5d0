"""What does a search pay for each labelset that it finds?"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from unittest import mock

import numpy as np

from benchmarks._answers import Table
from benchmarks._figures import Figure
from benchmarks._logistic import N_OBJECTS, logistic_outputs
from benchmarks._measuring import in_new_process, peak_growth
from benchmarks._scores import SCORES, engine_of
from labelsure.engine import _search
from labelsure.engine._fold_engine import FoldEngine
from labelsure.engine._walk_kernels import WORK, Found

BUDGET = 200_000
TITLE = "Searching regions"
METHOD = (
    f"Regions of the first {N_OBJECTS} test objects at 80, 90 and 95 % from one-vs-rest logistic"
    " regression (liblinear) in 10 folds, by log loss and by the paper's power score (d=4), on one"
    f" thread. Medical has 45 labels, enron 53, bibtex 159. A search gives up after {BUDGET}"
    " evaluations; what it has found by then counts. Nanoseconds are seconds of the processor, the"
    " least of several runs, over all labelsets found: setting up the objects' problems included,"
    " and for the search kernel alone. An evaluation is ten look-ups, one per fold. The first"
    " figures put the three levels together, weighted by the number of labelsets. Memory is by how"
    " much the process grew at its highest while counting all regions at 95 %, by itself. Small"
    " regions, as on medical, are found faster than their problems are set up."
)
DATASETS = ("medical", "enron", "bibtex")
LEVELS = (0.2, 0.1, 0.05)
REPEATS = 3
COLUMNS = (
    "data set", "score", "level", "median size", "finished", "evaluations by labelset",
    "ns by labelset", "of these in the kernel", "µs by object",
)  # fmt: skip


@dataclass
class Watch:
    """What the calls of the search's kernel took together."""

    nodes: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class Effort:
    """What the regions of some objects at one level took.

    Attributes
    ----------
    sizes : list of int
        Labelsets found for each object.
    finished : float
        The share of objects whose search was finished within the budget.
    nodes : int
        Evaluations of all searches.
    seconds, kernel_seconds : float
        Of the processor, in total and within the kernel.
    """

    sizes: list[int]
    finished: float
    nodes: int
    seconds: float
    kernel_seconds: float


def measure() -> list[Figure | Table]:
    """Return nanoseconds and evaluations by labelset, and memory."""
    figures, rows = [], []
    for name, score in product(DATASETS, SCORES):
        engine = engine_of(logistic_outputs(name), score)
        effort_of(engine.take(np.arange(2)), LEVELS[0], budget=1000, repeats=1)  # compiles
        efforts = {
            level: effort_of(engine, level, budget=BUDGET, repeats=REPEATS) for level in LEVELS
        }
        rows += [_row(name, score, level, effort) for level, effort in efforts.items()]
        n_found = sum(sum(effort.sizes) for effort in efforts.values())
        nanoseconds = 1e9 * sum(effort.seconds for effort in efforts.values()) / n_found
        nodes = sum(effort.nodes for effort in efforts.values()) / n_found
        figures += [
            Figure(f"{name}, {score}: time by labelset", nanoseconds, "ns", at_most=200),
            Figure(f"{name}, {score}: evaluations by labelset", nodes, "evaluations", at_most=3),
        ]
    figures += [
        Figure(
            f"{name}: memory",
            in_new_process(_memory, engine_of(logistic_outputs(name), "log loss")),
            "MiB",
        )
        for name in DATASETS
    ]
    return [*figures, Table("By level", COLUMNS, rows)]


def effort_of(engine: FoldEngine, level: float, *, budget: int, repeats: int) -> Effort:
    """Count all regions, several times, and return what the fastest run took."""
    smallest = engine.smallest_member(Fraction(level).limit_denominator(1000))
    everyone, searches = np.arange(engine.n_objects), engine._search
    seconds, kernel_seconds = [], []
    for _ in range(repeats):
        start = time.process_time()
        # what region_sizes does before it estimates
        counted = searches.count(everyone, smallest, budget)
        seconds.append(time.process_time() - start)
        with watched_kernel() as watch:
            searches.count(everyone, smallest, budget)
        kernel_seconds.append(watch.seconds)
    return Effort(
        sizes=[size for size, _ in counted],
        finished=float(np.mean([finished for _, finished in counted])),
        nodes=watch.nodes,
        seconds=min(seconds),
        kernel_seconds=min(kernel_seconds),
    )


@contextmanager
def watched_kernel() -> Iterator[Watch]:
    """Add up the evaluations and seconds of every call of the search's kernel."""
    watch, kernel = Watch(), _search.walk

    def watched(*arguments: object) -> None:
        (found,) = (one for one in arguments if isinstance(one, Found))
        before = int(found.numbers[:, WORK].sum())
        start = time.process_time()
        kernel(*arguments)
        watch.seconds += time.process_time() - start
        watch.nodes += int(found.numbers[:, WORK].sum()) - before

    with mock.patch.object(_search, "walk", watched):
        yield watch


def _row(name: str, score: str, level: float, effort: Effort) -> list[str | int | float]:
    n_found = sum(effort.sizes)
    return [
        name,
        score,
        f"{100 - 100 * level:.0f} %",
        int(np.median(effort.sizes)),
        f"{100 * effort.finished:.0f} %",
        effort.nodes / n_found,
        1e9 * effort.seconds / n_found,
        1e9 * effort.kernel_seconds / n_found,
        1e6 * effort.seconds / len(effort.sizes),
    ]


def _memory(engine: FoldEngine) -> float:
    effort_of(engine.take(np.arange(1)), LEVELS[-1], budget=1000, repeats=1)
    _, growth = peak_growth(lambda: effort_of(engine, LEVELS[-1], budget=BUDGET, repeats=1))
    return growth / 2**20

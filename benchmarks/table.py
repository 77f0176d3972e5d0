"""How fast is the p-value table, and what does it take beyond its own memory?"""

from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks._figures import Figure
from benchmarks._measuring import fastest, in_new_process, peak_growth
from benchmarks._numpy_table import p_value_table
from benchmarks._yeast import folds_of_yeast, predict_yeast
from labelsure import LabelsetPredictions

TITLE = "The p-value table"
METHOD = (
    "The p-values of 16 383 labelsets for the 917 test objects of yeast, from ML-RBF in 15 folds as"
    " in the paper, without (lambda=0) and with (lambda=1) a penalty for unseen pairs of labels."
    " The baseline is numpy on one thread: a matrix product for the scores and one `searchsorted`"
    " per fold, for all objects at once and for the number of objects at a time that is fastest."
    " Times are the best of several interleaved runs in one process, kernels compiled beforehand,"
    " and all tables are equal to the last bit. Memory is the highest growth of the process, in a"
    " process of its own, less the table itself, per entry of the table."
)
PENALTIES = (0.0, 1.0)
CHUNKS = (4, 8, 16, 32, 64)
REPEATS = 5


def measure() -> list[Figure]:
    """Return speed and memory for both values of lambda."""
    return [figure for penalty in PENALTIES for figure in (*_speeds(penalty), _memory(penalty))]


def _speeds(penalty: float) -> list[Figure]:
    one, two = (predict_yeast(penalty, n_jobs=n_jobs) for n_jobs in (1, 2))
    folds, labelsets = folds_of_yeast(penalty), one.candidates()
    baseline = partial(p_value_table, folds, labelsets)
    with threadpool_limits(limits=1):
        if not np.array_equal(one.p_values(), baseline(len(one))):  # compiles as well
            raise RuntimeError("The two tables differ, so their speeds cannot be compared.")
        tries = fastest({str(n): partial(baseline, n) for n in CHUNKS}, repeats=1)
        chunk = int(min(tries, key=lambda n: tries[n]))
        seconds = fastest(
            {
                "one": one.p_values,
                "two": two.p_values,
                "whole": partial(baseline, len(one)),
                "chunks": partial(baseline, chunk),
            },
            repeats=REPEATS,
        )
    name = f"lambda={penalty:g}"
    return [
        Figure(
            f"{name}: against numpy, all objects at once",
            seconds["whole"] / seconds["one"],
            "x",
            at_least=20,
        ),
        Figure(
            f"{name}: against numpy, {chunk} objects at a time",
            seconds["chunks"] / seconds["one"],
            "x",
            at_least=12,
        ),
        Figure(
            f"{name}: two threads against one", seconds["one"] / seconds["two"], "x", at_least=1.6
        ),
        Figure(f"{name}: one thread", 1000 * seconds["one"], "ms"),
        Figure(
            f"{name}: one thread, by look-up",
            1e9 * seconds["one"] / (len(folds) * len(one) * len(labelsets)),
            "ns",
        ),
    ]


def _memory(penalty: float) -> Figure:
    beyond = in_new_process(_bytes_beyond_table, predict_yeast(penalty, n_jobs=1))
    return Figure(
        f"lambda={penalty:g}: memory beyond the table, by entry", beyond, "bytes", at_most=4
    )


def _bytes_beyond_table(predictions: LabelsetPredictions) -> float:
    predictions[:1].p_values()
    table, growth = peak_growth(predictions.p_values)
    return float((growth - table.nbytes) / table.size)

"""How far is the p-value table from what the machine can do?"""

import time
from functools import partial

import numpy as np

from benchmarks._figures import Figure
from benchmarks._limit_kernels import add_and_look_up, look_up
from benchmarks._measuring import fastest
from benchmarks._yeast import folds_of_yeast
from labelsure.labelsets import FoldEngine

TITLE = "The p-value table and the machine"
METHOD = (
    "Counting for all labelsets of 64 test objects of yeast, ML-RBF in 15 folds, on one thread, against two loops that"
    " never leave the first-level cache: look-ups alone at random places of a 32 KiB table, and what each entry of the"
    " table cannot do without, an addition, a shift, a look-up and an addition to the row."
    " The least seconds of the processor of several runs taking turns, by look-up; the share is that of the second"
    " loop's speed. What is missing to 100 % has four reasons: scores above all calibration scores are clipped to the"
    " last bucket; each look-up is tested for sharing a bucket with a calibration score, and the few that do are"
    " compared with it, which the processor cannot foresee; an object's row of counts, 64 KiB, lies in the second-level"
    " cache and is read and written once per fold; and with pairs (lambda=1) there is one more addition of a number"
    " from there."
)
PENALTIES = (0.0, 1.0)
N_OBJECTS = 64
N_CODES = 512
N_BUCKETS = 2**13
SHIFT = 30
LOOP_REPEATS = 4000
REPEATS = 7


def measure() -> list[Figure]:
    """Return the time of the loops and of the table, and the share of the machine's speed that the table reaches."""
    everyone = np.arange(N_OBJECTS)
    engines = {penalty: FoldEngine(folds_of_yeast(penalty), allow_empty=False, n_jobs=1) for penalty in PENALTIES}
    functions = {
        **loops(N_CODES, LOOP_REPEATS),
        **{f"lambda={p:g}": partial(engine._count_rows, everyone, strict=False) for p, engine in engines.items()},
    }
    for function in functions.values():
        function()  # compiles
    seconds = fastest(functions, repeats=REPEATS, clock=time.process_time)
    n_table = N_OBJECTS * sum(2**engine.n_labels * len(engine.folds) for engine in engines.values()) / len(engines)
    by_look_up = {
        name: 1e9 * value / (n_table if name.startswith("lambda") else N_CODES * LOOP_REPEATS)
        for name, value in seconds.items()
    }
    limit = by_look_up["add and look up"]
    names = [f"lambda={penalty:g}" for penalty in PENALTIES]
    return [
        Figure("look-ups alone", by_look_up["look up"], "ns"),
        Figure("add and look up", limit, "ns"),
        *(Figure(f"{name}: the table", by_look_up[name], "ns") for name in names),
        *(Figure(f"{name}: share of the machine's speed", 100 * limit / by_look_up[name], "%") for name in names),
    ]


def loops(n_codes: int, repeats: int) -> dict[str, partial[object]]:
    """Return the two loops, ready to be called, with random scores."""
    rng = np.random.default_rng(0)
    buckets = rng.integers(0, 100, N_BUCKETS).astype(np.int32)
    sums = rng.integers(0, N_BUCKETS << SHIFT, n_codes)
    row = np.zeros(n_codes, dtype=np.int32)
    return {
        "look up": partial(look_up, (sums >> SHIFT).astype(np.uint64), buckets, repeats),
        "add and look up": partial(add_and_look_up, sums, 0, SHIFT, buckets, row, repeats),
    }

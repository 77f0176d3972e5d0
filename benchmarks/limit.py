"""How far is the p-value table from what the machine can do?"""

import time
from functools import partial

import numpy as np

from benchmarks._figures import Figure
from benchmarks._limit_kernels import add_and_look_up, look_up
from benchmarks._measuring import fastest
from benchmarks._yeast import folds_of_yeast
from labelsure.engine._fold_engine import FoldEngine

TITLE = "The p-value table and the machine"
METHOD = (
    "Counting for all labelsets of 64 test objects of yeast, ML-RBF in 15 folds, on one thread,"
    " against two loops that never leave the first-level cache: look-ups alone at random places of"
    " a 32 KiB table, and what each entry of the table cannot do without, an addition, a shift, a"
    " look-up and an addition to the row. The least seconds of the processor of several runs taking"
    " turns, by look-up; the share is that of the second loop's speed. What is missing to 100 %: a"
    " few look-ups share a bucket with a calibration score and are compared with it (given by"
    " itself, as the time without them); all others are tested for that, and clipped to the last"
    " bucket if above all calibration scores; an object's row of counts, 64 KiB, does not fit into"
    " the first-level cache beside the buckets and is read and written once per fold; and with"
    " pairs (lambda=1) each entry takes one more number from the second-level cache. Blocks of"
    " labelsets that are all stranger than every calibration example are not looked up at all, but"
    " counted here as if they were; with pairs there are many of them."
)
PENALTIES = (0.0, 1.0)
N_OBJECTS = 64
N_CODES = 512
N_BUCKETS = 2**13
SHIFT = 30
LOOP_REPEATS = 4000
REPEATS = 7


def measure() -> list[Figure]:
    """Return the time of the loops and of the table, and the table's share of machine speed."""
    tables = {f"lambda={penalty:g}: the table": _engine(penalty) for penalty in PENALTIES}
    tables |= {
        f"{name}, no bucket shared": without_shared_buckets(engine)
        for name, engine in tables.items()
    }
    functions = loops(N_CODES, LOOP_REPEATS) | {
        name: partial(fill, engine) for name, engine in tables.items()
    }
    for function in functions.values():
        function()  # compiles
    seconds = fastest(functions, repeats=REPEATS, clock=time.process_time)
    n_look_ups = {
        name: N_OBJECTS * 2**engine.n_labels * len(engine.folds) for name, engine in tables.items()
    }
    times = {
        name: 1e9 * value / n_look_ups.get(name, N_CODES * LOOP_REPEATS)
        for name, value in seconds.items()
    }
    limit = times["add and look up"]
    return [
        *(Figure(name, value, "ns") for name, value in times.items()),
        *(
            Figure(
                f"lambda={penalty:g}: share of the machine's speed", 100 * limit / times[name], "%"
            )
            for penalty, name in zip(PENALTIES, tables, strict=False)
        ),
    ]


def _engine(penalty: float) -> FoldEngine:
    return FoldEngine(folds_of_yeast(penalty), allow_empty=False, n_jobs=1).take(
        np.arange(N_OBJECTS)
    )


def fill(engine: FoldEngine) -> None:
    """Count for all labelsets, as many objects at a time as the engine takes for its tables."""
    rows = engine.compiled_rows
    for start in range(0, engine.n_objects, rows.n_block):
        rows.count(np.arange(start, min(start + rows.n_block, engine.n_objects)), strict=False)


def without_shared_buckets(engine: FoldEngine) -> FoldEngine:
    """Return an engine that treats all buckets as free of calibration scores: counts are wrong."""
    other = engine.take(np.arange(engine.n_objects))
    tables = other.arrays.tables
    other.arrays.tables = tables._replace(buckets=np.maximum(tables.buckets, 0))
    return other


def loops(n_codes: int, repeats: int) -> dict[str, partial[object]]:
    """Return the two loops, ready to be called, with random scores."""
    rng = np.random.default_rng(0)
    buckets = rng.integers(0, 100, N_BUCKETS).astype(np.int32)
    sums = rng.integers(0, N_BUCKETS << SHIFT, n_codes)
    row = np.zeros(n_codes, dtype=np.int32)
    return {
        "look-ups alone": partial(look_up, (sums >> SHIFT).astype(np.uint64), buckets, repeats),
        "add and look up": partial(add_and_look_up, sums, 0, SHIFT, buckets, row, repeats),
    }

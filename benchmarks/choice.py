"""Is what the engine chooses for a region, search or table, as fast as the table?"""

import time
from fractions import Fraction
from functools import partial

from benchmarks._figures import Figure
from benchmarks._measuring import fastest
from benchmarks._yeast import folds_of_yeast
from labelsure.engine._fold_engine import FoldEngine
from labelsure.engine._results import EngineOptions

TITLE = "Search or table"
METHOD = (
    "Sizes of the regions of the 917 test objects of yeast (14 labels), ML-RBF in 15 folds, without"
    " (lambda=0) and with (lambda=1) a penalty for unseen pairs, on one thread: what the engine"
    " chooses against counting in the whole table. CPU seconds, best of several interleaved runs;"
    " both give the same sizes. The engine tries a search first, which may cost a few per cent"
    " where the table wins."
)
PENALTIES = (0.0, 1.0)
LEVELS = (0.2, 0.1, 0.05)
REPEATS = 5


def measure() -> list[Figure]:
    """Return the table's time over that of the engine's choice."""
    figures = []
    for penalty in PENALTIES:
        engine = FoldEngine(folds_of_yeast(penalty), allow_empty=False, n_jobs=1)
        for level in LEVELS:
            what = (
                f"lambda={penalty:g}, {100 - 100 * level:.0f} %:"
                " the engine's choice against the table"
            )
            figures.append(
                Figure(what, speed_of_choice(engine, level, repeats=REPEATS), "x", at_least=0.9)
            )
    return figures


def speed_of_choice(engine: FoldEngine, level: float, *, repeats: int) -> float:
    """Return the speed of the engine relative to the table, counting regions at one level."""
    smallest = engine.smallest_member(Fraction(level).limit_denominator(1000))
    options = EngineOptions(table_labels=24)
    by_rows = FoldEngine(engine.folds, allow_empty=engine.allow_empty, n_jobs=1, options=options)
    chosen = partial(engine.region_sizes, smallest)
    table = partial(by_rows.region_sizes, smallest)
    if list(chosen()) != list(table()):  # compiles as well
        raise RuntimeError(
            "Search and table count different regions, so their speeds cannot be compared."
        )
    seconds = fastest({"chosen": chosen, "table": table}, repeats=repeats, clock=time.process_time)
    return seconds["table"] / seconds["chosen"]

"""Ten million rows in bounded memory, and what it costs to cut rows into batches."""

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks._answers import NotMeasuredError, Table
from benchmarks._figures import Figure
from benchmarks._measuring import fastest, in_new_process
from benchmarks.stream import fit, predict, write_rows

TITLE = "Ten million rows in batches"
METHOD = (
    "Made-up rows of 20 numbers, 8 labels, an inductive predictor with logistic regression fitted"
    " on 3000 rows, one core. Memory is the highest resident memory of a process that runs"
    " `labelsure predict` from Parquet to Parquet in batches of 10 000. The overhead is that of"
    " `predict_batches`, in batches of 10 000, over one call with all rows; both take turns, and"
    " the least seconds of the processor count."
)
N_ROWS, N_AT_ONCE, BATCH_ROWS, N_TRAINED_ON, REPEATS = 10_000_000, 100_000, 10_000, 3000, 3
LEARNER = ("logistic", "--guarantee", "inductive")  # the cheaper, the more the rest counts
PACKAGES = ("pyarrow",)


def measure(n_rows: int = N_ROWS, n_at_once: int = N_AT_ONCE) -> list[Figure | Table]:
    """Return memory, seconds, their breakdown, and batch overhead; fewer rows for a quick run."""
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise NotMeasuredError(f"it takes pyarrow ({error})") from error
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_rows(folder / "train.parquet", N_TRAINED_ON, seed=1, labels=True)
        write_rows(folder / "few.parquet", n_at_once, seed=2)
        write_rows(folder / "rows.parquet", n_rows, seed=3)
        in_new_process(fit, folder, *LEARNER)
        return ask(folder, n_rows)


def ask(folder: Path, n_rows: int) -> list[Figure | Table]:
    """Return the answers for the model and the rows of a folder."""
    overhead = in_new_process(_compare, folder)  # compiles, too
    many = in_new_process(predict, folder, "rows.parquet")
    total = many["seconds"]["all"]
    rows = [[what, seconds, 100 * seconds / total] for what, seconds in many["seconds"].items()]
    return [
        Figure(f"peak memory for {n_rows} rows", many["megabytes"] / 1000, "GB", at_most=1.5),
        Figure("rows in a second of the processor", n_rows / total, "rows"),
        Figure(
            "batches over one big call",
            overhead["batches"] / overhead["one call"],
            "x",
            at_most=1.05,
        ),
        Table(f"Who took the time for {n_rows} rows", ["what", "seconds", "%"], rows),
    ]


def _compare(folder: Path) -> dict[str, float]:
    """Return the seconds of one call and of batches, for the same rows."""
    from pyarrow import parquet

    from labelsure.batches import TablePredictor, predict_batches

    path, table = folder / "model.labelsure", parquet.read_table(folder / "few.parquet")
    predictor = TablePredictor(path)

    def in_batches() -> Any:
        cut = (table.slice(start, BATCH_ROWS) for start in range(0, table.num_rows, BATCH_ROWS))
        return [answers.num_rows for answers in predict_batches(path, cut)]

    ways = {"one call": lambda: predictor(table), "batches": in_batches}
    return fastest(ways, repeats=REPEATS, clock=time.process_time)

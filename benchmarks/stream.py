"""Does ``labelsure predict`` read a million rows in bounded memory? Does the learner dominate?"""

import resource
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks._answers import NotMeasuredError, Table
from benchmarks._figures import Figure
from benchmarks._measuring import in_new_process

TITLE = "A million rows through the command line"
METHOD = (
    "`labelsure predict` from Parquet to Parquet: made-up rows of 20 numbers, 8 labels, a model of"
    " 10 folds with gradient boosting fitted on 3000 rows, batches of 10 000, one core. Memory is"
    " the highest resident memory of the whole process, Python, libraries and model included."
    " Seconds are those of the processor; compiled code is loaded, not made."
)
N_ROWS, N_TRAINED_ON, N_FEATURES, N_LABELS = 1_000_000, 3000, 20, 8
AT_A_TIME = 100_000
LEARNER = "boosting"
PACKAGES = ("pyarrow",)


def measure(n_rows: int = N_ROWS) -> list[Figure | Table]:
    """Return memory, seconds, and who took them; fewer rows for a first look."""
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise NotMeasuredError(f"it takes pyarrow ({error})") from error
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_rows(folder / "train.parquet", N_TRAINED_ON, seed=1, labels=True)
        write_rows(folder / "few.parquet", 100, seed=2)
        write_rows(folder / "rows.parquet", n_rows, seed=3)
        in_new_process(fit, folder, LEARNER)
        in_new_process(predict, folder, "few.parquet")  # compiles
        few = in_new_process(predict, folder, "few.parquet")
        many = in_new_process(predict, folder, "rows.parquet")
    total = many["seconds"]["all"]
    rows = [[what, seconds, 100 * seconds / total] for what, seconds in many["seconds"].items()]
    return [
        Figure("peak memory", many["megabytes"] / 1000, "GB", at_most=1.0),
        Figure("peak memory for 100 rows", few["megabytes"] / 1000, "GB"),
        Figure(
            "share of the learner", 100 * many["seconds"]["learner"] / total, "%", at_least=50.0
        ),
        Figure("rows in a second", n_rows / total, "rows"),
        Table(f"Who took the time for {n_rows} rows", ["what", "seconds", "%"], rows),
    ]


def write_rows(path: Path, n_rows: int, *, seed: int, labels: bool = False) -> None:
    """Write made-up rows, a part at a time."""
    import pyarrow as pa
    from pyarrow import parquet

    weights = np.random.default_rng(0).normal(size=(N_FEATURES, N_LABELS)) / 2
    rng, writer = np.random.default_rng(seed), None
    for start in range(0, n_rows, AT_A_TIME):
        X = rng.normal(size=(min(AT_A_TIME, n_rows - start), N_FEATURES))
        Y = (X @ weights + rng.normal(size=(len(X), N_LABELS)) > 1).astype(np.int8)
        columns = {f"x{j}": X[:, j] for j in range(N_FEATURES)}
        table = pa.table(columns | ({f"y{j}": Y[:, j] for j in range(N_LABELS)} if labels else {}))
        writer = writer or parquet.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def fit(folder: Path, learner: str, *more: str) -> None:
    """Fit a model on train.parquet of a folder, with more options, and save it there."""
    from labelsure.cli import main

    words = ["fit", str(folder / "train.parquet"), "--labels", "y*", "--learner", learner]
    # the process would wait at its end for workers of its own, which leave after five minutes
    words += [*more, "--jobs", "1"]
    if main([*words, "--model", str(folder / "model.labelsure")]):
        raise RuntimeError("labelsure fit failed")


def predict(folder: Path, data: str) -> dict[str, Any]:
    """Return the peak memory of this process and the seconds of its parts after predicting."""
    from labelsure.cli import _predict, main
    from labelsure.conformal import _base

    seconds: dict[str, float] = dict.fromkeys(
        ("all", "learner", "answers", "reading", "writing"), 0.0
    )
    made = _predict.BatchAnswerer.__call__
    words = [
        "predict",
        str(folder / "model.labelsure"),
        str(folder / data),
        "-o",
        str(folder / "out.parquet"),
    ]
    with (
        patch.object(
            _base, "outputs_of_models", _clocked(seconds, "learner", _base.outputs_of_models)
        ),
        patch.object(_predict.BatchAnswerer, "__call__", _clocked(seconds, "answers", made)),
        patch.object(
            _predict.ParquetAnswers,
            "part",
            _clocked(seconds, "writing", _predict.ParquetAnswers.part),
        ),
    ):
        if _clocked(seconds, "all", main)([*words, "--jobs", "1"]):
            raise RuntimeError("labelsure predict failed")
    seconds["answers"] -= seconds["learner"] + seconds["writing"]
    seconds["reading"] = (
        seconds["all"] - seconds["learner"] - seconds["answers"] - seconds["writing"]
    )
    unit = 1e6 if sys.platform == "darwin" else 1e3
    return {
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit,
        "seconds": seconds,
    }


def _clocked(seconds: dict[str, float], name: str, function: Any) -> Any:
    """Return the function, its seconds of the processor added up."""

    def call(*arguments: Any, **named: Any) -> Any:
        start = time.process_time()
        try:
            return function(*arguments, **named)
        finally:
            seconds[name] = seconds.get(name, 0.0) + time.process_time() - start

    return call

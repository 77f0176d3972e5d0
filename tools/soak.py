"""An hour of mixed load: the same answers to the last bit, round after round, and memory that does not grow.

``make soak`` runs ``python tools/soak.py --minutes 60``. A round does everything once, in an order
drawn anew: fits in this process and in workers, fits that are kept and gone on with, predictions in
batches and in threads, regions, model files, reports, the command line and bad input. Rounds take
turns with four sets of data; the first answers to each set are what all later ones must be.

After each round, garbage collected and free memory given back to the system, it notes resident
memory (of this process and of its workers), open files and threads.

**The rule**: over the second half of the rounds, the Theil-Sen line (the median of the slopes of
all pairs, which a few odd rounds do not move) through resident memory must not rise by more than 2
% of the median; those through the numbers of open files and of threads must rise by less than two.
A pool of connections or of threads that gets one more, once in an hour, is no leak; one in a
hundred rounds is. Fewer than 20 rounds are too few to judge. Linux only.
"""

import argparse
import contextlib
import ctypes
import gc
import hashlib
import io
import os
import random
import statistics
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

N_SETS = 4
MAY_RISE = 0.02
FEWEST_ROUNDS = 20
THREADS: set[str] = set()  # those told so far
PAGE = os.sysconf("SC_PAGE_SIZE")


class Sample(NamedTuple):
    """What the system says of this process between two rounds."""

    seconds: float
    memory: int
    workers: int
    files: int
    threads: int


@dataclass
class Material:
    """One of the sets of data, with a model to ask."""

    seed: int
    folder: Path
    X: Any = field(init=False)
    Y: Any = field(init=False)
    new: Any = field(init=False)
    truth: Any = field(init=False)

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self.seed)
        X = rng.normal(size=(260, 8)).round(3)
        Y = (X @ rng.normal(size=(8, 6)) + rng.normal(size=(260, 6)) > 1).astype(np.int8)
        self.X, self.Y, self.new, self.truth = X[:140], Y[:140], X[140:], Y[140:]

    def make(self, **options: Any) -> Any:
        """Return a fitted cross-conformal predictor."""
        from labelsure import CrossConformalClassifier

        options = {"cv": 5, "random_state": self.seed, "guarantee": "exact", **options}
        return CrossConformalClassifier(learner(), **options).fit(self.X, self.Y)

    @cached_property
    def model(self) -> Any:
        """A model that stays, as in a server."""
        return self.make()


def learner() -> Any:
    """Return what learns: quick, and the same everywhere."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    return OneVsRestClassifier(LogisticRegression())


def answers(model: Any, objects: Any) -> list[Any]:
    """Return p-values and what a region at 90 % says of some objects, draws included."""
    predictions = model.predict_labelsets(objects)
    region = predictions.region(0.1)
    return [predictions.p_values(), predictions.labelsets, region.sizes, region.inner, region.outer]


def fit_here(material: Material) -> Any:
    """Fit in this process."""
    return answers(material.make(), material.new)


def fit_in_workers(material: Material) -> Any:
    """Fit in two processes."""
    return answers(material.make(n_jobs=2), material.new)


def fit_other_predictors(material: Material) -> Any:
    """Fit predictors of the other kinds."""
    from labelsure import (
        InductiveConformalClassifier,
        LabelWiseConformalClassifier,
        RecallController,
    )

    given = {"random_state": material.seed}
    inductive = InductiveConformalClassifier(learner(), measure="auto", **given).fit(
        material.X, material.Y
    )
    label_wise = LabelWiseConformalClassifier(learner(), cv=3, smoothed=True, **given).fit(
        material.X, material.Y
    )
    recall = RecallController(learner(), target=0.6, **given).fit(material.X, material.Y)
    p_values = label_wise.predict_labels(material.new).p_values
    return [
        inductive.predict_labelsets(material.new).p_values(),
        p_values,
        recall.predict(material.new),
    ]


def fit_and_go_on(material: Material) -> Any:
    """All folds are kept, one is damaged, and the second fit takes the others."""
    with tempfile.TemporaryDirectory(dir=material.folder) as folder:
        first = answers(material.make(memory=folder), material.new)
        damaged = sorted(Path(folder).iterdir())[0]
        damaged.write_bytes(damaged.read_bytes()[:-1])
        second = answers(material.make(memory=folder), material.new)
    return [*first, *second]


def predict_in_batches(material: Material) -> Any:
    """Batches of all sizes must say together what one big call says."""
    whole = answers(material.model, material.new)
    cuts = [0, 1, 8, 50, len(material.new)]
    parts = [answers(material.model, material.new[a:b]) for a, b in pairwise(cuts)]
    for name, (one, *many) in enumerate(zip(whole, *parts, strict=True)):
        if digest(np.concatenate(many)) != digest(one):
            raise SystemExit(f"batches say something else than one call does (answer {name})")
    return whole


def predict_in_threads(material: Material) -> Any:
    """Ask one model from four threads at once."""
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: answers(material.model, material.new), range(4)))
    if len({digest(one) for one in found}) > 1:
        raise SystemExit("threads that ask the same model get different answers")
    return found[0]


def search_many_labels(material: Material) -> Any:
    """Search where labelsets cannot be listed."""
    from labelsure import calibrate_outputs

    rng = np.random.default_rng(material.seed)
    outputs = rng.random((150, 40)) ** 3
    Y = (rng.random(outputs.shape) < outputs).astype(np.int8)
    predictions = calibrate_outputs(outputs[:120], Y[:120]).predict_labelsets(outputs[120:])
    region = predictions.region(0.4)
    return [
        predictions.labelsets,
        predictions.top(3).p_values,
        region.contains(Y[120:]),
        region.inner,
    ]


def save_and_load(material: Material) -> Any:
    """Write a model file, and ask the model that is read from it."""
    from labelsure import load_model, save_model

    path = material.folder / "model.labelsure"
    save_model(material.model, path)
    return [path.read_bytes(), *answers(load_model(path), material.new)]


def update(material: Material) -> Any:
    """Add calibration examples."""
    from labelsure import InductiveConformalClassifier

    model = InductiveConformalClassifier(learner(), random_state=0).fit(material.X, material.Y)
    return answers(model.update(material.new[:40], material.truth[:40]), material.new[40:])


def report(material: Material) -> Any:
    """Write a page about predictions."""
    from labelsure.report import write_report

    predictions = material.model.predict_labelsets(material.new[:40])
    return write_report(
        material.folder / "report.html", predictions, material.truth[:40]
    ).read_bytes()


def command_line(material: Material) -> Any:
    """Fit and predict in this process; a server would not, but the code is the same."""
    from labelsure.cli import main

    folder, labels = material.folder, [f"l{j}" for j in range(material.Y.shape[1])]
    names = ",".join([*(f"x{j}" for j in range(material.X.shape[1])), *labels])
    rows = np.column_stack([material.X, material.Y])
    np.savetxt(folder / "train.csv", rows, delimiter=",", header=names, comments="", fmt="%g")
    data, model, out = (str(folder / name) for name in ("train.csv", "cli.labelsure", "out.csv"))
    quick = ["--learner", "logistic", "--measure", "log-loss", "--folds", "3", "--jobs", "1"]
    with contextlib.redirect_stdout(io.StringIO()):
        codes = [
            main(["fit", data, "--labels", ",".join(labels), "--model", model, *quick]),
            main(["predict", model, data, "-o", out, "--batch", "50", "--jobs", "1"]),
        ]
    return [codes, Path(out).read_bytes()]


def bad_input(material: Material) -> Any:
    """Errors hold what was asked; nobody else may go on holding it."""
    said = []
    for wrong in (material.new[:, :3], np.full((2, 8), np.nan), "text"):
        try:
            material.model.predict_labelsets(wrong)
        except (ValueError, TypeError) as error:
            said.append(str(error))
    return "\n".join(said).encode()


def batches_of_tables(material: Material) -> Any:
    """Answer one table after the other."""
    from labelsure.batches import predict_batches

    tables = (material.new[start : start + 30] for start in range(0, len(material.new), 30))
    found = predict_batches(material.model, tables, significance=0.2)
    return [table.to_csv().encode() for table in found]


TASKS: tuple[Callable[[Material], Any], ...] = (
    fit_here,
    fit_in_workers,
    fit_other_predictors,
    fit_and_go_on,
    predict_in_batches,
    predict_in_threads,
    search_many_labels,
    save_and_load,
    update,
    report,
    command_line,
    bad_input,
    batches_of_tables,
)


def digest(answer: Any) -> str:
    """Return a text that is another one as soon as one bit of an answer is."""
    found = hashlib.sha256()

    def add(part: Any) -> None:
        if isinstance(part, list | tuple):
            for one in part:
                add(one)
            found.update(b"|")
        elif isinstance(part, bytes):
            found.update(part)
        else:
            array = np.asarray(part)
            found.update(f"{array.dtype} {array.shape} ".encode())
            found.update(
                repr(array.tolist()).encode() if array.dtype == object else array.tobytes()
            )

    add(answer)
    return found.hexdigest()


def take_sample(start: float) -> Sample:
    """Return what the system says now, free memory given back."""
    gc.collect()
    with contextlib.suppress(AttributeError, OSError):  # only glibc has it
        ctypes.CDLL(None).malloc_trim(0)
    files, threads = (len(list(Path(f"/proc/self/{name}").iterdir())) for name in ("fd", "task"))
    workers = sum(map(resident, children()))
    return Sample(time.monotonic() - start, resident("self"), workers, files, threads)


def resident(process: Any) -> int:
    """Return the bytes of memory that a process holds, 0 where it is gone."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0


def children(process: Any = "self") -> Iterator[str]:
    """Yield the numbers of a process's children and of theirs."""
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in task.read_text().split():
                yield child
                yield from children(child)


def rise(values: Sequence[float], times: Sequence[float]) -> float:
    """Return by how much the Theil-Sen line through values rises from the first time to the last."""
    pairs = combinations(zip(times, values, strict=True), 2)
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairs if b[0] > a[0]]
    return statistics.median(slopes) * (times[-1] - times[0])


def judge(samples: Sequence[Sample]) -> list[str]:
    """Return what breaks the rule: nothing, as one hopes."""
    if len(samples) < FEWEST_ROUNDS:
        return []
    late = samples[len(samples) // 2 :]
    wrong = []
    for name in ("memory", "workers"):
        values = [getattr(sample, name) for sample in late]
        grown, usual = rise(values, [sample.seconds for sample in late]), statistics.median(values)
        print(
            f"{name}: median {usual / 1e6:.1f} MB, {grown / 1e6:+.2f} MB over"
            f" {late[-1][0] - late[0][0]:.0f} s"
        )
        if grown > MAY_RISE * usual:
            wrong.append(
                f"{name} grew by {grown / 1e6:.2f} MB in the second half, more than 2 % of"
                f" {usual / 1e6:.1f} MB"
            )
    for name in ("files", "threads"):
        counts = [getattr(sample, name) for sample in late]
        grown = rise(counts, [sample.seconds for sample in late])
        print(
            f"{name}: from {counts[0]} to {counts[-1]} in the second half, a line that rises by"
            f" {grown:.1f}"
        )
        if grown >= 2:
            wrong.append(
                f"{name} that are open grew by {grown:.1f} in the second half, from {counts[0]}"
            )
    return wrong


def soak(minutes: float, *, rounds: int | None) -> int:
    """Go round and round, and return 1 where an answer changes or memory grows."""
    order, first = random.Random(0), dict[tuple[str, int], str]()
    samples: list[Sample] = []
    with tempfile.TemporaryDirectory() as folder:
        sets = [Material(seed, Path(folder) / str(seed)) for seed in range(N_SETS)]
        for material in sets:
            material.folder.mkdir()
        start = told = time.monotonic()
        while (
            len(samples) < rounds if rounds is not None else time.monotonic() - start < minutes * 60
        ):
            material = sets[len(samples) % N_SETS]
            for task in order.sample(TASKS, len(TASKS)):
                found = digest(task(material))
                if first.setdefault((task.__name__, material.seed), found) != found:
                    print(
                        f"FAILED: {task.__name__} answers otherwise in round {len(samples)} than"
                        f" it first did"
                    )
                    return 1
            samples.append(take_sample(start))
            if time.monotonic() - told > 30 or len(samples) == 1:
                told = time.monotonic()
                tell(samples)
        tell(samples)
        left = list(Path(folder).rglob(".*"))
    wrong = judge(samples) + [f"{path.name} was left behind" for path in left]
    for line in wrong:
        print(f"FAILED: {line}")
    print(
        f"{len(samples)} rounds of {len(TASKS)} tasks, every answer the first one to the last bit"
    )
    if len(samples) < FEWEST_ROUNDS:
        print(f"fewer than {FEWEST_ROUNDS} rounds: memory was not judged")
    return bool(wrong)


def tell(samples: Sequence[Sample]) -> None:
    """Print the last sample, and which threads are new: who began them is seen by their names."""
    new = {thread.name for thread in threading.enumerate()} - THREADS
    THREADS.update(new)
    if new and len(samples) > 1:
        print(f"new threads: {', '.join(sorted(new))}")
    seconds, memory, workers, files, threads = samples[-1]
    print(
        f"{seconds:7.0f} s, round {len(samples):5d}: {memory / 1e6:7.1f} MB, workers"
        f" {workers / 1e6:7.1f} MB,"
        f" {files} files, {threads} threads",
        flush=True,
    )


def main(words: Sequence[str] | None = None) -> int:
    """Read the command line and soak."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=60, help="how long (default: 60)")
    parser.add_argument(
        "--rounds", type=int, help="how many rounds instead, however long they take"
    )
    options = parser.parse_args(words)
    if not Path("/proc/self/statm").exists():
        print("memory is read from /proc, which only Linux has")
        return 2
    warnings.simplefilter("ignore")  # rare labels and the like, every round
    return soak(options.minutes, rounds=options.rounds)


if __name__ == "__main__":
    sys.exit(main())

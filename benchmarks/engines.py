"""How fast is the engine beside the one that it replaced?

One command, on a machine with nothing else to do::

    git worktree add --detach ../before 3c8330d && python -m benchmarks.engines ../before

Every case runs in processes of its own, on one thread, first under the older sources and then under
these, with synthetic outputs. Shown are CPU microseconds by object, the least of three runs of new
predictions with everything compiled, and how many times as long the older engine takes; then CPU
seconds of first questions with nothing compiled, beyond importing scikit-learn and numba, and how
many functions are compiled for them. Answers that are certain are compared. ``--smoke`` takes two
objects of each case.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

CASES = [
    *(("default", n_labels, 2000) for n_labels in (6, 8, 9, 12, 14, 16, 22)),
    *(("power", n_labels, 2000) for n_labels in (8, 9, 12, 14, 16, 22)),
    *(("default", n_labels, n_objects) for n_labels, n_objects in ((60, 300), (100, 200))),
    *(("power", n_labels, n_objects) for n_labels, n_objects in ((374, 60), (1000, 40))),
    ("inductive", 983, 300),
]
"""Measure, labels and objects."""

FIRST = {
    "8 labels: labels, confidence, sizes": (8, "p.labelsets, p.confidence, region.sizes"),
    "14 labels: labels, confidence, sizes": (14, "p.labelsets, p.confidence, region.sizes"),
    "100 labels: best": (100, "p.labelsets"),
    "100 labels: sizes": (100, "region.sizes"),
}

SETTING = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np
import sklearn, numba
from labelsure import calibrate_outputs
from labelsure.measures import PowerMeasure
measure, n_labels, n_objects = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rng = np.random.default_rng(n_labels)
n, n_folds = 1500, 1 if measure == "inductive" else 10
logits = rng.normal(size=(n + n_objects, 8)) @ rng.normal(scale=0.7, size=(8, n_labels))
logits += np.log(3 / n_labels) - rng.exponential(size=n_labels)
said = lambda rows: 1 / (1 + np.exp(-logits[rows] - rng.normal(scale=0.3, size=logits[rows].shape)))
Y = (rng.random((n, n_labels)) < 1 / (1 + np.exp(-logits[:n]))).astype(np.int8)
options = {} if n_folds == 1 else {"folds": np.arange(n) % n_folds}
if measure == "power":
    options["measure"] = PowerMeasure()
predictor = calibrate_outputs(said(slice(0, n)), Y, **options)
new = said(slice(n, None)) if n_folds == 1 else np.stack([said(slice(n, None))] * n_folds)
if n_folds > 1:
    new = np.clip(new + rng.normal(scale=0.02, size=new.shape), 0.0, 1.0)
"""

QUESTIONS = """
questions = {
    "best": lambda p: (p.labelsets, p.certain[:, None]),
    "confidence, credibility": lambda p: (
        np.stack([p.confidence, p.credibility], 1), p.certain[:, None]
    ),
    "label maxima": lambda p: (p.label_p_values, True),
    "sizes": lambda p: sizes_of(p.region(0.1)),
}
def sizes_of(region):
    estimates = region.size_estimates
    exact = np.array([size.exact for size in estimates])
    return np.array([float(size.value) if size.exact else 0.0 for size in estimates]), exact
some = new[..., :2, :]
for question in questions.values():
    for _ in range(2):
        question(predictor.predict_labelsets(some))
try:
    from labelsure._start_up import START_UP
    START_UP.end()
except ImportError:
    pass
answers = {}
for name, question in questions.items():
    question(predictor.predict_labelsets(some))
    taken = []
    for _ in range(1 if name == "sizes" and n_labels > 22 else 3):
        p = predictor.predict_labelsets(new)
        start = time.process_time()
        values, certain = question(p)
        taken.append(time.process_time() - start)
    file = f"{sys.argv[4]}-{len(answers)}.npz"
    np.savez(file, values=values, certain=np.broadcast_to(certain, values.shape))
    answers[name] = [1e6 * min(taken) / n_objects, float(np.mean(certain))]
print(json.dumps(answers))
"""

FIRST_USE = """
from numba.core import event
with event.install_recorder("numba:compile") as recorder:
    start = time.process_time()
    p = predictor.predict_labelsets(new)
    region = p.region(0.1)
    exec(sys.argv[4])
    taken = time.process_time() - start
print(json.dumps([taken, len(recorder.buffer) // 2]))
"""

COMPILE = """
import json, time
import sklearn, numba
from labelsure import compile_kernels
start = time.process_time()
compile_kernels()
print(json.dumps([time.process_time() - start]))
"""


def run(sources: Path, cache: str, program: str, *words: Any) -> Any:
    """Return what a program prints under some sources."""
    paths = {"PYTHONPATH": str(sources / "src"), "NUMBA_CACHE_DIR": cache}
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, words)],
        env={**os.environ, **paths, **threads},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{words} under {sources} failed: {done.stderr.strip()[-2000:]}")
    return json.loads(done.stdout)


def agree(old: str, new: str) -> bool:
    """Tell whether answers are the same where both engines are certain of them."""
    first, second = np.load(old), np.load(new)
    both = first["certain"] & second["certain"]
    return np.array_equal(first["values"][both], second["values"][both])


def compare(before: Path, *, smoke: bool) -> None:
    """Print how long both engines take."""
    now = Path(__file__).parents[1]
    with TemporaryDirectory() as old_cache, TemporaryDirectory() as new_cache:
        print("| measure, labels | question | before, us | now, us | times as fast | certain |")
        for measure, n_labels, n_objects in CASES:
            words = (measure, n_labels, 2 if smoke else n_objects)
            files = f"{old_cache}/answers", f"{new_cache}/answers"
            old = run(before, old_cache, SETTING + QUESTIONS, *words, files[0])
            new = run(now, new_cache, SETTING + QUESTIONS, *words, files[1])
            for number, (name, (taken, certain)) in enumerate(new.items()):
                same = (
                    "" if agree(*(f"{file}-{number}.npz" for file in files)) else " OTHER ANSWERS"
                )
                times = f"{old[name][0]:.1f} | {taken:.1f} | {old[name][0] / taken:.2f}"
                row = f"| {measure}, {n_labels} | {name} | {times} | {certain:.2f}{same} |"
                print(row, flush=True)
    print("| first use | before, s | functions | now, s | functions |")
    for name, (n_labels, question) in FIRST.items():
        taken = []
        for sources in (before, now):
            with TemporaryDirectory() as cache:
                words = ("default", n_labels, 20, question)
                taken += run(sources, cache, SETTING + FIRST_USE, *words)
        print(f"| {name} | {' | '.join(f'{one:.2f}' for one in taken)} |", flush=True)
    for sources in (before, now):
        with TemporaryDirectory() as cache:
            print(
                f"compile_kernels, {sources}: {run(sources, cache, COMPILE)[0]:.1f} s", flush=True
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Compare the engine with the one before it.")
    parser.add_argument("before", type=Path, help="a working tree of the older sources")
    parser.add_argument("--smoke", action="store_true", help="two objects of each case")
    arguments = parser.parse_args()
    compare(arguments.before.resolve(), smoke=arguments.smoke)

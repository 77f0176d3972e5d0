"""Mixed load for minutes: the same answers to the last bit, and memory that does not grow.

A round fits, here and in workers, predicts, saves, loads, reports and refuses bad input, and must
end with the answers of the first round. After a third of the rounds, the median of resident memory
may rise by less than 2 % from the first half of the others to the second.
LABELSURE_SOAK_MINUTES says how long; few rounds are not judged.
"""

import gc
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from labelsure import (
    CrossConformalClassifier,
    calibrate_outputs,
    load_model,
    predict_batches,
    save_model,
)
from labelsure.report import write_report

MINUTES = float(os.environ.get("LABELSURE_SOAK_MINUTES", "3"))
FEWEST_ROUNDS = 20
STATUS = Path("/proc/self/statm")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(260, 8)).round(3)
Y = (X @ RNG.normal(size=(8, 6)) + RNG.normal(size=(260, 6)) > 1).astype(np.int8)
OUTPUTS = RNG.random((150, 40)) ** 3
MANY = (RNG.random(OUTPUTS.shape) < OUTPUTS).astype(np.int8)


def answers(model):
    predictions = model.predict_labelsets(X[140:])
    region = predictions.region(0.1)
    return [predictions.p_values(), predictions.labelsets, region.sizes, region.outer]


def fitted(n_jobs=None):
    learner = OneVsRestClassifier(LogisticRegression())
    model = CrossConformalClassifier(learner, cv=5, random_state=0, n_jobs=n_jobs)
    return model.fit(X[:140], Y[:140])


def play_round(folder):
    """Return everything that one round answers."""
    model = fitted()
    given = [*answers(model), *answers(fitted(n_jobs=2))]
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(answers, [model] * 4):
            given += found
    save_model(model, folder / "model.labelsure")
    given += answers(load_model(folder / "model.labelsure"))
    many = calibrate_outputs(OUTPUTS[:120], MANY[:120]).predict_labelsets(OUTPUTS[120:])
    given += [many.labelsets, many.region(0.4).contains(MANY[120:])]
    predictions = model.predict_labelsets(X[140:180])
    page = write_report(folder / "report.html", predictions, Y[140:180]).read_bytes()
    tables = predict_batches(model, [X[140:170], X[170:]], significance=0.2)
    for wrong in (X[:, :3], np.full((2, 8), np.nan), "text"):
        with pytest.raises((ValueError, TypeError)):
            model.predict_labelsets(wrong)
    texts = [page, *(table.to_csv().encode() for table in tables)]
    return [np.ascontiguousarray(answer).tobytes() for answer in given] + texts


@pytest.mark.validity
@pytest.mark.skipif(not STATUS.exists(), reason="memory is read from /proc")
def test_load_for_minutes_changes_no_answer_and_holds_no_memory(tmp_path):
    first, memory, end = play_round(tmp_path), [], time.monotonic() + 60 * MINUTES
    while time.monotonic() < end:
        assert play_round(tmp_path) == first
        gc.collect()
        memory.append(int(STATUS.read_text().split()[1]))
    later = memory[len(memory) // 3 :]
    if len(memory) >= FEWEST_ROUNDS:
        halves = np.array_split(later, 2)
        assert np.median(halves[1]) - np.median(halves[0]) < 0.02 * np.median(later), memory

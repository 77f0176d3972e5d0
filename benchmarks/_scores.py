"""Two nonconformity scores, and the engine for outputs of cross-conformal models under either."""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks._logistic import Outputs
from labelsure import PowerMeasure
from labelsure.engine._fold_arrays import Fold
from labelsure.engine._fold_engine import FoldEngine
from labelsure.measures._costs import choose_exponent, to_fixed_point
from labelsure.measures._energy import Energy

Array = np.ndarray[Any, Any]
SMALLEST_OUTPUT = 1e-12


def log_loss_energy(outputs: Array) -> Energy:
    """Return minus the sum of the logarithms of the probabilities given to each label's value."""
    exponent = choose_exponent(-outputs.shape[1] * np.log(SMALLEST_OUTPUT))
    on, off = (
        to_fixed_point(-np.log(np.clip(part, SMALLEST_OUTPUT, 1)), exponent)
        for part in (outputs, 1 - outputs)
    )
    return Energy(constant=off.sum(axis=1), unary=on - off)


def power_energy(outputs: Array) -> Energy:
    """Return the paper's score with d=4 and without a penalty for pairs."""
    return PowerMeasure(d=4).fit(np.empty((0, outputs.shape[1]), dtype=np.int8)).energy(outputs)


SCORES: dict[str, Callable[[Array], Energy]] = {"log loss": log_loss_energy, "power": power_energy}


def engine_of(outputs: Outputs, score: str) -> FoldEngine:
    """Return the engine for the test objects, on one thread; the empty labelset counts if seen."""
    energy = SCORES[score]
    folds = []
    for k, test in enumerate(outputs.test):
        own = outputs.fold_of == k
        scores = energy(outputs.calibration[own]).scores(outputs.Y[own])
        folds.append(Fold(np.sort(scores), energy(test)))
    return FoldEngine(folds, allow_empty=not outputs.Y.any(axis=1).all(), n_jobs=1)

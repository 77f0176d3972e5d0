"""The same p-values by other packages, by their own ways in."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._inductive import InductiveTask, calibrated
from benchmarks._numpy_table import p_value_table
from labelsure.engine._fold_arrays import Fold
from labelsure.measures._labelset_bits import decode

Array = np.ndarray[Any, Any]


def labelsure_table(task: InductiveTask) -> Array:
    """Return labelsure's p-values, from outputs on."""
    return calibrated(task).predict_labelsets(task.test_outputs).p_values()


def numpy_table(task: InductiveTask, n_chunk: int) -> Array:
    """Return the same by numpy, from outputs on, ``n_chunk`` objects at a time."""
    fold = calibrated(task).calibrator.meet(0, task.test_outputs)
    return p_value_table([fold], all_labelsets(task), n_chunk)


def all_labelsets(task: InductiveTask) -> Array:
    """Return all labelsets, label 0 the lowest bit of a row's number."""
    n_labels = task.test_outputs.shape[1]
    return decode(np.arange(2**n_labels), n_labels)


class CrepesTable:
    """p-values by crepes, which takes scores: they are computed beforehand.

    Parameters
    ----------
    task : InductiveTask
        What to calibrate with.
    """

    def __init__(self, task: InductiveTask) -> None:
        from crepes import ConformalClassifier

        self.fold: Fold = calibrated(task).calibrator.meet(0, task.test_outputs)
        self.classifier = ConformalClassifier().fit(self.fold.calibration)
        energy = self.fold.energy
        self.scores = energy.constant[:, None] + energy.unary @ all_labelsets(task).T.astype(
            np.int64
        )

    def __call__(self) -> Array:
        """Return the p-values, not smoothed."""
        p_values: Array = self.classifier.predict_p(self.scores, smoothing=False)
        return p_values


class MulaconfTable:
    """p-values by mulaconf with the Euclidean norm of errors, the root of labelsure's score.

    Parameters
    ----------
    task : InductiveTask
        What to calibrate with.
    n_chunk : int or None
        Objects at a time; None leaves mulaconf's own setting.
    """

    def __init__(self, task: InductiveTask, n_chunk: int | None = None) -> None:
        import torch
        from mulaconf.icp_predictor import InductiveConformalPredictor

        torch.set_num_threads(1)
        self.test_outputs = task.test_outputs
        self.n_chunk = n_chunk
        self.predictor = InductiveConformalPredictor(
            task.training_outputs, task.training_labels, measure="norm"
        )
        self.predictor.calibrate(task.calibration_outputs, task.calibration_labels)

    def __call__(self) -> Array:
        """Return the p-values as mulaconf stores them: float32, label 0 the highest bit."""
        from mulaconf import constants

        own = constants._CPU_MAX_COMBINATIONS
        if self.n_chunk is not None:
            constants._CPU_MAX_COMBINATIONS = self.n_chunk * 2 ** self.test_outputs.shape[1]
        try:
            with silence():
                p_values: Array = self.predictor.predict(self.test_outputs).p_values.numpy()
            return p_values
        finally:
            constants._CPU_MAX_COMBINATIONS = own


def reversed_bits(n_labels: int) -> Array:
    """Return, for each labelset's number, the number with its bits in the other order."""
    return decode(np.arange(2**n_labels), n_labels)[:, ::-1].astype(np.int64) @ (
        1 << np.arange(n_labels)
    )


@contextmanager
def silence() -> Iterator[None]:
    """Throw away what progress bars print."""
    with Path(os.devnull).open("w") as nowhere, redirect_stderr(nowhere):
        yield

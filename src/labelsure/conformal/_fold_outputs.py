"""Ready-made outputs at the door: which fold's model gave them, and what that model was trained on."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from labelsure._core.types import BoolArray, FloatArray, IntArray
from labelsure._core.validation import check_label_matrix, check_outputs, check_same_length
from labelsure.conformal._calibrator import TrainingPart
from labelsure.conformal._sparse_outputs import SparseOutputs

Outputs = TypeVar("Outputs", bound=FloatArray | SparseOutputs)


def rows_of_folds(folds: Any, n_examples: int) -> tuple[list[BoolArray], IntArray | None]:
    """Return the examples of each fold and the sorted fold numbers; all of them and None where there are no folds."""
    if folds is None:
        return [np.ones(n_examples, dtype=bool)], None
    numbers = np.asarray(folds)
    if numbers.shape != (n_examples,):
        raise ValueError(
            f"folds must hold one fold number per calibration example, {n_examples} in all, got shape {numbers.shape}."
        )
    if numbers.dtype.kind not in "iu":
        raise ValueError(f"folds must hold whole numbers, got {numbers.dtype} values: {numbers[0]!r}, ...")
    fold_numbers = np.unique(numbers)
    if len(fold_numbers) < 2:
        raise ValueError("folds must name at least two folds; leave folds out where one model gave all outputs.")
    return [numbers == number for number in fold_numbers], fold_numbers


def read_per_fold(
    outputs: Any, fold_numbers: IntArray | None, n_labels: int, read: Callable[[Any], Outputs]
) -> list[Outputs]:
    """Return new objects' outputs of each fold's model, read; those of the one model where there are no folds."""
    if fold_numbers is None:
        return [read(outputs)]
    n_folds = len(fold_numbers)
    if not hasattr(outputs, "__len__") or len(outputs) != n_folds:
        got = len(outputs) if hasattr(outputs, "__len__") else repr(outputs)
        raise ValueError(f"outputs must hold one (n_objects, {n_labels}) array per fold, {n_folds} in all, got {got}.")
    per_fold = [read(part) for part in outputs]
    if len({len(part) for part in per_fold}) > 1:
        raise ValueError("outputs must be of the same objects in every fold, got different numbers of rows.")
    return per_fold


def check_training_part(
    training_labels: Any, training_outputs: Any, *, n_labels: int, label_names: Sequence[str] | None
) -> TrainingPart:
    """Return what a user says a model was trained on, checked; columns of DataFrames are taken by name."""
    labels, outputs = training_labels, training_outputs
    known: dict[str, Any] = {"n_labels": n_labels, "label_names": label_names}
    if labels is not None:
        labels = check_label_matrix(labels, name="training_labels", **known)
    if outputs is not None:
        outputs = check_outputs(outputs, name="training_outputs", **known)
        if labels is None:
            raise ValueError("training_outputs goes with training_labels: pass the labels of the same examples too.")
        check_same_length(outputs, labels, names=("training_outputs", "training_labels"))
    return TrainingPart(labels, outputs)

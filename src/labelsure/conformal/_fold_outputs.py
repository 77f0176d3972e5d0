"""Ready-made outputs at the door: what labels they go with, which fold's model gave them, what labels are called."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from labelsure._core.types import IntArray


def check_folds(folds: Any, n_examples: int) -> tuple[IntArray, IntArray]:
    """Return for each example the position of its fold among the sorted fold numbers, and those numbers."""
    numbers = np.asarray(folds)
    if numbers.shape != (n_examples,):
        raise ValueError(
            f"folds must hold one fold number per calibration example, {n_examples} in all, got shape {numbers.shape}."
        )
    if numbers.dtype.kind not in "iu":
        raise ValueError(f"folds must hold whole numbers, got {numbers.dtype} values: {numbers[0]!r}, ...")
    fold_numbers, fold_of = np.unique(numbers, return_inverse=True)
    if len(fold_numbers) < 2:
        raise ValueError("folds must name at least two folds; leave folds out where one model gave all outputs.")
    return fold_of, fold_numbers


def one_per_fold(outputs: Any, n_folds: int | None, n_labels: int) -> Sequence[Any]:
    """Return new objects' outputs of each fold's model; those of the one model where there are no folds (None)."""
    if n_folds is None:
        return [outputs]
    if not hasattr(outputs, "__len__") or len(outputs) != n_folds:
        got = len(outputs) if hasattr(outputs, "__len__") else repr(outputs)
        raise ValueError(f"outputs must hold one (n_objects, {n_labels}) array per fold, {n_folds} in all, got {got}.")
    per_fold: Sequence[Any] = outputs
    return per_fold


def check_same_objects(per_fold: Sequence[Any]) -> None:
    """Raise ValueError unless all folds have as many rows."""
    if len({len(part) for part in per_fold}) > 1:
        raise ValueError("outputs must be of the same objects in every fold, got different numbers of rows.")

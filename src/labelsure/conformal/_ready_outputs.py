"""Ready-made outputs at the door: of each fold's model, dense or sparse, and what that model was trained on."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
from scipy import sparse

from labelsure._checks import (
    BoolArray,
    FloatArray,
    IntArray,
    LabelMatrix,
    as_array,
    check_label_matrix,
    check_number,
    check_outputs,
    check_same_length,
)
from labelsure._random import UInt64Array, join_keys, object_keys
from labelsure.measures import Need
from labelsure.measures._sparse_outputs import SparseOutputs

TrainingPart = tuple[LabelMatrix | None, FloatArray | SparseOutputs | None]
"""Labels and outputs of the examples that a model was trained on, as far as they are known."""

AnyOutputs: TypeAlias = FloatArray | SparseOutputs
"""Outputs, of which few may be stored."""

Outputs = TypeVar("Outputs", FloatArray, SparseOutputs, AnyOutputs)


def read_outputs(
    outputs: Any,
    default_output: float,
    *,
    n_labels: int,
    label_names: Sequence[str] | None,
    name: str = "outputs",
) -> AnyOutputs:
    """Return checked outputs, sparse ones as such."""
    if sparse.issparse(outputs):
        default = check_number(default_output, name="default_output")
        return SparseOutputs(outputs, default, n_labels=n_labels, name=name)
    return check_outputs(outputs, n_labels=n_labels, label_names=label_names, name=name)


def keys_of(tables: Sequence[Any]) -> UInt64Array:
    """Return what draws belong to: one key for each object from all tables about it, dense or sparse."""
    return join_keys([_keys_of_table(table) for table in tables])


def _keys_of_table(table: Any) -> UInt64Array:
    if isinstance(table, SparseOutputs):
        return object_keys(table.matrix, default=table.default)
    return object_keys(table)


def rows_of_folds(folds: Any, n_examples: int) -> tuple[list[BoolArray], IntArray | None]:
    """Return the examples of each fold and the sorted fold numbers; all of them and None where there are no folds."""
    if folds is None:
        return [np.ones(n_examples, dtype=bool)], None
    numbers = as_array(folds, name="folds", shape="(n_examples,)")
    if numbers.shape != (n_examples,):
        raise ValueError(
            f"folds must hold one fold number per calibration example, {n_examples} in all, got"
            f" shape {numbers.shape}."
        )
    if numbers.dtype.kind not in "iu":
        raise ValueError(
            f"folds must hold whole numbers, got {numbers.dtype} values: {numbers[0]!r}, ..."
        )
    fold_numbers = np.unique(numbers)
    if len(fold_numbers) < 2:
        raise ValueError(
            "folds must name at least two folds; leave folds out where one model gave all outputs."
        )
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
        raise ValueError(
            f"outputs must hold one (n_objects, {n_labels}) array per fold, {n_folds} in all, got"
            f" {got}."
        )
    per_fold = [read(part) for part in outputs]
    if len({len(part) for part in per_fold}) > 1:
        raise ValueError(
            "outputs must be of the same objects in every fold, got different numbers of rows."
        )
    return per_fold


def check_training_part(
    training_labels: Any,
    training_outputs: Any,
    default_output: float = 0.0,
    *,
    n_labels: int,
    label_names: Sequence[str] | None,
) -> TrainingPart:
    """Return what a user says a model was trained on, checked; columns of DataFrames are taken by name."""
    labels, outputs = training_labels, training_outputs
    known: dict[str, Any] = {"n_labels": n_labels, "label_names": label_names}
    if labels is not None:
        labels = check_label_matrix(labels, name="training_labels", **known)
    if outputs is not None:
        outputs = read_outputs(outputs, default_output, name="training_outputs", **known)
        if labels is None:
            raise ValueError(
                "training_outputs goes with training_labels: pass the labels of the same examples"
                " too."
            )
        check_same_length(outputs, labels, names=("training_outputs", "training_labels"))
    return labels, outputs


def known_of(labels: LabelMatrix | None, outputs: FloatArray | SparseOutputs | None) -> Need:
    """Return what is known of a training part: its labels, and outputs that are taken for out-of-fold ones."""
    known = Need.NOTHING if labels is None else Need.TRAINING_LABELS
    return known if outputs is None else known | Need.OUT_OF_FOLD_OUTPUTS

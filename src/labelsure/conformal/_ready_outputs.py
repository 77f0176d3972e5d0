"""Ready-made outputs at the door: of each fold's model, dense or sparse, and what that model was trained on."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from labelsure._core.randomness import UInt64Array, join_keys, object_keys
from labelsure._core.types import BoolArray, FloatArray, IntArray, LabelMatrix
from labelsure._core.validation import check_label_matrix, check_number, check_outputs, check_same_length
from labelsure.conformal._guarantees import Merging
from labelsure.labelsets import CompactEngine, CompactObject, Empty, Fold, LabelsetEngine, StrangestEmpty
from labelsure.measures import Measure, Need

TrainingPart = tuple[LabelMatrix | None, FloatArray | None]
"""Labels and outputs of the examples that a model was trained on, as far as they are known."""

DENSE_ROWS_BYTES = 2**26
"""Memory for the rows that are made dense at a time while scoring calibration examples."""


class SparseOutputs:
    """The outputs of n objects for q labels, those not stored being ``default``.

    Parameters
    ----------
    matrix : sparse matrix of shape (n, q)
        Stored entries between 0 and 1; stored zeros count as stored.
    default : float
        The output of every entry that is not stored; below one half, so that those labels are off unless told.
    n_labels : int
        The number of columns required.
    """

    def __init__(self, matrix: Any, default: float, *, n_labels: int) -> None:
        self.matrix = sparse.csr_array(matrix)
        self.matrix.sum_duplicates()
        if self.matrix.shape[1] != n_labels:
            raise ValueError(f"outputs must have shape (n_objects, {n_labels}), got {self.matrix.shape}.")
        if not 0 <= default < 0.5:
            raise ValueError(
                f"default_output must lie between 0 and 0.5, got {default!r}: labels without an output of their own"
                " are taken to be off."
            )
        check_outputs(self.matrix.data[None], name="outputs")
        self.default = float(default)

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def labels_of(self, i: int) -> IntArray:
        """Return the labels that object ``i`` has an output of its own for."""
        labels: IntArray = self.matrix.indices[self.matrix.indptr[i] : self.matrix.indptr[i + 1]].astype(np.int64)
        return labels

    def row(self, i: int, labels: IntArray) -> FloatArray:
        """Return the outputs of object ``i`` for some labels, ascending, that include all its own; shape (1, u)."""
        outputs = np.full((1, len(labels)), self.default)
        own = self.matrix.data[self.matrix.indptr[i] : self.matrix.indptr[i + 1]]
        outputs[0, np.searchsorted(labels, self.labels_of(i))] = own
        return outputs

    def dense(self, rows: slice) -> FloatArray:
        """Return some objects' outputs for all labels."""
        everything = np.arange(self.matrix.shape[1])
        return np.concatenate([self.row(i, everything) for i in range(*rows.indices(len(self)))])

    def take(self, rows: Any) -> "SparseOutputs":
        """Return the outputs of some of the objects."""
        return SparseOutputs(self.matrix[rows], self.default, n_labels=self.matrix.shape[1])

    def blocks(self) -> list[slice]:
        """Return slices of objects whose dense outputs fit in memory."""
        n_rows = max(1, DENSE_ROWS_BYTES // (8 * self.matrix.shape[1]))
        return [slice(start, start + n_rows) for start in range(0, len(self), n_rows)]


Outputs = TypeVar("Outputs", FloatArray, SparseOutputs, FloatArray | SparseOutputs)


def read_outputs(
    outputs: Any, default_output: float, *, n_labels: int, label_names: Sequence[str] | None
) -> FloatArray | SparseOutputs:
    """Return checked outputs, sparse ones as such."""
    if sparse.issparse(outputs):
        return SparseOutputs(outputs, check_number(default_output, name="default_output"), n_labels=n_labels)
    return check_outputs(outputs, n_labels=n_labels, label_names=label_names)


def keys_of(tables: Sequence[Any]) -> UInt64Array:
    """Return what draws belong to: one key for each object from all tables about it, be they dense or sparse."""
    return join_keys(
        [
            object_keys(table.matrix, default=table.default) if isinstance(table, SparseOutputs) else object_keys(table)
            for table in tables
        ]
    )


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
    return labels, outputs


def known_of(labels: LabelMatrix | None, outputs: FloatArray | None) -> Need:
    """Return what is known of a training part: its labels, and outputs that are taken for out-of-fold ones."""
    known = Need.NOTHING if labels is None else Need.TRAINING_LABELS
    return known if outputs is None else known | Need.OUT_OF_FOLD_OUTPUTS


def compact_engine(
    measures: Sequence[Measure],
    calibrations: Sequence[IntArray],
    outputs: Sequence[SparseOutputs],
    merging: Merging,
    *,
    empty: Empty,
    **settings: Any,
) -> LabelsetEngine:
    """Return the engine for new objects with sparse outputs, which looks only at the labels that matter to each.

    Parameters
    ----------
    measures, calibrations, outputs : sequences
        The measure, the calibration and the new objects' outputs of each fold.
    merging : Merging
        Of the folds' counts.
    empty, **settings
        As in make_engine.
    """
    n_labels = outputs[0].matrix.shape[1]
    of_default = [
        measure.restrict(np.array([0])).energy(np.array([[part.default]]))
        for measure, part in zip(measures, outputs, strict=True)
    ]

    def folds_of(i: int, labels: IntArray) -> list[Fold]:
        folds = []
        for measure, calibration, part, default in zip(measures, calibrations, outputs, of_default, strict=True):
            energy = measure.restrict(labels).energy(part.row(i, labels))
            energy.constant[:] += (n_labels - len(labels)) * default.constant
            folds.append(Fold(calibration, energy))
        return folds

    def make(i: int) -> CompactObject:
        labels = np.unique(np.concatenate([part.labels_of(i) for part in outputs]))
        if not len(labels):
            labels = np.array([0])  # an engine needs a label; this one has the default output
        return CompactObject(
            labels=labels,
            folds=folds_of(i, labels),
            default_costs=np.array([default.unary[0, 0] for default in of_default]),
            whole=lambda: folds_of(i, np.arange(n_labels)),
        )

    sizes = [len(calibration) for calibration in calibrations]
    engine = CompactEngine(
        make,
        np.arange(len(outputs[0])),
        merging.weighing(sizes),
        weighing_at=merging.weighing_at(sizes),
        n_labels=n_labels,
        allow_empty=empty == "ordinary",
        **settings,
    )
    return StrangestEmpty(engine) if empty == "strangest" else engine

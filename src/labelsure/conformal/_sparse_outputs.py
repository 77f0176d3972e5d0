"""Outputs for very many labels: a sparse matrix whose missing entries have one default value."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from labelsure._core.calibration import Calibration
from labelsure._core.types import FloatArray, IntArray
from labelsure._core.validation import check_number, check_outputs
from labelsure.conformal._guarantees import Merging
from labelsure.labelsets import CompactEngine, CompactObject, Empty, Fold, LabelsetEngine, StrangestEmpty
from labelsure.measures import Measure

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


def read_outputs(
    outputs: Any, default_output: float, *, n_labels: int, label_names: Sequence[str] | None
) -> FloatArray | SparseOutputs:
    """Return checked outputs, sparse ones as such."""
    if sparse.issparse(outputs):
        return SparseOutputs(outputs, check_number(default_output, name="default_output"), n_labels=n_labels)
    return check_outputs(outputs, n_labels=n_labels, label_names=label_names)


def compact_engine(
    measures: Sequence[Measure],
    calibrations: Sequence[Calibration],
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

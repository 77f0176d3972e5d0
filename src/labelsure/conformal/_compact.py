"""From sparse outputs to an engine that looks only at the labels that matter to each object."""

from collections.abc import Sequence

import numpy as np

from labelsure._core.types import IntArray
from labelsure.conformal._calibrated import CalibratedMeasure
from labelsure.conformal._sparse_outputs import SparseOutputs
from labelsure.labelsets import CompactEngine, CompactObject, Fold, Weighing


def compact_engine(
    calibrated: Sequence[CalibratedMeasure],
    outputs: Sequence[SparseOutputs],
    *,
    n_labels: int,
    allow_empty: bool,
    draws: IntArray | None,
    n_jobs: int | None,
) -> CompactEngine:
    """Return the engine for new objects with sparse outputs, one matrix per fold."""
    of_default = [
        fold.measure.restrict(np.array([0])).energy(np.array([[part.default]]))
        for fold, part in zip(calibrated, outputs, strict=True)
    ]
    everything = np.arange(n_labels)

    def folds_of(i: int, labels: IntArray) -> list[Fold]:
        n_others = n_labels - len(labels)
        folds = []
        for fold, part, default in zip(calibrated, outputs, of_default, strict=True):
            energy = fold.measure.restrict(labels).energy(part.row(i, labels))
            energy.constant[:] += n_others * default.constant
            folds.append(Fold(fold.calibration, energy))
        return folds

    def make(i: int) -> CompactObject:
        labels = np.unique(np.concatenate([part.labels_of(i) for part in outputs]))
        if not len(labels):
            labels = np.array([0])  # an engine needs a label; this one has the default output
        return CompactObject(
            labels=labels,
            folds=folds_of(i, labels),
            default_costs=np.array([default.unary[0, 0] for default in of_default]),
            whole=lambda: folds_of(i, everything),
        )

    n_calibration, n_objects = sum(len(fold.calibration) for fold in calibrated), len(outputs[0])
    weighing = Weighing.plain(n_calibration, n_objects) if draws is None else Weighing.smoothed(n_calibration, draws)
    return CompactEngine(
        make, np.arange(n_objects), weighing, n_labels=n_labels, allow_empty=allow_empty, n_jobs=n_jobs
    )

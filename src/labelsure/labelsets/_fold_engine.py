"""The engine for inductive and cross-conformal predictors: scores are energies, calibrated fold by fold."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from labelsure._core.types import IntArray, LabelMatrix
from labelsure.labelsets._codes import decode
from labelsure.labelsets._engine import CountRows, LabelsetEngine
from labelsure.labelsets._fold import Fold
from labelsure.labelsets._index import ScoreIndex, index_calibrations


class FoldEngine(LabelsetEngine):
    """Answers questions about labelsets from a list of folds.

    Parameters
    ----------
    folds : sequence of Fold
        One for an inductive predictor, K for a cross-conformal one.
    allow_empty : bool
        Whether the empty labelset is a candidate.
    draws : int64 array or None
        For smoothed p-values, see LabelsetEngine.
    n_jobs : int or None
        Threads to work with.

    Examples
    --------
    >>> import numpy as np
    >>> from labelsure._core.calibration import Calibration
    >>> from labelsure._core.energy import Energy
    >>> energy = Energy(constant=np.array([2]), unary=np.array([[-2, 5]]))
    >>> engine = FoldEngine([Fold(Calibration.of(np.array([0, 1, 5])), energy)], allow_empty=True)
    >>> engine.p_value_table().tolist()
    [[0.5, 1.0, 0.25, 0.5]]
    """

    def __init__(
        self,
        folds: Sequence[Fold],
        *,
        allow_empty: bool,
        draws: IntArray | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.folds = tuple(folds)
        energy = self.folds[0].energy
        super().__init__(
            n_objects=energy.n_objects,
            n_labels=energy.n_labels,
            n_calibration=sum(len(fold.calibration) for fold in self.folds),
            allow_empty=allow_empty,
            draws=draws,
            n_jobs=n_jobs,
        )

    def take(self, objects: IntArray) -> "FoldEngine":
        """Return the engine for some of the objects."""
        return FoldEngine(
            [fold.take(objects) for fold in self.folds],
            allow_empty=self.allow_empty,
            draws=None if self.draws is None else self.draws[objects],
            n_jobs=self.n_jobs,
        )

    def _counts_of(self, Y: LabelMatrix, *, strict: bool) -> IntArray:
        return sum(
            (fold.calibration.count_at_least(fold.energy.scores(Y) + strict) for fold in self.folds),
            start=np.zeros(self.n_objects, dtype=np.int64),
        )

    def _count_rows(self, objects: IntArray, *, strict: bool) -> CountRows:
        from labelsure.labelsets import _kernels

        rows = np.empty((len(objects), 2**self.n_labels), dtype=np.int32)
        index = self._index
        _kernels.count_rows(
            np.stack([fold.energy.constant[objects] + strict for fold in self.folds]),
            np.stack([fold.energy.unary[objects] for fold in self.folds]),
            self._pairwise,
            index.buckets,
            index.bucket_start,
            index.values,
            index.counts,
            index.value_start,
            index.origin,
            index.shift,
            rows,
        )
        return rows

    def _total_scores(self, i: int, codes: IntArray) -> IntArray:
        labelsets = decode(codes, self.n_labels)
        object_repeated = np.full(len(codes), i)
        return sum(
            (fold.energy.take(object_repeated).scores(labelsets) for fold in self.folds),
            start=np.zeros(len(codes), dtype=np.int64),
        )

    @cached_property
    def _pairwise(self) -> IntArray:
        """The pairwise costs of all folds, (K, q, q), or (K, 0, 0) where no fold has any."""
        if all(fold.energy.pairwise is None for fold in self.folds):
            return np.empty((len(self.folds), 0, 0), dtype=np.int64)
        zeros = np.zeros((self.n_labels, self.n_labels), dtype=np.int64)
        return np.stack([zeros if fold.energy.pairwise is None else fold.energy.pairwise for fold in self.folds])

    @cached_property
    def _index(self) -> ScoreIndex:
        lowest = [fold.energy.lower_bound() for fold in self.folds]
        return index_calibrations([fold.calibration for fold in self.folds], lowest)

"""The back end of compiled tables: every labelset's score looked up in every fold."""

from functools import cached_property

import numpy as np

from labelsure._core.labelset_bits import encode
from labelsure._core.types import IntArray, LabelMatrix
from labelsure.labelsets.arrays import Counts, FoldArrays, Weighing
from labelsure.labelsets.arrays._lookup import Int32Array
from labelsure.labelsets.table._backend import RowTable


class NumbaTable(RowTable):
    """Tables of folds whose scores are sums over labels and pairs, with links, penalties, discounts and overrides."""

    def __init__(self, arrays: FoldArrays, weighing: Weighing, *, allow_empty: bool) -> None:
        self.arrays, self.weighing = arrays, weighing
        self.n_objects, self.n_labels = arrays.n_objects, arrays.n_labels
        self.first_code = 0 if allow_empty else 1

    def total_scores(self, Y: LabelMatrix, objects: IntArray) -> IntArray:
        """Return the total score over the folds of ``Y[r]`` for object ``objects[r]``."""
        return self.arrays.total_scores(Y, objects)

    def numerators(self, objects: IntArray) -> Counts:
        """Return the numerators of every code, one row per object."""
        above = self.count(objects, strict=True) if self.weighing.looks_above else None
        rows = self.weighing.numerators(self.count(objects, strict=False), above, objects)
        rows[:, : self.first_code] = 0
        return rows

    def count(self, objects: IntArray, *, strict: bool) -> Int32Array:
        """Return how many calibration scores are >= (> if strict) the score of every code, (K, n, 2^q).

        Where only the sum over the folds matters, that, (1, n, 2^q).
        """
        arrays, together = self.arrays, self.weighing.additive
        n_rows = 1 if together else arrays.n_folds
        counts = np.zeros((n_rows, len(objects), 2**self.n_labels), dtype=np.int32)
        # own pairs take as much room as a row: one fold's at a time
        step = arrays.n_folds if together and not arrays.own_pairs else 1
        for k in range(0, arrays.n_folds, step):
            self._add_counts(objects, slice(k, k + step), counts[0 if together else k], strict=strict)
        if arrays.has_overrides:
            own, labelsets = arrays.overridden(objects)
            scores = arrays.scores(labelsets, objects[own]) + strict
            listed = np.stack(
                [fold.count_at_least(of_fold) for fold, of_fold in zip(arrays.calibrations, scores, strict=True)]
            )
            counts[:, own, encode(labelsets)] = listed.sum(axis=0) if together else listed
        return counts

    def _add_counts(self, objects: IntArray, folds: slice, rows: Int32Array, *, strict: bool) -> None:
        """Add the counts of some folds, but for overrides."""
        if self.arrays.own_pairs:
            for row, i in enumerate(objects):
                own = self._sum_pairs(self.arrays.pairs.of(objects[row : row + 1], folds)[0])
                self._run(np.array([i]), folds, own, rows[row : row + 1], strict=strict)
        else:
            self._run(objects, folds, self._pair_rows[folds], rows, strict=strict)

    def _run(self, objects: IntArray, folds: slice, pair_rows: IntArray, rows: Int32Array, *, strict: bool) -> None:
        from labelsure.labelsets.table._table_kernels import LOW_LABELS, AdditiveScores, count_rows

        energies, tables = self.arrays.general[folds], self.arrays.tables
        least = np.zeros((len(energies), 2 ** max(self.n_labels - LOW_LABELS, 0)), dtype=np.int64)
        if pair_rows.size:
            least = pair_rows.reshape(*least.shape, -1).min(axis=2)
        additive = AdditiveScores(
            constant=np.stack([energy.constant[objects] for energy in energies]),
            unary=np.stack([energy.unary[objects] for energy in energies]),
            pairs=pair_rows,
            least_pairs=least,
            penalties=self._penalty_rows[folds],
        )
        count_rows(additive, tables._replace(layout=tables.layout[folds]), int(strict), rows)

    @cached_property
    def _pair_rows(self) -> IntArray:
        """The pairwise costs of every code in each fold that all objects share, (K, 2^q), or (K, 0)."""
        if not self.arrays.has_pairs:
            return np.empty((self.arrays.n_folds, 0), dtype=np.int64)
        return self._sum_pairs(self.arrays.pairs.shared[0])

    def _sum_pairs(self, pairs: IntArray) -> IntArray:
        """Return the pairwise costs of every code, given those of each pair, (K, q, q)."""
        from labelsure.labelsets.table._table_kernels import pair_sums

        rows = np.empty((len(pairs), 2**self.n_labels), dtype=np.int64)
        for of_fold, row in zip(pairs, rows, strict=True):
            pair_sums(of_fold, row)
        return rows

    @cached_property
    def _penalty_rows(self) -> IntArray:
        return self.arrays.penalties.rows(self.n_labels)

"""Who makes tables: ``TableBackend`` is the seam, what a device answers about a block of objects."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product

import numpy as np

from labelsure._core.energy_parts import Penalty
from labelsure._core.labelset_bits import decode, encode
from labelsure._core.p_values import count_at_least
from labelsure._core.types import BoolArray, FloatArray, IntArray, LabelMatrix
from labelsure.labelsets.arrays._fold_arrays import FAR, FoldArrays
from labelsure.labelsets.arrays._rules import LabelsetRules
from labelsure.labelsets.arrays._weighing import Counts, Weighing
from labelsure.labelsets.table._numpy_rows import count_scores, penalties_of_codes, scores_of_codes, subset_sums

ROW_LABELS = 12
"""Up to this many labels a number for every code and fold takes at most half a megabyte for ten folds."""


@dataclass(eq=False)
class TableBackend(ABC):
    """What is asked of all 2^q labelsets of a block of objects; here of rows of numerators in memory.

    Codes of labelsets that are no candidates have the numerator 0. A back end on another device answers every question
    itself: it keeps its rows there and hands over reductions only.

    Attributes
    ----------
    n_objects, n_labels : int
        How many there are.
    first_code : int
        The lowest code of a candidate: 0, or 1 where the empty labelset is none.
    total_scores : callable
        Returns the total score over the folds of ``Y[r]`` for object ``objects[r]``.
    constraints : LabelsetRules or None
        What candidates obey.
    entry_bytes : int
        What an entry of a row takes in the processor's cache while rows are made.
    """

    entry_bytes = 4
    n_objects: int
    n_labels: int
    first_code: int
    total_scores: Callable[[LabelMatrix, IntArray], IntArray]
    constraints: LabelsetRules | None = field(default=None, kw_only=True)

    @cached_property
    def codes(self) -> IntArray | slice:
        """The codes of all candidates, in order."""
        if self.constraints is None:
            return slice(self.first_code, None)
        codes = np.flatnonzero(self.constraints.by_code)
        return codes[codes >= self.first_code]

    def leave_candidates(self, rows: Counts) -> Counts:
        """Write 0 for all codes that are no candidates."""
        rows[:, : self.first_code] = 0
        if self.constraints is not None:
            rows[:, ~self.constraints.by_code] = 0
        return rows

    def n_at_once(self, block_bytes: int) -> int:
        """Return how many objects are asked about at a time, whose rows should take no more memory than this."""
        return max(1, block_bytes // (self.entry_bytes << self.n_labels))

    @abstractmethod
    def numerators(self, objects: IntArray) -> Counts:
        """Return the numerators of every code, one row per object."""

    def sizes(self, objects: IntArray, smallest: IntArray) -> IntArray:
        """Return how many numerators of each object are at least its smallest."""
        rows = self.numerators(objects)[:, self.first_code :]
        return np.array([np.count_nonzero(row >= least) for row, least in zip(rows, smallest, strict=True)])

    def members(self, i: int, smallest: int) -> tuple[IntArray, Counts]:
        """Return the codes of one object with a numerator of at least ``smallest``, and these."""
        row = self.numerators(np.array([i]))[0, self.first_code :]
        places = np.flatnonzero(row >= smallest)
        return places + self.first_code, row[places]

    def best(self, objects: IntArray, n_best: int) -> tuple[IntArray, Counts]:
        """Return the codes of each object's best labelsets, up to ``n_best`` of them, and their numerators.

        By highest numerator, then by lowest total score, which is looked at where numerators tie, then by lowest code.
        """
        rows, codes = self.numerators(objects)[:, self.codes], np.arange(2**self.n_labels)[self.codes]
        n_best = min(n_best, len(codes))
        if n_best == 0:
            return np.empty((len(rows), 0), dtype=np.int64), rows[:, :0]
        highest = np.sort(np.partition(rows, -n_best, axis=1)[:, -n_best:], axis=1)
        wanted, totals = rows >= highest[:, :1], np.zeros(rows.shape, dtype=np.int64)
        tied = np.flatnonzero((wanted.sum(axis=1) > n_best) | (highest[:, 1:] == highest[:, :-1]).any(axis=1))
        if len(tied):
            looked_at = np.zeros((len(tied), 2**self.n_labels), dtype=bool)
            looked_at[:, codes] = wanted[tied]
            totals[tied] = self.totals(objects[tied], looked_at)[:, codes]
            wanted[tied] &= first_by_total(rows[tied] > highest[tied, :1], wanted[tied], totals[tied], n_best)
        row, column = np.nonzero(wanted)
        order = np.lexsort((column, totals[row, column], -rows[row, column], row))
        begin = np.searchsorted(row, np.arange(len(rows)))
        best = column[order[begin[:, None] + np.arange(n_best)]]
        return codes[best], np.take_along_axis(rows, best, axis=1)

    def totals(self, objects: IntArray, wanted: BoolArray) -> IntArray:
        """Return the total scores of the codes wanted of each object, (n, 2^q); those of others may be anything."""
        totals = np.zeros(wanted.shape, dtype=np.int64)
        rows, codes = np.nonzero(wanted)
        totals[rows, codes] = self.total_scores(decode(codes, self.n_labels), objects[rows])
        return totals

    def label_maxima(self, objects: IntArray) -> IntArray:
        """Return the highest numerators with each label off and on, (n, q, 2)."""
        rows, maxima = self.numerators(objects), np.empty((len(objects), self.n_labels, 2), dtype=np.int64)
        for j in reversed(range(self.n_labels)):
            off, on = rows[:, : 2**j], rows[:, 2**j :]
            maxima[:, j, 0], maxima[:, j, 1] = off.max(axis=1), on.max(axis=1)
            rows = np.maximum(off, on)  # the label is either; for those below it that is all that matters
        return maxima

    def label_masses(self, objects: IntArray, denominators: IntArray, empty: IntArray | None) -> FloatArray:
        """Return the share of all p-values on codes with each label, (n, q); the empty code's may be replaced."""
        rows = self.numerators(objects)
        if empty is not None:
            rows[:, 0] = empty[objects]
        rows = np.minimum(rows, denominators[objects][:, None])  # some rules count beyond 1
        masses = np.empty((len(objects), self.n_labels))
        for own, row in zip(masses, rows, strict=True):
            total = row.sum(dtype=np.float64) or 1.0  # 2^24 smoothed numerators of 2^42 are beyond int64
            for j in range(self.n_labels):
                own[j] = row.reshape(-1, 2, 2**j)[:, 1].sum(dtype=np.float64) / total
        return masses


@dataclass(eq=False)
class RowTable(TableBackend):
    """The back end of rows that a function makes."""

    make_rows: Callable[[IntArray], Counts]

    def numerators(self, objects: IntArray) -> Counts:
        """Return the numerators of every code, one row per object."""
        return self.leave_candidates(self.make_rows(objects))


@dataclass(eq=False)
class NumpyTable(TableBackend):
    """The back end of folds with any energies, which waits for nothing; a code takes about 3 ns in each fold."""

    entry_bytes = 16  # scores and their buckets
    arrays: FoldArrays
    weighing: Weighing

    def numerators(self, objects: IntArray) -> Counts:
        """Return the numerators of every code, one row per object."""
        counts = [self.count(objects, strict=bool(strict)) for strict in range(1 + self.weighing.looks_above)]
        return self.leave_candidates(self.weighing.numerators(counts[0], counts[-1], objects))

    def count(self, objects: IntArray, *, strict: bool) -> Counts:
        """Return how many calibration scores are >= (> if strict) the score of every code, (K, n, 2^q).

        Where only the sum over the folds matters, that, (1, n, 2^q).
        """
        n_rows = 1 if self.weighing.additive else self.arrays.n_folds
        counts = np.zeros((n_rows, len(objects), 2**self.n_labels), dtype=np.int32)
        for k, fold in enumerate(self.arrays.folds):
            scores = scores_of_codes(fold.energy, objects)
            counts[k % n_rows] += count_scores(scores, k, self.arrays.tables, strict=strict)
        return counts

    def totals(self, objects: IntArray, wanted: BoolArray) -> IntArray:
        """Return the total scores of the codes wanted of each object, (n, 2^q); those of others may be anything."""
        if not self.arrays.shares_rows:
            return super().totals(objects, wanted)
        constant, unary = (
            np.sum([getattr(fold.energy, part)[objects] for fold in self.arrays.folds], axis=0)
            for part in ("constant", "unary")
        )
        return subset_sums(constant, unary) + self._shared_totals

    @cached_property
    def _shared_totals(self) -> IntArray:
        """What all objects pay for every code beside the sums over labels, in all folds together."""
        first, nothing = np.zeros(1, dtype=np.int64), np.zeros((1, self.n_labels), dtype=np.int64)
        shared = (replace(fold.energy, constant=first, unary=nothing) for fold in self.arrays.folds)
        return np.asarray(sum(scores_of_codes(energy, first)[0] for energy in shared))


@dataclass(eq=False)
class NumbaTable(NumpyTable):
    """The same, compiled; energies are not maxima."""

    entry_bytes = 4
    _xp = np  # what rows of codes are made with

    def count(self, objects: IntArray, *, strict: bool) -> Counts:
        """Return how many calibration scores are >= (> if strict) the score of every code, as NumpyTable does."""
        from labelsure.labelsets.table._table_kernels import LOW_LABELS, AdditiveScores, count_rows

        arrays, together = self.arrays, self.weighing.additive
        n_rows = 1 if together else arrays.n_folds
        counts = np.zeros((n_rows, len(objects), 2**self.n_labels), dtype=np.int32)
        # own pairs, or maxima, take as much room as a row: one object's in one fold at a time
        n_some, step = (
            (1, 1)
            if arrays.own_pairs or arrays.has_maxima
            else (max(len(objects), 1), arrays.n_folds if together else 1)
        )
        for first, k in product(range(0, len(objects), n_some), range(0, arrays.n_folds, step)):
            some, folds = objects[first : first + n_some], slice(k, k + step)
            shared_pairs, penalties = self._rows_of_codes
            penalties = penalties[folds]
            if arrays.has_maxima:
                penalties = self._add_maxima(penalties, k, some[0])
            pairs = self._sum_pairs(arrays.pairs.of(some, folds)[0]) if arrays.own_pairs else shared_pairs[folds]
            energies, tables = arrays.general[folds], arrays.tables
            least = np.zeros((len(energies), 2 ** max(self.n_labels - LOW_LABELS, 0)), dtype=np.int64)
            additive = AdditiveScores(
                constant=np.stack([energy.constant[some] for energy in energies]),
                unary=np.stack([energy.unary[some] for energy in energies]),
                pairs=pairs,
                least_pairs=pairs.reshape(*least.shape, -1).min(axis=2) if pairs.size else least,
                penalties=penalties,
            )
            rows = counts[0 if together else k, first : first + n_some]
            count_rows(additive, tables._replace(layout=tables.layout[folds]), int(strict), rows)
        if arrays.has_own_scores or (arrays.has_discounts and not self._spares_in_rows):
            own, labelsets = arrays.overridden(objects)
            scores = arrays.scores(labelsets, objects[own]) + strict
            listed = np.stack([count_at_least(*of_fold) for of_fold in zip(arrays.calibrations, scores, strict=True)])
            counts[:, own, encode(labelsets)] = listed.sum(axis=0) if together else listed
        return counts

    @property
    def _spares_in_rows(self) -> bool:
        """Whether discounts are in rows of codes; with many labels these would take too much memory."""
        return self.n_labels <= ROW_LABELS

    @cached_property
    def _rows_of_codes(self) -> tuple[IntArray, IntArray]:
        """What all objects pay for every code: pairwise costs, and penalties after a link; each (K, 2^q) or (K, 0).

        Discounts are in the first where nothing comes between, because that costs less.
        """
        arrays, penalties, xp = self.arrays, self.arrays.penalties, self._xp
        pair_rows = penalty_rows = xp.empty((arrays.n_folds, 0), dtype=np.int64)
        if arrays.has_pairs and not arrays.own_pairs:
            pair_rows = self._sum_pairs(arrays.pairs.shared[0])
        if penalties.present:
            of_folds = [energy.penalty or Penalty() for energy in arrays.general]
            penalty_rows = xp.asarray(np.stack([penalties_of_codes(one, self.n_labels) for one in of_folds]))
        if not arrays.has_discounts or not self._spares_in_rows:
            return pair_rows, penalty_rows
        spared = xp.zeros((arrays.n_folds, 2**self.n_labels), dtype=np.int64)
        for row, fold in zip(spared, arrays.folds, strict=True):
            if fold.energy.discounts is not None:
                row[xp.asarray(encode(fold.energy.discounts.labelsets))] = xp.asarray(fold.energy.discounts.amounts)
        if penalties.present or arrays.has_link or arrays.own_pairs:
            return pair_rows, (penalty_rows if penalty_rows.size else 0) - spared
        return (pair_rows if pair_rows.size else 0) - spared, penalty_rows

    def _sum_pairs(self, pairs: IntArray) -> IntArray:
        """Return the pairwise costs of every code, given those of each pair, (K, q, q)."""
        from labelsure.labelsets.table._table_kernels import pair_sums

        rows = np.empty((len(pairs), 2 ** pairs.shape[1]), dtype=np.int64)
        for of_fold, row in zip(pairs, rows, strict=True):
            pair_sums(of_fold, row)
        return rows

    def _add_maxima(self, penalties: IntArray, k: int, i: int) -> IntArray:
        """Return the penalties of every code in fold ``k``, (1, 2^q) or (1, 0), with the maxima of object ``i``."""
        rows = [maximum.row(i) for maximum in self.arrays.general[k].maxima]
        return sum(rows, start=penalties if penalties.size else np.zeros((1, 2**self.n_labels), dtype=np.int64))


def first_by_total(above: BoolArray, wanted: BoolArray, totals: IntArray, n_best: int) -> BoolArray:
    """Return those above, and the others wanted with the lowest totals: ``n_best``, or more where totals tie."""
    keys = np.where(wanted, totals, FAR)
    keys[above] = -FAR
    return np.asarray(keys <= np.partition(keys, n_best - 1, axis=1)[:, n_best - 1, None])

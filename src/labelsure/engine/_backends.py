"""Who makes tables of all 2^q labelsets, and what is read off them: ``TableBackend``."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from labelsure._checks import BoolArray, FloatArray, IntArray, LabelMatrix
from labelsure.engine._fold_arrays import FAR, FoldArrays
from labelsure.engine._numpy_rows import count_scores, scores_of_codes, subset_sums
from labelsure.engine._rules import LabelsetRules
from labelsure.engine._weighing import Counts, Weighing
from labelsure.measures._labelset_bits import decode

ROW_LABELS = 16
"""Up to this many labels a number for every code and fold takes at most five megabytes for ten folds."""


@dataclass(eq=False)
class TableBackend(ABC):
    """What is asked of all 2^q labelsets of a block of objects, answered from rows of numerators.

    Codes of labelsets that are no candidates have the numerator 0.

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
        return np.array(
            [np.count_nonzero(row >= least) for row, least in zip(rows, smallest, strict=True)]
        )

    def members(self, i: int, smallest: int) -> tuple[IntArray, Counts]:
        """Return the codes of one object with a numerator of at least ``smallest``, and these."""
        row = self.numerators(np.array([i]))[0, self.first_code :]
        places = np.flatnonzero(row >= smallest)
        return places + self.first_code, row[places]

    def best(self, objects: IntArray, n_best: int) -> tuple[IntArray, Counts]:
        """Return the codes of each object's best labelsets, up to ``n_best`` of them, and their numerators.

        By highest numerator, then by lowest total score, which is looked at where numerators tie,
        then by lowest code.
        """
        rows, codes = (
            self.numerators(objects)[:, self.codes],
            np.arange(2**self.n_labels)[self.codes],
        )
        n_best = min(n_best, len(codes))
        if n_best == 0:
            return np.empty((len(rows), 0), dtype=np.int64), rows[:, :0]
        highest = np.sort(np.partition(rows, -n_best, axis=1)[:, -n_best:], axis=1)
        wanted, totals = rows >= highest[:, :1], np.zeros(rows.shape, dtype=np.int64)
        tied = np.flatnonzero(
            (wanted.sum(axis=1) > n_best) | (highest[:, 1:] == highest[:, :-1]).any(axis=1)
        )
        if len(tied):
            looked_at = np.zeros((len(tied), 2**self.n_labels), dtype=bool)
            looked_at[:, codes] = wanted[tied]
            totals[tied] = self.totals(objects[tied], looked_at)[:, codes]
            wanted[tied] &= first_by_total(
                rows[tied] > highest[tied, :1], wanted[tied], totals[tied], n_best
            )
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
        rows, maxima = (
            self.numerators(objects),
            np.empty((len(objects), self.n_labels, 2), dtype=np.int64),
        )
        for j in reversed(range(self.n_labels)):
            off, on = rows[:, : 2**j], rows[:, 2**j :]
            maxima[:, j, 0], maxima[:, j, 1] = off.max(axis=1), on.max(axis=1)
            rows = np.maximum(
                off, on
            )  # the label is either; for those below it that is all that matters
        return maxima

    def label_masses(
        self, objects: IntArray, denominators: IntArray, empty: IntArray | None
    ) -> FloatArray:
        """Return the share of all p-values on codes with each label, (n, q); the empty code's may be replaced."""
        rows = self.numerators(objects)
        if empty is not None:
            rows[:, 0] = empty[objects]
        rows = np.minimum(rows, denominators[objects][:, None])  # some rules count beyond 1
        masses = np.empty((len(objects), self.n_labels))
        for own, row in zip(masses, rows, strict=True):
            total = (
                row.sum(dtype=np.float64) or 1.0
            )  # 2^24 smoothed numerators of 2^42 are beyond int64
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
        counts = [
            self.count(objects, strict=bool(strict))
            for strict in range(1 + self.weighing.looks_above)
        ]
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
        if not self.shares_rows:
            return super().totals(objects, wanted)
        constant, unary = (
            np.sum([getattr(energy, part)[objects] for energy in self.arrays.general], axis=0)
            for part in ("constant", "unary")
        )
        return subset_sums(constant, unary) + (
            self.shared_rows.sum(axis=0) if self.shared_rows.size else 0
        )

    @property
    def shares_rows(self) -> bool:
        """Whether scores are sums over labels, and what all objects pay alike for each code: few enough codes."""
        arrays = self.arrays
        if arrays.has_maxima or arrays.has_link or arrays.has_own_scores or arrays.own_pairs:
            return False
        return not arrays.has_discounts or self.n_labels <= ROW_LABELS

    @cached_property
    def shared_rows(self) -> IntArray:
        """What all objects pay for every code beside the sums over labels, (K, 2^q); (K, 0) where that is nothing."""
        arrays = self.arrays
        if not (arrays.has_pairs or arrays.penalties.present or arrays.has_discounts):
            return np.empty((arrays.n_folds, 0), dtype=np.int64)
        first, nothing = np.zeros(1, dtype=np.int64), np.zeros((1, self.n_labels), dtype=np.int64)
        pairs = zip(arrays.general, arrays.folds, strict=True)
        shared = [
            replace(one, constant=first, unary=nothing, discounts=fold.energy.discounts)
            for one, fold in pairs
        ]
        return np.concatenate([scores_of_codes(energy, first) for energy in shared])


@dataclass(eq=False)
class NumbaTable(NumpyTable):
    """The same, compiled where scores are sums over labels and rows of codes that all objects share."""

    entry_bytes = 4

    def count(self, objects: IntArray, *, strict: bool) -> Counts:
        """Return how many calibration scores are >= (> if strict) the score of every code, as NumpyTable does."""
        if not self.shares_rows:
            return super().count(objects, strict=strict)
        from labelsure.engine._table_kernels import LOW_LABELS, AdditiveScores, count_rows

        arrays, rows = self.arrays, self.shared_rows
        least = np.zeros((arrays.n_folds, 2 ** max(self.n_labels - LOW_LABELS, 0)), dtype=np.int64)
        n_rows = 1 if self.weighing.additive else arrays.n_folds
        counts = np.zeros((n_rows, len(objects), 2**self.n_labels), dtype=np.int32)
        additive = AdditiveScores(
            constant=np.stack([energy.constant[objects] for energy in arrays.general]),
            unary=np.stack([energy.unary[objects] for energy in arrays.general]),
            rows=rows,
            least=rows.reshape(*least.shape, -1).min(axis=2) if rows.size else least,
        )
        for k in range(n_rows):
            some = slice(None) if n_rows == 1 else slice(k, k + 1)
            tables = arrays.tables._replace(layout=arrays.tables.layout[some])
            count_rows(
                AdditiveScores(*(part[some] for part in additive)), tables, int(strict), counts[k]
            )
        return counts


def first_by_total(above: BoolArray, wanted: BoolArray, totals: IntArray, n_best: int) -> BoolArray:
    """Return those above, and the others wanted with the lowest totals: ``n_best``, or more where totals tie."""
    keys = np.where(wanted, totals, FAR)
    keys[above] = -FAR
    return np.asarray(keys <= np.partition(keys, n_best - 1, axis=1)[:, n_best - 1, None])

"""Who makes tables: ``TableBackend`` is the seam, what a device answers about a block of objects."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

import numpy as np

from labelsure._core.labelset_bits import decode, encode
from labelsure._core.p_values import count_at_least
from labelsure._core.types import BoolArray, FloatArray, IntArray, LabelMatrix
from labelsure.labelsets.arrays._fold_arrays import FoldArrays
from labelsure.labelsets.arrays._rules import LabelsetRules
from labelsure.labelsets.arrays._weighing import Counts, Weighing

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
    """

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
        return max(1, block_bytes // (4 << self.n_labels))

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
        from labelsure.labelsets.table._best_code_kernels import best_codes

        rows, codes = self.numerators(objects), np.arange(2**self.n_labels)[self.codes]
        best = np.empty((len(rows), min(n_best + 1, len(codes))), dtype=np.int64)  # the first that is left out may tie
        best_codes(rows, np.empty((len(rows), 0), dtype=np.int64), codes, best)
        found = np.take_along_axis(rows, best, axis=1)
        tied = np.flatnonzero((found[:, 1:] == found[:, :-1]).any(axis=1))
        if len(tied):
            own = best[tied]
            best_codes(rows[tied], self.totals(objects[tied], rows[tied] >= found[tied, -1:]), codes, own)
            best[tied] = own
            found[tied] = np.take_along_axis(rows[tied], own, axis=1)
        return best[:, :n_best], found[:, :n_best]

    def totals(self, objects: IntArray, wanted: BoolArray) -> IntArray:
        """Return the total scores of the codes wanted of each object, (n, 2^q); those of others may be anything."""
        totals = np.zeros(wanted.shape, dtype=np.int64)
        rows, codes = np.nonzero(wanted)
        totals[rows, codes] = self.total_scores(decode(codes, self.n_labels), objects[rows])
        return totals

    def label_maxima(self, objects: IntArray) -> IntArray:
        """Return the highest numerators with each label off and on, (n, q, 2)."""
        by_code = np.ascontiguousarray(self.numerators(objects).T)  # so that objects are looked at side by side
        halves = (by_code.reshape(-1, 2, 2**j, len(objects)) for j in range(self.n_labels))
        return np.stack([half.max(axis=(0, 2)).T for half in halves], axis=1).astype(np.int64)

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
class NumbaTable(TableBackend):
    """The back end of folds whose scores are sums over labels and pairs, with links, penalties and overrides."""

    arrays: FoldArrays
    weighing: Weighing
    _xp = np  # what rows of codes are made with

    def numerators(self, objects: IntArray) -> Counts:
        """Return the numerators of every code, one row per object."""
        counts = [self.count(objects, strict=bool(strict)) for strict in range(1 + self.weighing.looks_above)]
        return self.leave_candidates(self.weighing.numerators(counts[0], counts[-1], objects))

    def count(self, objects: IntArray, *, strict: bool) -> Counts:
        """Return how many calibration scores are >= (> if strict) the score of every code, (K, n, 2^q).

        Where only the sum over the folds matters, that, (1, n, 2^q).
        """
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

    def best(self, objects: IntArray, n_best: int) -> tuple[IntArray, Counts]:
        """Return the codes of each object's best labelsets, up to ``n_best`` of them, and their numerators."""
        arrays = self.arrays
        own = arrays.has_own_scores or arrays.own_pairs or arrays.has_maxima or arrays.has_link
        own = own or arrays.penalties.present
        if own or self.constraints is not None or not self._spares_in_rows:
            return super().best(objects, n_best)
        from labelsure.labelsets.table._best_code_kernels import BestCodes, CodeCosts, search_codes

        constant, unary = (
            np.stack([getattr(energy, part)[objects] for energy in arrays.general]) for part in ("constant", "unary")
        )
        found = BestCodes.of(len(objects), min(n_best, 2**self.n_labels - self.first_code))
        weighings, costs = self.weighing.of_objects(objects), CodeCosts.of(self._rows_of_codes[0], self.n_labels)
        search_codes(constant, unary, weighings, arrays.tables, self.first_code, costs, found)
        return found.codes, found.numerators

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
            cardinalities = xp.zeros(1, dtype=np.int64)
            for _ in range(self.n_labels):
                cardinalities = xp.concatenate([cardinalities, cardinalities + 1])
            penalty_rows = xp.take(xp.asarray(penalties.by_cardinality[:, 0]), cardinalities, axis=1)
            for k in np.flatnonzero(penalties.per_distance):
                anchors = penalties.anchors[penalties.anchor_begin[k] : penalties.anchor_begin[k + 1], 0]
                penalty_rows[k] += int(penalties.per_distance[k]) * self._distances(anchors.astype(np.int64))
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

    def _distances(self, anchors: IntArray) -> IntArray:
        """Return the Hamming distance from every code to the nearest anchor, one label at a time."""
        xp = self._xp
        distances: IntArray = xp.full(2**self.n_labels, self.n_labels + 1, dtype=np.int64)
        distances[xp.asarray(anchors)] = 0
        for j in range(self.n_labels):
            pairs = distances.reshape(-1, 2, 2**j)
            xp.minimum(pairs, pairs[:, ::-1, :] + 1, out=pairs)
        return distances

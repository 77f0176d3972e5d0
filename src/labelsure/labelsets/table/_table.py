"""Answers from tables: every labelset of an object looked at, block by block of objects.

``TableBackend`` is the seam: what another device would have to answer about a block of objects. Today rows of
numerators are made by compiled code and reduced by numpy.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

import numpy as np

from labelsure._core.labelset_bits import decode, encode
from labelsure._core.p_values import count_at_least
from labelsure._core.types import BoolArray, FloatArray, IntArray, LabelMatrix
from labelsure.labelsets.arrays._fold_arrays import FoldArrays
from labelsure.labelsets.arrays._results import (
    Answers,
    BestLabelsets,
    EngineOptions,
    Members,
    RegionSize,
    check_listable,
)
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

    def label_masses(self, objects: IntArray, empty: IntArray | None) -> FloatArray:
        """Return the share of all numerators on codes with each label, (n, q); the empty code's may be replaced."""
        rows = self.numerators(objects)
        if empty is not None:
            rows[:, 0] = empty[objects]
        masses = np.empty((len(objects), self.n_labels))
        for own, row in zip(masses, rows, strict=True):
            total = row.sum(dtype=np.float64)  # 2^24 smoothed numerators of 2^42 are beyond int64
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
        # own pairs take as much room as a row: one object's in one fold at a time
        n_some, step = (1, 1) if arrays.own_pairs else (max(len(objects), 1), arrays.n_folds if together else 1)
        for first, k in product(range(0, len(objects), n_some), range(0, arrays.n_folds, step)):
            some, folds = objects[first : first + n_some], slice(k, k + step)
            shared_pairs, penalties = self._rows_of_codes
            pairs = self._sum_pairs(arrays.pairs.of(some, folds)[0]) if arrays.own_pairs else shared_pairs[folds]
            energies, tables = arrays.general[folds], arrays.tables
            least = np.zeros((len(energies), 2 ** max(self.n_labels - LOW_LABELS, 0)), dtype=np.int64)
            additive = AdditiveScores(
                constant=np.stack([energy.constant[some] for energy in energies]),
                unary=np.stack([energy.unary[some] for energy in energies]),
                pairs=pairs,
                least_pairs=pairs.reshape(*least.shape, -1).min(axis=2) if pairs.size else least,
                penalties=penalties[folds],
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
        own = arrays.has_own_scores or arrays.own_pairs or arrays.has_link or arrays.penalties.present
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
        arrays, penalties = self.arrays, self.arrays.penalties
        pair_rows = penalty_rows = np.empty((arrays.n_folds, 0), dtype=np.int64)
        if arrays.has_pairs and not arrays.own_pairs:
            pair_rows = self._sum_pairs(arrays.pairs.shared[0])
        if penalties.present:
            penalty_rows = np.take(
                penalties.by_cardinality[:, 0], np.bitwise_count(np.arange(2**self.n_labels)), axis=1
            )
            for k in np.flatnonzero(penalties.per_distance):
                anchors = penalties.anchors[penalties.anchor_begin[k] : penalties.anchor_begin[k + 1], 0]
                penalty_rows[k] += penalties.per_distance[k] * self._distances(anchors.astype(np.int64))
        if not arrays.has_discounts or not self._spares_in_rows:
            return pair_rows, penalty_rows
        spared = np.zeros((arrays.n_folds, 2**self.n_labels), dtype=np.int64)
        for row, fold in zip(spared, arrays.folds, strict=True):
            if fold.energy.discounts is not None:
                row[encode(fold.energy.discounts.labelsets)] = fold.energy.discounts.amounts
        if penalties.present or arrays.has_link or arrays.own_pairs:
            return pair_rows, (penalty_rows if penalty_rows.size else 0) - spared
        return (pair_rows if pair_rows.size else 0) - spared, penalty_rows

    def _sum_pairs(self, pairs: IntArray) -> IntArray:
        """Return the pairwise costs of every code, given those of each pair, (K, q, q)."""
        from labelsure.labelsets.table._table_kernels import pair_sums

        rows = np.empty((len(pairs), 2**self.n_labels), dtype=np.int64)
        for of_fold, row in zip(pairs, rows, strict=True):
            pair_sums(of_fold, row)
        return rows

    def _distances(self, anchors: IntArray) -> IntArray:
        """Return the Hamming distance from every code to the nearest anchor, one label at a time."""
        distances = np.full(2**self.n_labels, self.n_labels + 1, dtype=np.int64)
        distances[anchors] = 0
        for j in range(self.n_labels):
            pairs = distances.reshape(-1, 2, 2**j)
            np.minimum(pairs, pairs[:, ::-1, :] + 1, out=pairs)
        return distances


@dataclass(eq=False)
class TableAnswers(Answers):
    """Answers of one table.

    Attributes
    ----------
    backend : TableBackend
        Makes and reduces rows.
    options : EngineOptions
        How large blocks are, and how many labels too many.
    n_jobs : int or None
        Threads to work with.
    """

    backend: TableBackend
    options: EngineOptions
    n_jobs: int | None

    def __post_init__(self) -> None:
        self.n_objects, self.n_labels = self.backend.n_objects, self.backend.n_labels
        self.n_block = max(1, self.options.table_block_bytes // (4 * 2**self.n_labels))

    def p_values(self, denominators: IntArray, empty: IntArray | None = None) -> FloatArray:
        """Return the p-values of all candidates, (n, n_candidates), columns in the order of their codes.

        Parameters
        ----------
        denominators : int64 array of shape (n,)
        empty : int64 array of shape (n,) or None
            Numerators of an empty labelset that is a candidate though the back end has none.
        """
        check_listable(self.n_labels, self.options)
        codes = self.backend.codes
        if empty is not None:
            codes = slice(0, None) if isinstance(codes, slice) else np.append(0, codes)
        table = np.empty((self.n_objects, len(np.arange(2**self.n_labels)[codes])))

        def fill(objects: IntArray) -> None:
            rows = self.backend.numerators(objects)
            if empty is not None:
                rows[:, 0] = empty[objects]
            out = table[objects[0] : objects[-1] + 1]
            np.divide(rows[:, codes], denominators[objects][:, None], out=out)
            if rows.max() > denominators[objects].min():  # some rules count beyond 1
                np.minimum(out, 1.0, out=out)

        self.map_blocks(fill, "p-values")
        return table

    def label_masses(self, empty: IntArray | None = None) -> FloatArray:
        """Return the share of the sum of all p-values that falls on labelsets with each label, (n, q)."""
        check_listable(self.n_labels, self.options)
        blocks = self.map_blocks(lambda objects: self.backend.label_masses(objects, empty), "masses of labels")
        return np.concatenate([np.empty((0, self.n_labels)), *blocks])

    def label_maxima(self, objects: IntArray) -> IntArray:
        """Return the highest numerators of each object with each label off and on, (n, q, 2)."""
        return self.backend.label_maxima(objects)

    def best(self, objects: IntArray, n_best: int) -> BestLabelsets:
        """Return the ``n_best`` most plausible labelsets of each object."""
        codes, numerators = self.backend.best(objects, n_best)
        best = BestLabelsets.nothing(len(objects), n_best, self.n_labels)
        n_there = codes.shape[1]
        best.numerators[:, :n_there] = best.upper[:, :n_there] = numerators
        best.labelsets[:, :n_there] = decode(codes.reshape(-1), self.n_labels).reshape(*codes.shape, self.n_labels)
        return best

    def count_members(self, smallest: IntArray, objects: IntArray | None = None) -> list[int]:
        """Return how many labelsets of some objects (None: of all) have a numerator of at least their ``smallest``."""
        blocks = self.map_blocks(lambda block: self.backend.sizes(block, smallest[block]), "region sizes", objects)
        return [size for block in blocks for size in block.tolist()]

    def region_sizes(self, smallest: IntArray, *, bits: float = 1.0) -> list[RegionSize]:  # noqa: ARG002
        """Return the sizes of all regions."""
        return [RegionSize.counted(size) for size in self.count_members(smallest)]

    def iterate_members(self, i: int, smallest: int) -> Iterator[Members]:
        """Yield the labelsets of object ``i`` with a numerator of at least ``smallest``, the most plausible first."""
        yield self._in_order(i, *self.backend.members(i, smallest))

    def _in_order(self, i: int, codes: IntArray, numerators: Counts) -> Members:
        """Return labelsets and numerators by highest numerator, then by lowest total score, then by lowest code."""
        numerators, labelsets = numerators.astype(np.int64), decode(codes, self.n_labels)
        totals = self.backend.total_scores(labelsets, np.full(len(codes), i))
        order = np.lexsort((codes, totals, -numerators))
        return labelsets[order], numerators[order]

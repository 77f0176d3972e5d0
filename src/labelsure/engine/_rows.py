"""Answers from rows: the numerators of all candidates of an object, looked at one by one."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np

from labelsure._checks import BoolArray, FloatArray, IntArray, LabelMatrix
from labelsure.engine._fold_arrays import FAR, FoldArrays
from labelsure.engine._numpy_rows import count_scores, scores_of_codes, subset_sums
from labelsure.engine._results import BestLabelsets, Members, RegionSize
from labelsure.engine._rules import LabelsetRules
from labelsure.engine._weighing import Counts, Weighing
from labelsure.measures._labelset_bits import decode

ROW_LABELS = 16
"""Up to this many labels a number for every code and fold takes at most 5 MB for ten folds."""

ROW_BYTES = 2**20
"""Rows made at a time by one thread: few enough to stay in the processor's cache."""


class Rows(ABC):
    """Answers about labelsets of n objects from rows of numerators.

    Attributes
    ----------
    n_labels : int
    n_block : int
        How many objects are answered at a time.
    columns : slice or int64 array
        The entries of a row that belong to candidates, in the order of their codes.
    """

    n_labels: int
    n_block: int
    columns: IntArray | slice

    @abstractmethod
    def numerators(self, objects: IntArray) -> Counts:
        """Return one row per object; entries that belong to no candidate are 0."""

    @abstractmethod
    def labelsets(self, entries: IntArray) -> LabelMatrix:
        """Return the labelsets that some entries belong to."""

    @abstractmethod
    def total_scores(self, Y: LabelMatrix, objects: IntArray) -> IntArray:
        """Return the total score over the folds of ``Y[r]`` for object ``objects[r]``."""

    @abstractmethod
    def label_maxima(self, objects: IntArray) -> IntArray:
        """Return the highest numerators with each label off and on, (n, q, 2)."""

    @abstractmethod
    def label_masses(
        self, objects: IntArray, denominators: IntArray, empty: IntArray | None
    ) -> FloatArray:
        """Return the share of all p-values on labelsets with each label, (n, q).

        ``empty`` are numerators of an empty labelset that has no entry otherwise.
        """

    def totals(self, objects: IntArray, wanted: BoolArray) -> IntArray:
        """Return the total scores of the entries wanted; those of others may be anything."""
        totals = np.zeros(wanted.shape, dtype=np.int64)
        rows, entries = np.nonzero(wanted)
        totals[rows, entries] = self.total_scores(self.labelsets(entries), objects[rows])
        return totals

    def p_values(
        self, objects: IntArray, denominators: IntArray, empty: IntArray | None
    ) -> FloatArray:
        """Return the p-values of all candidates, after one of the empty labelset if it is given."""
        rows = self.numerators(objects)[:, self.columns]
        if empty is not None:
            rows = np.column_stack([empty[objects], rows])
        p_values: FloatArray = rows / denominators[objects][:, None]
        return np.minimum(p_values, 1.0, out=p_values)  # some rules count beyond 1

    def region_sizes(
        self,
        objects: IntArray,
        smallest: IntArray,
        bits: float = 1.0,  # noqa: ARG002
    ) -> list[RegionSize]:
        """Return how many numerators of each object are at least ``smallest[object]``."""
        rows = self.numerators(objects)[:, self.columns]
        least = smallest[objects]
        sizes = [np.count_nonzero(row >= level) for row, level in zip(rows, least, strict=True)]
        return [RegionSize.counted(int(size)) for size in sizes]

    def best(self, objects: IntArray, n_best: int) -> BestLabelsets:
        """Return the ``n_best`` most plausible labelsets of each object.

        By highest numerator, then by lowest total score, which is computed only where numerators
        tie, then by lowest code.
        """
        whole = self.numerators(objects)
        entries = np.arange(whole.shape[1])[self.columns]
        rows = whole[:, self.columns]
        best = BestLabelsets.nothing(len(objects), n_best, self.n_labels)
        n_best = min(n_best, len(entries))
        if n_best == 0:
            return best
        highest = np.sort(np.partition(rows, -n_best, axis=1)[:, -n_best:], axis=1)
        wanted = rows >= highest[:, :1]
        totals = np.zeros(rows.shape, dtype=np.int64)
        several = (wanted.sum(axis=1) > n_best) | (highest[:, 1:] == highest[:, :-1]).any(axis=1)
        tied = np.flatnonzero(several)
        if len(tied):
            asked = np.zeros((len(tied), whole.shape[1]), dtype=bool)
            asked[:, entries] = wanted[tied]
            totals[tied] = self.totals(objects[tied], asked)[:, entries]
            keys = np.where(wanted[tied], totals[tied], FAR)
            keys[rows[tied] > highest[tied, :1]] = -FAR
            wanted[tied] &= keys <= np.partition(keys, n_best - 1, axis=1)[:, n_best - 1, None]
        row, column = np.nonzero(wanted)
        order = np.lexsort((column, totals[row, column], -rows[row, column], row))
        begin = np.searchsorted(row, np.arange(len(rows)))
        chosen = column[order[begin[:, None] + np.arange(n_best)]]
        numerators = np.take_along_axis(rows, chosen, axis=1)
        best.numerators[:, :n_best] = best.upper[:, :n_best] = numerators
        labelsets = self.labelsets(entries[chosen.ravel()])
        best.labelsets[:, :n_best] = labelsets.reshape(*chosen.shape, self.n_labels)
        return best

    def iterate_members(self, i: int, smallest: int) -> Iterator[Members]:
        """Yield the members of a region, the most plausible first."""
        row = self.numerators(np.array([i]))[0]
        entries = np.arange(len(row))[self.columns]
        entries = entries[row[entries] >= smallest]
        numerators, labelsets = row[entries].astype(np.int64), self.labelsets(entries)
        totals = self.total_scores(labelsets, np.full(len(entries), i))
        order = np.lexsort((entries, totals, -numerators))
        yield labelsets[order], numerators[order]


class CodeRows(Rows):
    """Rows of all 2^q codes.

    Parameters
    ----------
    make : callable
        Returns the numerators of every code for some objects; those of other labelsets than
        candidates do not matter.
    total_scores : callable
        Returns the total score over the folds of ``Y[r]`` for object ``objects[r]``.
    n_labels, first_code : int
        The number of labels, and the lowest code of a candidate: 1 where the empty labelset is not
        among them, else 0.
    constraints : LabelsetRules or None
        What candidates obey.
    entry_bytes : int
        What an entry takes in the processor's cache while rows are made.
    """

    def __init__(
        self,
        make: Callable[[IntArray], Counts],
        total_scores: Callable[[LabelMatrix, IntArray], IntArray],
        n_labels: int,
        first_code: int,
        constraints: LabelsetRules | None,
        entry_bytes: int = 4,
    ) -> None:
        self.make = make
        self.of_labelsets = total_scores
        self.n_labels = n_labels
        self.first_code = first_code
        self.constraints = constraints
        self.n_block = max(1, ROW_BYTES // (entry_bytes << n_labels))

    @cached_property
    def columns(self) -> IntArray | slice:  # type: ignore[override]
        """The codes of all candidates."""
        if self.constraints is None:
            return slice(self.first_code, None)
        codes = np.flatnonzero(self.constraints.by_code)
        return codes[codes >= self.first_code]

    def numerators(self, objects: IntArray) -> Counts:
        """Return the numerators of every code, one row per object."""
        rows = self.make(objects)
        rows[:, : self.first_code] = 0
        if self.constraints is not None:
            rows[:, ~self.constraints.by_code] = 0
        return rows

    def labelsets(self, entries: IntArray) -> LabelMatrix:
        """Return the labelsets with these codes."""
        return decode(entries, self.n_labels)

    def total_scores(self, Y: LabelMatrix, objects: IntArray) -> IntArray:
        """Return the total score over the folds of ``Y[r]`` for object ``objects[r]``."""
        return self.of_labelsets(Y, objects)

    def label_maxima(self, objects: IntArray) -> IntArray:
        """Return the highest numerators with each label off and on, (n, q, 2)."""
        rows = self.numerators(objects)
        maxima = np.empty((len(objects), self.n_labels, 2), dtype=np.int64)
        for j in reversed(range(self.n_labels)):
            off, on = rows[:, : 2**j], rows[:, 2**j :]
            maxima[:, j, 0], maxima[:, j, 1] = off.max(axis=1), on.max(axis=1)
            rows = np.maximum(off, on)  # label j is either: only those below it matter from here on
        return maxima

    def label_masses(
        self, objects: IntArray, denominators: IntArray, empty: IntArray | None
    ) -> FloatArray:
        """Return the share of all p-values on labelsets with each label, (n, q)."""
        rows = self.numerators(objects)
        if empty is not None:
            rows[:, 0] = empty[objects]
        rows = np.minimum(rows, denominators[objects][:, None])  # some rules count beyond 1
        masses = np.empty((len(objects), self.n_labels))
        for of_object, row in zip(masses, rows, strict=True):
            # 2^24 smoothed numerators of 2^42 are beyond int64
            total = row.sum(dtype=np.float64) or 1.0
            for j in range(self.n_labels):
                of_object[j] = row.reshape(-1, 2, 2**j)[:, 1].sum(dtype=np.float64) / total
        return masses


class FoldRows(CodeRows):
    """Rows of all codes under some folds, whatever their energies.

    Parameters
    ----------
    arrays, weighing : FoldArrays, Weighing
        The folds, and how their counts become numerators.
    first_code, constraints
        As in CodeRows.
    compiled : bool
        Whether a kernel adds up and looks up scores that are sums over labels. In numpy, which
        has nothing to wait for, a code takes about 3 ns in each fold.
    """

    def __init__(
        self,
        arrays: FoldArrays,
        weighing: Weighing,
        first_code: int,
        constraints: LabelsetRules | None,
        *,
        compiled: bool,
    ) -> None:
        entry_bytes = 4 if compiled else 16  # numpy: scores and their buckets
        super().__init__(
            self._weigh, arrays.total_scores, arrays.n_labels, first_code, constraints, entry_bytes
        )
        self.arrays = arrays
        self.weighing = weighing
        self.compiled = compiled

    def _weigh(self, objects: IntArray) -> Counts:
        at_least = above = self.count(objects, strict=False)
        if self.weighing.looks_above:
            above = self.count(objects, strict=True)
        return self.weighing.numerators(at_least, above, objects)

    def count(self, objects: IntArray, *, strict: bool) -> Counts:
        """Return how many calibration scores are >= (> if strict) each code's, (K, n, 2^q).

        Where only the sum over the folds matters, that, (1, n, 2^q).
        """
        arrays, n_folds = self.arrays, self.arrays.n_folds
        counts = np.zeros(
            (1 if self.weighing.additive else n_folds, len(objects), 2**self.n_labels),
            dtype=np.int32,
        )
        if self.compiled and self.shares_rows:
            self._count_compiled(objects, strict, counts)
        else:
            for k, fold in enumerate(arrays.folds):
                scores = scores_of_codes(fold.energy, objects)
                counts[k % len(counts)] += count_scores(scores, k, arrays.tables, strict=strict)
        return counts

    def _count_compiled(self, objects: IntArray, strict: bool, counts: Counts) -> None:
        from labelsure.engine._table_kernels import LOW_LABELS, AdditiveScores, count_rows

        arrays, rows = self.arrays, self.shared_rows
        least = np.zeros((arrays.n_folds, 2 ** max(self.n_labels - LOW_LABELS, 0)), dtype=np.int64)
        if rows.size:
            least = rows.reshape(*least.shape, -1).min(axis=2)
        constant, unary = arrays.label_costs(objects)
        additive = AdditiveScores(constant, unary, rows, least)
        for k, of_rows in enumerate(counts):
            folds = slice(None) if len(counts) == 1 else slice(k, k + 1)
            tables = arrays.tables._replace(layout=arrays.tables.layout[folds])
            some = AdditiveScores(*(values[folds] for values in additive))
            count_rows(some, tables, int(strict), of_rows)

    def totals(self, objects: IntArray, wanted: BoolArray) -> IntArray:
        """Return the total scores of the codes wanted; those of others may be anything."""
        if not self.shares_rows:
            return super().totals(objects, wanted)
        constant, unary = self.arrays.label_costs(objects)
        shared = self.shared_rows.sum(axis=0) if self.shared_rows.size else 0
        return subset_sums(constant.sum(axis=0), unary.sum(axis=0)) + shared

    @property
    def shares_rows(self) -> bool:
        """Whether scores are sums over labels, plus what each code costs all objects alike."""
        arrays = self.arrays
        if arrays.has_maxima or arrays.has_link or arrays.has_own_scores or arrays.own_pairs:
            return False
        return not arrays.has_discounts or self.n_labels <= ROW_LABELS

    @cached_property
    def shared_rows(self) -> IntArray:
        """What codes cost all objects beside sums over labels, (K, 2^q); (K, 0): nothing."""
        arrays = self.arrays
        if not (arrays.has_pairs or arrays.penalties.present or arrays.has_discounts):
            return np.empty((arrays.n_folds, 0), dtype=np.int64)
        first, nothing = np.zeros(1, dtype=np.int64), np.zeros((1, self.n_labels), dtype=np.int64)
        pairs = zip(arrays.general, arrays.folds, strict=True)
        shared = [
            replace(general, constant=first, unary=nothing, discounts=fold.energy.discounts)
            for general, fold in pairs
        ]
        return np.concatenate([scores_of_codes(energy, first) for energy in shared])


class ListRows(Rows):
    """Rows of listed candidates, for any number of labels.

    Parameters
    ----------
    arrays, weighing : FoldArrays, Weighing
        The folds, and how their counts become numerators.
    candidates : int8 array of shape (L, q)
        The labelsets, once each, in the order of their codes.
    n_bytes : int
        What the labelsets of the objects answered at a time may take.
    """

    def __init__(
        self, arrays: FoldArrays, weighing: Weighing, candidates: LabelMatrix, n_bytes: int
    ) -> None:
        self.arrays = arrays
        self.weighing = weighing
        self.candidates = candidates
        self.n_labels, self.columns = arrays.n_labels, slice(None)
        numbers = max(len(candidates), 1) * (arrays.n_folds + arrays.n_labels)
        self.n_block = max(1, n_bytes // (8 * numbers))

    def numerators(self, objects: IntArray) -> Counts:
        """Return the numerators of all listed labelsets, one row per object."""
        Y = np.tile(self.candidates, (len(objects), 1))
        owners = np.repeat(objects, len(self.candidates))
        scores = self.arrays.scores(Y, owners)
        numerators = self.weighing.of_scores(self.arrays.calibrations, scores, owners)
        return numerators.reshape(len(objects), len(self.candidates))

    def labelsets(self, entries: IntArray) -> LabelMatrix:
        """Return some of the labelsets."""
        return self.candidates[entries]

    def total_scores(self, Y: LabelMatrix, objects: IntArray) -> IntArray:
        """Return the total score over the folds of ``Y[r]`` for object ``objects[r]``."""
        return self.arrays.total_scores(Y, objects)

    def label_maxima(self, objects: IntArray) -> IntArray:
        """Return the highest numerators with each label off and on, (n, q, 2)."""
        numerators = self.numerators(objects)
        maxima = np.zeros((len(objects), self.n_labels, 2), dtype=np.int64)
        for j, value in np.ndindex(self.n_labels, 2):
            with_it = numerators[:, self.candidates[:, j] == value]
            maxima[:, j, value] = with_it.max(axis=1, initial=0)
        return maxima

    def label_masses(
        self, objects: IntArray, denominators: IntArray, empty: IntArray | None
    ) -> FloatArray:
        """Return the share of all p-values on labelsets with each label, (n, q)."""
        rows = self.numerators(objects)
        if empty is not None:
            rows = np.column_stack([empty[objects], rows])
        masses = np.minimum(rows, denominators[objects][:, None]).astype(np.float64)
        with_label: FloatArray = masses[:, -len(self.candidates) :] @ self.candidates
        return np.asarray(with_label / np.maximum(masses.sum(axis=1), 1.0)[:, None])

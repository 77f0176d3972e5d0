"""Answers from tables: every labelset of an object looked at, one by one."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from labelsure._core.running import map_in_threads
from labelsure._core.types import FloatArray, IntArray, LabelMatrix
from labelsure.labelsets._codes import decode
from labelsure.labelsets._engine import BestLabelsets, LabelsetEngine, Numerators, smooth
from labelsure.labelsets._size import RegionSize

Answer = TypeVar("Answer")

CountRows = np.ndarray[tuple[int, int], np.dtype[np.int32]]

MAX_TABLE_LABELS = 24
"""With more labels one object's row of counts no longer fits in 64 MiB."""

BLOCK_BYTES = 2**20
"""Rows worked on at a time by one thread: small enough to stay in the processor's cache."""


class TableEngine(LabelsetEngine):
    """An engine that lists all labelsets; up to ``MAX_TABLE_LABELS`` labels."""

    @abstractmethod
    def _numerator_rows(self, objects: IntArray) -> Numerators:
        """Return the numerators of every code, one row per object; 0 for an excluded empty labelset."""

    def p_value_table(self) -> FloatArray:
        """Return the p-values of all candidates, (n_objects, n_candidates), columns in the order of their codes."""
        blocks = self._blocks()
        table = np.empty((self.n_objects, self.n_candidates))

        def fill(objects: IntArray) -> None:
            rows = self._numerator_rows(objects)[:, self.first_code :]
            self.to_p_values(rows, objects, out=table[objects[0] : objects[-1] + 1])

        for _ in map_in_threads(fill, blocks, n_jobs=self.n_jobs, description="p-values"):
            pass
        return table

    def top(self, n_best: int) -> BestLabelsets:
        """Return the ``n_best`` most plausible labelsets of each object."""
        best = self._map_rows(lambda i, row: self._best_of_row(i, row, n_best), "best labelsets")
        labelsets = np.zeros((self.n_objects, n_best, self.n_labels), dtype=np.int8)
        numerators = np.zeros((self.n_objects, n_best), dtype=np.int64)
        for i, (codes, values) in enumerate(best):
            labelsets[i, : len(codes)] = decode(codes, self.n_labels)
            numerators[i, : len(codes)] = values
        return BestLabelsets(labelsets, numerators)

    def region_sizes(self, smallest: int | IntArray) -> Sequence[RegionSize]:
        """Return how many labelsets of each object have a numerator of at least ``smallest``, which may differ."""
        least = np.broadcast_to(smallest, self.n_objects)
        return self._map_rows(lambda i, row: int(np.count_nonzero(row >= least[i])), "region sizes")

    def region_members(self, i: int, smallest: int, limit: int | None) -> tuple[LabelMatrix, IntArray]:
        """Return the most plausible labelsets of object ``i`` with a numerator of at least ``smallest``."""
        check_listable(self.n_labels)
        row = self._numerator_rows(np.array([i]))[0]
        codes = self._in_order(i, row, np.flatnonzero(row >= smallest))[:limit]
        return decode(codes, self.n_labels), row[codes].astype(np.int64)

    def iterate_members(self, i: int, smallest: int) -> Iterator[tuple[LabelMatrix, IntArray]]:
        """Yield the same labelsets, the most plausible first."""
        yield self.region_members(i, smallest, None)

    def label_numerators(self) -> IntArray:
        """Return the highest numerator among the labelsets with each label off and on, (n_objects, n_labels, 2)."""
        highest = self._map_rows(self._highest_by_label, "p-values of labels")
        return np.array(highest, dtype=np.int64).reshape(self.n_objects, self.n_labels, 2)

    def label_masses(self) -> FloatArray:
        """Return the share of the sum of all p-values that falls on labelsets with each label, (n_objects, q)."""

        def masses(_: int, row: Numerators) -> list[float]:
            total = row.sum(dtype=np.float64)  # 2^24 smoothed numerators of 2^42 are beyond int64
            on = [row.reshape(-1, 2, 2**j)[:, 1].sum(dtype=np.float64) for j in range(self.n_labels)]
            return [float(mass / total) for mass in on]

        return np.array(self._map_rows(masses, "masses of labels")).reshape(self.n_objects, self.n_labels)

    def _map_rows(self, question: Callable[[int, Numerators], Answer], description: str) -> list[Answer]:
        """Return ``question(i, numerators of every code)`` for each object."""

        def answer(objects: IntArray) -> list[Answer]:
            return [question(i, row) for i, row in zip(objects, self._numerator_rows(objects), strict=True)]

        blocks = map_in_threads(answer, self._blocks(), n_jobs=self.n_jobs, description=description)
        return [one for block in blocks for one in block]

    def _best_of_row(self, i: int, row: Numerators, n_best: int) -> tuple[IntArray, Numerators]:
        n_best = min(n_best, self.n_candidates)
        if n_best <= 2:  # a few passes over the row; partitioning it takes ten times as long
            threshold = row.max()
            if n_best == 2 and np.count_nonzero(row == threshold) < 2:
                threshold = row[row < threshold].max()
        else:
            threshold = np.partition(row, len(row) - n_best)[-n_best]
        codes = self._in_order(i, row, np.flatnonzero(row >= threshold))[:n_best]
        return codes, row[codes]

    def _in_order(self, i: int, row: Numerators, codes: IntArray) -> IntArray:
        """Return codes by highest numerator, then by lowest total score, then by lowest code."""
        totals = self.total_scores(decode(codes, self.n_labels), np.full(len(codes), i))
        order: IntArray = np.lexsort((codes, totals, -row[codes].astype(np.int64)))
        return codes[order]

    def _highest_by_label(self, _: int, row: Numerators) -> list[tuple[int, int]]:
        halves = (row.reshape(-1, 2, 2**j) for j in range(self.n_labels))
        return [(int(half[:, 0].max()), int(half[:, 1].max())) for half in halves]

    def _weigh_rows(self, objects: IntArray, count: Callable[[int], CountRows]) -> Numerators:
        """Return the same, given how many calibration scores are at least the scores of every code + 0 or 1.

        The counts may be overwritten.
        """
        rows: Numerators = count(0)
        if self.draws is None:
            rows += 1
        else:
            rows = smooth(rows, count(1), self.draws[objects][:, None])
        rows[:, : self.first_code] = 0
        return rows

    def _blocks(self) -> list[IntArray]:
        check_listable(self.n_labels)
        n_rows = max(1, BLOCK_BYTES // (4 * 2**self.n_labels))
        everyone = np.arange(self.n_objects)
        return [everyone[start : start + n_rows] for start in range(0, self.n_objects, n_rows)]


def check_listable(n_labels: int) -> None:
    """Raise ValueError where there are too many labelsets to list."""
    if n_labels > MAX_TABLE_LABELS:
        raise ValueError(
            f"This lists the p-values of all 2^{n_labels} labelsets of {n_labels} labels, one by one;"
            f" that is possible for up to {MAX_TABLE_LABELS} labels."
            " Predictions, top(k), regions and p_value(Y) work for any number of labels."
        )

"""Answers from tables: every labelset of an object looked at, block by block of objects, whatever the back end."""

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from labelsure._core.labelset_bits import decode
from labelsure._core.running import map_in_threads
from labelsure._core.types import FloatArray, IntArray, LabelMatrix
from labelsure.labelsets.arrays import BestLabelsets, EngineOptions, RegionSize, check_listable
from labelsure.labelsets.table._backend import TableBackend

Answer = TypeVar("Answer")


class TableAnswers:
    """Answers of one table.

    Parameters
    ----------
    backend : TableBackend
        Makes and reduces rows.
    options : EngineOptions
        How large blocks are, and how many labels too many.
    n_jobs : int or None
        Threads to work with.
    """

    def __init__(self, backend: TableBackend, options: EngineOptions, n_jobs: int | None) -> None:
        check_listable(backend.n_labels, options)
        self.backend, self.options, self.n_jobs = backend, options, n_jobs

    def p_values(self, denominators: IntArray, empty: IntArray | None = None) -> FloatArray:
        """Return the p-values of all candidates, (n, n_candidates), columns in the order of their codes.

        Parameters
        ----------
        denominators : int64 array of shape (n,)
        empty : int64 array of shape (n,) or None
            Numerators of an empty labelset that is a candidate though the back end has none.
        """
        first = self.backend.first_code if empty is None else 0
        table = np.empty((self.backend.n_objects, 2**self.backend.n_labels - first))

        def fill(objects: IntArray) -> None:
            rows = self.backend.numerators(objects)
            if empty is not None:
                rows[:, 0] = empty[objects]
            out = table[objects[0] : objects[-1] + 1]
            np.divide(rows[:, first:], denominators[objects][:, None], out=out)
            if rows.max() > denominators[objects].min():  # some rules count beyond 1
                np.minimum(out, 1.0, out=out)

        self._map(fill, "p-values")
        return table

    def label_masses(self, empty: IntArray | None = None) -> FloatArray:
        """Return the share of the sum of all p-values that falls on labelsets with each label, (n, q)."""
        blocks = self._map(lambda objects: self.backend.label_masses(objects, empty), "masses of labels")
        return np.concatenate([np.empty((0, self.backend.n_labels)), *blocks])

    def top(self, n_best: int) -> BestLabelsets:
        """Return the ``n_best`` most plausible labelsets of each object."""
        best = BestLabelsets.nothing(self.backend.n_objects, n_best, self.backend.n_labels)

        def fill(objects: IntArray) -> None:
            for i, (codes, numerators) in zip(objects, self.backend.best(objects, n_best), strict=True):
                order = self._in_order(int(i), codes, numerators)[:n_best]
                best.write(int(i), decode(codes[order], self.backend.n_labels), numerators[order])

        self._map(fill, "best labelsets")
        return best

    def region_sizes(self, smallest: IntArray, objects: IntArray | None = None) -> list[RegionSize]:
        """Return how many labelsets of some objects (None: all) have a numerator of at least their ``smallest``."""
        blocks = self._map(lambda block: self.backend.sizes(block, smallest[block]), "region sizes", objects)
        return [RegionSize.counted(size) for block in blocks for size in block.tolist()]

    def region_members(self, i: int, smallest: int, limit: int | None) -> tuple[LabelMatrix, IntArray]:
        """Return the most plausible labelsets of object ``i`` with a numerator of at least ``smallest``."""
        codes, numerators = self.backend.members(i, smallest)
        order = self._in_order(i, codes, numerators)[:limit]
        return decode(codes[order], self.backend.n_labels), numerators[order].astype(np.int64)

    def iterate_members(self, i: int, smallest: int) -> Iterator[tuple[LabelMatrix, IntArray]]:
        """Yield the same labelsets, the most plausible first."""
        yield self.region_members(i, smallest, None)

    def label_numerators(self) -> IntArray:
        """Return the highest numerator among the labelsets with each label off and on, (n, q, 2)."""
        blocks = self._map(self.backend.label_maxima, "p-values of labels")
        return np.concatenate([np.empty((0, self.backend.n_labels, 2), dtype=np.int64), *blocks])

    def _in_order(self, i: int, codes: IntArray, numerators: IntArray) -> IntArray:
        """Return places by highest numerator, then by lowest total score, then by lowest code."""
        totals = self.backend.total_scores(decode(codes, self.backend.n_labels), np.full(len(codes), i))
        order: IntArray = np.lexsort((codes, totals, -numerators.astype(np.int64)))
        return order

    def _map(
        self, answer: Callable[[IntArray], Answer], description: str, objects: IntArray | None = None
    ) -> list[Answer]:
        """Return the answers for blocks of some objects (None: all)."""
        chosen = np.arange(self.backend.n_objects) if objects is None else objects
        n_rows = max(1, self.options.table_block_bytes // (4 * 2**self.backend.n_labels))
        blocks = [chosen[start : start + n_rows] for start in range(0, len(chosen), n_rows)]
        return list(map_in_threads(answer, blocks, n_jobs=self.n_jobs, description=description))

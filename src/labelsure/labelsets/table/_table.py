"""Answers from tables: every labelset of an object looked at, block by block of objects."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from labelsure._checks import FloatArray, IntArray
from labelsure.labelsets.arrays._results import (
    Answers,
    BestLabelsets,
    EngineOptions,
    Members,
    RegionSize,
    check_listable,
)
from labelsure.labelsets.arrays._weighing import Counts
from labelsure.labelsets.table._backends import TableBackend
from labelsure.measures._labelset_bits import decode


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
        self.n_block = self.backend.n_at_once(self.options.table_block_bytes)

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

    def label_masses(self, denominators: IntArray, empty: IntArray | None = None) -> FloatArray:
        """Return the share of the sum of all p-values that falls on labelsets with each label, (n, q)."""
        check_listable(self.n_labels, self.options)
        masses = partial(self.backend.label_masses, denominators=denominators, empty=empty)
        return np.concatenate([np.empty((0, self.n_labels)), *self.map_blocks(masses, "masses of labels")])

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

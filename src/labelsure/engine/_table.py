"""Answers from tables: every labelset of an object looked at, block by block of objects."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from labelsure._checks import FloatArray, IntArray, LabelMatrix
from labelsure.engine._backends import TableBackend
from labelsure.engine._fold_arrays import FoldArrays
from labelsure.engine._results import (
    Answers,
    BestLabelsets,
    EngineOptions,
    Members,
    RegionSize,
    check_listable,
)
from labelsure.engine._weighing import Counts, Weighing
from labelsure.measures._labelset_bits import decode, pack


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
        return np.concatenate(
            [np.empty((0, self.n_labels)), *self.map_blocks(masses, "masses of labels")]
        )

    def label_maxima(self, objects: IntArray) -> IntArray:
        """Return the highest numerators of each object with each label off and on, (n, q, 2)."""
        return self.backend.label_maxima(objects)

    def best(self, objects: IntArray, n_best: int) -> BestLabelsets:
        """Return the ``n_best`` most plausible labelsets of each object."""
        codes, numerators = self.backend.best(objects, n_best)
        best = BestLabelsets.nothing(len(objects), n_best, self.n_labels)
        n_there = codes.shape[1]
        best.numerators[:, :n_there] = best.upper[:, :n_there] = numerators
        best.labelsets[:, :n_there] = decode(codes.reshape(-1), self.n_labels).reshape(
            *codes.shape, self.n_labels
        )
        return best

    def count_members(self, smallest: IntArray, objects: IntArray | None = None) -> list[int]:
        """Return how many labelsets of some objects (None: of all) have a numerator of at least their ``smallest``."""
        blocks = self.map_blocks(
            lambda block: self.backend.sizes(block, smallest[block]), "region sizes", objects
        )
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


@dataclass(eq=False)
class ListAnswers(Answers):
    """Answers about L listed labelsets.

    Attributes
    ----------
    arrays : FoldArrays
        The folds.
    weighing : Weighing
        How their counts become numerators.
    candidates : int8 array of shape (L, q)
        The labelsets, once each, in the order of their codes.
    options : EngineOptions
        How large blocks are.
    n_jobs : int or None
        Threads to work with.
    """

    arrays: FoldArrays
    weighing: Weighing
    candidates: LabelMatrix
    options: EngineOptions
    n_jobs: int | None

    def __post_init__(self) -> None:
        self.n_objects, self.n_labels = self.arrays.n_objects, self.arrays.n_labels
        numbers = max(len(self.candidates), 1) * (self.arrays.n_folds + self.n_labels)
        self.n_block = max(1, self.options.block_bytes // (8 * numbers))

    def best(self, objects: IntArray, n_best: int) -> BestLabelsets:
        """Return the ``n_best`` most plausible labelsets of each object."""
        best = BestLabelsets.nothing(len(objects), n_best, self.n_labels)
        for row, (numerators, totals) in enumerate(zip(*self._score(objects), strict=True)):
            order = np.lexsort((*pack(self.candidates).T, totals, -numerators))[:n_best]
            best.write(row, numerators[order], self.candidates[order])
        return best

    def label_maxima(self, objects: IntArray) -> IntArray:
        """Return the highest numerators of each object with each label off and on, (n, q, 2)."""
        numerators, _ = self._score(objects)
        maxima = np.zeros((len(objects), self.n_labels, 2), dtype=np.int64)
        for j, value in np.ndindex(self.n_labels, 2):
            maxima[:, j, value] = numerators[:, self.candidates[:, j] == value].max(
                axis=1, initial=0
            )
        return maxima

    def p_values(self, denominators: IntArray, empty: IntArray | None = None) -> FloatArray:
        """Return the p-values of all candidates, (n, L), after one of the empty labelset where its numerator is given.

        Parameters
        ----------
        denominators : int64 array of shape (n,)
        empty : int64 array of shape (n,) or None
            Numerators of an empty labelset that is not in the list.
        """
        return np.minimum(self._numerators(empty) / denominators[:, None], 1.0)

    def label_masses(self, denominators: IntArray, empty: IntArray | None = None) -> FloatArray:
        """Return the share of the sum of all p-values that falls on labelsets with each label, (n, q)."""
        numerators = np.minimum(self._numerators(empty), denominators[:, None]).astype(np.float64)
        with_label: FloatArray = (
            numerators[:, numerators.shape[1] - len(self.candidates) :] @ self.candidates
        )
        return np.asarray(with_label / np.maximum(numerators.sum(axis=1), 1.0)[:, None])

    def _numerators(self, empty: IntArray | None) -> IntArray:
        blocks = self.map_blocks(lambda objects: self._score(objects)[0], "p-values")
        rows = np.concatenate([np.empty((0, len(self.candidates)), dtype=np.int64), *blocks])
        return rows if empty is None else np.column_stack([empty, rows])

    def count_members(self, smallest: IntArray) -> list[int]:
        """Return the sizes of all regions."""
        blocks = self.map_blocks(
            lambda objects: (self._score(objects)[0] >= smallest[objects][:, None]).sum(axis=1),
            "region sizes",
        )
        return [size for block in blocks for size in block.tolist()]

    def region_sizes(self, smallest: IntArray, *, bits: float = 1.0) -> list[RegionSize]:  # noqa: ARG002
        """Return the sizes of all regions."""
        return [RegionSize.counted(size) for size in self.count_members(smallest)]

    def iterate_members(self, i: int, smallest: int) -> Iterator[Members]:
        """Yield the labelsets of object ``i`` with a numerator of at least ``smallest``, the most plausible first."""
        best = self.best(np.array([i]), len(self.candidates))
        members = best.numerators[0] >= smallest
        yield best.labelsets[0, members], best.numerators[0, members]

    def _score(self, objects: IntArray) -> tuple[IntArray, IntArray]:
        """Return numerators and total scores, (n, L) each."""
        Y, owners = (
            np.tile(self.candidates, (len(objects), 1)),
            np.repeat(objects, len(self.candidates)),
        )
        scores = self.arrays.scores(Y, owners)
        numerators = self.weighing.of_scores(self.arrays.calibrations, scores, owners)
        shape = len(objects), len(self.candidates)
        return numerators.reshape(shape), scores.sum(axis=0).reshape(shape)

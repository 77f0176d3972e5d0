"""Answers about scores that are the largest of labels' costs and nothing else, for any number of labels."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from labelsure._core.labelset_bits import unpack
from labelsure._core.running import map_in_threads
from labelsure._core.types import IntArray, LabelMatrix
from labelsure.labelsets.arrays import (
    BestLabelsets,
    Counts,
    EngineOptions,
    FoldArrays,
    RegionSize,
    Weighing,
    sum_sizes,
)
from labelsure.labelsets.search._max_count import count_members, estimate_members
from labelsure.labelsets.search._max_problem import MaxProblem
from labelsure.labelsets.search._max_search import best_members, iterate_members, label_numerators
from labelsure.labelsets.search._members import Members, sorted_members
from labelsure.labelsets.search._states import FAR
from labelsure.labelsets.table import RowTable

Answer = TypeVar("Answer")


@dataclass(eq=False)
class MaxAnswers:
    """Answers without listing.

    Attributes
    ----------
    arrays, weighing, allow_empty, options, n_jobs
        As in SearchAnswers; all energies are maxima and nothing else.
    """

    arrays: FoldArrays
    weighing: Weighing
    allow_empty: bool
    options: EngineOptions
    n_jobs: int | None

    def top(self, n_best: int) -> BestLabelsets:
        """Return the ``n_best`` most plausible labelsets of each object."""
        best = BestLabelsets.nothing(self.arrays.n_objects, n_best, self.arrays.n_labels)
        for i, (labelsets, numerators) in enumerate(self._map(lambda i: self._best(i, n_best), "best labelsets")):
            best.write(i, numerators, labelsets=labelsets)
        return best

    def label_numerators(self) -> IntArray:
        """Return the highest numerator among the labelsets with each label off and on, (n_objects, n_labels, 2)."""

        def answer(i: int) -> IntArray:
            return label_numerators(self._problem(i), allow_empty=self.allow_empty, chunk=self.options.chunk)

        highest = self._map(answer, "p-values of labels")
        return np.array(highest, dtype=np.int64).reshape(self.arrays.n_objects, self.arrays.n_labels, 2)

    def count_members(self, smallest: IntArray) -> list[int | None]:
        """Return the exact sizes of all regions, None where there are too many different scores to count with."""

        def answer(i: int) -> int | None:
            problem, least = self._problem(i), int(smallest[i])
            size = count_members(problem, least, self.options.exact_minima)
            return None if size is None else size - self._n_excluded(problem, least)

        return self._map(answer, "region sizes")

    def region_sizes(self, smallest: IntArray, *, rough: bool = False) -> list[RegionSize]:
        """Return the sizes of all regions, estimated where there are too many different scores to count with."""
        options = self.options
        exact, estimated = (
            (options.rough_minima, options.rough_minima) if rough else (options.exact_minima, options.estimate_minima)
        )

        def answer(i: int) -> RegionSize:
            problem, least = self._problem(i), int(smallest[i])
            n_excluded = self._n_excluded(problem, least)
            size = count_members(problem, least, exact)
            if size is not None:
                return RegionSize.counted(size - n_excluded)
            estimate = estimate_members(problem, least, estimated, at_least=n_excluded)
            return sum_sizes([estimate, RegionSize.counted(-n_excluded)])

        return self._map(answer, "region sizes")

    def region_members(self, i: int, smallest: int, limit: int | None) -> Members:
        """Return the most plausible labelsets of object ``i`` with a numerator of at least ``smallest``."""
        return sorted_members(
            self.arrays,
            i,
            limit,
            self.options,
            best=lambda most: self._best(i, most, smallest),
            everything=lambda: self.iterate_members(i, smallest),
        )

    def iterate_members(self, i: int, smallest: int) -> Iterator[Members]:
        """Yield the same labelsets in some order, a limited number at a time."""
        for words, numerators in iterate_members(self._problem(i), smallest, self.options.chunk):
            candidates = words.any(axis=1) | self.allow_empty
            yield unpack(words[candidates], self.arrays.n_labels), numerators[candidates]

    def _best(self, i: int, n_best: int, smallest: int = -FAR) -> Members:
        """Return the best candidates of object ``i`` and their numerators, all at least ``smallest``."""
        if n_best == 0:
            return np.empty((0, self.arrays.n_labels), dtype=np.int8), np.empty(0, dtype=np.int64)
        problem, n_asked = self._problem(i, with_totals=True), n_best + (not self.allow_empty)
        words, numerators = best_members(problem, n_asked, smallest, self.options.chunk)
        candidates = np.flatnonzero(words.any(axis=1) | self.allow_empty)[:n_best]
        return unpack(words[candidates], self.arrays.n_labels), numerators[candidates]

    def _n_excluded(self, problem: MaxProblem, smallest: int) -> int:
        """Return 1 where the empty labelset is no candidate but would be a member, else 0."""
        return int(not self.allow_empty and problem.numerators(problem.values[:, 0].min(axis=0)) >= smallest)

    def _problem(self, i: int, *, with_totals: bool = False) -> MaxProblem:
        return MaxProblem.of(self.arrays, self.weighing, i, with_totals=with_totals)

    def _map(self, answer: Callable[[int], Answer], description: str) -> list[Answer]:
        everyone = range(self.arrays.n_objects)
        return list(map_in_threads(answer, everyone, n_jobs=self.n_jobs, description=description))


@dataclass(eq=False)
class MaxTable(RowTable):
    """The back end of tables of maxima."""

    arrays: FoldArrays
    weighing: Weighing
    n_objects: int
    n_labels: int
    first_code: int

    def total_scores(self, Y: LabelMatrix, objects: IntArray) -> IntArray:
        """Return the total score over the folds of ``Y[r]`` for object ``objects[r]``."""
        return self.arrays.total_scores(Y, objects)

    def numerators(self, objects: IntArray) -> Counts:
        """Return the numerators of every code, one row per object."""
        rows = np.stack([self._row(MaxProblem.of(self.arrays, self.weighing, int(i))) for i in objects])
        rows[:, : self.first_code] = 0
        return rows

    def _row(self, problem: MaxProblem) -> IntArray:
        """Return the numerators of every code, fold by fold: all minima at once would take K times the memory."""
        total: IntArray = np.full(1, problem.start)
        lowest: IntArray | None = None
        for k in range(problem.n_folds):
            row = problem.values[0, :, k]
            for off, on in problem.values[1:, :, k]:
                row = np.concatenate([np.minimum(row, off), np.minimum(row, on)])
            total = total + row
            if len(problem.multipliers):
                prefix = total * problem.multipliers[k]
                lowest = prefix if lowest is None else np.minimum(lowest, prefix)
        return total if lowest is None else lowest

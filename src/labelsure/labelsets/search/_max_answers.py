"""Answers about scores that are the largest of labels' costs and nothing else, for any number of labels."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from labelsure._core.labelset_bits import unpack
from labelsure._core.types import IntArray
from labelsure.labelsets.arrays import (
    Answers,
    Counts,
    EngineOptions,
    FoldArrays,
    Found,
    Members,
    RegionSize,
    Weighing,
    sum_sizes,
)
from labelsure.labelsets.search._max_count import count_members, estimate_members
from labelsure.labelsets.search._max_problem import MaxProblem
from labelsure.labelsets.search._max_search import best_members, iterate_members, label_numerators


@dataclass(eq=False)
class MaxAnswers(Answers):
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
    n_block = 1

    def __post_init__(self) -> None:
        self.n_objects, self.n_labels = self.arrays.n_objects, self.arrays.n_labels

    def best(self, objects: IntArray, n_best: int) -> list[Found]:
        """Return the ``n_best`` most plausible labelsets of each object."""
        found: list[Found] = []
        for i in objects.tolist():
            problem = MaxProblem.of(self.arrays, self.weighing, i, with_totals=True)
            words, numerators = best_members(problem, n_best + (not self.allow_empty), self.options.chunk)
            candidates = np.flatnonzero(words.any(axis=1) | self.allow_empty)[:n_best]
            found.append((numerators[candidates], unpack(words[candidates], self.n_labels), None))
        return found

    def label_maxima(self, objects: IntArray) -> IntArray:
        """Return the highest numerators of each object with each label off and on, (n, q, 2)."""
        problems = (MaxProblem.of(self.arrays, self.weighing, i) for i in objects.tolist())
        found = [label_numerators(one, allow_empty=self.allow_empty, chunk=self.options.chunk) for one in problems]
        return np.stack(found)

    def count_members(self, smallest: IntArray) -> list[int | None]:
        """Return the exact sizes of all regions, None where there are too many different scores to count with."""
        sizes = self._sizes(smallest, self.options.exact_minima, None)
        return [None if size is None else size.value for size in sizes]

    def region_sizes(self, smallest: IntArray, *, rough: bool = False) -> list[RegionSize]:
        """Return the sizes of all regions, estimated where there are too many different scores to count with."""
        options = self.options
        exact, estimated = (options.rough_minima,) * 2 if rough else (options.exact_minima, options.estimate_minima)
        return [size for size in self._sizes(smallest, exact, estimated) if size is not None]

    def _sizes(self, smallest: IntArray, exact: int, estimated: int | None) -> list[RegionSize | None]:
        """Return sizes counted with, or else estimated from, this many different minima; None where neither is done."""

        def answer(objects: IntArray) -> RegionSize | None:
            problem, least = MaxProblem.of(self.arrays, self.weighing, int(objects[0])), int(smallest[objects[0]])
            empty_is_one = problem.numerators(problem.values[:, 0].min(axis=0)) >= least
            n_excluded = int(not self.allow_empty and empty_is_one)
            size = count_members(problem, least, exact)
            if size is not None:
                return RegionSize.counted(size - n_excluded)
            if estimated is None:
                return None
            estimate = estimate_members(problem, least, estimated, at_least=n_excluded)
            return sum_sizes([estimate, RegionSize.counted(-n_excluded)])

        return self.map_blocks(answer, "region sizes")

    def iterate_members(self, i: int, smallest: int) -> Iterator[Members]:
        """Yield the labelsets of object ``i`` with a numerator of at least ``smallest``, some at a time."""
        problem = MaxProblem.of(self.arrays, self.weighing, i)
        for words, numerators in iterate_members(problem, smallest, self.options.chunk):
            candidates = words.any(axis=1) | self.allow_empty
            yield unpack(words[candidates], self.n_labels), numerators[candidates]


def max_rows(arrays: FoldArrays, weighing: Weighing, objects: IntArray) -> Counts:
    """Return the numerators of every code, one row per object, for tables of maxima."""
    rows = []
    for i in objects.tolist():
        problem = MaxProblem.of(arrays, weighing, i)
        total: IntArray = np.full(1, problem.start)
        lowest: IntArray | None = None
        for k in range(problem.n_folds):  # fold by fold: all minima at once would take K times the memory
            row = problem.values[0, :, k]
            for off, on in problem.values[1:, :, k]:
                row = np.concatenate([np.minimum(row, off), np.minimum(row, on)])
            total = total + row
            if len(problem.multipliers):
                prefix = total * problem.multipliers[k]
                lowest = prefix if lowest is None else np.minimum(lowest, prefix)
        rows.append(total if lowest is None else lowest)
    return np.stack(rows)

"""The engine for scores that are the largest of labels' costs; and which engine folds need."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TypeVar

import numpy as np

from labelsure._core.running import map_in_threads
from labelsure._core.types import IntArray, LabelMatrix
from labelsure.labelsets._engine import DRAW_UNIT, BestLabelsets, Numerators
from labelsure.labelsets._fold import Fold
from labelsure.labelsets._fold_engine import FoldEngine
from labelsure.labelsets._listed_members import sorted_members
from labelsure.labelsets._max_count import count_members, estimate_members
from labelsure.labelsets._max_problem import MaxProblem
from labelsure.labelsets._max_search import best_members, iterate_members, label_numerators
from labelsure.labelsets._rule import Rule
from labelsure.labelsets._size import RegionSize, sum_sizes
from labelsure.labelsets._table_engine import MAX_TABLE_LABELS, TableEngine
from labelsure.labelsets._words import unpack

Answer = TypeVar("Answer")

TABLE_LABELS = 8
"""Up to so many labels the whole table costs less than a search."""

EXACT_MINIMA, ESTIMATE_MINIMA, ROUGH_MINIMA = 2**13, 2**9, 2**6
"""How many different minima are kept to count a region before its size is estimated, to estimate it, and for either
where a rough answer is enough."""

LOWEST = -(1 << 60)
"""Below all numerators."""


class MaxEngine(FoldEngine):
    """Answers questions about labelsets whose scores are the largest of their labels' costs, for any number of labels.

    Parameters
    ----------
    folds, allow_empty, draws, n_jobs, rule, rule_at
        As in FoldEngine; all energies are maxima and nothing else.

    Examples
    --------
    >>> import numpy as np
    >>> from labelsure._core.calibration import Calibration
    >>> from labelsure._core.energy import Energy
    >>> from labelsure._core.energy_parts import Maximum
    >>> costs = Maximum(off=np.full((1, 100), 1), on=np.arange(100)[None])
    >>> energy = Energy(np.zeros(1, dtype=np.int64), np.zeros((1, 100), dtype=np.int64), maximum=costs)
    >>> engine = MaxEngine([Fold(Calibration.of(np.array([1, 2, 10])), energy)], allow_empty=True)
    >>> engine.region_sizes(np.array([2]))  # up to the score 10: labels 0 to 10 may be on
    [2048]
    """

    def top(self, n_best: int) -> BestLabelsets:
        """Return the ``n_best`` most plausible labelsets of each object."""
        if self.n_labels <= TABLE_LABELS:
            return TableEngine.top(self, n_best)
        labelsets = np.zeros((self.n_objects, n_best, self.n_labels), dtype=np.int8)
        numerators = np.zeros((self.n_objects, n_best), dtype=np.int64)
        best = self._map_objects(lambda i: self._best(i, n_best), "best labelsets")
        for i, (members, values) in enumerate(best):
            labelsets[i, : len(values)], numerators[i, : len(values)] = members, values
        return BestLabelsets(labelsets, numerators)

    def label_numerators(self) -> IntArray:
        """Return the highest numerator among the labelsets with each label off and on, (n_objects, n_labels, 2)."""
        if self.n_labels <= TABLE_LABELS:
            return TableEngine.label_numerators(self)

        def answer(i: int) -> IntArray:
            return label_numerators(self._problem(i), allow_empty=self.allow_empty)

        highest = self._map_objects(answer, "p-values of labels")
        return np.array(highest, dtype=np.int64).reshape(self.n_objects, self.n_labels, 2)

    def region_sizes(self, smallest: int | IntArray, *, rough: bool = False) -> Sequence[RegionSize]:
        """Return how many labelsets of each object have a numerator of at least ``smallest``, which may differ.

        With more than 24 labels, where there are too many different scores to count with, a SizeEstimate.

        Parameters
        ----------
        smallest : int or int64 array of shape (n_objects,)
            The smallest numerator of a member.
        rough : bool
            Whether that may be soon.
        """
        if self.n_labels <= TABLE_LABELS:
            return TableEngine.region_sizes(self, smallest)
        least = np.broadcast_to(smallest, self.n_objects).tolist()
        return self._map_objects(lambda i: self._size(i, least[i], rough=rough), "region sizes")

    def region_members(self, i: int, smallest: int, limit: int | None) -> tuple[LabelMatrix, IntArray]:
        """Return the most plausible labelsets of object ``i`` with a numerator of at least ``smallest``."""
        if self.n_labels <= TABLE_LABELS:
            return TableEngine.region_members(self, i, smallest, limit)
        return sorted_members(self, i, smallest, limit, lambda most: self._best(i, most, smallest))

    def iterate_members(self, i: int, smallest: int) -> Iterator[tuple[LabelMatrix, IntArray]]:
        """Yield the same labelsets in some order, a limited number at a time."""
        if self.n_labels <= TABLE_LABELS:
            yield from TableEngine.iterate_members(self, i, smallest)
            return
        for words, numerators in iterate_members(self._problem(i), smallest):
            candidates = words.any(axis=1) | self.allow_empty
            yield unpack(words[candidates], self.n_labels), numerators[candidates]

    def _best(self, i: int, n_best: int, smallest: int = LOWEST) -> tuple[LabelMatrix, IntArray]:
        """Return the best candidates of object ``i`` and their numerators, all at least ``smallest``."""
        n_excluded = int(not self.allow_empty)
        if n_best == 0:
            return np.empty((0, self.n_labels), dtype=np.int8), np.empty(0, dtype=np.int64)
        words, numerators = best_members(self._problem(i, with_totals=True), n_best + n_excluded, smallest)
        candidates = np.flatnonzero(words.any(axis=1) | self.allow_empty)[:n_best]
        return unpack(words[candidates], self.n_labels), numerators[candidates]

    def _size(self, i: int, smallest: int, *, rough: bool) -> RegionSize:
        problem = self._problem(i)
        n_excluded = 0 if self.allow_empty else int(problem.numerators(problem.values[:, 0].min(axis=0)) >= smallest)
        size: RegionSize | None = count_members(problem, smallest, ROUGH_MINIMA if rough else EXACT_MINIMA)
        if size is None and self.n_labels <= MAX_TABLE_LABELS and not rough:
            return int(np.count_nonzero(self._numerator_rows(np.array([i])) >= smallest))
        if size is None:
            most = ROUGH_MINIMA if rough else ESTIMATE_MINIMA
            size = estimate_members(problem, smallest, most, at_least=n_excluded)
        return sum_sizes([size, -n_excluded])

    def _problem(self, i: int, *, with_totals: bool = False) -> MaxProblem:
        """Return the object's problem, with costs where total scores matter."""
        maxima = [fold.energy.maximum for fold in self.folds]
        costs = np.stack([np.column_stack([one.off[i], one.on[i]]) for one in maxima if one is not None], axis=2)
        values = np.stack([self._weights(i, k, costs[:, :, k]) for k in range(len(self.folds))], axis=2)
        if with_totals:
            values = np.concatenate([values, -costs], axis=2)
        multipliers, start = np.empty(0, dtype=np.int64), 1 if self.draws is None else int(self.draws[i])
        if self.rule is not None:
            start = int(self.rule.start[i])
            if len(self.rule.multipliers):
                multipliers = np.concatenate([self.rule.first[[i]], self.rule.multipliers[1:]])
        return MaxProblem(values, len(self.folds), start, multipliers)

    def _weights(self, i: int, k: int, scores: IntArray) -> IntArray:
        """Return what fold ``k`` adds to the numerator of labelsets with these scores."""
        calibration = self.folds[k].calibration
        at_least = calibration.count_at_least(scores)
        if self.rule is not None:
            weights: IntArray = self.rule.weights[k][at_least]
            return weights
        if self.draws is None:
            return at_least
        above = calibration.count_at_least(scores + 1)
        smoothed: IntArray = above * DRAW_UNIT + self.draws[i] * (at_least - above)
        return smoothed

    def _numerator_rows(self, objects: IntArray) -> Numerators:
        rows = np.stack([self._numerator_row(self._problem(int(i))) for i in objects])
        rows[:, : self.first_code] = 0
        return rows

    def _numerator_row(self, problem: MaxProblem) -> IntArray:
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

    def _map_objects(self, answer: Callable[[int], Answer], description: str) -> list[Answer]:
        return list(map_in_threads(answer, range(self.n_objects), n_jobs=self.n_jobs, description=description))


def make_fold_engine(
    folds: Sequence[Fold],
    *,
    allow_empty: bool,
    draws: IntArray | None = None,
    n_jobs: int | None = None,
    rule: Rule | None = None,
    rule_at: Callable[[Fraction], Rule] | None = None,
) -> FoldEngine:
    """Return the engine for these folds, see FoldEngine; a maximum with other parts beside it is listed."""
    pure = all(fold.energy.is_maximum for fold in folds)
    if not pure:
        folds = [fold if fold.energy.maximum is None else replace(fold, energy=fold.energy.listed()) for fold in folds]
    return (MaxEngine if pure else FoldEngine)(
        folds, allow_empty=allow_empty, draws=draws, n_jobs=n_jobs, rule=rule, rule_at=rule_at
    )

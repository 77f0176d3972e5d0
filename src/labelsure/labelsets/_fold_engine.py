"""The engine for inductive and cross-conformal predictors: scores are energies, calibrated fold by fold."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Self

import numpy as np

from labelsure._core.types import IntArray, LabelMatrix
from labelsure.labelsets._codes import encode
from labelsure.labelsets._engine import BestLabelsets, Numerators
from labelsure.labelsets._fold import Fold
from labelsure.labelsets._rule import Rule
from labelsure.labelsets._size import RegionSize
from labelsure.labelsets._table_engine import MAX_TABLE_LABELS, CountRows, TableEngine

if TYPE_CHECKING:
    from labelsure.labelsets._search import FoldSearch

TABLE_LABELS = 8
"""Up to so many labels the whole table costs less than setting up a search."""

TABLE_SHARE = 48
"""An evaluation in a search costs as much as four or five entries of a table; a search that could be replaced by a
table may spend one evaluation per so many entries before it is, so it adds at most a tenth to the cost."""

SEARCH_BUDGET = 2_000_000
"""Evaluations that counting one region may take, about 0.1 s, before its size is estimated."""

ROUGH_BUDGET = 5_000
"""The same where a rough answer is enough."""


class FoldEngine(TableEngine):
    """Answers questions about labelsets from a list of folds: by table for few labels, by search for many.

    Parameters
    ----------
    folds : sequence of Fold
        One for an inductive predictor, K for a cross-conformal one.
    allow_empty : bool
        Whether the empty labelset is a candidate.
    draws : int64 array or None
        For smoothed p-values, see LabelsetEngine.
    n_jobs : int or None
        Threads to work with.
    rule : Rule or None
        How the folds' counts become one number; None adds them up. Not for smoothed p-values.
    rule_at : callable or None
        Returns the rule that decides about regions at a significance level, where that depends on the level: a
        labelset is a member if its numerator is above 0.

    Examples
    --------
    >>> import numpy as np
    >>> from labelsure._core.calibration import Calibration
    >>> from labelsure._core.energy import Energy
    >>> energy = Energy(constant=np.array([2]), unary=np.array([[-2, 5]]))
    >>> engine = FoldEngine([Fold(Calibration.of(np.array([0, 1, 5])), energy)], allow_empty=True)
    >>> engine.p_value_table().tolist()
    [[0.5, 1.0, 0.25, 0.5]]
    """

    def __init__(
        self,
        folds: Sequence[Fold],
        *,
        allow_empty: bool,
        draws: IntArray | None = None,
        n_jobs: int | None = None,
        rule: Rule | None = None,
        rule_at: Callable[[Fraction], Rule] | None = None,
    ) -> None:
        self.folds = tuple(folds)
        self.rule = rule
        self.rule_at = rule_at
        energy = self.folds[0].energy
        super().__init__(
            n_objects=energy.n_objects,
            n_labels=energy.n_labels,
            n_calibration=sum(len(fold.calibration) for fold in self.folds),
            allow_empty=allow_empty,
            draws=draws,
            n_jobs=n_jobs,
        )
        if rule is not None:
            self.denominators = rule.denominators

    def take(self, objects: IntArray) -> Self:
        """Return the engine for some of the objects."""
        rule_at = self.rule_at
        return type(self)(
            [fold.take(objects) for fold in self.folds],
            allow_empty=self.allow_empty,
            draws=None if self.draws is None else self.draws[objects],
            n_jobs=self.n_jobs,
            rule=None if self.rule is None else self.rule.take(objects),
            rule_at=None if rule_at is None else partial(_rule_of_some, rule_at, objects),
        )

    def at_level(self, significance: Fraction) -> tuple[Self, IntArray]:
        """Return the engine that decides about regions at a level, and the smallest numerator of each object's."""
        if self.rule_at is None:
            return self, self.smallest_member(significance)
        rule = self.rule_at(significance)
        engine = type(self)(self.folds, allow_empty=self.allow_empty, n_jobs=self.n_jobs, rule=rule)
        return engine, np.ones(self.n_objects, dtype=np.int64)

    def numerators_of(self, Y: LabelMatrix, objects: IntArray | None = None) -> IntArray:
        """Return the numerators of the p-values of ``Y[r]`` for object ``objects[r]`` (None: one row per object)."""
        objects = np.arange(self.n_objects) if objects is None else objects
        return self.numerators_from(self._fold_scores(Y, objects), Y, objects)

    def numerators_from(self, scores: Sequence[IntArray], Y: LabelMatrix, objects: IntArray) -> IntArray:
        """Return the same, given the labelsets' scores in each fold."""
        if self.rule is None:
            return self._weigh_counts(Y, objects, lambda more: self._fold_counts(scores, more).sum(axis=0))
        return self._of_candidates(self.rule.numerators(self._fold_counts(scores, 0), objects), Y)

    def _fold_counts(self, scores: Sequence[IntArray], more: int) -> IntArray:
        """Return how many of each fold's calibration scores are at least ``scores + more``, (K, m)."""
        counts = [fold.calibration.count_at_least(own + more) for fold, own in zip(self.folds, scores, strict=True)]
        return np.stack(counts)

    def total_scores(self, Y: LabelMatrix, objects: IntArray) -> IntArray:
        """Return the total score over the folds of ``Y[r]`` for object ``objects[r]``."""
        totals: IntArray = np.sum(self._fold_scores(Y, objects), axis=0)
        return totals

    def _fold_scores(self, Y: LabelMatrix, objects: IntArray) -> list[IntArray]:
        """Return the scores in each fold of ``Y[r]`` for object ``objects[r]``."""
        return [fold.energy.scores(Y, objects=objects) for fold in self.folds]

    def top(self, n_best: int) -> BestLabelsets:
        """Return the ``n_best`` most plausible labelsets of each object."""
        return super().top(n_best) if self.n_labels <= TABLE_LABELS else self._search.top(n_best)

    def label_numerators(self) -> IntArray:
        """Return the highest numerator among the labelsets with each label off and on, (n_objects, n_labels, 2)."""
        return super().label_numerators() if self.n_labels <= TABLE_LABELS else self._search.label_numerators()

    def region_sizes(self, smallest: int | IntArray, *, rough: bool = False) -> Sequence[RegionSize]:
        """Return how many labelsets of each object have a numerator of at least ``smallest``, which may differ.

        Parameters
        ----------
        smallest : int or int64 array of shape (n_objects,)
            The smallest numerator of a member.
        rough : bool
            Whether large regions may be estimated soon and from few draws, in a few milliseconds each.
        """
        smallest = np.broadcast_to(smallest, self.n_objects)
        if self.n_labels <= TABLE_LABELS:
            return super().region_sizes(smallest)
        if rough:
            return self._search.region_sizes(smallest, ROUGH_BUDGET, rough=True)
        if self.n_labels > MAX_TABLE_LABELS:
            return self._search.region_sizes(smallest, SEARCH_BUDGET)
        sizes = self._search.count_members(smallest, 1 + 2**self.n_labels // (TABLE_SHARE * self._search.node_cost))
        large = np.array([i for i, size in enumerate(sizes) if size is None], dtype=np.int64)
        if len(large) == self.n_objects:
            return super().region_sizes(smallest)
        listed = iter(TableEngine.region_sizes(self.take(large), smallest[large]))
        return [next(listed) if size is None else size for size in sizes]

    def region_members(self, i: int, smallest: int, limit: int | None) -> tuple[LabelMatrix, IntArray]:
        """Return the most plausible labelsets of object ``i`` with a numerator of at least ``smallest``."""
        if self.n_labels <= TABLE_LABELS:
            return super().region_members(i, smallest, limit)
        return self._search.region_members(i, smallest, limit)

    def iterate_members(self, i: int, smallest: int) -> Iterator[tuple[LabelMatrix, IntArray]]:
        """Yield the same labelsets in the order of a depth-first search, a limited number at a time."""
        if self.n_labels <= TABLE_LABELS:
            return super().iterate_members(i, smallest)
        return self._search.iterate_members(i, smallest)

    def _numerator_rows(self, objects: IntArray) -> Numerators:
        if self.rule is None:
            return self._weigh_rows(objects, lambda more: self._count_rows(objects, strict=bool(more)))
        counts = np.stack([engine._count_rows(objects, strict=False) for engine in self._single_folds])
        rows = self.rule.numerators(counts, objects)
        rows[:, : self.first_code] = 0
        return rows

    def _count_rows(self, objects: IntArray, *, strict: bool) -> CountRows:
        """Return how many calibration scores are >= (> if strict) the score of every code."""
        rows = np.zeros((len(objects), 2**self.n_labels), dtype=np.int32)
        pairs = self._search.parts.pairs
        if pairs.own and len(self.folds) > 1:  # one fold's pairs at a time, which take as much room as a row
            for engine in self._single_folds:
                rows += engine._count_rows(objects, strict=strict)
            return rows
        if pairs.own:
            for one, own, row in zip(objects[:, None], pairs.of(objects), rows[:, None], strict=True):
                self._write_counts(one, self._sum_pairs(own), row, strict=strict)
        else:
            self._write_counts(objects, self._pair_rows, rows, strict=strict)
        if self._search.exceptional.present:
            own, labelsets = self._search.exceptional.of(objects)
            scores = self._fold_scores(labelsets, objects[own])
            rows[own, encode(labelsets)] = self._fold_counts(scores, int(strict)).sum(axis=0)
        return rows

    def _write_counts(self, objects: IntArray, pair_rows: IntArray, rows: CountRows, *, strict: bool) -> None:
        """Write the same, but for exceptional labelsets, given the pairwise costs of every code."""
        from labelsure.labelsets._table_kernels import LOW_LABELS, count_rows

        least = np.zeros((len(self.folds), 2 ** max(self.n_labels - LOW_LABELS, 0)), dtype=np.int64)
        if pair_rows.size:
            least = pair_rows.reshape(*least.shape, -1).min(axis=2)
        count_rows(
            np.stack([fold.energy.constant[objects] for fold in self._search.general]),
            np.stack([fold.energy.unary[objects] for fold in self._search.general]),
            pair_rows,
            least,
            self._penalty_rows,
            *self._search.tables,
            int(strict),
            rows,
        )

    @cached_property
    def _single_folds(self) -> list["FoldEngine"]:
        """An engine for each fold alone, whose counts a rule weighs."""
        return [FoldEngine([fold], allow_empty=True) for fold in self.folds]

    @cached_property
    def _pair_rows(self) -> IntArray:
        """The pairwise costs of every code in each fold that all objects share, (K, 2^q), or (K, 0)."""
        return self._sum_pairs(self._search.parts.pairs.shared[0])

    def _sum_pairs(self, pairs: IntArray) -> IntArray:
        """Return the pairwise costs of every code, given those of each pair, (K, q, q) or (K, 0, 0)."""
        from labelsure.labelsets._table_kernels import pair_sums

        rows = np.empty((len(pairs), 2**self.n_labels if pairs.size else 0), dtype=np.int64)
        for of_fold, row in zip(pairs, rows, strict=True):
            if pairs.size:
                pair_sums(of_fold, row)
        return rows

    @cached_property
    def _penalty_rows(self) -> IntArray:
        from labelsure.labelsets._fold_arrays import penalty_rows

        return penalty_rows(self._search.general, self._search.parts)

    @cached_property
    def _search(self) -> "FoldSearch":
        from labelsure.labelsets._search import FoldSearch

        return FoldSearch(self)


def _rule_of_some(rule_at: Callable[[Fraction], Rule], objects: IntArray, significance: Fraction) -> Rule:
    """Return the rule at a level for some of the objects; a function of its own, so that engines can be pickled."""
    return rule_at(significance).take(objects)

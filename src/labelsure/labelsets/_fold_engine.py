"""The engine of inductive and cross-conformal predictors: the one place that chooses how a question is answered."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property, partial
from typing import Literal, Protocol

import numpy as np

from labelsure._core.types import FloatArray, IntArray, LabelMatrix
from labelsure.labelsets._engine import LabelsetEngine, Members, StrangestEmpty
from labelsure.labelsets.arrays import (
    BestLabelsets,
    EngineOptions,
    Fold,
    FoldArrays,
    RegionSize,
    Weighing,
    smallest_numerators,
)
from labelsure.labelsets.table import NumbaTable, TableAnswers, TableBackend

Empty = Literal["ordinary", "strangest", "excluded"]
"""What the empty labelset is: a candidate like any other, one stranger than all others, or none."""


class Answers(Protocol):
    """How questions are answered without a table."""

    def top(self, n_best: int) -> BestLabelsets:
        """Return the ``n_best`` most plausible labelsets of each object."""

    def region_sizes(self, smallest: IntArray, *, rough: bool = False) -> list[RegionSize]:
        """Return the sizes of all regions, estimated where counting takes long."""

    def count_members(self, smallest: IntArray) -> list[int | None]:
        """Return the exact sizes of all regions, None for those that a table counts sooner."""

    def region_members(self, i: int, smallest: int, limit: int | None) -> Members:
        """Return the most plausible labelsets of object ``i`` with a numerator of at least ``smallest``."""

    def iterate_members(self, i: int, smallest: int) -> Iterator[Members]:
        """Yield the same labelsets in some order, a limited number at a time."""

    def label_numerators(self) -> IntArray:
        """Return the highest numerator among the labelsets with each label off and on, (n, q, 2)."""


class FoldEngine(LabelsetEngine):
    """Answers questions about labelsets from a list of folds: by table for few labels, without one for many.

    Parameters
    ----------
    folds : sequence of Fold
        One for an inductive predictor, K for a cross-conformal one. A maximum with other parts beside it is listed.
    allow_empty : bool
        Whether the empty labelset is a candidate.
    weighing : Weighing or None
        How the folds' counts become numerators; None adds them up.
    weighing_at : callable or None
        Returns the weighing that decides about regions at a significance level, where that depends on the level: a
        labelset is a member if its numerator is above 0.
    options : EngineOptions or None
        Limits of time and memory.
    n_jobs : int or None
        Threads to work with, as in joblib.

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
        weighing: Weighing | None = None,
        weighing_at: Callable[[Fraction], Weighing] | None = None,
        options: EngineOptions | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.arrays = FoldArrays(folds)
        self.n_objects, self.n_labels = self.arrays.n_objects, self.arrays.n_labels
        if weighing is None:
            weighing = Weighing.plain(sum(map(len, self.arrays.calibrations)), self.n_objects)
        self.weighing, self.weighing_at, self.denominators = weighing, weighing_at, weighing.denominators
        self.allow_empty, self.options, self.n_jobs = allow_empty, options or EngineOptions(), n_jobs

    @property
    def lowest(self) -> IntArray:
        """The numerator of zero counts, (n_objects,)."""
        return self.weighing.lowest

    @property
    def folds(self) -> tuple[Fold, ...]:
        """The folds."""
        return self.arrays.folds

    def take(self, objects: IntArray) -> "FoldEngine":
        """Return the engine for some of the objects."""
        at = self.weighing_at
        return FoldEngine(
            [fold.take(objects) for fold in self.folds],
            allow_empty=self.allow_empty,
            weighing=self.weighing.take(objects),
            weighing_at=None if at is None else partial(weighing_of_some, at, objects),
            options=self.options,
            n_jobs=self.n_jobs,
        )

    def at_level(self, significance: Fraction) -> tuple[LabelsetEngine, IntArray]:
        """Return the engine that decides about regions at a level, and the smallest numerator of each object's."""
        if self.weighing_at is None:
            return self, smallest_numerators(significance, self.denominators)
        return self.deciding(significance), np.ones(self.n_objects, dtype=np.int64)

    def deciding(self, significance: Fraction) -> "FoldEngine":
        """Return the engine whose positive numerators are those of the members of regions at a level."""
        return FoldEngine(
            self.folds,
            allow_empty=self.allow_empty,
            weighing=self.weighing if self.weighing_at is None else self.weighing_at(significance),
            options=self.options,
            n_jobs=self.n_jobs,
        )

    def numerators_of(self, Y: LabelMatrix, objects: IntArray | None = None) -> IntArray:
        """Return the numerators of the p-values of ``Y[r]`` for object ``objects[r]`` (None: one row per object)."""
        objects = np.arange(self.n_objects) if objects is None else objects
        numerators = self.weighing.of_scores(self.arrays.calibrations, self.arrays.scores(Y, objects), objects)
        return numerators if self.allow_empty else np.where(np.any(Y, axis=1), numerators, 0)

    def total_scores(self, Y: LabelMatrix, objects: IntArray) -> IntArray:
        """Return the total score over the folds of ``Y[r]`` for object ``objects[r]``."""
        return self.arrays.total_scores(Y, objects)

    def p_value_table(self, *, empty: IntArray | None = None) -> FloatArray:
        """Return the p-values of all candidates, (n_objects, n_candidates), columns in the order of their codes."""
        return self.table.p_values(self.denominators, empty)

    def label_masses(self, *, empty: IntArray | None = None) -> FloatArray:
        """Return the share of the sum of all p-values that falls on labelsets with each label, (n_objects, q)."""
        return self.table.label_masses(empty)

    def top(self, n_best: int) -> BestLabelsets:
        """Return the ``n_best`` most plausible labelsets of each object."""
        return self._cheaper.top(n_best)

    def label_numerators(self) -> IntArray:
        """Return the highest numerator among the labelsets with each label off and on, (n_objects, n_labels, 2)."""
        return self._cheaper.label_numerators()

    def region_members(self, i: int, smallest: int, limit: int | None) -> Members:
        """Return the most plausible labelsets of object ``i`` with a numerator of at least ``smallest``."""
        return self._cheaper.region_members(i, smallest, limit)

    def iterate_members(self, i: int, smallest: int) -> Iterator[Members]:
        """Yield the same labelsets in some order, a limited number at a time."""
        return self._cheaper.iterate_members(i, smallest)

    def region_sizes(self, smallest: int | IntArray, *, rough: bool = False) -> Sequence[RegionSize]:
        """Return how many labelsets of each object have a numerator of at least ``smallest``, which may differ."""
        least = np.broadcast_to(smallest, self.n_objects)
        if self.n_labels <= self.options.table_labels:
            return self.table.region_sizes(least)
        if rough or self.n_labels > self.options.max_table_labels:
            return self._search.region_sizes(least, rough=rough)
        sizes = self._search.count_members(least)
        large = np.flatnonzero([size is None for size in sizes])
        listed = iter(self.table.region_sizes(least, large) if len(large) else [])
        return [next(listed) if size is None else RegionSize.counted(size) for size in sizes]

    @property
    def _cheaper(self) -> Answers | TableAnswers:
        """The way that costs less for this number of labels: a table for few, setting up a search for more."""
        return self.table if self.n_labels <= self.options.table_labels else self._search

    @cached_property
    def table(self) -> TableAnswers:
        """Answers from tables; another back end would be chosen here."""
        make: Callable[..., TableBackend] = NumbaTable
        if self.arrays.is_maximum:
            from labelsure.labelsets.search import MaxTable

            make = MaxTable
        backend = make(self.arrays, self.weighing, self.n_objects, self.n_labels, 0 if self.allow_empty else 1)
        return TableAnswers(backend, self.options, self.n_jobs)

    @cached_property
    def _search(self) -> Answers:
        from labelsure.labelsets.search import MaxAnswers, SearchAnswers

        make = MaxAnswers if self.arrays.is_maximum else SearchAnswers
        return make(self.arrays, self.weighing, self.allow_empty, self.options, self.n_jobs)


def make_engine(
    folds: Sequence[Fold],
    *,
    empty: Empty,
    weighing: Weighing | None = None,
    weighing_at: Callable[[Fraction], Weighing] | None = None,
    options: EngineOptions | None = None,
    n_jobs: int | None = None,
) -> LabelsetEngine:
    """Return the engine of some folds.

    Parameters
    ----------
    folds, weighing, weighing_at, options, n_jobs
        As in FoldEngine.
    empty : "ordinary", "strangest" or "excluded"
        What the empty labelset is: a candidate like any other, one stranger than all others, or none.

    Examples
    --------
    See StrangestEmpty.
    """
    engine = FoldEngine(
        folds,
        allow_empty=empty == "ordinary",
        weighing=weighing,
        weighing_at=weighing_at,
        options=options,
        n_jobs=n_jobs,
    )
    return StrangestEmpty(engine) if empty == "strangest" else engine


def weighing_of_some(at: Callable[[Fraction], Weighing], objects: IntArray, significance: Fraction) -> Weighing:
    """Return the weighing at a level for some of the objects; a function of its own, so that engines can be pickled."""
    return at(significance).take(objects)

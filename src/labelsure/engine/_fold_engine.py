"""The engine of inductive and cross-conformal predictors: the one place that chooses how a question is answered."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np

from labelsure._checks import FloatArray, IntArray, LabelMatrix
from labelsure._start_up import START_UP
from labelsure.engine._backends import NumbaTable, NumpyTable, RowTable
from labelsure.engine._engine import LabelsetEngine, StrangestEmpty
from labelsure.engine._fold_arrays import Fold, FoldArrays
from labelsure.engine._numpy_rows import SCORE_SECONDS
from labelsure.engine._p_values import smallest_numerators
from labelsure.engine._results import (
    Answers,
    BestLabelsets,
    EngineOptions,
    Members,
    RegionSize,
    check_listable,
)
from labelsure.engine._rules import Inequality, LabelsetRules
from labelsure.engine._table import ListAnswers, TableAnswers
from labelsure.engine._weighing import Counts, Weighing
from labelsure.measures._labelset_bits import encode

Empty = Literal["ordinary", "strangest", "excluded"]
"""What the empty labelset is: a candidate like any other, one stranger than all others, or none."""

START_LABELS = 14
"""Up to this many labels, rows of few objects that numpy makes are there before kernels are compiled."""

WeighingAt = Callable[[Fraction], Weighing]
"""Returns the weighing that decides about regions at a significance level, by numerators above 0."""


class TableEngine(LabelsetEngine):
    """An engine that can list all labelsets in a table; other ways to answer may cost less."""

    @property
    @abstractmethod
    def table(self) -> TableAnswers:
        """Answers from tables."""

    def answers(self, n_objects: int) -> Answers:  # noqa: ARG002
        """Return the way to answer about so many objects that costs least."""
        return self.table

    def total_scores(self, Y: LabelMatrix, objects: IntArray) -> IntArray:
        """Return the total score over the folds of ``Y[r]`` for object ``objects[r]``."""
        return self.table.backend.total_scores(Y, objects)

    def p_value_table(self, *, empty: IntArray | None = None) -> FloatArray:
        """Return the p-values of all candidates, (n_objects, n_candidates), columns in the order of their codes."""
        return self.table.p_values(self.denominators, empty)

    def label_masses(self, *, empty: IntArray | None = None) -> FloatArray:
        """Return the share of the sum of all p-values that falls on labelsets with each label, (n_objects, q)."""
        return self.table.label_masses(self.denominators, empty)

    def top(self, n_best: int, objects: IntArray | None = None) -> BestLabelsets:
        """Return the ``n_best`` most plausible labelsets of some objects (None: of all)."""
        return self.answers(self.n_objects if objects is None else len(objects)).top(
            n_best, objects
        )

    def region_sizes(self, smallest: int | IntArray, *, bits: float = 1.0) -> Sequence[RegionSize]:
        """Return how many labelsets of each object have a numerator of at least ``smallest``, which may differ."""
        return self.answers(self.n_objects).region_sizes(
            np.broadcast_to(smallest, self.n_objects), bits=bits
        )

    def iterate_members(self, i: int, smallest: int) -> Iterator[Members]:
        """Yield the labelsets of object ``i`` with a numerator of at least ``smallest``, some at a time."""
        return self.answers(1).iterate_members(i, smallest)

    def label_numerators(self) -> IntArray:
        """Return the highest numerator among the labelsets with each label off and on, (n_objects, n_labels, 2)."""
        return self.answers(self.n_objects).label_numerators()


class FoldEngine(TableEngine):
    """Answers questions about labelsets from a list of folds: by table for few labels, without one for many.

    Parameters
    ----------
    folds : sequence of Fold
        One for an inductive predictor, K for a cross-conformal one.
    allow_empty : bool
        Whether the empty labelset is a candidate.
    weighing : Weighing or None
        How the folds' counts become numerators; None adds them up.
    weighing_at : callable or None
        Returns the weighing that decides about regions at a significance level, where that depends
        on the level: a labelset is a member if its numerator is above 0.
    options : EngineOptions
        Limits of time and memory.
    n_jobs : int or None
        Threads to work with, as in joblib.
    constraints : LabelsetRules or None
        What candidates obey.

    Examples
    --------
    >>> import numpy as np
    >>> from labelsure.measures._energy import Energy
    >>> energy = Energy(constant=np.array([2]), unary=np.array([[-2, 5]]))
    >>> engine = FoldEngine([Fold(np.array([0, 1, 5]), energy)], allow_empty=True)
    >>> engine.p_value_table().tolist()
    [[0.5, 1.0, 0.25, 0.5]]
    """

    def __init__(
        self,
        folds: Sequence[Fold],
        *,
        allow_empty: bool,
        weighing: Weighing | None = None,
        weighing_at: WeighingAt | None = None,
        options: EngineOptions | None = None,
        n_jobs: int | None = None,
        constraints: LabelsetRules | None = None,
    ) -> None:
        self.arrays, self.constraints = FoldArrays(folds), constraints
        self.folds = self.arrays.folds
        self.n_objects = self.arrays.n_objects
        self.n_labels = self.arrays.n_labels
        n_calibration = sum(map(len, self.arrays.calibrations))
        self.weighing = (
            Weighing.plain(n_calibration, self.n_objects) if weighing is None else weighing
        )
        self.weighing_at, self.denominators = weighing_at, self.weighing.denominators
        self.allow_empty = allow_empty and (constraints is None or constraints.allows_empty)
        self.options, self.n_jobs = options or EngineOptions(), n_jobs
        # a maximum, and candidates in a list, are looked at one by one
        is_listed = constraints is not None and constraints.listed is not None
        self._looks_at_all = (
            self.n_labels <= self.options.table_labels or self.arrays.has_maxima or is_listed
        )
        if self.arrays.has_maxima and not is_listed:
            check_listable(self.n_labels, self.options)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out of a pickle what is made on first use."""
        return {
            name: value
            for name, value in vars(self).items()
            if name not in ("table", "_one_by_one")
        }

    def take(self, objects: IntArray) -> "FoldEngine":
        """Return the engine for some of the objects."""
        at = self.weighing_at
        weighing_at = None if at is None else partial(weighing_of_some, at, objects)
        return self._with(
            [fold.take(objects) for fold in self.folds], self.weighing.take(objects), weighing_at
        )

    def at_level(self, significance: Fraction) -> tuple["FoldEngine", IntArray]:
        """Return the engine that decides about regions at a level, and the smallest numerator of each object's."""
        if self.weighing_at is None:
            return self, smallest_numerators(significance, self.denominators)
        return self._with(self.folds, self.weighing_at(significance)), np.ones(
            self.n_objects, dtype=np.int64
        )

    def under(self, inequalities: Sequence[Inequality]) -> "FoldEngine":
        """Return the engine whose candidates obey some inequalities as well."""
        own = self.constraints or LabelsetRules(self.n_labels, ())
        rules = LabelsetRules(self.n_labels, (*own.inequalities, *inequalities), own.listed)
        return self._with(self.folds, self.weighing, self.weighing_at, constraints=rules)

    def _with(
        self,
        folds: Sequence[Fold],
        weighing: Weighing,
        weighing_at: WeighingAt | None = None,
        **changed: Any,
    ) -> "FoldEngine":
        names = ("allow_empty", "options", "n_jobs", "constraints")
        kept: dict[str, Any] = {name: getattr(self, name) for name in names} | changed
        return FoldEngine(folds, weighing=weighing, weighing_at=weighing_at, **kept)

    def numerators_of(self, Y: LabelMatrix, objects: IntArray | None = None) -> IntArray:
        """Return the numerators of the p-values of ``Y[r]`` for object ``objects[r]`` (None: one row per object)."""
        objects = np.arange(self.n_objects) if objects is None else objects
        numerators = self.weighing.of_scores(
            self.arrays.calibrations, self.arrays.scores(Y, objects), objects
        )
        if self.constraints is not None:
            numerators = np.where(self.constraints.allow(Y), numerators, 0)
        return numerators if self.allow_empty else np.where(np.any(Y, axis=1), numerators, 0)

    def p_value_table(self, *, empty: IntArray | None = None) -> FloatArray:
        """Return the p-values of all candidates, (n_objects, n_candidates), columns in the order of their codes."""
        return (self._first("table", self.n_objects) or self._one_by_one).p_values(
            self.denominators, empty
        )

    def label_masses(self, *, empty: IntArray | None = None) -> FloatArray:
        """Return the share of the sum of all p-values that falls on labelsets with each label, (n_objects, q)."""
        return (self._first("table", self.n_objects) or self._one_by_one).label_masses(
            self.denominators, empty
        )

    def region_sizes(self, smallest: int | IntArray, *, bits: float = 1.0) -> Sequence[RegionSize]:
        """Return how many labelsets of each object have a numerator of at least ``smallest``, which may differ."""
        least = np.broadcast_to(smallest, self.n_objects)
        if self._looks_at_all:
            return self.answers(self.n_objects).region_sizes(least)
        if bits > 1 or self.n_labels > self.options.max_table_labels:
            return self._search.region_sizes(least, bits=bits)
        first = self._first("search", self.n_objects)
        if first is not None:
            return first.region_sizes(least)
        sizes = self._search.count_members(least)
        large = np.flatnonzero([size is None for size in sizes])
        listed = iter(self.table.count_members(least, large) if len(large) else [])
        return [RegionSize.counted(next(listed) if size is None else size) for size in sizes]

    def answers(self, n_objects: int) -> Answers:
        """Return the way that costs least: listed candidates one by one, a table for few labels, a search for more.

        In a new process numpy's rows come first, for as long as they are sooner than what has to be
        compiled.
        """
        first = self._first("table" if self._looks_at_all else "search", n_objects)
        if first is not None:
            return first
        if not self._looks_at_all:
            return self._search
        return self.table if self.constraints is None else self._one_by_one

    def _first(self, way: str, n_objects: int) -> TableAnswers | None:
        """Return answers from rows that numpy makes, if they are sooner than what waits for kernels."""
        arrays, constraints = self.arrays, self.constraints
        is_listed = constraints is not None and constraints.listed is not None
        if is_listed or self.n_labels > START_LABELS:
            return None
        if not START_UP.spend(way, SCORE_SECONDS * (n_objects * arrays.n_folds << self.n_labels)):
            return None
        common = (self.n_objects, self.n_labels, self.first_code, arrays.total_scores)
        backend = NumpyTable(*common, arrays, self.weighing, constraints=constraints)
        return TableAnswers(backend, self.options, self.n_jobs)

    @cached_property
    def _one_by_one(self) -> ListAnswers | TableAnswers:
        """Answers from the list of candidates, where constraints have one, or from a table."""
        listed = None if self.constraints is None else self.constraints.listed
        if listed is None:
            return self.table
        candidates = listed[listed.any(axis=1) | self.allow_empty]
        return ListAnswers(self.arrays, self.weighing, candidates, self.options, self.n_jobs)

    @cached_property
    def table(self) -> TableAnswers:
        """Answers from tables."""
        common = (self.n_objects, self.n_labels, self.first_code, self.arrays.total_scores)
        backend = NumbaTable(*common, self.arrays, self.weighing, constraints=self.constraints)
        return TableAnswers(backend, self.options, self.n_jobs)

    @cached_property
    def _search(self) -> Answers:
        from labelsure.engine._answers import PairAnswers, WalkAnswers

        common = (self.arrays, self.weighing, self.allow_empty, self.options, self.n_jobs)
        return (PairAnswers if self.arrays.has_pairs else WalkAnswers)(*common, self.constraints)


def make_engine(folds: Sequence[Fold], *, empty: Empty, **settings: Any) -> LabelsetEngine:
    """Return the engine of some folds.

    Parameters
    ----------
    folds : sequence of Fold
        As in FoldEngine.
    empty : "ordinary", "strangest" or "excluded"
        What the empty labelset is: a candidate like any other, one stranger than all others, or
        none.
    **settings
        ``weighing``, ``weighing_at``, ``options``, ``n_jobs`` and ``constraints``, as in
        FoldEngine. An empty labelset that these do not allow is excluded.

    Examples
    --------
    See StrangestEmpty.
    """
    engine = FoldEngine(folds, allow_empty=empty == "ordinary", **settings)
    allowed = engine.constraints is None or engine.constraints.allows_empty
    return StrangestEmpty(engine) if empty == "strangest" and allowed else engine


def weighing_of_some(at: WeighingAt, objects: IntArray, significance: Fraction) -> Weighing:
    """Return the weighing at a level for some of the objects; a function of its own, so that engines can be pickled."""
    return at(significance).take(objects)


class StoredEngine(TableEngine):
    """Answers questions about labelsets from tables of counts that were computed beforehand.

    Parameters
    ----------
    at_least, above : int32 arrays of shape (n, 2^q)
        How many of the other examples' scores are at least as large as, and larger than, the
        object's own, by code.
    scores : int64 array of shape (n, 2^q)
        The object's own score, to break ties.
    weighing : Weighing
        How counts become numerators.
    allow_empty : bool
        Whether the empty labelset is a candidate.
    options : EngineOptions or None
        Limits of memory.
    constraints : LabelsetRules or None
        What candidates obey.
    """

    def __init__(
        self,
        at_least: Counts,
        above: Counts,
        scores: IntArray,
        weighing: Weighing,
        *,
        allow_empty: bool,
        options: EngineOptions | None = None,
        constraints: LabelsetRules | None = None,
    ) -> None:
        self.constraints = constraints
        self.at_least = at_least
        self.above = above
        self.scores = scores
        self.weighing = weighing
        self.n_objects, self.n_labels = len(at_least), at_least.shape[1].bit_length() - 1
        self.denominators, self.options = weighing.denominators, options or EngineOptions()
        self.allow_empty = allow_empty and (constraints is None or constraints.allows_empty)

    @property
    def table(self) -> TableAnswers:
        """Answers from the tables."""
        common = (self.n_objects, self.n_labels, self.first_code, self.total_scores)
        backend = RowTable(*common, self._numerators, constraints=self.constraints)
        return TableAnswers(backend, self.options, n_jobs=1)

    def take(self, objects: IntArray) -> "StoredEngine":
        """Return the engine for some of the objects."""
        parts = (
            self.at_least[objects],
            self.above[objects],
            self.scores[objects],
            self.weighing.take(objects),
        )
        return StoredEngine(
            *parts, allow_empty=self.allow_empty, options=self.options, constraints=self.constraints
        )

    def total_scores(self, Y: LabelMatrix, objects: IntArray) -> IntArray:
        """Return the score of ``Y[r]`` for object ``objects[r]``."""
        scores: IntArray = self.scores[objects, encode(Y)]
        return scores

    def numerators_of(self, Y: LabelMatrix, objects: IntArray | None = None) -> IntArray:
        """Return the numerators of the p-values of ``Y[r]`` for object ``objects[r]`` (None: one row per object)."""
        objects = np.arange(self.n_objects) if objects is None else objects
        codes = encode(Y)
        own = self.weighing.numerators(
            self.at_least[objects, codes][None], self.above[objects, codes][None], objects
        )
        candidates = codes >= self.first_code
        if self.constraints is not None:
            candidates &= self.constraints.allow(Y)
        return np.where(candidates, own.astype(np.int64), 0)

    def _numerators(self, objects: IntArray) -> Counts:
        """Return the numerators of every code, one row per object."""
        return self.weighing.numerators(
            self.at_least[None, objects], self.above[None, objects], objects
        )

"""The engine of inductive and cross-conformal predictors, which chooses how to answer."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np

from labelsure._checks import IntArray, LabelMatrix
from labelsure._start_up import START_UP
from labelsure.engine._engine import Answers, LabelsetEngine
from labelsure.engine._fold_arrays import FAR, Fold, FoldArrays
from labelsure.engine._numpy_rows import SCORE_SECONDS
from labelsure.engine._p_values import smallest_numerators
from labelsure.engine._results import EngineOptions, check_listable
from labelsure.engine._rows import CodeRows, FoldRows, ListRows
from labelsure.engine._rules import Inequality, LabelsetRules
from labelsure.engine._weighing import Counts, Weighing
from labelsure.measures._labelset_bits import encode

Empty = Literal["ordinary", "strangest", "excluded"]
"""What the empty labelset is: a candidate like any other, one stranger than all others, or none."""

START_LABELS = 14
"""Up to this many labels, numpy makes rows of few objects before kernels are compiled."""

WeighingAt = Callable[[Fraction], Weighing]
"""Returns the weighing that decides about regions at a level, by numerators above 0."""


class FoldEngine(LabelsetEngine):
    """Answers questions about labelsets from a list of folds, by rows or by a search.

    Parameters
    ----------
    folds : sequence of Fold
        One for an inductive predictor, K for a cross-conformal one.
    allow_empty : bool
        Whether the empty labelset is a candidate.
    strangest : bool
        Whether it is stranger than all other labelsets.
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
        strangest: bool = False,
        weighing: Weighing | None = None,
        weighing_at: WeighingAt | None = None,
        options: EngineOptions | None = None,
        n_jobs: int | None = None,
        constraints: LabelsetRules | None = None,
    ) -> None:
        self.arrays, self.constraints = FoldArrays(folds), constraints
        self.folds = self.arrays.folds
        self.n_objects, self.n_labels = self.arrays.n_objects, self.arrays.n_labels
        n_calibration = sum(map(len, self.arrays.calibrations))
        self.weighing = weighing or Weighing.plain(n_calibration, self.n_objects)
        self.weighing_at, self.denominators = weighing_at, self.weighing.denominators
        self.allow_empty = allow_empty and (constraints is None or constraints.allows_empty)
        self.strangest = strangest and self.allow_empty
        self.first_code = 0 if self.allow_empty and not strangest else 1
        self.listed = None if constraints is None else constraints.listed
        self.options, self.n_jobs = options or EngineOptions(), n_jobs
        if self.arrays.has_maxima and self.listed is None:
            check_listable(self.n_labels, self.options)

    def answers(self, n_objects: int, *, table: bool = False) -> Answers:
        """Choose the cheapest way to answer; nothing else does.

        Rows where candidates are listed, for few labels and for maxima, which no search knows;
        rows in numpy at the start of a process; else the search, which leaves large regions of up
        to 24 labels to rows, and estimates those of more.
        """
        if self.listed is not None:
            candidates = self.listed[self.listed.any(axis=1) | (self.first_code == 0)]
            return ListRows(self.arrays, self.weighing, candidates, self.options.block_bytes)
        table = table or self.n_labels <= self.options.table_labels or self.arrays.has_maxima
        if self.n_labels <= START_LABELS:
            seconds = SCORE_SECONDS * n_objects * self.arrays.n_folds * 2**self.n_labels
            if START_UP.spend("table" if table else "search", seconds):
                common = (self.arrays, self.weighing, self.first_code, self.constraints)
                return FoldRows(*common, compiled=False)
        return self.compiled_rows if table else self._search

    @cached_property
    def compiled_rows(self) -> FoldRows:
        """Answers from rows of all codes."""
        common = (self.arrays, self.weighing, self.first_code, self.constraints)
        return FoldRows(*common, compiled=True)

    @cached_property
    def _search(self) -> Answers:
        from labelsure.engine._search import Search

        rows = self.compiled_rows if self.n_labels <= self.options.max_table_labels else None
        common = (self.arrays, self.weighing, self.first_code == 0, self.options)
        return Search(*common, self.constraints, rows)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out of a pickle what is made on first use."""
        made = ("compiled_rows", "_search")
        return {name: value for name, value in vars(self).items() if name not in made}

    def take(self, objects: IntArray) -> "FoldEngine":
        """Return the engine for some of the objects."""
        at = self.weighing_at
        weighing_at = None if at is None else partial(weighing_of_some, at, objects)
        folds = [fold.take(objects) for fold in self.folds]
        return self._with(folds, self.weighing.take(objects), weighing_at)

    def at_level(self, significance: Fraction) -> tuple["FoldEngine", IntArray]:
        """Return the engine that decides about regions, and each object's smallest numerator."""
        if self.weighing_at is None:
            return self, smallest_numerators(significance, self.denominators)
        ones = np.ones(self.n_objects, dtype=np.int64)
        return self._with(self.folds, self.weighing_at(significance)), ones

    def under(self, inequalities: Sequence[Inequality]) -> "FoldEngine":
        """Return the engine whose candidates obey some inequalities as well."""
        rules = self.constraints or LabelsetRules(self.n_labels, ())
        rules = LabelsetRules(self.n_labels, (*rules.inequalities, *inequalities), rules.listed)
        return self._with(self.folds, self.weighing, self.weighing_at, constraints=rules)

    def _with(
        self,
        folds: Sequence[Fold],
        weighing: Weighing,
        weighing_at: WeighingAt | None = None,
        **changed: Any,
    ) -> "FoldEngine":
        names = ("allow_empty", "strangest", "options", "n_jobs", "constraints")
        kept: dict[str, Any] = {name: getattr(self, name) for name in names} | changed
        return FoldEngine(folds, weighing=weighing, weighing_at=weighing_at, **kept)

    def numerators_of(self, Y: LabelMatrix, objects: IntArray | None = None) -> IntArray:
        """Return the numerators of ``Y[r]`` for object ``objects[r]`` (None: one for each)."""
        objects = np.arange(self.n_objects) if objects is None else objects
        scores = self.arrays.scores(Y, objects)
        numerators = self.weighing.of_scores(self.arrays.calibrations, scores, objects)
        return self._numerators_of_candidates(Y, numerators, objects)

    def total_scores(self, Y: LabelMatrix, objects: IntArray) -> IntArray:
        """Return the total score over the folds of ``Y[r]`` for object ``objects[r]``."""
        totals = self.arrays.total_scores(Y, objects)
        return np.where(np.any(Y, axis=1), totals, FAR << 2) if self.strangest else totals


def make_engine(folds: Sequence[Fold], *, empty: Empty, **settings: Any) -> FoldEngine:
    """Return the engine of some folds.

    Parameters
    ----------
    folds : sequence of Fold
        As in FoldEngine.
    empty : "ordinary", "strangest" or "excluded"
        What the empty labelset is: a candidate like any other, one stranger than all others, or
        none. One that constraints do not allow is excluded.
    **settings
        ``weighing``, ``weighing_at``, ``options``, ``n_jobs`` and ``constraints``, as in
        FoldEngine.

    Examples
    --------
    >>> import numpy as np
    >>> from labelsure.measures._energy import Energy
    >>> energy = Energy(constant=np.array([2]), unary=np.array([[-2, 5]]))
    >>> engine = make_engine([Fold(np.array([0, 1, 5]), energy)], empty="strangest")
    >>> engine.p_value_table().tolist()
    [[0.25, 1.0, 0.25, 0.5]]
    """
    return FoldEngine(
        folds, allow_empty=empty != "excluded", strangest=empty == "strangest", **settings
    )


def weighing_of_some(at: WeighingAt, objects: IntArray, significance: Fraction) -> Weighing:
    """Return the weighing at a level for some objects; no closure, so it can be pickled."""
    return at(significance).take(objects)


class StoredEngine(LabelsetEngine):
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
        self.constraints, self.weighing = constraints, weighing
        self.at_least = at_least
        self.above = above
        self.scores = scores
        self.n_objects, self.n_labels = len(at_least), at_least.shape[1].bit_length() - 1
        self.denominators, self.options = weighing.denominators, options or EngineOptions()
        self.allow_empty = allow_empty and (constraints is None or constraints.allows_empty)
        self.first_code = 0 if self.allow_empty else 1

    def answers(self, n_objects: int, *, table: bool = False) -> CodeRows:  # noqa: ARG002
        """Return answers from the tables."""
        common = (self.total_scores, self.n_labels, self.first_code, self.constraints)
        return CodeRows(lambda objects: self._weigh(objects, np.s_[:]), *common)

    def _weigh(self, objects: IntArray, codes: Any) -> Counts:
        counts = self.at_least[None, objects, codes], self.above[None, objects, codes]
        return self.weighing.numerators(*counts, objects)

    def take(self, objects: IntArray) -> "StoredEngine":
        """Return the engine for some of the objects."""
        return StoredEngine(
            self.at_least[objects],
            self.above[objects],
            self.scores[objects],
            self.weighing.take(objects),
            allow_empty=self.allow_empty,
            options=self.options,
            constraints=self.constraints,
        )

    def total_scores(self, Y: LabelMatrix, objects: IntArray) -> IntArray:
        """Return the score of ``Y[r]`` for object ``objects[r]``."""
        scores: IntArray = self.scores[objects, encode(Y)]
        return scores

    def numerators_of(self, Y: LabelMatrix, objects: IntArray | None = None) -> IntArray:
        """Return the numerators of ``Y[r]`` for object ``objects[r]`` (None: one for each)."""
        objects = np.arange(self.n_objects) if objects is None else objects
        numerators = self._weigh(objects, encode(Y)).astype(np.int64)
        return self._numerators_of_candidates(Y, numerators, objects)

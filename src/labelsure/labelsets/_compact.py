"""The engine for very many labels of which each object has few that matter.

Where outputs are sparse, almost all labels of an object have the same default output in every fold. None of these is
ever looked at: if switching one of them on cannot lead to any labelset that is asked for, which one bound tells, the
answer comes from the object's other labels alone; else, rarely, from all of them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, TypeVar

import numpy as np

from labelsure._core.running import map_in_threads
from labelsure._core.types import FloatArray, IntArray, LabelMatrix
from labelsure.labelsets._engine import LabelsetEngine
from labelsure.labelsets._fold_engine import FoldEngine, WeighingAt, weighing_of_some
from labelsure.labelsets.arrays._fold_arrays import Fold
from labelsure.labelsets.arrays._results import BestLabelsets, EngineOptions, Members, RegionSize, check_listable
from labelsure.labelsets.arrays._weighing import Weighing

Answer = TypeVar("Answer")


@dataclass(frozen=True, eq=False)
class CompactObject:
    """One object: the labels that it has outputs for, and what all the others cost.

    Attributes
    ----------
    labels : int64 array of shape (u,)
        Those with an output of their own in some fold, ascending.
    folds : sequence of Fold
        With the energies of these labels, the others being off.
    default_costs : int64 array of shape (K,)
        What switching one of the others on adds to a score at least; not negative.
    whole : callable
        Returns the folds with the energies of all labels.
    """

    labels: IntArray
    folds: Sequence[Fold]
    default_costs: IntArray
    whole: Callable[[], Sequence[Fold]]


class CompactEngine(LabelsetEngine):
    """Answers questions about labelsets object by object, from the few labels that matter to each.

    Parameters
    ----------
    make : callable
        Returns the CompactObject of an object's number.
    objects : int64 array of shape (n,)
        The numbers of the objects.
    weighing : Weighing
        How the folds' counts become numerators, for these objects.
    n_labels : int
        The number of all labels.
    allow_empty, weighing_at, options, n_jobs
        As in FoldEngine.
    """

    def __init__(
        self,
        make: Callable[[int], CompactObject],
        objects: IntArray,
        weighing: Weighing,
        *,
        n_labels: int,
        allow_empty: bool,
        weighing_at: WeighingAt | None = None,
        options: EngineOptions | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.make, self.objects, self.weighing, self.weighing_at = make, objects, weighing, weighing_at
        self.n_objects, self.n_labels, self.denominators = len(objects), n_labels, weighing.denominators
        self.allow_empty, self.options, self.n_jobs = allow_empty, options or EngineOptions(), n_jobs

    def take(self, objects: IntArray) -> "CompactEngine":
        """Return the engine for some of the objects."""
        at = self.weighing_at
        weighing_at = None if at is None else partial(weighing_of_some, at, objects)
        return self._with(self.objects[objects], self.weighing.take(objects), weighing_at)

    def at_level(self, significance: Fraction) -> tuple[LabelsetEngine, IntArray]:
        """Return the engine that decides about regions at a level, and the smallest numerator of each object's."""
        if self.weighing_at is None:
            return self, self.smallest_member(significance)
        return self._with(self.objects, self.weighing_at(significance)), np.ones(self.n_objects, dtype=np.int64)

    def _with(self, objects: IntArray, weighing: Weighing, weighing_at: WeighingAt | None = None) -> "CompactEngine":
        kept: dict[str, Any] = {"n_labels": self.n_labels, "allow_empty": self.allow_empty, "options": self.options}
        return CompactEngine(self.make, objects, weighing, weighing_at=weighing_at, n_jobs=self.n_jobs, **kept)

    def total_scores(self, Y: LabelMatrix, objects: IntArray) -> IntArray:
        """Return the total score over the folds of ``Y[r]`` for object ``objects[r]``."""
        totals: IntArray = self._fold_scores(Y, objects).sum(axis=0)
        return totals

    def p_value_table(self, *, empty: IntArray | None = None) -> FloatArray:
        """Refuse, or list all labelsets."""
        return self._list_all(lambda engine, own: engine.p_value_table(empty=own), empty)

    def label_masses(self, *, empty: IntArray | None = None) -> FloatArray:
        """Refuse, or list all labelsets."""
        return self._list_all(lambda engine, own: engine.label_masses(empty=own), empty)

    def top(self, n_best: int, objects: IntArray | None = None) -> BestLabelsets:
        """Return the ``n_best`` most plausible labelsets of some objects (None: of all)."""

        def answer(i: int) -> tuple[LabelMatrix, BestLabelsets]:
            one = self._object(i)
            best = self._engine(i, one.folds).top(n_best)
            if self._highest_with_other(i, one) < best.numerators[0, -1]:
                return self._expand(best.labelsets[0], one.labels), best
            best = self._whole(i).top(n_best)
            return best.labelsets[0], best

        chosen = range(self.n_objects) if objects is None else objects.tolist()
        together = BestLabelsets.nothing(len(chosen), n_best, self.n_labels)
        for row, (labelsets, best) in enumerate(self._map(answer, chosen)):
            missed = None if best.certain[0] else int(best.upper[0].max())
            together.write(row, best.numerators[0], labelsets, missed)
        return together

    def region_sizes(self, smallest: int | IntArray, *, rough: bool = False) -> Sequence[RegionSize]:
        """Return how many labelsets of each object have a numerator of at least ``smallest``, which may differ."""
        least = np.broadcast_to(smallest, self.n_objects).tolist()
        return self._map(lambda i: self._relevant(i, least[i])[0].region_sizes(least[i], rough=rough)[0])

    def region_members(self, i: int, smallest: int, limit: int | None) -> Members:
        """Return the most plausible labelsets of object ``i`` with a numerator of at least ``smallest``."""
        engine, labels = self._relevant(i, smallest)
        labelsets, numerators = engine.region_members(0, smallest, limit)
        return self._expand(labelsets, labels), numerators

    def iterate_members(self, i: int, smallest: int) -> Iterator[Members]:
        """Yield the labelsets of object ``i`` with a numerator of at least ``smallest``, some at a time."""
        engine, labels = self._relevant(i, smallest)
        for labelsets, numerators in engine.iterate_members(0, smallest):
            yield self._expand(labelsets, labels), numerators

    def label_numerators(self) -> IntArray:
        """Return the highest numerator among the labelsets with each label off and on, (n_objects, n_labels, 2)."""

        def answer(i: int) -> IntArray:
            one = self._object(i)
            if any(fold.energy.pairwise is not None for fold in one.folds):
                of_all: IntArray = self._whole(i).label_numerators()[0]
                return of_all
            alone = self._engine(i, one.folds)
            others = np.delete(np.arange(self.n_labels), one.labels)
            numerators = np.zeros((self.n_labels, 2), dtype=np.int64)
            numerators[one.labels] = alone.label_numerators()[0]
            numerators[others, 0] = alone.top(1).numerators[0]
            if len(others):  # with one of the others on, no labelset is empty
                folds = [
                    replace(fold, energy=replace(fold.energy, constant=fold.energy.constant + cost))
                    for fold, cost in zip(one.folds, one.default_costs, strict=True)
                ]
                with_other = self._engine(i, folds, allow_empty=True)
                numerators[one.labels] = np.maximum(numerators[one.labels], with_other.label_numerators()[0])
                numerators[others, 1] = with_other.top(1).numerators[0]
            if len(others) > 1:  # one off, another on
                numerators[others] = np.maximum(numerators[others], numerators[others, 1:])
            return numerators

        return np.array(self._map(answer), dtype=np.int64).reshape(-1, self.n_labels, 2)

    def numerators_of(self, Y: LabelMatrix, objects: IntArray | None = None) -> IntArray:
        """Return the numerators of the p-values of ``Y[r]`` for object ``objects[r]`` (None: one row per object)."""
        objects = np.arange(self.n_objects) if objects is None else objects
        if not len(objects):
            return np.empty(0, dtype=np.int64)
        calibrations = [fold.calibration for fold in self._object(0).folds]
        numerators = self.weighing.of_scores(calibrations, self._fold_scores(Y, objects), objects)
        return numerators if self.allow_empty else np.where(np.any(Y, axis=1), numerators, 0)

    def _fold_scores(self, Y: LabelMatrix, objects: IntArray) -> IntArray:
        """Return the scores of ``Y[r]`` for object ``objects[r]`` under each fold, (K, m)."""
        rows = []
        for i, labelset in zip(objects, Y, strict=True):
            one = self._object(int(i))
            inside = labelset[one.labels][None]
            if labelset.sum() == inside.sum():
                rows.append([fold.energy.scores(inside)[0] for fold in one.folds])
            else:
                rows.append([fold.energy.scores(labelset[None])[0] for fold in one.whole()])
        return np.array(rows, dtype=np.int64).T

    def _object(self, i: int) -> CompactObject:
        return self.make(int(self.objects[i]))

    def _engine(self, i: int, folds: Sequence[Fold], *, allow_empty: bool | None = None) -> FoldEngine:
        """Return an engine for object ``i`` alone."""
        return FoldEngine(
            folds,
            allow_empty=self.allow_empty if allow_empty is None else allow_empty,
            weighing=self.weighing.take(np.array([i])),
            options=self.options,
        )

    def _whole(self, i: int) -> FoldEngine:
        """Return an engine for object ``i`` alone that knows all labels."""
        return self._engine(i, self._object(i).whole())

    def _highest_with_other(self, i: int, one: CompactObject) -> int:
        """Return a number that no numerator of a labelset with one of the other labels exceeds; 0 if there are none."""
        if len(one.labels) == self.n_labels:
            return 0
        lowest = [fold.energy.lower_bound() + cost for fold, cost in zip(one.folds, one.default_costs, strict=True)]
        calibrations = [fold.calibration for fold in one.folds]
        return int(self.weighing.of_scores(calibrations, np.array(lowest)[:, None], np.array([i]))[0])

    def _relevant(self, i: int, smallest: int) -> tuple[FoldEngine, IntArray]:
        """Return an engine that knows all labelsets with a numerator of at least ``smallest``, and its labels."""
        one = self._object(i)
        if self._highest_with_other(i, one) < smallest:
            return self._engine(i, one.folds), one.labels
        return self._engine(i, one.whole()), np.arange(self.n_labels)

    def _expand(self, labelsets: LabelMatrix, labels: IntArray) -> LabelMatrix:
        expanded = np.zeros((len(labelsets), self.n_labels), dtype=np.int8)
        expanded[:, labels] = labelsets
        return expanded

    def _list_all(self, ask: Callable[[FoldEngine, IntArray | None], FloatArray], empty: IntArray | None) -> FloatArray:
        """Return the answers of engines that know all labels, one below the other."""
        check_listable(self.n_labels, self.options)
        return np.concatenate(self._map(lambda i: ask(self._whole(i), None if empty is None else empty[[i]])))

    def _map(self, answer: Callable[[int], Answer], objects: Sequence[int] | None = None) -> list[Answer]:
        chosen = range(self.n_objects) if objects is None else objects
        return list(map_in_threads(answer, chosen, n_jobs=self.n_jobs, description="objects"))

"""The engine for very many labels of which each object has few that matter.

Where outputs are sparse, almost all labels of an object have the same default output in every fold. None of these is
ever looked at: if switching one of them on cannot lead to any labelset that is asked for, which one bound tells, the
answer comes from the object's other labels alone; else, rarely, from all of them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from labelsure._core.running import map_in_threads
from labelsure._core.types import FloatArray, IntArray, LabelMatrix
from labelsure.labelsets._engine import BestLabelsets, LabelsetEngine, smooth
from labelsure.labelsets._fold import Fold
from labelsure.labelsets._fold_engine import FoldEngine
from labelsure.labelsets._size import RegionSize
from labelsure.labelsets._table_engine import check_listable

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
    n_labels, n_calibration, allow_empty, draws, n_jobs
        As in LabelsetEngine.
    """

    def __init__(
        self,
        make: Callable[[int], CompactObject],
        objects: IntArray,
        *,
        n_labels: int,
        n_calibration: int,
        allow_empty: bool,
        draws: IntArray | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.make = make
        self.objects = objects
        super().__init__(
            n_objects=len(objects),
            n_labels=n_labels,
            n_calibration=n_calibration,
            allow_empty=allow_empty,
            draws=draws,
            n_jobs=n_jobs,
        )

    def take(self, objects: IntArray) -> "CompactEngine":
        """Return the engine for some of the objects."""
        return CompactEngine(
            self.make,
            self.objects[objects],
            n_labels=self.n_labels,
            n_calibration=self.n_calibration,
            allow_empty=self.allow_empty,
            draws=None if self.draws is None else self.draws[objects],
            n_jobs=self.n_jobs,
        )

    def total_scores(self, Y: LabelMatrix, objects: IntArray) -> IntArray:
        """Return the total score over the folds of ``Y[r]`` for object ``objects[r]``."""
        return sum(self._fold_scores(Y, objects), start=np.zeros(len(Y), dtype=np.int64))

    def p_value_table(self) -> FloatArray:
        """Refuse, or list all labelsets."""
        check_listable(self.n_labels)
        return np.concatenate(self._map(lambda i: self._engine(i, self._object(i).whole()).p_value_table()))

    def label_masses(self) -> FloatArray:
        """Refuse, or list all labelsets."""
        check_listable(self.n_labels)
        return np.concatenate(self._map(lambda i: self._engine(i, self._object(i).whole()).label_masses()))

    def top(self, n_best: int) -> BestLabelsets:
        """Return the ``n_best`` most plausible labelsets of each object."""

        def answer(i: int) -> tuple[LabelMatrix, IntArray]:
            one = self._object(i)
            best = self._engine(i, one.folds).top(n_best)
            if self._highest_with_other(i, one) < best.numerators[0, -1]:
                return self._expand(best.labelsets[0], one.labels), best.numerators[0]
            best = self._engine(i, one.whole()).top(n_best)
            return best.labelsets[0], best.numerators[0]

        found = self._map(answer)
        labelsets = np.array([one for one, _ in found], dtype=np.int8).reshape(-1, n_best, self.n_labels)
        return BestLabelsets(labelsets, np.array([one for _, one in found], dtype=np.int64).reshape(-1, n_best))

    def region_sizes(self, smallest: int | IntArray) -> Sequence[RegionSize]:
        """Return how many labelsets of each object have a numerator of at least ``smallest``, which may differ."""
        least = np.broadcast_to(smallest, self.n_objects).tolist()
        return self._map(lambda i: self._engine(i, self._relevant(i, least[i])[0]).region_sizes(least[i])[0])

    def region_members(self, i: int, smallest: int, limit: int | None) -> tuple[LabelMatrix, IntArray]:
        """Return the most plausible labelsets of object ``i`` with a numerator of at least ``smallest``."""
        folds, labels = self._relevant(i, smallest)
        labelsets, numerators = self._engine(i, folds).region_members(0, smallest, limit)
        return self._expand(labelsets, labels), numerators

    def iterate_members(self, i: int, smallest: int) -> Iterator[tuple[LabelMatrix, IntArray]]:
        """Yield the same labelsets in some order, a limited number at a time."""
        folds, labels = self._relevant(i, smallest)
        for labelsets, numerators in self._engine(i, folds).iterate_members(0, smallest):
            yield self._expand(labelsets, labels), numerators

    def label_numerators(self) -> IntArray:
        """Return the highest numerator among the labelsets with each label off and on, (n_objects, n_labels, 2)."""

        def answer(i: int) -> IntArray:
            one = self._object(i)
            if any(fold.energy.pairwise is not None for fold in one.folds):
                whole: IntArray = self._engine(i, one.whole()).label_numerators()[0]
                return whole
            alone = self._engine(i, one.folds)
            others = np.delete(np.arange(self.n_labels), one.labels)
            numerators = np.zeros((self.n_labels, 2), dtype=np.int64)
            numerators[one.labels] = alone.label_numerators()[0]
            numerators[others, 0] = alone.top(1).numerators[0]
            if len(others):  # with one of the others on, no labelset is empty
                with_other = self._engine(i, _shifted(one), allow_empty=True)
                numerators[one.labels] = np.maximum(numerators[one.labels], with_other.label_numerators()[0])
                numerators[others, 1] = with_other.top(1).numerators[0]
            if len(others) > 1:  # one off, another on
                numerators[others] = np.maximum(numerators[others], numerators[others, 1:])
            return numerators

        return np.array(self._map(answer), dtype=np.int64).reshape(-1, self.n_labels, 2)

    def numerators_of(self, Y: LabelMatrix, objects: IntArray | None = None) -> IntArray:
        """Return the numerators of the p-values of ``Y[r]`` for object ``objects[r]`` (None: one row per object)."""
        objects = np.arange(self.n_objects) if objects is None else objects
        folds = self._object(0).folds if self.n_objects else ()
        scores = list(zip(folds, self._fold_scores(Y, objects), strict=True))
        nothing = np.zeros(len(Y), dtype=np.int64)

        def count(more: int) -> IntArray:
            return sum((fold.calibration.count_at_least(own + more) for fold, own in scores), start=nothing)

        return self._weigh_counts(Y, objects, count)

    def _fold_scores(self, Y: LabelMatrix, objects: IntArray) -> list[IntArray]:
        """Return the scores of ``Y[r]`` for object ``objects[r]`` under each fold."""
        rows = []
        for i, labelset in zip(objects, Y, strict=True):
            one = self._object(int(i))
            inside = labelset[one.labels][None]
            if labelset.sum() == inside.sum():
                rows.append([fold.energy.scores(inside)[0] for fold in one.folds])
            else:
                rows.append([fold.energy.scores(labelset[None])[0] for fold in one.whole()])
        return list(np.array(rows, dtype=np.int64).T)

    def _object(self, i: int) -> CompactObject:
        return self.make(int(self.objects[i]))

    def _engine(self, i: int, folds: Sequence[Fold], *, allow_empty: bool | None = None) -> FoldEngine:
        """Return an engine for object ``i`` alone."""
        return FoldEngine(
            folds,
            allow_empty=self.allow_empty if allow_empty is None else allow_empty,
            draws=None if self.draws is None else self.draws[[i]],
        )

    def _highest_with_other(self, i: int, one: CompactObject) -> int:
        """Return a number that no numerator of a labelset with one of the other labels exceeds; 0 if there are none."""
        if len(one.labels) == self.n_labels:
            return 0
        scores = [
            fold.energy.lower_bound() + int(cost) for fold, cost in zip(one.folds, one.default_costs, strict=True)
        ]
        at_least, above = (
            sum(
                int(fold.calibration.count_at_least(np.array([score + strict]))[0])
                for fold, score in zip(one.folds, scores, strict=True)
            )
            for strict in (0, 1)
        )
        if self.draws is None:
            return at_least + 1
        return int(smooth(np.array([at_least]), np.array([above]), self.draws[[i]])[0])

    def _relevant(self, i: int, smallest: int) -> tuple[Sequence[Fold], IntArray]:
        """Return the folds and labels that decide which labelsets have a numerator of at least ``smallest``."""
        one = self._object(i)
        if self._highest_with_other(i, one) < smallest:
            return one.folds, one.labels
        return one.whole(), np.arange(self.n_labels)

    def _expand(self, labelsets: LabelMatrix, labels: IntArray) -> LabelMatrix:
        expanded = np.zeros((len(labelsets), self.n_labels), dtype=np.int8)
        expanded[:, labels] = labelsets
        return expanded

    def _map(self, answer: Callable[[int], Answer]) -> list[Answer]:
        everyone = range(self.n_objects)
        return list(map_in_threads(answer, everyone, n_jobs=self.n_jobs, description="objects"))


def _shifted(one: CompactObject) -> list[Fold]:
    """Return the folds with one of the other labels on."""
    return [
        Fold(fold.calibration, replace(fold.energy, constant=fold.energy.constant + cost))
        for fold, cost in zip(one.folds, one.default_costs, strict=True)
    ]

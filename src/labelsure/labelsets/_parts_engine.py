"""Engines made of engines: one for each category of labelsets, or one for each group of objects."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np

from labelsure._core.types import FloatArray, IntArray, LabelMatrix
from labelsure.labelsets._engine import BestLabelsets, LabelsetEngine, Numerators
from labelsure.labelsets._fold_engine import FoldEngine
from labelsure.labelsets._size import RegionSize, sum_sizes
from labelsure.labelsets._table_engine import TableEngine
from labelsure.labelsets._words import pack

Array = TypeVar("Array", IntArray, FloatArray, LabelMatrix)


class CategoryEngine(TableEngine):
    """Answers questions about labelsets whose p-values are counted within their category.

    Parameters
    ----------
    parts : sequence of FoldEngine
        One per category; a labelset has a numerator above 0 in the part of its own category alone, and its true total
        score, which is larger in all others. All have the same denominators.
    n_calibration, allow_empty, n_jobs
        As in LabelsetEngine.
    """

    def __init__(
        self, parts: Sequence[FoldEngine], *, n_calibration: int, allow_empty: bool, n_jobs: int | None
    ) -> None:
        self.parts = tuple(parts)
        super().__init__(
            n_objects=parts[0].n_objects,
            n_labels=parts[0].n_labels,
            n_calibration=n_calibration,
            allow_empty=allow_empty,
            draws=None,
            n_jobs=n_jobs,
        )
        self.denominators = parts[0].denominators

    def take(self, objects: IntArray) -> "CategoryEngine":
        """Return the engine for some of the objects."""
        return CategoryEngine(
            [part.take(objects) for part in self.parts],
            n_calibration=self.n_calibration,
            allow_empty=self.allow_empty,
            n_jobs=self.n_jobs,
        )

    def numerators_of(self, Y: LabelMatrix, objects: IntArray | None = None) -> IntArray:
        """Return the numerators of the p-values of ``Y[r]`` for object ``objects[r]`` (None: one row per object)."""
        numerators: IntArray = np.max([part.numerators_of(Y, objects) for part in self.parts], axis=0)
        return numerators

    def total_scores(self, Y: LabelMatrix, objects: IntArray) -> IntArray:
        """Return the total score over the folds of ``Y[r]`` for object ``objects[r]``."""
        totals: IntArray = np.min([part.total_scores(Y, objects) for part in self.parts], axis=0)
        return totals

    def top(self, n_best: int) -> BestLabelsets:
        """Return the ``n_best`` most plausible labelsets of each object."""
        best = [part.top(n_best) for part in self.parts]
        labelsets = np.zeros((self.n_objects, n_best, self.n_labels), dtype=np.int8)
        numerators = np.zeros((self.n_objects, n_best), dtype=np.int64)
        for i in range(self.n_objects):
            found = [(one.labelsets[i], one.numerators[i]) for one in best]
            members, values = self._in_order_of_plausibility(i, found, n_best)
            labelsets[i, : len(values)], numerators[i, : len(values)] = members, values
        return BestLabelsets(labelsets, numerators)

    def region_sizes(self, smallest: int | IntArray) -> Sequence[RegionSize]:
        """Return how many labelsets of each object have a numerator of at least ``smallest``, which may differ."""
        return [sum_sizes(sizes) for sizes in zip(*(part.region_sizes(smallest) for part in self.parts), strict=True)]

    def region_members(self, i: int, smallest: int, limit: int | None) -> tuple[LabelMatrix, IntArray]:
        """Return the most plausible labelsets of object ``i`` with a numerator of at least ``smallest``."""
        return self._in_order_of_plausibility(
            i, [part.region_members(i, smallest, limit) for part in self.parts], limit
        )

    def iterate_members(self, i: int, smallest: int) -> Iterator[tuple[LabelMatrix, IntArray]]:
        """Yield the same labelsets, category by category."""
        for part in self.parts:
            yield from part.iterate_members(i, smallest)

    def label_numerators(self) -> IntArray:
        """Return the highest numerator among the labelsets with each label off and on, (n_objects, n_labels, 2)."""
        highest: IntArray = np.max([part.label_numerators() for part in self.parts], axis=0)
        return highest

    def _in_order_of_plausibility(
        self, i: int, found: Sequence[tuple[LabelMatrix, IntArray]], limit: int | None
    ) -> tuple[LabelMatrix, IntArray]:
        """Return the most plausible of the labelsets found in all parts."""
        labelsets = np.concatenate([part for part, _ in found])
        numerators = np.concatenate([part for _, part in found])
        labelsets, numerators = labelsets[numerators > 0], numerators[numerators > 0]
        totals = self.total_scores(labelsets, np.full(len(labelsets), i))
        order: IntArray = np.lexsort((*pack(labelsets).T, totals, -numerators))[:limit]
        return labelsets[order], numerators[order]

    def _numerator_rows(self, objects: IntArray) -> Numerators:
        rows: Numerators = np.max([part._numerator_rows(objects) for part in self.parts], axis=0)
        return rows


class GroupedEngine(LabelsetEngine):
    """Answers questions about objects that belong to groups with an engine each.

    Parameters
    ----------
    engines : sequence of LabelsetEngine
        One per group.
    places : sequence of int64 arrays
        Which objects each engine answers for, in its order; together all of them, once.
    allow_empty : bool
        As in LabelsetEngine.
    """

    def __init__(self, engines: Sequence[LabelsetEngine], places: Sequence[IntArray], *, allow_empty: bool) -> None:
        self.engines = tuple(engines)
        self.places = tuple(places)
        super().__init__(
            n_objects=sum(map(len, places)),
            n_labels=engines[0].n_labels,
            n_calibration=max(engine.n_calibration for engine in engines),
            allow_empty=allow_empty,
            draws=None,
            n_jobs=None,
        )
        self.group_of = np.empty(self.n_objects, dtype=np.int64)
        self.place_in_group = np.empty(self.n_objects, dtype=np.int64)
        for group, (engine, own) in enumerate(zip(self.engines, self.places, strict=True)):
            self.denominators[own] = engine.denominators
            self.group_of[own] = group
            self.place_in_group[own] = np.arange(len(own))

    def take(self, objects: IntArray) -> "GroupedEngine":
        """Return the engine for some of the objects."""
        groups, places = [], []
        for group, engine in enumerate(self.engines):
            own = np.flatnonzero(self.group_of[objects] == group)
            groups.append(engine.take(self.place_in_group[objects[own]]))
            places.append(own)
        return GroupedEngine(groups, places, allow_empty=self.allow_empty)

    def numerators_of(self, Y: LabelMatrix, objects: IntArray | None = None) -> IntArray:
        """Return the numerators of the p-values of ``Y[r]`` for object ``objects[r]`` (None: one row per object)."""
        return self._ask_rows("numerators_of", Y, np.arange(self.n_objects) if objects is None else objects)

    def total_scores(self, Y: LabelMatrix, objects: IntArray) -> IntArray:
        """Return the total score over the folds of ``Y[r]`` for object ``objects[r]``."""
        return self._ask_rows("total_scores", Y, objects)

    def p_value_table(self) -> FloatArray:
        """Return the p-values of all candidates, (n_objects, n_candidates), columns in the order of their codes."""
        return self._gather([engine.p_value_table() for engine in self.engines])

    def label_masses(self) -> FloatArray:
        """Return the share of the sum of all p-values that falls on labelsets with each label, (n_objects, q)."""
        return self._gather([engine.label_masses() for engine in self.engines])

    def label_numerators(self) -> IntArray:
        """Return the highest numerator among the labelsets with each label off and on, (n_objects, n_labels, 2)."""
        return self._gather([engine.label_numerators() for engine in self.engines])

    def top(self, n_best: int) -> BestLabelsets:
        """Return the ``n_best`` most plausible labelsets of each object."""
        best = [engine.top(n_best) for engine in self.engines]
        return BestLabelsets(
            self._gather([one.labelsets for one in best]), self._gather([one.numerators for one in best])
        )

    def region_sizes(self, smallest: int | IntArray) -> Sequence[RegionSize]:
        """Return how many labelsets of each object have a numerator of at least ``smallest``, which may differ."""
        least = np.broadcast_to(smallest, self.n_objects)
        sizes: list[RegionSize] = [0] * self.n_objects
        for engine, own in zip(self.engines, self.places, strict=True):
            for i, size in zip(own.tolist(), engine.region_sizes(least[own]), strict=True):
                sizes[i] = size
        return sizes

    def region_members(self, i: int, smallest: int, limit: int | None) -> tuple[LabelMatrix, IntArray]:
        """Return the most plausible labelsets of object ``i`` with a numerator of at least ``smallest``."""
        return self.engines[int(self.group_of[i])].region_members(int(self.place_in_group[i]), smallest, limit)

    def iterate_members(self, i: int, smallest: int) -> Iterator[tuple[LabelMatrix, IntArray]]:
        """Yield the same labelsets in some order, a limited number at a time."""
        return self.engines[int(self.group_of[i])].iterate_members(int(self.place_in_group[i]), smallest)

    def _ask_rows(self, question: str, Y: LabelMatrix, objects: IntArray) -> IntArray:
        """Return an engine's answer for each row of ``Y``, the object's own engine being asked."""
        answers = np.empty(len(Y), dtype=np.int64)
        for group, engine in enumerate(self.engines):
            rows = np.flatnonzero(self.group_of[objects] == group)
            answers[rows] = getattr(engine, question)(Y[rows], self.place_in_group[objects[rows]])
        return answers

    def _gather(self, parts: Sequence[Array]) -> Array:
        """Return the groups' rows in the order of the objects."""
        together = np.empty((self.n_objects, *parts[0].shape[1:]), dtype=parts[0].dtype)
        for own, part in zip(self.places, parts, strict=True):
            together[own] = part
        return together

"""Engines made of engines: one for each category of labelsets, or one for each group of objects."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TypeVar

import numpy as np

from labelsure._core.labelset_bits import pack
from labelsure._core.types import BoolArray, FloatArray, IntArray, LabelMatrix
from labelsure.labelsets._engine import LabelsetEngine, Members
from labelsure.labelsets._fold_engine import FoldEngine
from labelsure.labelsets.arrays import BestLabelsets, Counts, RegionSize, sum_sizes
from labelsure.labelsets.table import RowTable, TableAnswers

Array = TypeVar("Array", IntArray, FloatArray, LabelMatrix, BoolArray)


class CategoryEngine(LabelsetEngine):
    """Answers questions about labelsets whose p-values are counted within their category.

    Parameters
    ----------
    parts : sequence of FoldEngine
        One per category; a labelset has a numerator above 0 in the part of its own category alone, and its true total
        score, which is larger in all others. All have the same denominators, and agree about the empty labelset.
    lowest : int64 array of shape (n_objects,) or None
        The numerator of an empty labelset that is stranger than all examples of its category; None: that of zero
        counts.
    """

    def __init__(self, parts: Sequence[FoldEngine], *, lowest: IntArray | None = None) -> None:
        self.parts = tuple(parts)
        first = self.parts[0]
        self.n_objects, self.n_labels, self.denominators = first.n_objects, first.n_labels, first.denominators
        self.allow_empty, self._lowest = first.allow_empty, first.lowest if lowest is None else lowest

    @property
    def lowest(self) -> IntArray:
        """The numerator of an empty labelset that is stranger than all examples of its category, (n_objects,)."""
        return self._lowest

    def take(self, objects: IntArray) -> "CategoryEngine":
        """Return the engine for some of the objects."""
        return CategoryEngine([part.take(objects) for part in self.parts], lowest=self.lowest[objects])

    def at_level(self, significance: Fraction) -> tuple[LabelsetEngine, IntArray]:
        """Return the engine that decides about regions at a level, and the smallest numerator of each object's."""
        if self.parts[0].weighing_at is None:
            return self, self.smallest_member(significance)
        at_level = CategoryEngine([part.deciding(significance) for part in self.parts])
        return at_level, np.ones(self.n_objects, dtype=np.int64)

    def numerators_of(self, Y: LabelMatrix, objects: IntArray | None = None) -> IntArray:
        """Return the numerators of the p-values of ``Y[r]`` for object ``objects[r]`` (None: one row per object)."""
        numerators: IntArray = np.max([part.numerators_of(Y, objects) for part in self.parts], axis=0)
        return numerators

    def total_scores(self, Y: LabelMatrix, objects: IntArray) -> IntArray:
        """Return the total score over the folds of ``Y[r]`` for object ``objects[r]``."""
        totals: IntArray = np.min([part.total_scores(Y, objects) for part in self.parts], axis=0)
        return totals

    def p_value_table(self, *, empty: IntArray | None = None) -> FloatArray:
        """Return the p-values of all candidates, (n_objects, n_candidates), columns in the order of their codes."""
        return self._table().p_values(self.denominators, empty)

    def label_masses(self, *, empty: IntArray | None = None) -> FloatArray:
        """Return the share of the sum of all p-values that falls on labelsets with each label, (n_objects, q)."""
        return self._table().label_masses(empty)

    def top(self, n_best: int) -> BestLabelsets:
        """Return the ``n_best`` most plausible labelsets of each object."""
        found = [part.top(n_best) for part in self.parts]
        best = BestLabelsets.nothing(self.n_objects, n_best, self.n_labels)
        for i in range(self.n_objects):
            members = [(one.labelsets[i], one.numerators[i]) for one in found]
            missed = [int(one.upper[i].max()) for one in found if not one.certain[i]]
            labelsets, numerators = self._in_order(i, members, n_best)
            best.write(i, numerators, max(missed, default=None), labelsets)
        return best

    def region_sizes(self, smallest: int | IntArray, *, rough: bool = False) -> Sequence[RegionSize]:
        """Return how many labelsets of each object have a numerator of at least ``smallest``, which may differ."""
        sizes = [part.region_sizes(smallest, rough=rough) for part in self.parts]
        return [sum_sizes(of_object) for of_object in zip(*sizes, strict=True)]

    def region_members(self, i: int, smallest: int, limit: int | None) -> Members:
        """Return the most plausible labelsets of object ``i`` with a numerator of at least ``smallest``."""
        return self._in_order(i, [part.region_members(i, smallest, limit) for part in self.parts], limit)

    def iterate_members(self, i: int, smallest: int) -> Iterator[Members]:
        """Yield the same labelsets, category by category."""
        for part in self.parts:
            yield from part.iterate_members(i, smallest)

    def label_numerators(self) -> IntArray:
        """Return the highest numerator among the labelsets with each label off and on, (n_objects, n_labels, 2)."""
        highest: IntArray = np.max([part.label_numerators() for part in self.parts], axis=0)
        return highest

    def _in_order(self, i: int, found: Sequence[Members], limit: int | None) -> Members:
        """Return the most plausible of the labelsets found in all parts."""
        labelsets = np.concatenate([part for part, _ in found])
        numerators = np.concatenate([part for _, part in found])
        labelsets, numerators = labelsets[numerators > 0], numerators[numerators > 0]
        totals = self.total_scores(labelsets, np.full(len(labelsets), i))
        order: IntArray = np.lexsort((*pack(labelsets).T, totals, -numerators))[:limit]
        return labelsets[order], numerators[order]

    def _table(self) -> TableAnswers:
        first = self.parts[0]
        return TableAnswers(_CategoryTable(self.parts), first.options, first.n_jobs)


class _CategoryTable(RowTable):
    """The table in which every labelset has the numerator of its own category."""

    def __init__(self, parts: Sequence[FoldEngine]) -> None:
        self.parts = parts
        self.n_objects, self.n_labels, self.first_code = parts[0].n_objects, parts[0].n_labels, parts[0].first_code

    def total_scores(self, Y: LabelMatrix, objects: IntArray) -> IntArray:
        """Return the total score over the folds of ``Y[r]`` for object ``objects[r]``."""
        totals: IntArray = np.min([part.total_scores(Y, objects) for part in self.parts], axis=0)
        return totals

    def numerators(self, objects: IntArray) -> Counts:
        """Return the numerators of every code, one row per object."""
        rows: Counts = np.max([part.table.backend.numerators(objects) for part in self.parts], axis=0)
        return rows


class GroupedEngine(LabelsetEngine):
    """Answers questions about objects that belong to groups with an engine each.

    Parameters
    ----------
    engines : sequence of LabelsetEngine
        One per group; they agree about the empty labelset.
    places : sequence of int64 arrays
        Which objects each engine answers for, in its order; together all of them, once.
    """

    def __init__(self, engines: Sequence[LabelsetEngine], places: Sequence[IntArray]) -> None:
        self.engines = tuple(engines)
        self.places = tuple(places)
        self.n_objects, self.n_labels = sum(map(len, places)), engines[0].n_labels
        self.group_of, self.place_in_group = np.empty((2, self.n_objects), dtype=np.int64)
        for group, own in enumerate(self.places):
            self.group_of[own] = group
            self.place_in_group[own] = np.arange(len(own))
        self.allow_empty = engines[0].allow_empty
        self.denominators = self._gather([engine.denominators for engine in engines])

    @property
    def lowest(self) -> IntArray:
        """The numerators of the groups' strangest labelsets, (n_objects,)."""
        return self._gather([engine.lowest for engine in self.engines])

    def take(self, objects: IntArray) -> "GroupedEngine":
        """Return the engine for some of the objects."""
        groups, places = [], []
        for group, engine in enumerate(self.engines):
            own = np.flatnonzero(self.group_of[objects] == group)
            groups.append(engine.take(self.place_in_group[objects[own]]))
            places.append(own)
        return GroupedEngine(groups, places)

    def at_level(self, significance: Fraction) -> tuple[LabelsetEngine, IntArray]:
        """Return the engine that decides about regions at a level, and the smallest numerator of each object's."""
        engines, smallest = zip(*(engine.at_level(significance) for engine in self.engines), strict=True)
        same = all(one is other for one, other in zip(engines, self.engines, strict=True))
        return self if same else GroupedEngine(engines, self.places), self._gather(smallest)

    def numerators_of(self, Y: LabelMatrix, objects: IntArray | None = None) -> IntArray:
        """Return the numerators of the p-values of ``Y[r]`` for object ``objects[r]`` (None: one row per object)."""
        return self._ask_rows("numerators_of", Y, np.arange(self.n_objects) if objects is None else objects)

    def total_scores(self, Y: LabelMatrix, objects: IntArray) -> IntArray:
        """Return the total score over the folds of ``Y[r]`` for object ``objects[r]``."""
        return self._ask_rows("total_scores", Y, objects)

    def p_value_table(self, *, empty: IntArray | None = None) -> FloatArray:
        """Return the p-values of all candidates, (n_objects, n_candidates), columns in the order of their codes."""
        own = [None if empty is None else empty[place] for place in self.places]
        return self._gather([one.p_value_table(empty=part) for one, part in zip(self.engines, own, strict=True)])

    def label_masses(self, *, empty: IntArray | None = None) -> FloatArray:
        """Return the share of the sum of all p-values that falls on labelsets with each label, (n_objects, q)."""
        own = [None if empty is None else empty[place] for place in self.places]
        return self._gather([one.label_masses(empty=part) for one, part in zip(self.engines, own, strict=True)])

    def label_numerators(self) -> IntArray:
        """Return the highest numerator among the labelsets with each label off and on, (n_objects, n_labels, 2)."""
        return self._gather([engine.label_numerators() for engine in self.engines])

    def top(self, n_best: int) -> BestLabelsets:
        """Return the ``n_best`` most plausible labelsets of each object."""
        best = [engine.top(n_best) for engine in self.engines]
        return BestLabelsets(
            self._gather([one.labelsets for one in best]),
            self._gather([one.numerators for one in best]),
            self._gather([one.upper for one in best]),
            self._gather([one.certain for one in best]),
        )

    def region_sizes(self, smallest: int | IntArray, *, rough: bool = False) -> Sequence[RegionSize]:
        """Return how many labelsets of each object have a numerator of at least ``smallest``, which may differ."""
        least = np.broadcast_to(smallest, self.n_objects)
        sizes: dict[int, RegionSize] = {}
        for engine, own in zip(self.engines, self.places, strict=True):
            sizes |= zip(own.tolist(), engine.region_sizes(least[own], rough=rough), strict=True)
        return [sizes[i] for i in range(self.n_objects)]

    def region_members(self, i: int, smallest: int, limit: int | None) -> Members:
        """Return the most plausible labelsets of object ``i`` with a numerator of at least ``smallest``."""
        return self.engines[int(self.group_of[i])].region_members(int(self.place_in_group[i]), smallest, limit)

    def iterate_members(self, i: int, smallest: int) -> Iterator[Members]:
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
        together = np.empty((len(self.group_of), *parts[0].shape[1:]), dtype=parts[0].dtype)
        for own, part in zip(self.places, parts, strict=True):
            together[own] = part
        return together

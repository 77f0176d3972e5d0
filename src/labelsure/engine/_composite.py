"""Engines made of engines: one for each category of labelsets, or one for each group of objects."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TypeVar

import numpy as np

from labelsure._checks import BoolArray, FloatArray, IntArray, LabelMatrix
from labelsure.engine._backends import RowTable
from labelsure.engine._engine import LabelsetEngine
from labelsure.engine._fold_engine import FoldEngine, TableEngine
from labelsure.engine._results import BestLabelsets, Members, RegionSize, sum_sizes
from labelsure.engine._rules import Inequality
from labelsure.engine._table import TableAnswers
from labelsure.engine._weighing import Counts
from labelsure.measures._labelset_bits import pack

Array = TypeVar("Array", IntArray, FloatArray, LabelMatrix, BoolArray)


class CategoryEngine(TableEngine):
    """Answers questions about labelsets whose p-values are counted within their category.

    Parameters
    ----------
    parts : sequence of FoldEngine
        One per category; a labelset has a numerator above 0 in the part of its own category alone,
        and its true total score, which is larger in all others. All have the same denominators, and
        agree about the empty labelset.
    """

    def __init__(self, parts: Sequence[FoldEngine]) -> None:
        self.parts = tuple(parts)
        first = self.parts[0]
        self.n_objects = first.n_objects
        self.n_labels = first.n_labels
        self.denominators = first.denominators
        self.allow_empty = first.allow_empty
        self.options = first.options
        self.weighing = first.weighing
        self.constraints = first.constraints

    @property
    def table(self) -> TableAnswers:
        """The table in which every labelset has the numerator of its own category."""
        common = (self.n_objects, self.n_labels, self.first_code, self.total_scores)
        backend = RowTable(*common, self._numerators, constraints=self.constraints)
        return TableAnswers(backend, self.options, self.parts[0].n_jobs)

    def take(self, objects: IntArray) -> "CategoryEngine":
        """Return the engine for some of the objects."""
        return CategoryEngine([part.take(objects) for part in self.parts])

    def at_level(self, significance: Fraction) -> tuple[LabelsetEngine, IntArray]:
        """Return the engine that decides about regions at a level, and the smallest numerator of each object's."""
        parts, smallest = zip(*(part.at_level(significance) for part in self.parts), strict=True)
        return self if parts == self.parts else CategoryEngine(parts), smallest[0]

    def under(self, inequalities: Sequence[Inequality]) -> "CategoryEngine":
        """Return the engine whose candidates obey some inequalities as well."""
        return CategoryEngine([part.under(inequalities) for part in self.parts])

    def numerators_of(self, Y: LabelMatrix, objects: IntArray | None = None) -> IntArray:
        """Return the numerators of the p-values of ``Y[r]`` for object ``objects[r]`` (None: one row per object)."""
        numerators: IntArray = np.max(
            [part.numerators_of(Y, objects) for part in self.parts], axis=0
        )
        return numerators

    def total_scores(self, Y: LabelMatrix, objects: IntArray) -> IntArray:
        """Return the total score over the folds of ``Y[r]`` for object ``objects[r]``."""
        totals: IntArray = np.min([part.total_scores(Y, objects) for part in self.parts], axis=0)
        return totals

    def top(self, n_best: int, objects: IntArray | None = None) -> BestLabelsets:
        """Return the ``n_best`` most plausible labelsets of some objects (None: of all)."""
        chosen = np.arange(self.n_objects) if objects is None else objects
        found = [part.top(n_best, chosen) for part in self.parts]
        best = BestLabelsets.nothing(len(chosen), n_best, self.n_labels)
        for row, i in enumerate(chosen):
            labelsets = np.concatenate([one.labelsets[row] for one in found])
            numerators = np.concatenate([one.numerators[row] for one in found])
            labelsets, numerators = labelsets[numerators > 0], numerators[numerators > 0]
            totals = self.total_scores(labelsets, np.full(len(labelsets), i))
            order = np.lexsort((*pack(labelsets).T, totals, -numerators))[:n_best]
            missed = [int(one.upper[row].max()) for one in found if not one.certain[row]]
            best.write(row, numerators[order], labelsets[order], max(missed, default=None))
        return best

    def region_sizes(self, smallest: int | IntArray, *, bits: float = 1.0) -> Sequence[RegionSize]:
        """Return how many labelsets of each object have a numerator of at least ``smallest``, which may differ."""
        sizes = [part.region_sizes(smallest, bits=bits) for part in self.parts]
        return [sum_sizes(of_object) for of_object in zip(*sizes, strict=True)]

    def iterate_members(self, i: int, smallest: int) -> Iterator[Members]:
        """Yield the labelsets of object ``i`` with a numerator of at least ``smallest``, category by category."""
        for part in self.parts:
            yield from part.iterate_members(i, smallest)

    def label_numerators(self) -> IntArray:
        """Return the highest numerator among the labelsets with each label off and on, (n_objects, n_labels, 2)."""
        highest: IntArray = np.max([part.label_numerators() for part in self.parts], axis=0)
        return highest

    def _numerators(self, objects: IntArray) -> Counts:
        """Return the numerators of every code, one row per object."""
        rows: Counts = np.max(
            [part.table.backend.numerators(objects) for part in self.parts], axis=0
        )
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
        self.allow_empty, self.options = engines[0].allow_empty, engines[0].options
        self.constraints = engines[0].constraints
        self.denominators = self._gather([engine.denominators for engine in engines])

    @property
    def lowest(self) -> IntArray:
        """The numerators of the groups' strangest labelsets, (n_objects,)."""
        return self._gather([engine.lowest for engine in self.engines])

    def take(self, objects: IntArray) -> "GroupedEngine":
        """Return the engine for some of the objects."""
        taken = [(engine.take(own), rows) for engine, rows, own in self._split(objects)]
        return GroupedEngine([engine for engine, _ in taken], [rows for _, rows in taken])

    def at_level(self, significance: Fraction) -> tuple[LabelsetEngine, IntArray]:
        """Return the engine that decides about regions at a level, and the smallest numerator of each object's."""
        engines, smallest = zip(
            *(engine.at_level(significance) for engine in self.engines), strict=True
        )
        return self if engines == self.engines else GroupedEngine(
            engines, self.places
        ), self._gather(smallest)

    def under(self, inequalities: Sequence[Inequality]) -> "GroupedEngine":
        """Return the engine whose candidates obey some inequalities as well."""
        return GroupedEngine([engine.under(inequalities) for engine in self.engines], self.places)

    def numerators_of(self, Y: LabelMatrix, objects: IntArray | None = None) -> IntArray:
        """Return the numerators of the p-values of ``Y[r]`` for object ``objects[r]`` (None: one row per object)."""
        chosen = np.arange(self.n_objects) if objects is None else objects
        return self._gather(
            [one.numerators_of(Y[rows], own) for one, rows, own in self._split(chosen)], chosen
        )

    def total_scores(self, Y: LabelMatrix, objects: IntArray) -> IntArray:
        """Return the total score over the folds of ``Y[r]`` for object ``objects[r]``."""
        return self._gather(
            [one.total_scores(Y[rows], own) for one, rows, own in self._split(objects)], objects
        )

    def p_value_table(self, *, empty: IntArray | None = None) -> FloatArray:
        """Return the p-values of all candidates, (n_objects, n_candidates), columns in the order of their codes."""
        own = [None if empty is None else empty[place] for place in self.places]
        return self._gather(
            [one.p_value_table(empty=part) for one, part in zip(self.engines, own, strict=True)]
        )

    def label_masses(self, *, empty: IntArray | None = None) -> FloatArray:
        """Return the share of the sum of all p-values that falls on labelsets with each label, (n_objects, q)."""
        own = [None if empty is None else empty[place] for place in self.places]
        return self._gather(
            [one.label_masses(empty=part) for one, part in zip(self.engines, own, strict=True)]
        )

    def label_numerators(self) -> IntArray:
        """Return the highest numerator among the labelsets with each label off and on, (n_objects, n_labels, 2)."""
        return self._gather([engine.label_numerators() for engine in self.engines])

    def top(self, n_best: int, objects: IntArray | None = None) -> BestLabelsets:
        """Return the ``n_best`` most plausible labelsets of some objects (None: of all)."""
        chosen = np.arange(self.n_objects) if objects is None else objects
        best = [engine.top(n_best, own) for engine, _, own in self._split(chosen)]
        names = ("labelsets", "numerators", "upper", "certain")
        return BestLabelsets(
            *(self._gather([getattr(one, name) for one in best], chosen) for name in names)
        )

    def region_sizes(self, smallest: int | IntArray, *, bits: float = 1.0) -> Sequence[RegionSize]:
        """Return how many labelsets of each object have a numerator of at least ``smallest``, which may differ."""
        least = np.broadcast_to(smallest, self.n_objects)
        sizes: dict[int, RegionSize] = {}
        for engine, own in zip(self.engines, self.places, strict=True):
            sizes |= zip(own.tolist(), engine.region_sizes(least[own], bits=bits), strict=True)
        return [sizes[i] for i in range(self.n_objects)]

    def iterate_members(self, i: int, smallest: int) -> Iterator[Members]:
        """Yield the labelsets of object ``i`` with a numerator of at least ``smallest``, some at a time."""
        return self.engines[int(self.group_of[i])].iterate_members(
            int(self.place_in_group[i]), smallest
        )

    def _split(self, objects: IntArray) -> Iterator[tuple[LabelsetEngine, IntArray, IntArray]]:
        """Yield each group's engine, where its objects are among ``objects``, and their places in the group."""
        for group, engine in enumerate(self.engines):
            rows = np.flatnonzero(self.group_of[objects] == group)
            yield engine, rows, self.place_in_group[objects[rows]]

    def _gather(self, parts: Sequence[Array], objects: IntArray | None = None) -> Array:
        """Return the groups' rows in the order of some objects (None: of all)."""
        places = self.places if objects is None else [rows for _, rows, _ in self._split(objects)]
        together = np.empty((sum(map(len, places)), *parts[0].shape[1:]), dtype=parts[0].dtype)
        for own, part in zip(places, parts, strict=True):
            together[own] = part
        return together

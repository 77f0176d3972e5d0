"""Engines made of engines: one for each category of labelsets, or one for each group of objects."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TypeVar

import numpy as np

from labelsure._checks import BoolArray, FloatArray, IntArray, LabelMatrix
from labelsure.engine._engine import LabelsetEngine
from labelsure.engine._fold_engine import FoldEngine
from labelsure.engine._results import BestLabelsets, Members, RegionSize, sum_sizes
from labelsure.engine._rows import CodeRows
from labelsure.engine._rules import Inequality
from labelsure.engine._weighing import Counts
from labelsure.measures._labelset_bits import pack

Array = TypeVar("Array", IntArray, FloatArray, LabelMatrix, BoolArray)


class CategoryEngine(LabelsetEngine):
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
        self.n_objects, self.n_labels = first.n_objects, first.n_labels
        self.denominators, self.weighing = first.denominators, first.weighing
        self.allow_empty, self.constraints = first.allow_empty, first.constraints
        self.first_code = first.first_code
        self.options, self.n_jobs = first.options, first.n_jobs

    def answers(self, n_objects: int, *, table: bool = False) -> CodeRows:  # noqa: ARG002
        """Return rows in which every labelset has the numerator of its own category."""
        common = (self.total_scores, self.n_labels, self.first_code, self.constraints)
        return CodeRows(self._numerators, *common)

    def _numerators(self, objects: IntArray) -> Counts:
        rows = [part.compiled_rows.numerators(objects) for part in self.parts]
        highest: Counts = np.max(rows, axis=0)
        return highest

    def take(self, objects: IntArray) -> "CategoryEngine":
        """Return the engine for some of the objects."""
        return CategoryEngine([part.take(objects) for part in self.parts])

    def at_level(self, significance: Fraction) -> tuple[LabelsetEngine, IntArray]:
        """Return the engine that decides about regions, and each object's smallest numerator."""
        parts, smallest = zip(*(part.at_level(significance) for part in self.parts), strict=True)
        return self if parts == self.parts else CategoryEngine(parts), smallest[0]

    def under(self, inequalities: Sequence[Inequality]) -> "CategoryEngine":
        """Return the engine whose candidates obey some inequalities as well."""
        return CategoryEngine([part.under(inequalities) for part in self.parts])

    def numerators_of(self, Y: LabelMatrix, objects: IntArray | None = None) -> IntArray:
        """Return the numerators of ``Y[r]`` for object ``objects[r]`` (None: one for each)."""
        numerators = [part.numerators_of(Y, objects) for part in self.parts]
        highest: IntArray = np.max(numerators, axis=0)
        return highest

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
        """Return how many labelsets of each object have a numerator of at least ``smallest``."""
        sizes = [part.region_sizes(smallest, bits=bits) for part in self.parts]
        return [sum_sizes(of_object) for of_object in zip(*sizes, strict=True)]

    def iterate_members(self, i: int, smallest: int) -> Iterator[Members]:
        """Yield the members of object ``i``, category by category."""
        for part in self.parts:
            yield from part.iterate_members(i, smallest)

    def label_numerators(self) -> IntArray:
        """Return the highest numerator with each label off and on, (n_objects, n_labels, 2)."""
        numerators = [part.label_numerators() for part in self.parts]
        highest: IntArray = np.max(numerators, axis=0)
        return highest


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
        self.engines, self.places = tuple(engines), tuple(places)
        self.n_objects, self.n_labels = sum(map(len, places)), engines[0].n_labels
        self.group_of, self.place_in_group = np.empty((2, self.n_objects), dtype=np.int64)
        for group, members in enumerate(self.places):
            self.group_of[members] = group
            self.place_in_group[members] = np.arange(len(members))
        self.allow_empty, self.options = engines[0].allow_empty, engines[0].options
        self.constraints = engines[0].constraints
        self.denominators = self._gather([engine.denominators for engine in engines])

    def take(self, objects: IntArray) -> "GroupedEngine":
        """Return the engine for some of the objects."""
        taken = [(engine.take(members), rows) for engine, rows, members in self._split(objects)]
        return GroupedEngine([engine for engine, _ in taken], [rows for _, rows in taken])

    def at_level(self, significance: Fraction) -> tuple[LabelsetEngine, IntArray]:
        """Return the engine that decides about regions, and each object's smallest numerator."""
        at_level = [engine.at_level(significance) for engine in self.engines]
        engines, smallest = zip(*at_level, strict=True)
        grouped = self if engines == self.engines else GroupedEngine(engines, self.places)
        return grouped, self._gather(smallest)

    def under(self, inequalities: Sequence[Inequality]) -> "GroupedEngine":
        """Return the engine whose candidates obey some inequalities as well."""
        return GroupedEngine([engine.under(inequalities) for engine in self.engines], self.places)

    def numerators_of(self, Y: LabelMatrix, objects: IntArray | None = None) -> IntArray:
        """Return the numerators of ``Y[r]`` for object ``objects[r]`` (None: one for each)."""
        chosen = np.arange(self.n_objects) if objects is None else objects
        parts = [one.numerators_of(Y[rows], members) for one, rows, members in self._split(chosen)]
        return self._gather(parts, chosen)

    def total_scores(self, Y: LabelMatrix, objects: IntArray) -> IntArray:
        """Return the total score over the folds of ``Y[r]`` for object ``objects[r]``."""
        parts = [one.total_scores(Y[rows], members) for one, rows, members in self._split(objects)]
        return self._gather(parts, objects)

    def p_value_table(self) -> FloatArray:
        """Return the p-values of all candidates, (n_objects, n_candidates), by code."""
        return self._gather([engine.p_value_table() for engine in self.engines])

    def label_masses(self) -> FloatArray:
        """Return the share of all p-values on labelsets with each label, (n_objects, q)."""
        return self._gather([engine.label_masses() for engine in self.engines])

    def label_numerators(self) -> IntArray:
        """Return the highest numerator with each label off and on, (n_objects, n_labels, 2)."""
        return self._gather([engine.label_numerators() for engine in self.engines])

    def top(self, n_best: int, objects: IntArray | None = None) -> BestLabelsets:
        """Return the ``n_best`` most plausible labelsets of some objects (None: of all)."""
        chosen = np.arange(self.n_objects) if objects is None else objects
        best = [engine.top(n_best, members) for engine, _, members in self._split(chosen)]
        names = ("labelsets", "numerators", "upper", "certain")
        columns = [[getattr(one, name) for one in best] for name in names]
        return BestLabelsets(*(self._gather(column, chosen) for column in columns))

    def region_sizes(self, smallest: int | IntArray, *, bits: float = 1.0) -> Sequence[RegionSize]:
        """Return how many labelsets of each object have a numerator of at least ``smallest``."""
        least = np.broadcast_to(smallest, self.n_objects)
        sizes: dict[int, RegionSize] = {}
        for engine, members in zip(self.engines, self.places, strict=True):
            of_group = engine.region_sizes(least[members], bits=bits)
            sizes |= zip(members.tolist(), of_group, strict=True)
        return [sizes[i] for i in range(self.n_objects)]

    def iterate_members(self, i: int, smallest: int) -> Iterator[Members]:
        """Yield the labelsets of object ``i`` with a numerator of at least ``smallest``."""
        engine = self.engines[int(self.group_of[i])]
        return engine.iterate_members(int(self.place_in_group[i]), smallest)

    def _split(self, objects: IntArray) -> Iterator[tuple[LabelsetEngine, IntArray, IntArray]]:
        """Yield each group's engine, where its objects are among ``objects``, and their places."""
        for group, engine in enumerate(self.engines):
            rows = np.flatnonzero(self.group_of[objects] == group)
            yield engine, rows, self.place_in_group[objects[rows]]

    def _gather(self, parts: Sequence[Array], objects: IntArray | None = None) -> Array:
        """Return the groups' rows in the order of some objects (None: of all)."""
        places = self.places if objects is None else [rows for _, rows, _ in self._split(objects)]
        together = np.empty((sum(map(len, places)), *parts[0].shape[1:]), dtype=parts[0].dtype)
        for rows, part in zip(places, parts, strict=True):
            together[rows] = part
        return together

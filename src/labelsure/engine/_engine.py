"""What every engine answers: whole-number questions about all labelsets of a batch of objects.

The p-value of a labelset is ``numerator / denominator``, both integers, see Weighing. Numerators
are compared with numerators, so a region does not depend on how its significance level was rounded.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from labelsure._checks import FloatArray, IntArray, LabelMatrix
from labelsure._parallel import map_in_threads
from labelsure.engine._p_values import smallest_numerators
from labelsure.engine._results import (
    BestLabelsets,
    EngineOptions,
    Members,
    NotAllListedError,
    RegionSize,
    check_listable,
    sum_sizes,
)
from labelsure.engine._rows import Rows
from labelsure.engine._rules import Inequality, LabelsetRules
from labelsure.engine._weighing import Counts, Weighing
from labelsure.measures._labelset_bits import decode, pack

FEW_MEMBERS = 4096
"""Up to this many members of a region are searched for as the best; more are listed and sorted."""


class Answers(Protocol):
    """One way to answer questions about some objects: rows of all candidates, or a search."""

    n_block: int

    def best(self, objects: IntArray, n_best: int) -> BestLabelsets:
        """Return the ``n_best`` most plausible labelsets of each object."""

    def region_sizes(
        self, objects: IntArray, smallest: IntArray, bits: float = 1.0
    ) -> list[RegionSize]:
        """Return how many numerators of each object are at least ``smallest[object]``."""

    def iterate_members(self, i: int, smallest: int) -> Iterator[Members]:
        """Yield the labelsets of one object with a numerator of at least ``smallest``."""

    def label_maxima(self, objects: IntArray) -> IntArray:
        """Return the highest numerators with each label off and on, (n, q, 2)."""


class LabelsetEngine(ABC):
    """Answers questions about the p-values of all labelsets of n objects.

    Attributes
    ----------
    n_objects, n_labels : int
        How many there are.
    denominators : int64 array of shape (n_objects,)
        Of each object's p-values.
    allow_empty : bool
        Whether the empty labelset is a candidate; one that is not has the p-value 0.
    strangest : bool
        Whether the empty labelset is stranger than all others and all calibration examples: its
        numerator is ``lowest``, that of zero counts, and it comes after all equals.
    first_code : int
        The lowest code that rows and searches look at: 1 where the empty labelset is strangest, or
        no candidate, else 0.
    options : EngineOptions
        Limits of time and memory.
    n_jobs : int or None
        Threads to work with, as in joblib.
    weighing : Weighing
        How counts become numerators; engines made of engines need not have one.
    constraints : LabelsetRules or None
        What candidates obey; all other labelsets have the p-value 0.
    """

    n_objects: int
    n_labels: int
    denominators: IntArray
    allow_empty: bool
    strangest: bool = False
    first_code: int
    options: EngineOptions
    n_jobs: int | None = 1
    weighing: Weighing
    constraints: LabelsetRules | None = None

    @property
    def lowest(self) -> IntArray:
        """The numerator of zero counts, (n_objects,)."""
        return self.weighing.lowest

    def answers(self, n_objects: int, *, table: bool = False) -> Answers:
        """Return the cheapest way to answer about so many objects; rows for a ``table`` of all.

        Engines made of engines need not have one.
        """
        raise NotImplementedError

    @abstractmethod
    def take(self, objects: IntArray) -> "LabelsetEngine":
        """Return the engine for some of the objects."""

    @abstractmethod
    def numerators_of(self, Y: LabelMatrix, objects: IntArray | None = None) -> IntArray:
        """Return the numerators of ``Y[r]`` for object ``objects[r]`` (None: one for each)."""

    @abstractmethod
    def total_scores(self, Y: LabelMatrix, objects: IntArray) -> IntArray:
        """Return the total score over the folds of ``Y[r]`` for object ``objects[r]``."""

    def at_level(self, significance: Fraction) -> tuple["LabelsetEngine", IntArray]:
        """Return the engine that decides about regions, and each object's smallest numerator."""
        return self, self.smallest_member(significance)

    def under(self, inequalities: Sequence[Inequality]) -> "LabelsetEngine":  # noqa: ARG002
        """Return the engine whose candidates obey some inequalities as well."""
        raise ValueError(
            "This region is too large to be listed, and its p-values are stored in tables: answers"
            " cannot narrow it. Ask for a lower confidence."
        )

    def p_value_table(self) -> FloatArray:
        """Return the p-values of all candidates, (n_objects, n_candidates), by code."""
        rows = self._listable_rows()
        empty = self.lowest if self.strangest else None
        table = np.empty((self.n_objects, self.n_candidates))

        def fill(objects: IntArray) -> None:
            p_values = rows.p_values(objects, self.denominators, empty)
            table[objects[0] : objects[-1] + 1] = p_values

        self._in_blocks(fill, rows.n_block, "p-values")
        return table

    def label_masses(self) -> FloatArray:
        """Return the share of the sum of all p-values on labelsets with each label, (n_objects, q).

        0 where all p-values are 0, as those of an object without weight may be.
        """
        rows, empty = self._listable_rows(), self.lowest if self.strangest else None
        blocks = self._in_blocks(
            lambda objects: rows.label_masses(objects, self.denominators, empty),
            rows.n_block,
            "masses of labels",
        )
        return np.concatenate([np.empty((0, self.n_labels)), *blocks])

    def top(self, n_best: int, objects: IntArray | None = None) -> BestLabelsets:
        """Return the ``n_best`` most plausible labelsets of some objects (None: of all)."""
        chosen = np.arange(self.n_objects) if objects is None else objects
        answers = self.answers(len(chosen))
        blocks = self._in_blocks(
            lambda some: answers.best(some, n_best), answers.n_block, "best labelsets", chosen
        )
        best = BestLabelsets.join(blocks, n_best, self.n_labels)
        if self.strangest:
            n_others = self.n_candidates - 1
            lowest = self.lowest[chosen]
            places = (best.numerators[:, :n_others] >= lowest[:, None]).sum(axis=1)
            for row in np.flatnonzero(places < n_best).tolist():
                best.insert_empty(row, int(places[row]), int(lowest[row]))
        return best

    def region_sizes(self, smallest: int | IntArray, *, bits: float = 1.0) -> Sequence[RegionSize]:
        """Return how many labelsets of each object have a numerator of at least ``smallest``.

        Parameters
        ----------
        smallest : int or int64 array of shape (n_objects,)
            The smallest numerator of a member.
        bits : float
            How precise estimates of large regions are: each end of the interval is at most a
            factor 2^bits away. Above 1, regions are hardly counted before they are estimated.
        """
        least = np.broadcast_to(smallest, self.n_objects)
        answers = self.answers(self.n_objects)
        blocks = self._in_blocks(
            lambda objects: answers.region_sizes(objects, least, bits),
            answers.n_block,
            "region sizes",
        )
        sizes = [size for block in blocks for size in block]
        if self.strangest:
            for i in np.flatnonzero(self.lowest >= least).tolist():
                sizes[i] = sum_sizes([sizes[i], RegionSize.counted(1)])
        return sizes

    def iterate_members(self, i: int, smallest: int) -> Iterator[Members]:
        """Yield the labelsets of object ``i`` with a numerator of at least ``smallest``."""
        yield from self.answers(1).iterate_members(i, smallest)
        if self.strangest and self.lowest[i] >= smallest:
            yield np.zeros((1, self.n_labels), dtype=np.int8), self.lowest[[i]]

    def label_numerators(self) -> IntArray:
        """Return the highest numerator with each label off and on, (n_objects, n_labels, 2).

        Upper bounds where a search spends its budget: what follows from them holds, but may say
        less.
        """
        answers = self.answers(self.n_objects)
        blocks = self._in_blocks(answers.label_maxima, answers.n_block, "p-values of labels")
        maxima = np.concatenate([np.empty((0, self.n_labels, 2), dtype=np.int64), *blocks])
        if self.strangest:
            np.maximum(maxima[:, :, 0], self.lowest[:, None], out=maxima[:, :, 0])
        return maxima

    def region_members(self, i: int, smallest: int, limit: int | None) -> Members:
        """Return labelsets of object ``i`` with a numerator of at least ``smallest``, and these.

        The most plausible come first: by p-value, then by lowest total score, then by lowest code;
        at most ``limit``. Few are searched for as the best, more are listed and sorted. Where a
        search for them spends its budget, the most plausible of those found.
        """
        most = self.options.list_bytes // (self.n_labels + 24)
        listed = None
        if limit is None or limit > FEW_MEMBERS:
            try:
                listed = self.list_members(i, smallest, most if limit is None else min(limit, most))
            except NotAllListedError:
                if limit is None:
                    raise
        if listed is not None:
            return listed
        if limit is None or limit > most:
            raise ValueError(
                f"This region has more than {most} labelsets, too many for a list of them all."
                " Pass limit= for the most plausible ones, or iterate over the region."
            )
        best = self.top(max(limit, 1), np.array([i]))
        n_there = min(limit, self.n_candidates)
        members = best.numerators[0, :n_there] >= smallest
        return best.labelsets[0, :n_there][members], best.numerators[0, :n_there][members]

    def list_members(self, i: int, smallest: int, most: int) -> Members | None:
        """Return all members of a region, the most plausible first; None if more than ``most``."""
        found: list[Members] = [
            (np.empty((0, self.n_labels), dtype=np.int8), np.empty(0, dtype=np.int64))
        ]
        n_found = 0
        for members in self.iterate_members(i, smallest):
            found.append(members)
            n_found += len(members[1])
            if n_found > most:
                return None
        labelsets, numerators = map(np.concatenate, zip(*found, strict=True))
        totals = self.total_scores(labelsets, np.full(len(labelsets), i))
        order = np.lexsort((*pack(labelsets).T, totals, -numerators))
        return labelsets[order], numerators[order]

    @property
    def n_candidates(self) -> int:
        """The number of labelsets in question: 2^q, 2^q - 1, or those that constraints allow."""
        if self.constraints is not None:
            return self.constraints.n_candidates(allow_empty=self.allow_empty)
        return int(2**self.n_labels) - (not self.allow_empty)

    def candidates(self) -> LabelMatrix:
        """Return all labelsets in question, in the order of their codes."""
        if self.constraints is None:
            return decode(np.arange(not self.allow_empty, 2**self.n_labels), self.n_labels)
        if self.constraints.listed is None:
            check_listable(self.n_labels, self.options)
        allowed = self.constraints.labelsets()
        return allowed[allowed.any(axis=1) | self.allow_empty]

    def smallest_member(self, significance: Fraction) -> IntArray:
        """Return the smallest numerator of a p-value above ``significance`` for each object."""
        return smallest_numerators(significance, self.denominators)

    def to_p_values(self, numerators: Counts, objects: IntArray | None = None) -> FloatArray:
        """Return p-values, row r of object ``objects[r]`` (None: one row per object)."""
        denominators = self.denominators if objects is None else self.denominators[objects]
        shape = (-1,) + (1,) * (numerators.ndim - 1)
        p_values: FloatArray = numerators / denominators.reshape(shape)
        return np.minimum(p_values, 1.0)  # some rules count beyond 1

    def _listable_rows(self) -> Rows:
        if self.constraints is None or self.constraints.listed is None:
            check_listable(self.n_labels, self.options)
        rows = self.answers(self.n_objects, table=True)
        assert isinstance(rows, Rows)
        return rows

    def _in_blocks(
        self,
        answer: Callable[[IntArray], Any],
        n_block: int,
        description: str,
        objects: IntArray | None = None,
    ) -> list[Any]:
        """Return the answers for blocks of some objects (None: of all), worked out in threads."""
        chosen = np.arange(self.n_objects) if objects is None else objects
        blocks = [chosen[start : start + n_block] for start in range(0, len(chosen), n_block)]
        return list(map_in_threads(answer, blocks, n_jobs=self.n_jobs, description=description))

    def _numerators_of_candidates(
        self, Y: LabelMatrix, numerators: IntArray, objects: IntArray
    ) -> IntArray:
        """Return 0 for labelsets that are no candidates, and ``lowest`` where that is due."""
        if self.constraints is not None:
            numerators = np.where(self.constraints.allow(Y), numerators, 0)
        if self.first_code == 0:
            return numerators
        of_empty = self.lowest[objects] if self.strangest else 0
        return np.where(np.any(Y, axis=1), numerators, of_empty)

"""What every engine answers: whole-number questions about all labelsets of a batch of objects.

The p-value of a labelset is ``numerator / denominator``, both integers, see Weighing. Numerators
are compared with numerators, so a region does not depend on how its significance level was rounded.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from labelsure._checks import FloatArray, IntArray, LabelMatrix
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
from labelsure.engine._rules import Inequality, LabelsetRules
from labelsure.engine._weighing import Counts, Weighing
from labelsure.measures._labelset_bits import decode, pack


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
    options : EngineOptions
        Limits of time and memory.
    weighing : Weighing
        How counts become numerators; engines made of engines need not have one.
    constraints : LabelsetRules or None
        What candidates obey; all other labelsets have the p-value 0.
    """

    n_objects: int
    n_labels: int
    denominators: IntArray
    allow_empty: bool
    options: EngineOptions
    weighing: Weighing
    constraints: LabelsetRules | None = None

    @property
    def lowest(self) -> IntArray:
        """The numerator of zero counts, that of an empty labelset stranger than everything else, (n_objects,)."""
        return self.weighing.lowest

    def at_level(self, significance: Fraction) -> tuple["LabelsetEngine", IntArray]:
        """Return the engine that decides about regions at a level, and the smallest numerator of each object's."""
        return self, self.smallest_member(significance)

    @abstractmethod
    def take(self, objects: IntArray) -> "LabelsetEngine":
        """Return the engine for some of the objects."""

    @abstractmethod
    def numerators_of(self, Y: LabelMatrix, objects: IntArray | None = None) -> IntArray:
        """Return the numerators of the p-values of ``Y[r]`` for object ``objects[r]`` (None: one row per object)."""

    @abstractmethod
    def total_scores(self, Y: LabelMatrix, objects: IntArray) -> IntArray:
        """Return the total score over the folds of ``Y[r]`` for object ``objects[r]``."""

    @abstractmethod
    def p_value_table(self, *, empty: IntArray | None = None) -> FloatArray:
        """Return the p-values of all candidates, (n_objects, n_candidates), columns in the order of their codes.

        ``empty`` are numerators of an empty labelset that is no candidate otherwise.
        """

    @abstractmethod
    def label_masses(self, *, empty: IntArray | None = None) -> FloatArray:
        """Return the share of the sum of all p-values that falls on labelsets with each label, (n_objects, q).

        0 where all p-values are 0, as those of an object without weight may be.
        """

    @abstractmethod
    def top(self, n_best: int, objects: IntArray | None = None) -> BestLabelsets:
        """Return the ``n_best`` most plausible labelsets of some objects (None: of all)."""

    @abstractmethod
    def region_sizes(self, smallest: int | IntArray, *, bits: float = 1.0) -> Sequence[RegionSize]:
        """Return how many labelsets of each object have a numerator of at least ``smallest``, which may differ.

        Parameters
        ----------
        smallest : int or int64 array of shape (n_objects,)
            The smallest numerator of a member.
        bits : float
            How precise estimates of large regions are to be: each end of the interval is at most a
            factor 2^bits away. Above 1, regions are hardly counted before they are estimated.
        """

    @abstractmethod
    def iterate_members(self, i: int, smallest: int) -> Iterator[Members]:
        """Yield the labelsets of object ``i`` with a numerator of at least ``smallest``, some at a time."""

    @abstractmethod
    def label_numerators(self) -> IntArray:
        """Return the highest numerator among the labelsets with each label off and on, (n_objects, n_labels, 2).

        Where a search for them spends its budget, upper bounds: what follows from them holds, but
        may say less.
        """

    def region_members(self, i: int, smallest: int, limit: int | None) -> Members:
        """Return labelsets of object ``i`` with a numerator of at least ``smallest``, and their numerators.

        The most plausible come first: by p-value, then by lowest total score, then by lowest code;
        at most ``limit``. Few are searched for as the best, more are listed and sorted. Where a
        search for them spends its budget, the most plausible of those found.
        """
        most = self.options.list_bytes // (self.n_labels + 24)
        listed = None
        if limit is None or limit > self.options.few_members:
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
        """Return all members of a region, the most plausible first; None where there are more than ``most``."""
        found: list[Members] = [
            (np.empty((0, self.n_labels), dtype=np.int8), np.empty(0, dtype=np.int64))
        ]
        n_found = 0
        for part in self.iterate_members(i, smallest):
            found.append(part)
            n_found += len(part[1])
            if n_found > most:
                return None
        labelsets, numerators = map(np.concatenate, zip(*found, strict=True))
        totals = self.total_scores(labelsets, np.full(len(labelsets), i))
        order = np.lexsort((*pack(labelsets).T, totals, -numerators))
        return labelsets[order], numerators[order]

    def under(self, inequalities: Sequence[Inequality]) -> "LabelsetEngine":  # noqa: ARG002
        """Return the engine whose candidates obey some inequalities as well."""
        raise ValueError(
            "This region is too large to be listed, and its p-values are stored in tables:"
            " answers cannot narrow it."
            " Ask for a lower confidence."
        )

    @property
    def first_code(self) -> int:
        """The lowest code of a candidate: 0, or 1 where the empty labelset is excluded."""
        return 0 if self.allow_empty else 1

    @property
    def n_candidates(self) -> int:
        """The number of labelsets in question: 2^q, 2^q - 1, or those that constraints allow."""
        if self.constraints is not None:
            return self.constraints.n_candidates(allow_empty=self.allow_empty)
        return int(2**self.n_labels) - self.first_code

    def candidates(self) -> LabelMatrix:
        """Return all labelsets in question, in the order of their codes."""
        if self.constraints is None:
            return decode(np.arange(self.first_code, 2**self.n_labels), self.n_labels)
        if self.constraints.listed is None:
            check_listable(self.n_labels, self.options)
        allowed = self.constraints.labelsets()
        return allowed[allowed.any(axis=1) | self.allow_empty]

    def smallest_member(self, significance: Fraction) -> IntArray:
        """Return the smallest numerator of a p-value above ``significance`` for each object."""
        return smallest_numerators(significance, self.denominators)

    def to_p_values(self, numerators: Counts, objects: IntArray | None = None) -> FloatArray:
        """Return the p-values with these numerators, row r of object ``objects[r]`` (None: one row per object)."""
        denominators = self.denominators if objects is None else self.denominators[objects]
        p_values: FloatArray = numerators / denominators.reshape(
            (-1,) + (1,) * (numerators.ndim - 1)
        )
        return np.minimum(p_values, 1.0)  # some rules count beyond 1


class StrangestEmpty(LabelsetEngine):
    """An engine with one candidate more: an empty labelset that is stranger than every other labelset.

    Its numerator is the engine's ``lowest``, that of zero counts, and its total score is above all
    others. So it is the last of all, but where labelsets have categories and it is compared with
    few examples.

    Parameters
    ----------
    engine : LabelsetEngine
        In which the empty labelset is no candidate, though constraints allow it.

    Examples
    --------
    >>> import numpy as np
    >>> from labelsure.measures._energy import Energy
    >>> from labelsure.engine._fold_arrays import Fold
    >>> from labelsure.engine._fold_engine import make_engine
    >>> energy = Energy(constant=np.array([2]), unary=np.array([[-2, 5]]))
    >>> engine = make_engine([Fold(np.array([0, 1, 5]), energy)], empty="strangest")
    >>> engine.p_value_table().tolist()
    [[0.25, 1.0, 0.25, 0.5]]
    """

    def __init__(self, engine: LabelsetEngine) -> None:
        self.engine = engine
        self.allow_empty = True
        self.options = engine.options
        self.constraints = engine.constraints
        self.n_objects = engine.n_objects
        self.n_labels = engine.n_labels
        self.denominators = engine.denominators

    @property
    def lowest(self) -> IntArray:
        """The numerator of the empty labelset, (n_objects,)."""
        return self.engine.lowest

    def take(self, objects: IntArray) -> "StrangestEmpty":
        """Return the engine for some of the objects."""
        return StrangestEmpty(self.engine.take(objects))

    def at_level(self, significance: Fraction) -> tuple[LabelsetEngine, IntArray]:
        """Return the engine that decides about regions at a level, and the smallest numerator of each object's."""
        engine, smallest = self.engine.at_level(significance)
        return self if engine is self.engine else StrangestEmpty(engine), smallest

    def under(self, inequalities: Sequence[Inequality]) -> LabelsetEngine:
        """Return the engine whose candidates obey some inequalities as well."""
        engine = self.engine.under(inequalities)
        allowed = engine.constraints is None or engine.constraints.allows_empty
        return StrangestEmpty(engine) if allowed else engine

    def numerators_of(self, Y: LabelMatrix, objects: IntArray | None = None) -> IntArray:
        """Return the numerators of the p-values of ``Y[r]`` for object ``objects[r]`` (None: one row per object)."""
        own = self.lowest if objects is None else self.lowest[objects]
        return np.where(np.any(Y, axis=1), self.engine.numerators_of(Y, objects), own)

    def total_scores(self, Y: LabelMatrix, objects: IntArray) -> IntArray:
        """Return the total score over the folds of ``Y[r]`` for object ``objects[r]``; beyond all for the empty one."""
        return np.where(
            np.any(Y, axis=1), self.engine.total_scores(Y, objects), np.iinfo(np.int64).max
        )

    def p_value_table(self, *, empty: IntArray | None = None) -> FloatArray:
        """Return the p-values of all labelsets, (n_objects, 2^q), columns in the order of their codes."""
        return self.engine.p_value_table(empty=self.lowest if empty is None else empty)

    def label_masses(self, *, empty: IntArray | None = None) -> FloatArray:
        """Return the share of the sum of all p-values that falls on labelsets with each label, (n_objects, q)."""
        return self.engine.label_masses(empty=self.lowest if empty is None else empty)

    def top(self, n_best: int, objects: IntArray | None = None) -> BestLabelsets:
        """Return the ``n_best`` most plausible labelsets of some objects (None: of all)."""
        best = self.engine.top(n_best, objects)
        lowest = self.lowest if objects is None else self.lowest[objects]
        places = (best.numerators[:, : self.engine.n_candidates] >= lowest[:, None]).sum(axis=1)
        for row in np.flatnonzero(places < n_best):
            place = int(places[row])
            upper = max(
                lowest[row], best.upper[row, place]
            )  # a search that was stopped may have missed a better one
            for rows, own in (
                (best.labelsets, 0),
                (best.numerators, lowest[row]),
                (best.upper, upper),
            ):
                rows[row, place + 1 :] = rows[row, place:-1].copy()
                rows[row, place] = own
        return best

    def region_sizes(self, smallest: int | IntArray, *, bits: float = 1.0) -> Sequence[RegionSize]:
        """Return how many labelsets of each object have a numerator of at least ``smallest``, which may differ."""
        members = np.broadcast_to(self.lowest >= smallest, self.n_objects).tolist()
        sizes = self.engine.region_sizes(smallest, bits=bits)
        return [
            sum_sizes([size, RegionSize.counted(1)]) if member else size
            for size, member in zip(sizes, members, strict=True)
        ]

    def iterate_members(self, i: int, smallest: int) -> Iterator[Members]:
        """Yield the same labelsets in some order, the empty one last."""
        yield from self.engine.iterate_members(i, smallest)
        if self.lowest[i] >= smallest:
            yield np.zeros((1, self.n_labels), dtype=np.int8), self.lowest[[i]]

    def label_numerators(self) -> IntArray:
        """Return the highest numerator among the labelsets with each label off and on, (n_objects, n_labels, 2)."""
        numerators = self.engine.label_numerators()
        np.maximum(numerators[:, :, 0], self.lowest[:, None], out=numerators[:, :, 0])
        return numerators

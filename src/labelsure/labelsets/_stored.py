"""The engine for predictors that can only be asked one labelset at a time, such as full conformal prediction."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from labelsure._core.labelset_bits import encode
from labelsure._core.types import FloatArray, IntArray, LabelMatrix
from labelsure.labelsets._engine import LabelsetEngine, Members
from labelsure.labelsets.arrays import BestLabelsets, Counts, EngineOptions, RegionSize, Weighing
from labelsure.labelsets.table import RowTable, TableAnswers


class StoredEngine(LabelsetEngine):
    """Answers questions about labelsets from tables of counts that were computed beforehand.

    Parameters
    ----------
    at_least, above : int32 arrays of shape (n, 2^q)
        How many of the other examples' scores are at least as large as, and larger than, the object's own, by code.
    scores : int64 array of shape (n, 2^q)
        The object's own score, to break ties.
    weighing : Weighing
        How counts become numerators.
    allow_empty : bool
        Whether the empty labelset is a candidate.
    options : EngineOptions or None
        Limits of memory.
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
    ) -> None:
        self.counts = StoredCounts(at_least, above, scores, weighing, allow_empty=allow_empty)
        self.options, self.allow_empty = options or EngineOptions(), allow_empty
        self.answers = TableAnswers(self.counts, self.options, n_jobs=1)
        self.n_objects, self.n_labels = self.counts.n_objects, self.counts.n_labels
        self.denominators = weighing.denominators

    @property
    def lowest(self) -> IntArray:
        """The numerator of zero counts, (n_objects,)."""
        return self.counts.weighing.lowest

    def at_level(self, significance: Fraction) -> tuple[LabelsetEngine, IntArray]:
        """Return the engine itself, and the smallest numerator of each object's region."""
        return self, self.smallest_member(significance)

    def take(self, objects: IntArray) -> "StoredEngine":
        """Return the engine for some of the objects."""
        counts = self.counts
        parts = (counts.at_least[objects], counts.above[objects], counts.scores[objects])
        return StoredEngine(*parts, counts.weighing.take(objects), allow_empty=self.allow_empty, options=self.options)

    def total_scores(self, Y: LabelMatrix, objects: IntArray) -> IntArray:
        """Return the score of ``Y[r]`` for object ``objects[r]``."""
        return self.counts.total_scores(Y, objects)

    def numerators_of(self, Y: LabelMatrix, objects: IntArray | None = None) -> IntArray:
        """Return the numerators of the p-values of ``Y[r]`` for object ``objects[r]`` (None: one row per object)."""
        objects = np.arange(self.n_objects) if objects is None else objects
        codes, counts = encode(Y), self.counts
        own = counts.weighing.numerators(
            counts.at_least[objects, codes][None], counts.above[objects, codes][None], objects
        ).astype(np.int64)
        return np.where(codes >= self.first_code, own, 0)

    def p_value_table(self, *, empty: IntArray | None = None) -> FloatArray:
        """Return the p-values of all candidates, (n_objects, n_candidates), columns in the order of their codes."""
        return self.answers.p_values(self.denominators, empty)

    def label_masses(self, *, empty: IntArray | None = None) -> FloatArray:
        """Return the share of the sum of all p-values that falls on labelsets with each label, (n_objects, q)."""
        return self.answers.label_masses(empty)

    def top(self, n_best: int) -> BestLabelsets:
        """Return the ``n_best`` most plausible labelsets of each object."""
        return self.answers.top(n_best)

    def region_sizes(self, smallest: int | IntArray, *, rough: bool = False) -> Sequence[RegionSize]:  # noqa: ARG002
        """Return how many labelsets of each object have a numerator of at least ``smallest``, which may differ."""
        return self.answers.region_sizes(np.broadcast_to(smallest, self.n_objects))

    def region_members(self, i: int, smallest: int, limit: int | None) -> Members:
        """Return the most plausible labelsets of object ``i`` with a numerator of at least ``smallest``."""
        return self.answers.region_members(i, smallest, limit)

    def iterate_members(self, i: int, smallest: int) -> Iterator[Members]:
        """Yield the same labelsets, the most plausible first."""
        return self.answers.iterate_members(i, smallest)

    def label_numerators(self) -> IntArray:
        """Return the highest numerator among the labelsets with each label off and on, (n_objects, n_labels, 2)."""
        return self.answers.label_numerators()


class StoredCounts(RowTable):
    """The back end of tables that are there already, see StoredEngine."""

    def __init__(
        self, at_least: Counts, above: Counts, scores: IntArray, weighing: Weighing, *, allow_empty: bool
    ) -> None:
        self.at_least, self.above, self.scores, self.weighing = at_least, above, scores, weighing
        self.n_objects, n_codes = at_least.shape
        self.n_labels, self.first_code = n_codes.bit_length() - 1, 0 if allow_empty else 1

    def total_scores(self, Y: LabelMatrix, objects: IntArray) -> IntArray:
        """Return the score of ``Y[r]`` for object ``objects[r]``."""
        scores: IntArray = self.scores[objects, encode(Y)]
        return scores

    def numerators(self, objects: IntArray) -> Counts:
        """Return the numerators of every code, one row per object."""
        rows = self.weighing.numerators(self.at_least[None, objects], self.above[None, objects], objects)
        rows[:, : self.first_code] = 0
        return rows

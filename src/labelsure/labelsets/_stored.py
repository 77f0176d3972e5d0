"""The engine for predictors that can only be asked one labelset at a time, such as full conformal prediction."""

from fractions import Fraction

import numpy as np

from labelsure._core.labelset_bits import encode
from labelsure._core.types import IntArray, LabelMatrix
from labelsure.labelsets._engine import LabelsetEngine
from labelsure.labelsets._fold_engine import TableEngine
from labelsure.labelsets.arrays import Counts, EngineOptions, Weighing
from labelsure.labelsets.table import RowTable, TableAnswers


class StoredEngine(TableEngine):
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
        self.at_least, self.above, self.scores, self.weighing = at_least, above, scores, weighing
        self.n_objects, self.n_labels = len(at_least), at_least.shape[1].bit_length() - 1
        self.denominators, self.allow_empty, self.options = (
            weighing.denominators,
            allow_empty,
            options or EngineOptions(),
        )

    @property
    def table(self) -> TableAnswers:
        """Answers from the tables."""
        backend = RowTable(self.n_objects, self.n_labels, self.first_code, self.total_scores, self._numerators)
        return TableAnswers(backend, self.options, n_jobs=1)

    @property
    def lowest(self) -> IntArray:
        """The numerator of zero counts, (n_objects,)."""
        return self.weighing.lowest

    def at_level(self, significance: Fraction) -> tuple[LabelsetEngine, IntArray]:
        """Return the engine itself, and the smallest numerator of each object's region."""
        return self, self.smallest_member(significance)

    def take(self, objects: IntArray) -> "StoredEngine":
        """Return the engine for some of the objects."""
        parts = (self.at_least[objects], self.above[objects], self.scores[objects], self.weighing.take(objects))
        return StoredEngine(*parts, allow_empty=self.allow_empty, options=self.options)

    def total_scores(self, Y: LabelMatrix, objects: IntArray) -> IntArray:
        """Return the score of ``Y[r]`` for object ``objects[r]``."""
        scores: IntArray = self.scores[objects, encode(Y)]
        return scores

    def numerators_of(self, Y: LabelMatrix, objects: IntArray | None = None) -> IntArray:
        """Return the numerators of the p-values of ``Y[r]`` for object ``objects[r]`` (None: one row per object)."""
        objects = np.arange(self.n_objects) if objects is None else objects
        codes = encode(Y)
        own = self.weighing.numerators(self.at_least[objects, codes][None], self.above[objects, codes][None], objects)
        return np.where(codes >= self.first_code, own.astype(np.int64), 0)

    def _numerators(self, objects: IntArray) -> Counts:
        """Return the numerators of every code, one row per object."""
        return self.weighing.numerators(self.at_least[None, objects], self.above[None, objects], objects)

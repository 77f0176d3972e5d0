"""The engine for predictors that can only be asked one labelset at a time, such as full conformal prediction."""

import numpy as np

from labelsure._core.types import IntArray, LabelMatrix
from labelsure.labelsets._codes import encode
from labelsure.labelsets._engine import Numerators
from labelsure.labelsets._table_engine import CountRows, TableEngine


class StoredEngine(TableEngine):
    """Answers questions about labelsets from tables of counts that were computed beforehand.

    Parameters
    ----------
    at_least, above : int32 arrays of shape (n, 2^q)
        How many of the other examples' scores are at least as large as, and larger than, the object's own, by code.
    scores : int64 array of shape (n, 2^q)
        The object's own score, to break ties.
    n_calibration : int
        The number of other examples.
    allow_empty : bool
        Whether the empty labelset is a candidate.
    draws : int64 array or None
        For smoothed p-values, see LabelsetEngine.
    """

    def __init__(
        self,
        at_least: CountRows,
        above: CountRows,
        scores: IntArray,
        *,
        n_calibration: int,
        allow_empty: bool,
        draws: IntArray | None = None,
    ) -> None:
        self.at_least = at_least
        self.above = above
        self.scores = scores
        n_objects, n_codes = at_least.shape
        super().__init__(
            n_objects=n_objects,
            n_labels=n_codes.bit_length() - 1,
            n_calibration=n_calibration,
            allow_empty=allow_empty,
            draws=draws,
            n_jobs=1,
        )

    def take(self, objects: IntArray) -> "StoredEngine":
        """Return the engine for some of the objects."""
        return StoredEngine(
            self.at_least[objects],
            self.above[objects],
            self.scores[objects],
            n_calibration=self.n_calibration,
            allow_empty=self.allow_empty,
            draws=None if self.draws is None else self.draws[objects],
        )

    def total_scores(self, Y: LabelMatrix, objects: IntArray) -> IntArray:
        """Return the score of ``Y[r]`` for object ``objects[r]``."""
        scores: IntArray = self.scores[objects, encode(Y)]
        return scores

    def numerators_of(self, Y: LabelMatrix, objects: IntArray | None = None) -> IntArray:
        """Return the numerators of the p-values of ``Y[r]`` for object ``objects[r]`` (None: one row per object)."""
        objects = np.arange(self.n_objects) if objects is None else objects
        return self._weigh_counts(Y, objects, lambda more: self._tables[more][objects, encode(Y)].astype(np.int64))

    def _numerator_rows(self, objects: IntArray) -> Numerators:
        return self._weigh_rows(objects, lambda more: self._tables[more][objects])

    @property
    def _tables(self) -> tuple[CountRows, CountRows]:
        """The counts of scores at least as large, and of scores larger by at least 1."""
        return self.at_least, self.above

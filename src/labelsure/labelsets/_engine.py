"""The engine: whole-number answers about all labelsets of a batch of objects.

The p-value of a labelset is ``numerator / denominator``, both integers: (#{>=} + 1) / (l + 1), or with smoothing
(#{>} + u (#{=} + 1)) / (l + 1) where u, one draw per object, is a multiple of 2^-31. Numerators are compared with
numerators, so a region does not depend on how its significance level was rounded.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

import numpy as np

from labelsure._core.threads import map_in_threads
from labelsure._core.types import FloatArray, IntArray, LabelMatrix
from labelsure.labelsets._codes import decode

Answer = TypeVar("Answer")

CountRows = np.ndarray[tuple[int, int], np.dtype[np.int32]]
NumeratorRows = np.ndarray[tuple[int, ...], np.dtype[np.signedinteger]]

DRAW_UNIT = 2**31
"""A draw u is a whole number of these; u = 1 .. 2^31, never 0, so that P(p <= eps) <= eps holds exactly."""

MAX_TABLE_LABELS = 24
"""With more labels one object's row of counts no longer fits in 64 MiB."""

BLOCK_BYTES = 2**20
"""Rows worked on at a time by one thread: small enough to stay in the processor's cache."""


@dataclass(frozen=True, eq=False)
class BestLabelsets:
    """The most plausible labelset of each object.

    Attributes
    ----------
    labelsets : int8 array of shape (n, q)
        Highest p-value; ties by lowest total score, then by lowest code.
    numerators : int64 array of shape (n,)
        Of their p-values.
    runner_up : int64 array of shape (n,)
        Numerators of the highest p-value among the other candidates; 0 where there is no other.
    """

    labelsets: LabelMatrix
    numerators: IntArray
    runner_up: IntArray


class LabelsetEngine(ABC):
    """Answers questions about the p-values of all labelsets of n objects.

    Parameters
    ----------
    n_objects, n_labels, n_calibration : int
        Sizes; ``n_calibration`` is the l of the p-value's denominator l + 1.
    allow_empty : bool
        Whether the empty labelset is a candidate; one that is not has the p-value 0.
    draws : int64 array of shape (n_objects,) or None
        For smoothed p-values, one number from 1 to ``DRAW_UNIT`` per object.
    n_jobs : int or None
        Threads to work with, as in joblib.
    """

    def __init__(
        self,
        *,
        n_objects: int,
        n_labels: int,
        n_calibration: int,
        allow_empty: bool,
        draws: IntArray | None,
        n_jobs: int | None,
    ) -> None:
        self.n_objects = n_objects
        self.n_labels = n_labels
        self.n_calibration = n_calibration
        self.allow_empty = allow_empty
        self.draws = draws
        self.n_jobs = n_jobs
        self.denominator = (n_calibration + 1) * (1 if draws is None else DRAW_UNIT)

    @abstractmethod
    def take(self, objects: IntArray) -> "LabelsetEngine":
        """Return the engine for some of the objects."""

    @abstractmethod
    def _counts_of(self, Y: LabelMatrix, *, strict: bool) -> IntArray:
        """Return, per object, how many calibration scores are >= (> if strict) the score of its labelset in Y."""

    @abstractmethod
    def _count_rows(self, objects: IntArray, *, strict: bool) -> CountRows:
        """Return the same for every labelset code, one row per object; the caller may overwrite it."""

    @abstractmethod
    def _total_scores(self, i: int, codes: IntArray) -> IntArray:
        """Return the total score over the folds of some labelsets of object ``i``."""

    @property
    def first_code(self) -> int:
        """The lowest code of a candidate: 0, or 1 where the empty labelset is excluded."""
        return 0 if self.allow_empty else 1

    @property
    def n_candidates(self) -> int:
        """The number of labelsets in question, 2^q or 2^q - 1."""
        return int(2**self.n_labels) - self.first_code

    def smallest_member(self, significance: Fraction) -> int:
        """Return the smallest numerator of a p-value above ``significance``."""
        return significance.numerator * self.denominator // significance.denominator + 1

    def numerators_of(self, Y: LabelMatrix) -> IntArray:
        """Return the numerator of the p-value of one labelset per object."""
        at_least = self._counts_of(Y, strict=False)
        if self.draws is None:
            numerators = at_least + 1
        else:
            numerators = self._smooth(at_least, self._counts_of(Y, strict=True), self.draws)
        return numerators if self.allow_empty else np.where(Y.any(axis=1), numerators, 0)

    def p_value_table(self) -> FloatArray:
        """Return the p-values of all candidates, (n_objects, n_candidates), columns in the order of their codes."""
        table = np.empty((self.n_objects, self.n_candidates))

        def fill(objects: IntArray) -> None:
            rows = self._numerator_rows(objects)[:, self.first_code :]
            np.divide(rows, self.denominator, out=table[objects[0] : objects[-1] + 1])

        for _ in map_in_threads(fill, self._blocks(), n_jobs=self.n_jobs, description="p-values"):
            pass
        return table

    def best(self) -> BestLabelsets:
        """Return the most plausible labelset of each object and the p-value of the next."""
        found = self._map_rows(self._best_of_row, "best labelsets")
        codes, numerators, runner_up = np.array(found, dtype=np.int64).reshape(-1, 3).T
        return BestLabelsets(decode(codes, self.n_labels), numerators, runner_up)

    def region_sizes(self, smallest: int) -> IntArray:
        """Return how many labelsets of each object have a numerator of at least ``smallest``."""
        sizes = self._map_rows(lambda _, row: np.count_nonzero(row >= smallest), "region sizes")
        return np.array(sizes, dtype=np.int64)

    def region_members(self, i: int, smallest: int) -> tuple[LabelMatrix, IntArray]:
        """Return the labelsets of object ``i`` with a numerator of at least ``smallest``, and their numerators.

        The most plausible come first: by p-value, then by lowest total score, then by lowest code.
        """
        self.check_listable()
        row = self._numerator_rows(np.array([i]))[0]
        codes = np.flatnonzero(row >= smallest)
        order = np.lexsort((codes, self._total_scores(i, codes), -row[codes].astype(np.int64)))
        return decode(codes[order], self.n_labels), row[codes[order]].astype(np.int64)

    def check_listable(self) -> None:
        """Raise ValueError where there are too many labelsets to list."""
        if self.n_labels > MAX_TABLE_LABELS:
            raise ValueError(
                f"This needs the p-values of all 2^{self.n_labels} labelsets of {self.n_labels} labels, one by one;"
                f" that is possible for up to {MAX_TABLE_LABELS} labels."
                " The p-value of given labelsets, p_value(Y), and region.contains(Y) work for any number of labels."
            )

    def _map_rows(self, question: Callable[[int, NumeratorRows], Answer], description: str) -> list[Answer]:
        """Return ``question(i, numerators of every code)`` for each object."""

        def answer(objects: IntArray) -> list[Answer]:
            return [question(i, row) for i, row in zip(objects, self._numerator_rows(objects), strict=True)]

        blocks = map_in_threads(answer, self._blocks(), n_jobs=self.n_jobs, description=description)
        return [one for block in blocks for one in block]

    def _best_of_row(self, i: int, row: NumeratorRows) -> tuple[int, int, int]:
        highest = row.max()
        tied = np.flatnonzero(row == highest)
        if len(tied) > 1:
            return int(tied[np.argmin(self._total_scores(i, tied))]), int(highest), int(highest)
        row[tied[0]] = 0
        return int(tied[0]), int(highest), int(row.max())

    def _numerator_rows(self, objects: IntArray) -> NumeratorRows:
        """Return the numerators of every code, one row per object; 0 for an excluded empty labelset."""
        rows: NumeratorRows = self._count_rows(objects, strict=False)
        if self.draws is None:
            rows += 1
        else:
            rows = self._smooth(rows, self._count_rows(objects, strict=True), self.draws[objects][:, None])
        rows[:, : self.first_code] = 0
        return rows

    @staticmethod
    def _smooth(at_least: NumeratorRows, above: NumeratorRows, draws: IntArray) -> IntArray:
        larger = above.astype(np.int64)
        return larger * DRAW_UNIT + draws * (at_least - larger + 1)

    def _blocks(self) -> list[IntArray]:
        self.check_listable()
        n_rows = max(1, BLOCK_BYTES // (4 * 2**self.n_labels))
        everyone = np.arange(self.n_objects)
        return [everyone[start : start + n_rows] for start in range(0, self.n_objects, n_rows)]

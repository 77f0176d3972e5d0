"""The engine: whole-number answers about all labelsets of a batch of objects.

The p-value of a labelset is ``numerator / denominator``, both integers: (#{>=} + 1) / (l + 1), or with smoothing
(#{>} + u (#{=} + 1)) / (l + 1) where u, one draw per object, is a multiple of 2^-31, or what a Rule makes of the folds'
counts. Numerators are compared with numerators, so a region does not depend on how its significance level was rounded.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from labelsure._core.types import FloatArray, IntArray, LabelMatrix
from labelsure.labelsets._size import RegionSize

Numerators = np.ndarray[tuple[int, ...], np.dtype[np.signedinteger]]

DRAW_UNIT = 2**31
"""A draw u is a whole number of these; u = 1 .. 2^31, never 0, so that P(p <= eps) <= eps holds exactly."""


@dataclass(frozen=True, eq=False)
class BestLabelsets:
    """The k most plausible labelsets of each object, in order.

    Attributes
    ----------
    labelsets : int8 array of shape (n, k, q)
        By highest p-value; ties by lowest total score over the folds, then by lowest code.
    numerators : int64 array of shape (n, k)
        Of their p-values; 0 where an object has fewer candidates.
    """

    labelsets: LabelMatrix
    numerators: IntArray


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
        self.denominators = np.full(n_objects, (n_calibration + 1) * (1 if draws is None else DRAW_UNIT))

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
    def p_value_table(self) -> FloatArray:
        """Return the p-values of all candidates, (n_objects, n_candidates), columns in the order of their codes."""

    @abstractmethod
    def top(self, n_best: int) -> BestLabelsets:
        """Return the ``n_best`` most plausible labelsets of each object."""

    @abstractmethod
    def region_sizes(self, smallest: int | IntArray) -> Sequence[RegionSize]:
        """Return how many labelsets of each object have a numerator of at least ``smallest``, which may differ."""

    @abstractmethod
    def region_members(self, i: int, smallest: int, limit: int | None) -> tuple[LabelMatrix, IntArray]:
        """Return labelsets of object ``i`` with a numerator of at least ``smallest``, and their numerators.

        The most plausible come first: by p-value, then by lowest total score, then by lowest code; at most ``limit``.
        """

    @abstractmethod
    def iterate_members(self, i: int, smallest: int) -> Iterator[tuple[LabelMatrix, IntArray]]:
        """Yield the same labelsets in some order, a limited number at a time."""

    @abstractmethod
    def label_numerators(self) -> IntArray:
        """Return the highest numerator among the labelsets with each label off and on, (n_objects, n_labels, 2)."""

    @abstractmethod
    def label_masses(self) -> FloatArray:
        """Return the share of the sum of all p-values that falls on labelsets with each label, (n_objects, q)."""

    @property
    def first_code(self) -> int:
        """The lowest code of a candidate: 0, or 1 where the empty labelset is excluded."""
        return 0 if self.allow_empty else 1

    @property
    def n_candidates(self) -> int:
        """The number of labelsets in question, 2^q or 2^q - 1."""
        return int(2**self.n_labels) - self.first_code

    def at_level(self, significance: Fraction) -> tuple["LabelsetEngine", IntArray]:
        """Return the engine that decides about regions at a level, and the smallest numerator of each object's."""
        return self, self.smallest_member(significance)

    def smallest_member(self, significance: Fraction) -> IntArray:
        """Return the smallest numerator of a p-value above ``significance`` for each object."""
        distinct, which = np.unique(self.denominators, return_inverse=True)
        smallest = [significance.numerator * int(one) // significance.denominator + 1 for one in distinct]
        return np.array(smallest, dtype=np.int64)[which]

    def to_p_values(
        self, numerators: Numerators, objects: IntArray | None = None, *, out: FloatArray | None = None
    ) -> FloatArray:
        """Return the p-values with these numerators, row r of object ``objects[r]`` (None: one row per object)."""
        denominators = self.denominators if objects is None else self.denominators[objects]
        own = denominators.reshape((-1,) + (1,) * (numerators.ndim - 1))
        p_values: FloatArray = np.divide(numerators, own, out=out)
        if numerators.size and numerators.max() > denominators.min():  # some rules count beyond 1
            np.minimum(p_values, 1.0, out=p_values)
        return p_values

    def _weigh_counts(self, Y: LabelMatrix, objects: IntArray, count: Callable[[int], IntArray]) -> IntArray:
        """Return the numerators of labelsets, given how many calibration scores are at least their scores + 0 or 1."""
        at_least = count(0)
        numerators = at_least + 1 if self.draws is None else smooth(at_least, count(1), self.draws[objects])
        return self._of_candidates(numerators, Y)

    def _of_candidates(self, numerators: IntArray, Y: LabelMatrix) -> IntArray:
        """Return the numerators, 0 for an empty labelset that is no candidate."""
        return numerators if self.allow_empty else np.where(Y.any(axis=1), numerators, 0)


def smooth(at_least: Numerators, above: Numerators, draws: IntArray) -> IntArray:
    """Return the numerators of smoothed p-values, in units of 1 / DRAW_UNIT."""
    larger = above.astype(np.int64)
    return larger * DRAW_UNIT + draws * (at_least - larger + 1)

"""How the folds' counts become numerators of p-values: plain, smoothed and by rules."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from labelsure._checks import IntArray
from labelsure._random import DRAW_UNIT
from labelsure.engine._p_values import count_at_least

Counts = np.ndarray[tuple[int, ...], np.dtype[np.signedinteger]]

NO_WEIGHTS: IntArray = np.empty((0, 0), dtype=np.int64)


class ObjectWeighing(NamedTuple):
    """A Weighing for one object, as kernels take it.

    Attributes
    ----------
    start, at_least, above : int
        The object's own.
    weights : int64 array of shape (K, m + 1) or (0, 0)
        As in Weighing.
    """

    start: int
    at_least: int
    above: int
    weights: IntArray


class ObjectWeighings(NamedTuple):
    """A Weighing for n objects, as kernels take it."""

    start: IntArray
    at_least: IntArray
    above: IntArray
    weights: IntArray


@dataclass(eq=False)
class Weighing:
    """How the folds' counts become one numerator per labelset.

    With W_k the k-th row of ``weights`` (or the identity, where there are none), the numerator of a
    labelset for object i is::

        start_i + sum_k [at_least_i W_k(#{scores >= its own}) + above_i W_k(#{scores > its own})]

    It never falls when a count rises, so a search bounds it as it bounds a sum of counts.
    Numerators of 0 or less are those of no member of any region. Three constructors make those in
    use.

    Attributes
    ----------
    start, at_least, above : int64 arrays of shape (n,)
        Not negative but for ``start``.
    denominators : int64 array of shape (n,)
        The p-value is the numerator divided by this, at most 1.
    weights : int64 array of shape (K, m + 1) or (0, 0)
        Not descending along rows; m the size of the largest fold.
    additive, looks_above, is_plain : bool
        Whether only the sum of the folds' counts matters; whether scores above a labelset's own
        count for more than equal ones; and whether the numerator of every object is 1 + the sum of
        the counts.

    Examples
    --------
    >>> import numpy as np
    >>> counts = np.array([[3, 0], [1, 2]])  # of two folds, for two objects
    >>> Weighing.plain(9, 2).numerators(counts, counts, np.arange(2)).tolist()
    [5, 3]
    """

    start: IntArray
    at_least: IntArray
    above: IntArray
    denominators: IntArray
    weights: IntArray
    additive: bool = field(init=False)
    looks_above: bool = field(init=False)
    is_plain: bool = field(init=False)

    @classmethod
    def plain(cls, n_calibration: int, n_objects: int) -> "Weighing":
        """Return the weighing of p = (#{>=} + 1) / (l + 1)."""
        ones = np.ones(n_objects, dtype=np.int64)
        return cls(ones, ones, 0 * ones, (n_calibration + 1) * ones, NO_WEIGHTS)

    @classmethod
    def smoothed(cls, n_calibration: int, draws: IntArray) -> "Weighing":
        """Return the weighing of p = (#{>} + u (#{=} + 1)) / (l + 1).

        Parameters
        ----------
        n_calibration : int
            The number l of calibration examples.
        draws : int64 array of shape (n,)
            One number u per object, from 1 to ``DRAW_UNIT``.
        """
        plain = cls.plain(n_calibration, len(draws))
        return replace(
            plain,
            start=draws,
            at_least=draws,
            above=DRAW_UNIT - draws,
            denominators=DRAW_UNIT * plain.denominators,
        )

    @classmethod
    def ruled(cls, weights: IntArray, start: IntArray, denominators: IntArray | int) -> "Weighing":
        """Return the weighing of a rule: weights of the folds' counts, added up."""
        ones = np.ones(len(start), dtype=np.int64)
        return cls(start, ones, 0 * ones, denominators * ones, weights)

    def take(self, objects: IntArray) -> "Weighing":
        """Return the weighing for some of the objects."""
        per_object = ("start", "at_least", "above", "denominators")
        return replace(self, **{name: getattr(self, name)[objects] for name in per_object})

    def __post_init__(self) -> None:
        self.additive = not self.weights.size
        self.looks_above = bool(self.above.any())
        ones = bool((self.start == 1).all() and (self.at_least == 1).all())
        self.is_plain = self.additive and not self.looks_above and ones

    def numerators(self, at_least: Counts, above: Counts, objects: IntArray) -> Counts:
        """Return numerators.

        Parameters
        ----------
        at_least, above : signed integer arrays of shape (K, m, ...)
            How many scores of each fold are >= and > a labelset's own, row r of object
            ``objects[r]``. Where only their sum matters it may be given as that of one fold;
            ``above`` is not looked at unless ``looks_above``.
        objects : int64 array of shape (m,)
        """
        # the type of the counts is kept: tables are twice as fast with short numbers
        if self.is_plain:
            counts: Counts = at_least[0] if len(at_least) == 1 else at_least.sum(axis=0)
            return counts + 1
        shape = (-1,) + (1,) * (at_least.ndim - 2)
        start, factor, factor_above = (
            part[objects].reshape(shape) for part in (self.start, self.at_least, self.above)
        )
        total: Counts = np.broadcast_to(start, at_least.shape[1:])
        for k, own in enumerate(at_least):
            total = total + factor * self.weight(k, own)
            if self.looks_above:
                total = total + factor_above * self.weight(k, above[k])
        return total

    def of_scores(
        self, calibrations: Sequence[IntArray], scores: IntArray, objects: IntArray
    ) -> IntArray:
        """Return the numerators of scores (K, m), column r of object ``objects[r]``."""
        counts = [
            np.stack(
                [count_at_least(*fold) for fold in zip(calibrations, scores + more, strict=True)]
            )
            # scores are integers: above is at least one more
            for more in range(1 + self.looks_above)
        ]
        numerators: IntArray = self.numerators(counts[0], counts[-1], objects)
        return numerators

    @cached_property
    def lowest(self) -> IntArray:
        """The numerator of a labelset stranger than all calibration examples, (n,)."""
        nothing = np.zeros((max(len(self.weights), 1), len(self.start)), dtype=np.int64)
        numerators: IntArray = self.numerators(nothing, nothing, np.arange(len(self.start)))
        return numerators

    def of(self, i: int) -> ObjectWeighing:
        """Return the weighing of one object."""
        return ObjectWeighing(
            int(self.start[i]), int(self.at_least[i]), int(self.above[i]), self.weights
        )

    def of_objects(self, objects: IntArray) -> ObjectWeighings:
        """Return the weighings of some objects."""
        return ObjectWeighings(
            self.start[objects], self.at_least[objects], self.above[objects], self.weights
        )

    def weight(self, k: int, counts: Counts) -> Counts:
        """Return W_k of some counts."""
        return self.weights[k][counts] if self.weights.size else counts.astype(np.int64, copy=False)

r"""At most h wrong labels: one score for all labels of an example, its (h + 1)-th largest.

Let s(psi) be the (h + 1)-th largest of the :math:`|t_j - o_j|` of a labelset psi. More than h labels of psi have a
:math:`|t_j - o_j|` beyond a threshold if and only if s(psi) is beyond it. So with the conformal threshold of the
calibration examples' s, each label keeps the values within the threshold, and more than h labels of the truth are ruled
out exactly where its conformal p-value is at most the significance.

With several folds, fold k counts g_k(j, c) calibration scores that are at least |c - o_j| under its own model, and
p(psi) is made of the sum over the folds of their counts for s(psi). Where h + 1 labels of psi are ruled out, s(psi) is
at least the least of their scores in every fold, so that sum is at most the sum of the largest g_k among these labels.
With h = 0 that is the sum for one label. For h > 0 the values of all labels are put in the order of their sums, and a
value is ruled out together with all before it: where the sum over the folds of the largest g_k among *all* of them is
small enough, it is for any h + 1 of them. Again more than h labels are ruled out only where p(psi) is at most the
significance, and what is proven about cross-conformal p-values holds. The sum for one label would not do for h > 0:
folds that are wrong about different labels may be right about every labelset.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from labelsure._checks import IntArray
from labelsure._random import DRAW_UNIT
from labelsure.engine._p_values import GroupWeights, sum_largest, weigh_scores

BLOCK_ENTRIES = 2**21
"""Counts held at a time."""


@dataclass(frozen=True, eq=False)
class JointScores:
    """The scores of new objects' values and of calibration examples, for p-values of "at most h labels are wrong".

    Attributes
    ----------
    off : int64 array of shape (K, n, q)
        ``|0 - o_j|`` under each fold's model; ``|1 - o_j|`` is ``unit`` minus that.
    unit : int
        What 1 is.
    examples : sequence of K int64 arrays of shape (m_k, q)
        ``|t_j - o_j|`` of each fold's calibration examples, in descending order in each row.
    draws : int64 array of shape (n,) or None
        For smoothed p-values.
    weights : GroupWeights or None
        How much the examples of one fold count, where they do not count alike.

    Examples
    --------
    >>> one_fold = np.array([[[1, 7]]])
    >>> joint = JointScores(one_fold, 8, [np.array([[6, 1], [3, 0], [2, 2]])], None)
    >>> joint.numerators(0).tolist(), joint.numerators(1).tolist(), joint.denominator
    ([[[4, 1], [1, 4]]], [[[3, 1], [1, 3]]], 4)
    """

    off: IntArray
    unit: int
    examples: Sequence[IntArray]
    draws: IntArray | None
    weights: GroupWeights | None = None

    @property
    def denominator(self) -> int:
        """The denominator of the p-values."""
        if self.weights is not None:
            return self.weights.denominator
        return (sum(map(len, self.examples)) + 1) * (1 if self.draws is None else DRAW_UNIT)

    def take(self, objects: IntArray) -> "JointScores":
        """Return the scores of some of the objects."""
        draws = None if self.draws is None else self.draws[objects]
        return replace(self, off=self.off[:, objects], draws=draws)

    def numerators(self, n_wrong: int) -> IntArray:
        """Return a numerator for "off" and "on" of each label, (n, q, 2).

        The numerator of a labelset, of the p-value of at most ``n_wrong`` of its labels being
        wrong, is the (n_wrong + 1)-th smallest of those of its labels' values.
        """
        calibrations = [np.sort(scores[:, n_wrong]) for scores in self.examples]
        n_folds, n_objects, n_labels = self.off.shape
        n_block = max(1, BLOCK_ENTRIES // (2 * n_folds * n_labels))
        blocks = [
            self.take(np.arange(start, min(start + n_block, n_objects)))._add_up(
                calibrations, together=n_wrong > 0
            )
            for start in range(0, n_objects, n_block)
        ]
        counts = np.concatenate([np.empty((0, n_labels, 2), dtype=np.int64), *blocks])
        own = np.int64(1) if self.draws is None else self.draws[:, None, None]
        if self.weights is not None:
            counts = sum_largest(self.examples[0][:, n_wrong], self.weights.examples)[counts]
            own = np.int64(self.weights.new)
        numerators: IntArray = counts + own
        return numerators

    def _add_up(self, calibrations: Sequence[IntArray], *, together: bool) -> IntArray:
        """Return the sum of the folds' counts for each value, by themselves or together with all smaller ones."""
        _, n, q = self.off.shape
        counts = np.stack(
            [
                weigh_scores(fold, np.stack([off, self.unit - off], axis=2), self.draws)
                for fold, off in zip(calibrations, self.off, strict=True)
            ]
        ).reshape(len(calibrations), n, 2 * q)
        sums: IntArray = counts.sum(axis=0)
        if together:
            order = np.argsort(sums, axis=1, kind="stable")
            largest = np.maximum.accumulate(np.take_along_axis(counts, order[None], axis=2), axis=2)
            np.put_along_axis(sums, order, largest.sum(axis=0), axis=1)
        return sums.reshape(n, q, 2)

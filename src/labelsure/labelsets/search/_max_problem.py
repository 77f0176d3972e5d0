"""One object's labelsets where a score is the largest of its labels' costs.

What a fold adds to a numerator never rises with the score. So it is the least of what the labels of a labelset leave of
it, and a numerator is ``start + sum_k min_j values[j, t_j, k]``. Searches keep rows of such minima, one for each set of
labelsets that agree in what their decided labels leave, and bound what can still come by giving every open label the
better of its two values in each fold.

To count a region, labels are decided one after the other, the decisive ones first. Labelsets with the same minima so
far have the same future, so they are counted together; there are few different minima even among very many labelsets,
because a label that is worse than all others hides what the others do. Where there are too many, rounding them down and
up gives two numbers that the size lies between, and dropping some at random an unbiased estimate: each is kept with a
probability of its own, and then counts for all that it stands for (Fearnhead, Clifford 2003, in a particle filter).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from labelsure._core.labelset_bits import row_keys
from labelsure._core.p_values import count_at_least
from labelsure._core.running import stop_if_asked
from labelsure._core.types import BoolArray, FloatArray, IntArray
from labelsure.labelsets.arrays._fold_arrays import FoldArrays
from labelsure.labelsets.arrays._results import RegionSize
from labelsure.labelsets.arrays._weighing import Weighing

UNTOUCHED = 1 << 60
"""The minimum over no labels: above every value."""

Reduce = Callable[[IntArray, IntArray], tuple[IntArray, IntArray]]

UNIT_BITS = 64
"""A labelset counts 2^64 where weights are divided by probabilities, so that rounding them does no harm."""

N_RUNS = 8
HALF_WIDTH = 3.5
CONFIDENCE = 0.99
"""Runs of an estimate, standard errors to each side of their mean, and what Student's t with 7 degrees of freedom makes
of these."""


class Rank(NamedTuple):
    """A place among labelsets, which are in the order of highest numerators, then of lowest total scores."""

    numerator: int
    total: int = UNTOUCHED


@dataclass(frozen=True, eq=False)
class MaxProblem:
    """One object's problem.

    Attributes
    ----------
    values : int64 array of shape (q, 2, K) or (q, 2, 2 K)
        For each label, off and on, the most that it leaves each fold to add to a numerator and, where totals matter,
        minus its cost in each fold. A labelset has the minimum over its labels; larger is better throughout.
    n_folds : int
        K.
    start : int
        What numerators start with.
    """

    values: IntArray
    n_folds: int
    start: int

    @classmethod
    def of(cls, arrays: FoldArrays, weighing: Weighing, i: int, *, with_totals: bool = False) -> "MaxProblem":
        """Return object ``i``'s problem, with costs where total scores matter."""
        maxima = [fold.energy.maximum for fold in arrays.folds]
        costs = np.stack([np.column_stack([one.off[i], one.on[i]]) for one in maxima if one is not None], axis=2)
        own = weighing.of(i)
        values = np.empty_like(costs)
        for k, calibration in enumerate(arrays.calibrations):
            scores = costs[:, :, k]
            values[:, :, k] = own.at_least * weighing.weight(k, count_at_least(calibration, scores))
            if own.above:
                values[:, :, k] += own.above * weighing.weight(k, count_at_least(calibration, scores + 1))
        if with_totals:
            values = np.concatenate([values, -costs], axis=2)
        return cls(values, arrays.n_folds, own.start)

    def numerators(self, states: IntArray) -> IntArray:
        """Return the numerators of minima over labels, states (..., K) or (..., 2 K)."""
        sums: IntArray = self.start + states[..., : self.n_folds].sum(axis=-1)
        return sums

    def totals(self, states: IntArray) -> IntArray:
        """Return the total scores of minima over labels; 0 where costs were left out."""
        totals: IntArray = -states[..., self.n_folds :].sum(axis=-1)
        return totals

    def reach(self, states: IntArray, limit: Rank) -> BoolArray:
        """Tell which minima over labels are as good as ``limit`` or better."""
        numerators = self.numerators(states)
        reached: BoolArray = numerators > limit.numerator
        tied = numerators == limit.numerator
        if tied.any():
            reached |= tied & (self.totals(states) <= limit.total)
        return reached


@dataclass(frozen=True, eq=False)
class OpenLabels:
    """What is left of a problem when it is known which labels can be only on, or only off.

    Attributes
    ----------
    template : int8 array of shape (q,)
        A labelset with the known labels as they are; 0 for the others.
    labels : int64 array of shape (p,)
        The others, in the order in which they are decided.
    values : int64 array of shape (p, 2, D)
        Theirs.
    start : int64 array of shape (D,)
        The minimum over the known labels, and over the better value of each other.
    free : bool array of shape (p,)
        Labels that change nothing, whatever the others.
    """

    template: np.ndarray[tuple[int], np.dtype[np.int8]]
    labels: IntArray
    values: IntArray
    start: IntArray
    free: BoolArray

    @cached_property
    def best(self) -> IntArray:
        """The minimum over all labels from each on, given the better value of each, (p + 1, D)."""
        return minima_from(self.values.max(axis=1))

    @cached_property
    def worst(self) -> IntArray:
        """The same, given the worse value of each."""
        return minima_from(self.values.min(axis=1))

    def in_order(self, order: IntArray | BoolArray) -> "OpenLabels":
        """Return the same with some of the open labels in another order."""
        return replace(self, labels=self.labels[order], values=self.values[order], free=self.free[order])


def open_labels(problem: MaxProblem, limit: Rank) -> OpenLabels | None:
    """Return the labels that labelsets as good as ``limit`` may have both on and off; None if there are no such."""
    values = problem.values
    allowed = np.ones(values.shape[:2], dtype=bool)
    while True:
        base = np.where(allowed[:, :, None], values, -UNTOUCHED).max(axis=1).min(axis=0)
        still = allowed & problem.reach(np.minimum(base, values), limit)
        if not still.any(axis=1).all():
            return None
        if np.array_equal(still, allowed):
            break
        allowed = still
    both = allowed.all(axis=1)
    labels = np.flatnonzero(both)
    known = values[~both, allowed[~both, 1].astype(np.int64)]
    own = values[labels]
    return OpenLabels(
        (allowed[:, 1] & ~both).astype(np.int8),
        labels,
        own,
        np.minimum(base, known.min(axis=0, initial=UNTOUCHED)),
        (own >= base).all(axis=(1, 2)),
    )


def minima_from(rows: IntArray) -> IntArray:
    """Return the minimum of the rows from each on, and of none."""
    padded = np.concatenate([rows, np.full((1, rows.shape[1]), UNTOUCHED)])
    minima: IntArray = np.minimum.accumulate(padded[::-1], axis=0)[::-1]
    return minima


def decisive_first(problem: MaxProblem, opened: OpenLabels) -> OpenLabels:
    """Return the labels in the order of how much harm each can do: those that change little come last."""
    lowest = problem.numerators(np.minimum(opened.start, opened.values.min(axis=1)))
    return opened.in_order(np.argsort(lowest, kind="stable"))


def with_both(states: IntArray, values: IntArray) -> IntArray:
    """Return each row of minima with a label off, and with it on, one after the other."""
    return np.minimum(states[:, None], values).reshape(-1, states.shape[1])


def equal_rows(rows: IntArray) -> tuple[IntArray, IntArray]:
    """Return the first of each kind of equal rows, and the kind of each row."""
    _, first, which = np.unique(row_keys(rows), return_index=True, return_inverse=True)
    return first, which


def estimate_members(problem: MaxProblem, smallest: int, most: int, *, at_least: int) -> RegionSize:
    """Return the same as an estimate, from at most ``most`` different minima at a time; some members are known."""
    low, high = bracket_members(problem, smallest, most)
    low = max(low, at_least)
    rng = np.random.default_rng(0)

    def thin(states: IntArray, weights: IntArray) -> tuple[IntArray, IntArray]:
        hopes = problem.numerators(states) - smallest + 1.0
        shares = (1 + (weights << UNIT_BITS) // weights.max()).astype(np.float64)  # weights may be beyond floats
        kept, chances = draw_some(shares * hopes, most, rng)
        return states[kept], (weights[kept] << UNIT_BITS) // chances

    runs = [count_members(problem, smallest, most, thin, unit=1 << UNIT_BITS) or 0 for _ in range(N_RUNS)]
    mean = sum(runs) // N_RUNS
    variance = sum((run - mean) ** 2 for run in runs) // (N_RUNS * (N_RUNS - 1))
    half_width = math.isqrt(int(4 * HALF_WIDTH**2) * variance) // 2  # whole numbers: floats end at 2^1024
    ends = (mean - half_width, mean, mean + half_width)
    least, value, largest = (min(max(end >> UNIT_BITS, low), high) for end in ends)
    return RegionSize(value, least, largest, coverage_level=CONFIDENCE, at_least=low, at_most=high, approximate=True)


def bracket_members(problem: MaxProblem, smallest: int, most: int) -> tuple[int, int]:
    """Return two numbers that the count lies between: minima are rounded down, or up, until at most ``most`` differ."""

    def rounded(states: IntArray, weights: IntArray, *, up: bool) -> tuple[IntArray, IntArray]:
        order = np.argsort(-weights)
        heavy, light = order[: most // 2], order[most // 2 :]  # those of most labelsets stay as they are
        lowest = states[light].min()
        unit, reduced = 1, (states, weights)
        while len(reduced[0]) > most:
            unit *= 2
            steps = lowest + (states[light] - lowest) // unit * unit + (unit - 1 if up else 0)
            reduced = _merge(np.concatenate([states[heavy], steps]), weights[order])
        return reduced

    low, high = (count_members(problem, smallest, most, partial(rounded, up=up)) or 0 for up in (False, True))
    return low, high


def count_members(
    problem: MaxProblem, smallest: int, most: int, reduce: Reduce | None = None, *, unit: int = 1
) -> int | None:
    """Return how many labelsets have a numerator of at least ``smallest``, each counted as ``unit``.

    Where there are more than ``most`` different minima they are reduced; without a way to do that None is returned.
    """
    opened = open_labels(problem, Rank(smallest))
    if opened is None:
        return 0
    n_free = int(opened.free.sum())
    opened = decisive_first(problem, opened.in_order(np.flatnonzero(~opened.free)))
    n_labels = len(opened.labels)
    states = opened.start[None]
    weights = np.array([unit], dtype=np.int64 if n_labels + unit.bit_length() < 63 else object)
    size = 0
    for t in range(n_labels + 1):
        stop_if_asked()
        if t:
            states, weights = with_both(states, opened.values[t - 1]), np.repeat(weights, 2)
        states = np.minimum(states, opened.best[t])
        members = problem.numerators(states) >= smallest
        sure = problem.numerators(np.minimum(states, opened.worst[t])) >= smallest
        size += int(weights[sure].sum()) << (n_labels - t)
        states, weights = _merge(states[members & ~sure], weights[members & ~sure])
        if len(states) > most:
            if reduce is None:
                return None
            states, weights = reduce(states, weights)
    return size << n_free


def draw_some(sizes: FloatArray, n_kept: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Draw some of the positions; return them, and the chances that they had in units of 2^-UNIT_BITS.

    The largest are kept in any case, the others with chances in proportion to their sizes. Nearly ``n_kept`` are drawn.

    Parameters
    ----------
    sizes : float array of shape (m,)
        Positive; m > n_kept.
    n_kept : int
        At least 1.
    rng : numpy Generator
        Makes one draw.
    """
    falling = np.sort(sizes)[::-1]
    rest = np.cumsum(falling[::-1])[::-1][:n_kept]
    scales = rest / (n_kept - np.arange(n_kept))  # if so many are kept in any case
    scale = scales[np.flatnonzero(falling[:n_kept] <= scales)[0]]
    chances = np.minimum(sizes / scale, 1.0)
    ends = np.cumsum(chances)
    kept = np.flatnonzero(np.diff(np.floor(np.append(0.0, ends) - rng.random())))  # one draw for all, at equal steps
    return kept, np.array([max(int(chance * 2.0**UNIT_BITS), 1) for chance in chances[kept]], dtype=object)


def _merge(states: IntArray, weights: IntArray) -> tuple[IntArray, IntArray]:
    """Return different rows of minima, and the weights of the labelsets that have each."""
    first, which = equal_rows(states)
    merged = np.zeros(len(first), dtype=weights.dtype)
    np.add.at(merged, which, weights)
    return states[first], merged

"""How many labelsets are in a region, where a score is the largest of its labels' costs.

Labels are decided one after the other, the decisive ones first. Labelsets with the same minima so far have the same
future, so they are counted together; there are few different minima even among very many labelsets, because a label
that is worse than all others hides what the others do. Where there are too many, rounding them down and up gives two
numbers that the size lies between, and dropping some at random an unbiased estimate: each is kept with a probability of
its own, and then counts for all that it stands for (Fearnhead, Clifford 2003, in a particle filter).
"""

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from labelsure._core.running import stop_if_asked
from labelsure._core.types import FloatArray, IntArray
from labelsure.labelsets.arrays import RegionSize
from labelsure.labelsets.search._max_problem import (
    MaxProblem,
    Rank,
    decisive_first,
    equal_rows,
    open_labels,
    with_both,
)

Reduce = Callable[[IntArray, IntArray], tuple[IntArray, IntArray]]

UNIT_BITS = 64
"""A labelset counts 2^64 where weights are divided by probabilities, so that rounding them does no harm."""

N_RUNS = 8
HALF_WIDTH = 3.5
CONFIDENCE = 0.99
"""Runs of an estimate, standard errors to each side of their mean, and what Student's t with 7 degrees of freedom makes
of these."""


def count_members(problem: MaxProblem, smallest: int, most: int) -> int | None:
    """Return how many labelsets have a numerator of at least ``smallest``; None beyond ``most`` different minima."""
    return _count(problem, smallest, most, None, unit=1)


def estimate_members(problem: MaxProblem, smallest: int, most: int, *, at_least: int) -> RegionSize:
    """Return the same as an estimate, from at most ``most`` different minima at a time; some members are known."""
    low, high = bracket_members(problem, smallest, most)
    low = max(low, at_least)
    rng = np.random.default_rng(0)

    def thin(states: IntArray, weights: IntArray) -> tuple[IntArray, IntArray]:
        hopes = problem.numerators(states) - smallest + 1.0
        kept, chances = draw_some(_shares(weights) * hopes, most, rng)
        return states[kept], (weights[kept] << UNIT_BITS) // chances

    runs = [_count(problem, smallest, most, thin, unit=1 << UNIT_BITS) or 0 for _ in range(N_RUNS)]
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

    low, high = (_count(problem, smallest, most, partial(rounded, up=up), unit=1) or 0 for up in (False, True))
    return low, high


def _count(problem: MaxProblem, smallest: int, most: int, reduce: Reduce | None, *, unit: int) -> int | None:
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


def _shares(weights: IntArray) -> FloatArray:
    """Return weights divided by the largest, which may be beyond floats; none becomes 0."""
    shares: FloatArray = (1 + (weights << UNIT_BITS) // weights.max()).astype(np.float64)
    return shares


def _merge(states: IntArray, weights: IntArray) -> tuple[IntArray, IntArray]:
    """Return different rows of minima, and the weights of the labelsets that have each."""
    first, which = equal_rows(states)
    merged = np.zeros(len(first), dtype=weights.dtype)
    np.add.at(merged, which, weights)
    return states[first], merged

"""How large is a region of 2^41 labelsets? An estimate with a confidence interval, and certified bounds.

Drawing from simpler regions that together hold the region, and checking each labelset exactly, gives an unbiased
estimate (Karp, Luby, Madras 1989) whose error is bounded by the empirical Bernstein inequality (Audibert, Munos,
Szepesvari 2009).

Where scores are far from additive, as with dense pairwise costs, almost nothing drawn from the union is a member. Then
the interval comes from importance sampling instead, and is approximate.
"""

from math import log, sqrt

import numpy as np

from labelsure._core.labelset_bits import pack
from labelsure._core.types import FloatArray, LabelMatrix
from labelsure.labelsets.arrays import FoldArrays, RegionSize, Weighing
from labelsure.labelsets.search._best_first import best_of
from labelsure.labelsets.search._importance import DEVIATIONS, RegionDraws, estimate_by_importance
from labelsure.labelsets.search._knapsack import Union, cover_region
from labelsure.labelsets.search._problems import ObjectSearch

N_DRAWS = 20_000
CONFIDENCE = 0.99
GRID_CELLS = 2**14
ROUGH_DRAWS, ROUGH_CELLS = 400, 2**10  # for a rough answer
WIDE = 0.5  # a proven interval this much wider than its middle to each side gives way to an approximate one


def estimate_size(
    one: ObjectSearch, arrays: FoldArrays, weighing: Weighing, smallest: int, *, at_least: int, rough: bool = False
) -> RegionSize:
    """Estimate how many labelsets of one object have a numerator of at least ``smallest``.

    Parameters
    ----------
    one : ObjectSearch
        The object, posed alone.
    arrays, weighing : FoldArrays, Weighing
        What the region follows from.
    smallest : int
        More than the numerator of a labelset that is stranger than all calibration examples.
    at_least : int
        The members found so far, a certified lower bound.
    rough : bool
        Whether few draws from coarse grids are enough: milliseconds instead of a tenth of a second.
    """
    n_draws, n_cells = (ROUGH_DRAWS, ROUGH_CELLS) if rough else (N_DRAWS, GRID_CELLS)
    rng = np.random.default_rng(0)
    problem, overrides = one.problems.with_pairs(one.row), one.overrides
    union = cover_region(arrays, weighing, one.problems, one.i, smallest, n_cells)
    own = int((overrides.numerators >= smallest).sum())
    at_most = min(union.size + own, 2**arrays.n_labels - (not one.lookup.allow_empty))
    parts, wide = [0, 0, union.size], True
    if problem.costs.charged.all():
        drawn = union.draw(n_draws, rng)
        weights = [_weights(one, arrays, weighing, union, labelsets, smallest) for labelsets in drawn]
        mean, half_width = _mean_and_error(np.concatenate(weights))
        parts = [_scaled(union.size, part) for part in (mean - half_width, mean, mean + half_width)]
        wide = half_width > WIDE * mean
    approximate = None
    if wide:
        known = {row.tobytes() for row in pack(overrides.labelsets)}
        good = best_of(one, 1, budget=one.options.start_budget if one.has_pairs else None).words
        draws = RegionDraws(problem, one.lookup, smallest, known, good[0] if len(good) else problem.mode, rng)
        approximate = estimate_by_importance(draws, n_draws)
    if approximate is not None:
        error = DEVIATIONS * approximate.relative_error / log(2)
        parts = [_power_of_two(approximate.log2_size + part) for part in (-error, 0.0, error)]
    low, value, high = (min(max(part + own, at_least), at_most) for part in parts)
    return RegionSize(
        value,
        low,
        high,
        coverage_level=CONFIDENCE,
        at_least=at_least,
        at_most=at_most,
        approximate=approximate is not None,
    )


def _weights(
    one: ObjectSearch,
    arrays: FoldArrays,
    weighing: Weighing,
    union: Union,
    drawn: LabelMatrix,
    smallest: int,
) -> FloatArray:
    """Return 1 over the number of knapsacks that hold it for each labelset drawn that is a member, 0 for others."""
    objects = np.full(len(drawn), one.i)
    members = weighing.of_scores(arrays.calibrations, arrays.scores(drawn, objects), objects) >= smallest
    members &= drawn.any(axis=1) | one.lookup.allow_empty
    if len(one.overrides.labelsets):
        listed = {labelset.tobytes() for labelset in one.overrides.labelsets}
        members &= np.array([labelset.tobytes() not in listed for labelset in drawn])
    weights: FloatArray = members / np.sum([knapsack.holds(drawn) for knapsack in union.knapsacks], axis=0)
    return weights


def _mean_and_error(weights: FloatArray) -> tuple[float, float]:
    """Return the mean of draws between 0 and 1, and how far from its expectation it is at most, with confidence."""
    spread = log(3 / (1 - CONFIDENCE))
    half_width = sqrt(2 * float(weights.var(ddof=1)) * spread / len(weights)) + 3 * spread / len(weights)
    return float(weights.mean()), half_width


def _scaled(cover: int, share: float) -> int:
    """Return the share of a whole number that may be beyond floats, rounded down; 0 for negative shares."""
    return cover * int(max(share, 0.0) * 2**60) >> 60


def _power_of_two(exponent: float) -> int:
    """Return a power of two that may be beyond floats, rounded."""
    whole = max(int(exponent) - 52, 0)
    rounded: int = round(2.0 ** (exponent - whole))
    return rounded << whole

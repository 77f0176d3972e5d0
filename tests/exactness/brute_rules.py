"""P-values and regions of all labelsets from their definitions, in integers, without any search.

A p-value is a numerator over its object's denominator, both integers. Only "exact" is computed in
floats where the level falls between two p-values of a fold: their e-values solve an equation. There
a labelset is left undecided where the sum is closer to its threshold than both computations can be
off.
"""

import math
from fractions import Fraction
from functools import cache
from typing import NamedTuple

import numpy as np

DRAW_UNIT = 2**31
WEIGHT_UNITS = 2**30
E_UNITS = 2**36
CLOSE = 1e-6
STRANGEST = 2**50


class BruteFold(NamedTuple):
    """Scores and categories of calibration examples, (m,), and of all labelsets, (n, 2^q)."""

    calibration: np.ndarray
    categories: np.ndarray
    new: np.ndarray
    wanted: np.ndarray

    def counts(self, *, above=False):
        """How many calibration scores of the labelset's category are at least (above) its own."""
        scores, own = self.new[:, :, None], self.categories == self.wanted[:, :, None]
        return (own & (self.calibration > scores if above else self.calibration >= scores)).sum(
            axis=2
        )

    def sizes(self):
        """How many calibration scores there are in the labelset's category."""
        return (self.categories == self.wanted[:, :, None]).sum(axis=2)


class PValues(NamedTuple):
    """Numerators (n, 2^q), denominators (n,)."""

    numerators: np.ndarray
    denominators: np.ndarray

    def floats(self):
        return np.minimum(self.numerators / self.denominators[:, None], 1.0)


def p_values(rule, folds, draws, weights=None):
    """Return the p-values of a rule; those of "exact" are the plain ones."""
    if weights is not None:
        return weighted(folds[0], *weights)
    at_least, sizes = (sum(getattr(fold, name)() for fold in folds) for name in ("counts", "sizes"))
    common = math.lcm(*np.unique(sizes + 1).tolist())
    ones = np.ones(len(draws), dtype=np.int64)
    if rule != "smoothed":
        return PValues((at_least + 1) * (common // (sizes + 1)), common * ones)
    above = sum(fold.counts(above=True) for fold in folds)
    numerators = above * DRAW_UNIT + draws[:, None] * (at_least - above + 1)
    return PValues(numerators * (common // (sizes + 1)), common * DRAW_UNIT * ones)


def weighted(fold, own, new):
    """(sum of w_i over {i : alpha_i >= alpha} + w) / (sum of w_i + w), in 2^-30 of the largest."""
    units = [round(Fraction(weight) * WEIGHT_UNITS / Fraction(max(own))) for weight in own]
    more = np.array([round(Fraction(weight) * WEIGHT_UNITS / Fraction(max(own))) for weight in new])
    at_least = (fold.calibration >= fold.new[:, :, None]) @ np.array(units)
    return PValues(at_least + more[:, None], np.maximum(sum(units) + more, 1))


class Decided(NamedTuple):
    """Which labelsets are members (n, 2^q), which are too close to tell, and their ranking."""

    members: np.ndarray
    close: np.ndarray
    ranks: np.ndarray


def decide(rule, folds, draws, shown, level):
    """Return the members of regions at a level: p > eps, or an e-value below the threshold."""
    if rule != "exact":
        smallest = np.array(
            [level.numerator * int(one) // level.denominator + 1 for one in shown.denominators]
        )
        members = shown.numerators >= smallest[:, None]
        return Decided(members, np.zeros_like(members), shown.numerators)
    sums = np.zeros((len(folds), *folds[0].new.shape))
    there = np.zeros(sums.shape, dtype=bool)
    exact = True
    for k, fold in enumerate(folds):
        counts, sizes = fold.counts(), fold.sizes()
        for size in np.unique(sizes[sizes > 0]).tolist():
            values, on_grid = steep_e_values(size, level)
            own = sizes == size
            sums[k][own], there[k][own] = 1 - values[counts[own]], True
            exact &= on_grid
    n_there = there.sum(axis=0)
    left = sums.sum(axis=0) - n_there * (1 - draws[:, None] / DRAW_UNIT)
    # members, after all that are compared with examples
    left = np.where(n_there == 0, 1 / E_UNITS, left)
    return Decided(left > 0, (np.abs(left) < CLOSE) & (n_there > 0) & (not exact), left)


@cache
def steep_e_values(size, level):
    """eps F(j / (m + 1)), F of Alami et al. 2026, by bisection; whether eps is a p-value."""
    n_values, eps = size + 1, float(level)
    below = math.floor(level * n_values)
    if level * n_values == below:
        return (np.arange(1, n_values + 1) <= below).astype(np.float64), True
    middle = (eps + (below + 1) / n_values) / 2
    grid = np.arange(1, n_values + 1) / n_values

    def values(steepness):
        log = np.logaddexp(0, steepness * (eps - middle)) - np.logaddexp(
            0, steepness * (grid - middle)
        )
        return np.exp(np.minimum(log, 700))

    low, high = 0.0, 1.0
    while values(high).mean() > eps:
        high *= 2
    for _ in range(100):
        half = (low + high) / 2
        low, high = (low, half) if values(half).mean() <= eps else (half, high)
    return values(high), False


class Ranked(NamedTuple):
    """All candidates of one object, the most plausible first: codes, numerators."""

    codes: np.ndarray
    numerators: np.ndarray


def rank(numerators, totals, candidates):
    """By p-value, then by lowest total score, then by lowest code."""
    order = sorted(
        np.flatnonzero(candidates).tolist(), key=lambda c: (-numerators[c], totals[c], c)
    )
    return Ranked(np.array(order, dtype=np.int64), numerators[order])

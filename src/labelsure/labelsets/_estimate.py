"""How large is a region of 2^41 labelsets? An estimate with a confidence interval, and certified bounds.

A labelset of the region has, in at least one fold k, a count of at least the fold's share of what is needed; so it
lies in one of K simpler regions ``{labelsets: additive score in fold k <= a threshold}``. Their sizes are subset-sum
counts on a grid, rounded so that none is too small, and labelsets can be drawn from them at random. Drawing from the
union and checking each labelset exactly gives an unbiased estimate (Karp, Luby, Madras 1989) whose error is bounded by
the empirical Bernstein inequality (Audibert, Munos, Szepesvari 2009).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log, sqrt
from typing import TYPE_CHECKING

import numpy as np

from labelsure._core.energy import Energy
from labelsure._core.types import BoolArray, FloatArray, IntArray, LabelMatrix
from labelsure.labelsets._engine import DRAW_UNIT
from labelsure.labelsets._fold import Fold
from labelsure.labelsets._size import SizeEstimate

if TYPE_CHECKING:
    from labelsure.labelsets._fold_engine import FoldEngine

N_DRAWS = 20_000
CONFIDENCE = 0.99
GRID_CELLS = 2**14
GRID_NUMBERS = 2**23
ROUGH_DRAWS, ROUGH_CELLS = 400, 2**10  # for a rough answer
DRAWN_NUMBERS = 2**22  # labels of the labelsets looked at together; each takes a few dozen bytes meanwhile
ROUNDING = 1 + 1e-9  # far more than what q float additions can lose


@dataclass(frozen=True, eq=False)
class Knapsack:
    """All sets of flips from a fold's own mode whose cost, in cells of a grid rounded down, fits a budget.

    Attributes
    ----------
    mode : bool array of shape (q,)
        The labelset with the lowest linear score.
    labels : int64 array of shape (p,)
        The labels that can be flipped at all.
    cells : int64 array of shape (p,)
        The cost of flipping each of them, at most the budget.
    budget : int
        The cells that may be spent.
    """

    mode: BoolArray
    labels: IntArray
    cells: IntArray
    budget: int

    def tables(self) -> tuple[FloatArray, float]:
        """Return, for each number of labels, how many sets of flips of those fit each budget, and a power of two.

        Rows are scaled to stay within floats; the last row times 2 to that power is right.
        """
        rows = np.empty((len(self.cells) + 1, self.budget + 1))
        rows[0] = 1
        exponent = 0.0
        for j, cost in enumerate(self.cells):
            rows[j + 1] = rows[j]
            rows[j + 1, cost:] += rows[j, : self.budget + 1 - cost]
            if rows[j + 1, -1] > 2.0**900:
                rows[j + 1] *= 2.0**-900
                exponent += 900
        return rows, exponent

    def draw(self, rows: FloatArray, n_draws: int, rng: np.random.Generator) -> LabelMatrix:
        """Draw labelsets uniformly from those that fit."""
        left = np.full(n_draws, self.budget)
        drawn = np.tile(self.mode, (n_draws, 1))
        for t in range(len(self.cells) - 1, -1, -1):
            after = left - self.cells[t]
            with_flip = np.where(after >= 0, rows[t, np.maximum(after, 0)], 0.0)
            flipped = rng.random(n_draws) * (with_flip + rows[t, left]) < with_flip
            drawn[:, self.labels[t]] ^= flipped
            left = np.where(flipped, after, left)
        return drawn.astype(np.int8)

    def holds(self, Y: LabelMatrix) -> BoolArray:
        """Tell for each labelset whether it is one of those that fit."""
        flips = Y.astype(bool) ^ self.mode
        spent = flips[:, self.labels] @ self.cells
        fits: BoolArray = (spent <= self.budget) & (flips.sum(axis=1) == flips[:, self.labels].sum(axis=1))
        return fits


def estimate_size(engine: "FoldEngine", i: int, smallest: int, *, at_least: int, rough: bool = False) -> SizeEstimate:
    """Estimate how many labelsets of object ``i`` have a numerator of at least ``smallest``.

    Parameters
    ----------
    engine : FoldEngine
        Whose folds to ask.
    i : int
        The object.
    smallest : int
        More than the numerator of a labelset that is stranger than all calibration examples.
    at_least : int
        The members found so far, a certified lower bound.
    rough : bool
        Whether few draws from coarse grids are enough: milliseconds instead of a tenth of a second.
    """
    n_draws, n_cells = (ROUGH_DRAWS, ROUGH_CELLS) if rough else (N_DRAWS, GRID_CELLS)
    alone = engine.take(np.array([i]))
    knapsacks = _cover(alone._search.general, *_upper_weights(alone, smallest), n_cells)
    sizes, exponents = zip(*[_size(knapsack) for knapsack in knapsacks], strict=True)
    top_exponent = max(exponents)
    shares = np.array(
        [size * 2.0 ** (exponent - top_exponent) for size, exponent in zip(sizes, exponents, strict=True)]
    )
    cover = int(shares.sum() * ROUNDING) << int(top_exponent) if top_exponent else int(shares.sum() * ROUNDING)
    rng = np.random.default_rng(0)
    counts = rng.multinomial(n_draws, shares / shares.sum())
    exceptions = _exceptions(alone)
    weights = [_weights(alone, knapsacks, drawn, exceptions, smallest) for drawn in _draw(knapsacks, counts, rng)]
    mean, half_width = _mean_and_error(np.concatenate(weights))
    own = int((alone.numerators_of(exceptions, np.zeros(len(exceptions), dtype=np.int64)) >= smallest).sum())
    at_most = min(cover + own, alone.n_candidates)
    low, value, high = (
        min(max(_scaled(cover, part) + own, at_least), at_most) for part in (mean - half_width, mean, mean + half_width)
    )
    return SizeEstimate(value, low, high, confidence=CONFIDENCE, at_least=at_least, at_most=at_most)


def _upper_weights(alone: "FoldEngine", smallest: int) -> tuple[list[IntArray], int]:
    """Return what each count of each fold adds to a numerator at most, from 0 on, and how much a member needs of it."""
    sizes = [len(fold.calibration) for fold in alone.folds]
    rule = alone.rule
    if rule is None:
        unit, own = (1, 1) if alone.draws is None else (DRAW_UNIT, int(alone.draws[0]))
        return [unit * np.arange(size + 1) for size in sizes], smallest - own
    last = int(rule.multipliers[-1]) if len(rule.multipliers) else 1  # a member passes the last prefix too
    if len(rule.multipliers) == 1:
        last = int(rule.first[0])
    weights = [row[: size + 1] - row[0] for row, size in zip(rule.weights, sizes, strict=True)]
    return weights, -(-smallest // last) - int(rule.start[0]) - int(rule.weights[:, 0].sum())


def _cover(folds: Sequence[Fold], weights: list[IntArray], needed: int, n_cells: int) -> list[Knapsack]:
    """Return knapsacks such that every labelset whose counts' weights reach ``needed`` is in one of them.

    If in all folds the weight was below needed times the fold's share of the largest possible sum, so would be the sum.
    """
    largest = sum(int(of_fold[-1]) for of_fold in weights)
    knapsacks = []
    for fold, of_fold in zip(folds, weights, strict=True):
        if of_fold[-1] > 0:
            share = -(-needed * int(of_fold[-1]) // largest)
            count = min(int(np.searchsorted(of_fold, share)), len(fold.calibration))
            knapsacks.append(_knapsack(fold.energy, int(_additive_thresholds(fold)[-count]), n_cells))
    return knapsacks


def _additive_thresholds(fold: Fold) -> IntArray:
    """Return, for each calibration score, the largest additive score that is not above it once linked."""
    scores = fold.calibration.scores
    if fold.energy.link is None:
        return scores
    scores = np.clip(scores, -1, 2**31)  # roots are below 2^31; a larger score, by penalties, would not fit squared
    thresholds: IntArray = ((scores + 1) * (scores + 1) - 1) >> fold.energy.link.shift
    return thresholds


def _knapsack(energy: Energy, threshold: int, n_cells: int) -> Knapsack:
    """Return a knapsack that holds every labelset whose additive score is at most ``threshold``."""
    costs = energy.unary[0].astype(np.float64)
    if energy.pairwise is not None:  # a negative pair t_j t_r is at least (t_j + t_r) / 2 times as negative
        upper = np.minimum(np.triu(energy.pairwise, 1), 0)
        costs += (upper.sum(axis=0) + upper.sum(axis=1)) / 2
    mode = costs < 0
    lowest = float(energy.constant[0]) + costs[mode].sum()
    room = threshold - lowest
    labels = np.flatnonzero(np.abs(costs) <= max(room, 0))
    if room <= 0:
        return Knapsack(mode, labels, np.zeros(len(labels), dtype=np.int64), 0)
    budget = min(n_cells, max(GRID_NUMBERS // max(len(labels), 1), 64))
    cells = np.floor(np.abs(costs[labels]) / room * budget * (1 - 1e-12)).astype(np.int64)
    return Knapsack(mode, labels, cells, budget)


def _size(knapsack: Knapsack) -> tuple[float, float]:
    rows, exponent = knapsack.tables()
    return float(rows[-1, -1]), exponent


def _draw(knapsacks: list[Knapsack], counts: IntArray, rng: np.random.Generator) -> Iterator[LabelMatrix]:
    """Draw so many labelsets from each knapsack, a limited number at a time."""
    most = max(DRAWN_NUMBERS // len(knapsacks[0].mode), 1)
    for knapsack, n_draws in zip(knapsacks, counts.tolist(), strict=True):
        if n_draws:
            rows, _ = knapsack.tables()
            for start in range(0, n_draws, most):
                yield knapsack.draw(rows, min(most, n_draws - start), rng)


def _exceptions(alone: "FoldEngine") -> LabelMatrix:
    """Return the labelsets that are exceptional in some fold: they are counted one by one."""
    if alone._search.exceptional:
        return alone._search.exceptions_of(np.array([0]))[1]
    return np.empty((0, alone.n_labels), dtype=np.int8)


def _weights(
    alone: "FoldEngine", knapsacks: list[Knapsack], drawn: LabelMatrix, exceptions: LabelMatrix, smallest: int
) -> FloatArray:
    """Return 1 over the number of knapsacks that hold it for each labelset drawn that is a member, 0 for others."""
    members = alone.numerators_of(drawn, np.zeros(len(drawn), dtype=np.int64)) >= smallest
    if len(exceptions):
        listed = {labelset.tobytes() for labelset in exceptions}
        members &= np.array([labelset.tobytes() not in listed for labelset in drawn])
    weights: FloatArray = members / np.sum([knapsack.holds(drawn) for knapsack in knapsacks], axis=0)
    return weights


def _mean_and_error(weights: FloatArray) -> tuple[float, float]:
    """Return the mean of draws between 0 and 1, and how far from its expectation it is at most, with confidence."""
    spread = log(3 / (1 - CONFIDENCE))
    half_width = sqrt(2 * float(weights.var(ddof=1)) * spread / len(weights)) + 3 * spread / len(weights)
    return float(weights.mean()), half_width


def _scaled(cover: int, share: float) -> int:
    """Return the share of a whole number that may be beyond floats, rounded down; 0 for negative shares."""
    return cover * int(max(share, 0.0) * 2**60) >> 60

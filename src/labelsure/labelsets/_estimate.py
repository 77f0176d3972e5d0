"""How large is a region of 2^41 labelsets? An estimate with a confidence interval, and certified bounds.

A labelset of the region has, in at least one fold k, a count of at least the fold's share of what is needed; so it
lies in one of K simpler regions ``{labelsets: additive score in fold k <= a threshold}``. Their sizes are subset-sum
counts on a grid, rounded so that none is too small, and labelsets can be drawn from them at random. Drawing from the
union and checking each labelset exactly gives an unbiased estimate (Karp, Luby, Madras 1989) whose error is bounded by
the empirical Bernstein inequality (Audibert, Munos, Szepesvari 2009).

Where scores are far from additive, as with dense pairwise costs, almost nothing drawn from the union is a member. Then
the interval comes from importance sampling instead, and is approximate.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from labelsure._core.types import BoolArray, FloatArray, IntArray, LabelMatrix
from labelsure.labelsets._engine import DRAW_UNIT
from labelsure.labelsets._fold import Fold
from labelsure.labelsets._importance import DEVIATIONS, RegionDraws, estimate_by_importance
from labelsure.labelsets._pair_search import pose_pair_problem
from labelsure.labelsets._problems import Problems, own_row, pose_problems
from labelsure.labelsets._size import SizeEstimate
from labelsure.labelsets._words import pack, unpack

if TYPE_CHECKING:
    from labelsure.labelsets._fold_engine import FoldEngine

N_DRAWS = 20_000
CONFIDENCE = 0.99
GRID_CELLS = 2**14
GRID_NUMBERS = 2**23
ROUGH_DRAWS, ROUGH_CELLS = 400, 2**10  # for a rough answer
DRAWN_NUMBERS = 2**22  # labels of the labelsets looked at together; each takes a few dozen bytes meanwhile
WIDE = 0.5  # a proven interval this much wider than its middle to each side gives way to an approximate one
START_BUDGET = 100_000  # work in search of the labelset that draws start from, which need not be the best of all
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
    search, rng = engine._search, np.random.default_rng(0)
    problems = pose_problems(search.general, search.parts, np.array([i]))
    problem = pose_pair_problem(problems, 0)
    union = _unite(_cover(search.general, _linear_forms(problems), *_upper_weights(engine, i, smallest), n_cells))
    overrides = _exceptions(engine, i)
    own = int((engine.numerators_of(overrides, np.full(len(overrides), i)) >= smallest).sum())
    at_most = min(union.size + own, engine.n_candidates)
    parts, wide = [0, 0, union.size], True
    if problem.charged.all():
        weights = [_weights(engine, i, union, drawn, overrides, smallest) for drawn in _draw(union, n_draws, rng)]
        mean, half_width = _mean_and_error(np.concatenate(weights))
        parts, wide = (
            [_scaled(union.size, part) for part in (mean - half_width, mean, mean + half_width)],
            half_width > WIDE * mean,
        )
    approximate = None
    if wide:
        known = {row.tobytes() for row in pack(overrides)}
        good, _ = search.best_of(problems, 0, i, 1, pair_budget=START_BUDGET)
        draws = RegionDraws(problem, search.common(i), smallest, known, good[0] if len(good) else problem.mode, rng)
        approximate = estimate_by_importance(draws, n_draws)
    if approximate is not None:
        error = DEVIATIONS * approximate.relative_error / log(2)
        parts = [_power_of_two(approximate.log2_size + part) for part in (-error, 0.0, error)]
    low, value, high = (min(max(part + own, at_least), at_most) for part in parts)
    return SizeEstimate(
        value,
        low,
        high,
        confidence=CONFIDENCE,
        at_least=at_least,
        at_most=at_most,
        approximate=approximate is not None,
    )


class Union(NamedTuple):
    """Knapsacks that together hold a region.

    Attributes
    ----------
    knapsacks : list of Knapsack
    shares : float array
        The share of each in the sum of their sizes.
    size : int
        That sum, rounded up.
    """

    knapsacks: list[Knapsack]
    shares: FloatArray
    size: int


def _unite(knapsacks: list[Knapsack]) -> Union:
    sizes, exponents = zip(*[_size(knapsack) for knapsack in knapsacks], strict=True)
    top_exponent = max(exponents)
    shares = np.array(
        [size * 2.0 ** (exponent - top_exponent) for size, exponent in zip(sizes, exponents, strict=True)]
    )
    size = int(shares.sum() * ROUNDING) << int(top_exponent) if top_exponent else int(shares.sum() * ROUNDING)
    return Union(knapsacks, shares / shares.sum(), size)


def _upper_weights(engine: "FoldEngine", i: int, smallest: int) -> tuple[list[IntArray], int]:
    """Return what each count of each fold adds to a numerator at most, from 0 on, and how much a member needs of it."""
    sizes = [len(fold.calibration) for fold in engine.folds]
    rule = engine.rule
    if rule is None:
        unit, own = (1, 1) if engine.draws is None else (DRAW_UNIT, int(engine.draws[i]))
        return [unit * np.arange(size + 1) for size in sizes], smallest - own
    last = int(rule.multipliers[-1]) if len(rule.multipliers) else 1  # a member passes the last prefix too
    if len(rule.multipliers) == 1:
        last = int(rule.first[i])
    weights = [row[: size + 1] - row[0] for row, size in zip(rule.weights, sizes, strict=True)]
    return weights, -(-smallest // last) - int(rule.start[i]) - int(rule.weights[:, 0].sum())


@dataclass(frozen=True, eq=False)
class LinearForm:
    """A linear function of labelsets that is nowhere above the additive score of a fold.

    Attributes
    ----------
    mode : bool array of shape (q,)
        The labelset where it is lowest.
    lowest : float
        Its value there.
    costs : float array of shape (q,)
        What flipping each label adds, not negative.
    """

    mode: BoolArray
    lowest: float
    costs: FloatArray


def _linear_forms(problems: Problems) -> list[LinearForm]:
    """Return one for each fold of the first problem.

    With pairs, a negative one f_i f_j is at least (f_i + f_j) / 2 times as negative, and what relax_pairs adds to the
    diagonal is the most that all pairs together can be short of; whichever is tighter at its lowest.
    """
    label = problems.label[0]
    diagonals = own_row(problems.diagonals, 0)
    forms = []
    for k in range(problems.base.shape[1]):
        cost, slack = problems.cost[0, :, k], problems.least[0, :, k] - problems.cost[0, :, k]
        changes = cost + slack / 2
        if diagonals.shape[1]:
            relaxed = cost - diagonals[k, label]
            changes = max(changes, relaxed, key=lambda one: np.minimum(one, 0).sum())
        mode = unpack(problems.mode[:1], len(label))[0].astype(bool)
        mode[label] ^= changes < 0
        costs = np.empty(len(label))
        costs[label] = np.abs(changes)
        forms.append(LinearForm(mode, float(problems.base[0, k]) + np.minimum(changes, 0).sum(), costs))
    return forms


def _cover(
    folds: Sequence[Fold], forms: Sequence[LinearForm], weights: list[IntArray], needed: int, n_cells: int
) -> list[Knapsack]:
    """Return knapsacks such that every labelset whose counts' weights reach ``needed`` is in one of them.

    If in all folds the weight was below needed times the fold's share of the largest possible sum, so would be the sum.
    """
    largest = sum(int(of_fold[-1]) for of_fold in weights)
    knapsacks = []
    for fold, form, of_fold in zip(folds, forms, weights, strict=True):
        if of_fold[-1] > 0:
            share = -(-needed * int(of_fold[-1]) // largest)
            count = min(int(np.searchsorted(of_fold, share)), len(fold.calibration))
            knapsacks.append(_knapsack(form, int(_additive_thresholds(fold)[-count]), n_cells))
    return knapsacks


def _additive_thresholds(fold: Fold) -> IntArray:
    """Return, for each calibration score, the largest additive score that is not above it once linked."""
    scores = fold.calibration.scores
    if fold.energy.link is None:
        return scores
    scores = np.clip(scores, -1, 2**31)  # roots are below 2^31; a larger score, by penalties, would not fit squared
    thresholds: IntArray = ((scores + 1) * (scores + 1) - 1) >> fold.energy.link.shift
    return thresholds


def _knapsack(form: LinearForm, threshold: int, n_cells: int) -> Knapsack:
    """Return a knapsack that holds every labelset whose additive score is at most ``threshold``."""
    room = threshold - form.lowest
    labels = np.flatnonzero(form.costs <= max(room, 0))
    if room <= 0:
        return Knapsack(form.mode, labels, np.zeros(len(labels), dtype=np.int64), 0)
    budget = min(n_cells, max(GRID_NUMBERS // max(len(labels), 1), 64))
    cells = np.floor(form.costs[labels] / room * budget * (1 - 1e-12)).astype(np.int64)
    return Knapsack(form.mode, labels, cells, budget)


def _size(knapsack: Knapsack) -> tuple[float, float]:
    rows, exponent = knapsack.tables()
    return float(rows[-1, -1]), exponent


def _draw(union: Union, n_draws: int, rng: np.random.Generator) -> Iterator[LabelMatrix]:
    """Draw labelsets from knapsacks according to their sizes, a limited number at a time."""
    most = max(DRAWN_NUMBERS // len(union.knapsacks[0].mode), 1)
    counts = rng.multinomial(n_draws, union.shares)
    for knapsack, n_own in zip(union.knapsacks, counts.tolist(), strict=True):
        if n_own:
            rows, _ = knapsack.tables()
            for start in range(0, n_own, most):
                yield knapsack.draw(rows, min(most, n_own - start), rng)


def _exceptions(engine: "FoldEngine", i: int) -> LabelMatrix:
    """Return the labelsets that are exceptional in some fold: they are counted one by one."""
    if engine._search.exceptional.present:
        return engine._search.exceptional.of_one(i).labelsets
    return np.empty((0, engine.n_labels), dtype=np.int8)


def _weights(
    engine: "FoldEngine",
    i: int,
    union: Union,
    drawn: LabelMatrix,
    overrides: LabelMatrix,
    smallest: int,
) -> FloatArray:
    """Return 1 over the number of knapsacks that hold it for each labelset drawn that is a member, 0 for others."""
    members = engine.numerators_of(drawn, np.full(len(drawn), i)) >= smallest
    if len(overrides):
        listed = {labelset.tobytes() for labelset in overrides}
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

"""Simple regions that hold a region: sets of flips that fit a budget, counted and drawn from.

A labelset of the region has, in at least one fold k, a count of at least the fold's share of what
is needed; so it lies in one of K simpler regions ``{labelsets: additive score in fold k <= a
threshold}``. Their sizes are subset-sum counts on a grid, rounded so that none is too small, and
labelsets can be drawn from them at random.
"""

from typing import NamedTuple

import numpy as np

from labelsure._checks import BoolArray, FloatArray, IntArray
from labelsure.engine._fold_arrays import FoldArrays
from labelsure.engine._knapsack_kernels import MUCH, count_fitting, draw_fitting
from labelsure.engine._pair_problem import ObjectProblem
from labelsure.engine._rules import NO_RULES
from labelsure.engine._weighing import Weighing

GRID_NUMBERS = 2**19
# labels of the labelsets looked at together; each takes a dozen bytes meanwhile
DRAWN_NUMBERS = 2**22
# the grid of Chernoff's b, in bits
STEEPNESS_STEPS, STEEPNESS_RANGE = 8, np.array([-2.0, -1, -0.5, -0.25, 0, 0.25, 0.5, 1, 2])
ROUNDING = 1 + 1e-9  # far more than what q float additions can lose


class Knapsack(NamedTuple):
    """All sets of flips whose cost, in cells of a grid, fits a budget; some flips are free.

    Attributes
    ----------
    start : bool array of shape (p,)
        The flips that cost nothing; to leave one of them costs as much as another to make it.
    cells : int64 array of shape (p,)
        The cost of each position; more than the budget where it cannot be changed.
    budget : int
        The cells that may be spent.
    """

    start: BoolArray
    cells: IntArray
    budget: int

    def size(self) -> tuple[float, int]:
        """Return the number of sets, as a float and how often to multiply it by MUCH."""
        rows, divided = np.empty((2, self.budget + 1)), np.empty(2, dtype=np.int64)
        row, n_divided = count_fitting(self.cells, self.budget, rows, divided)
        return float(row[-1]), int(n_divided)

    @property
    def n_numbers(self) -> int:
        """How many numbers draws need room for."""
        return (1 + int(np.count_nonzero(self.cells <= self.budget))) * (self.budget + 1)

    def draw(self, flips: BoolArray, rng: np.random.Generator, room: FloatArray) -> None:
        """Draw sets of flips uniformly, one for each row; ``room`` is overwritten."""
        fitting = np.flatnonzero(self.cells <= self.budget)
        rows = room[: self.n_numbers].reshape(-1, self.budget + 1)
        divided = np.empty(len(rows), dtype=np.int64)
        count_fitting(self.cells, self.budget, rows, divided)
        cheapest = np.cumsum(np.sort(self.cells[fitting]))
        n_most = int(np.searchsorted(cheapest, self.budget, side="right"))
        flips[:] = self.start
        most = max(DRAWN_NUMBERS // (1 + n_most), 1)
        for start in range(0, len(flips), most):
            some = flips[start : start + most]
            random = rng.random((len(some), 1 + n_most))
            draw_fitting(self.cells, fitting, rows, divided, random, some)


class Union(NamedTuple):
    """Knapsacks that together hold a region.

    Attributes
    ----------
    knapsacks : list of Knapsack
    shares : float array
        The share of each in the sum of their sizes.
    size : int
        That sum, rounded up.
    inside : int
        The number of members of the region that are certain to be in all of them, rounded down; 0
        if unknown.
    """

    knapsacks: list[Knapsack]
    shares: FloatArray
    size: int
    inside: int

    def draw(self, n_draws: int, rng: np.random.Generator) -> BoolArray:
        """Draw sets of flips from knapsacks according to their sizes."""
        ends = np.cumsum(rng.multinomial(n_draws, self.shares)).tolist()
        flips = np.empty((n_draws, len(self.knapsacks[0].cells)), dtype=bool)
        room = np.empty(max(knapsack.n_numbers for knapsack in self.knapsacks))
        for knapsack, start, end in zip(self.knapsacks, [0, *ends[:-1]], ends, strict=True):
            if end > start:
                knapsack.draw(flips[start:end], rng, room)
        return flips

    def holders(self, flips: BoolArray) -> IntArray:
        """Return in how many of the knapsacks each set of flips lies."""
        start, cells, budgets = map(np.array, zip(*self.knapsacks, strict=True))
        spent = (cells * start).sum(axis=1) + flips.astype(np.float64) @ np.where(
            start, -cells, cells
        ).T
        holders: IntArray = (spent <= budgets).sum(axis=1)
        return holders


def cover_region(
    arrays: FoldArrays, weighing: Weighing, one: ObjectProblem, smallest: int, n_cells: int
) -> Union:
    """Return knapsacks that together hold all labelsets of a region, in the energies' general form.

    Parameters
    ----------
    arrays, weighing : FoldArrays, Weighing
        What the region follows from.
    one : ObjectProblem
        Its object.
    smallest : int
        The smallest numerator of a member: more than that of a labelset stranger than all
        calibration examples.
    n_cells : int
        How fine the grid is.
    """
    weights, needed = needed_weights(
        weighing, [len(fold) for fold in arrays.calibrations], one.i, smallest
    )
    costs = [_linear_costs(one, k) for k in range(len(weights))]
    candidates, shares = {}, {}
    largest = sum(int(of_fold[-1]) for of_fold in weights)
    for k, of_fold in enumerate(weights):
        if of_fold[-1] > 0:
            calibration, link = arrays.calibrations[k][::-1], arrays.general[k].link
            # the largest additive score that is not above it once linked: roots are below 2^31
            if link is not None:
                calibration = ((np.clip(calibration, -1, 2**31) + 1) ** 2 - 1) >> link.shift
            candidates[k] = calibration
            # If in all folds the weight was below needed times the fold's share of the largest sum,
            # so would be the sum
            own = int(np.searchsorted(of_fold, -(-needed * int(of_fold[-1]) // largest)))
            shares[k] = int(calibration[min(own, len(calibration)) - 1])
    sizes = {k: costs[k].log_sizes(scores, shares[k]) for k, scores in candidates.items()}
    thresholds = {
        k: int(candidates[k][n]) for k, n in choose_thresholds(sizes, weights, needed).items()
    }
    knapsacks = [_knapsack(costs[k], threshold, n_cells) for k, threshold in thresholds.items()]
    counted = [knapsack.size() for knapsack in knapsacks]
    most = max(n_times for _, n_times in counted)
    parts = np.array([size * MUCH ** (n_times - most) for size, n_times in counted])
    union = int(parts.sum() * ROUNDING) * int(MUCH) ** most
    inside = count_inside(arrays, weighing, one, shares, smallest, n_cells)
    return Union(knapsacks, parts / parts.sum(), union, inside)


def count_inside(
    arrays: FoldArrays,
    weighing: Weighing,
    one: ObjectProblem,
    thresholds: dict[int, int],
    smallest: int,
    n_cells: int,
) -> int:
    """Return how many labelsets certainly have scores up to the thresholds in all folds.

    These are members, if a labelset with these scores is one. A set of flips fits where the sum of
    what they take of the room at most, in any fold, is not above one.
    """
    problem, n_folds = one.problem, arrays.n_folds
    room = np.array([thresholds.get(k, -1) for k in range(n_folds)]) - problem.base
    room -= one.lookup.weighing.above > 0  # equal scores count for less there
    links = [energy.link or int for energy in arrays.general]
    scores = np.array(
        [[link(score)] for link, score in zip(links, problem.base + room, strict=True)]
    )
    numerator = weighing.of_scores(arrays.calibrations, scores, np.array([one.i]))
    restricted = arrays.has_pairs or arrays.penalties.present or one.lookup.rules is not NO_RULES
    if restricted or (room <= 0).any() or numerator[0] < smallest:
        return 0
    taken = np.maximum((problem.changes / room[:, None]).max(axis=0), 0) * n_cells * (1 + 1e-12)
    cells = np.ceil(np.minimum(taken, n_cells + 1)).astype(np.int64)
    size, n_times = Knapsack(cells > n_cells, cells, n_cells).size()
    inside: int = int(size / ROUNDING) * int(MUCH) ** n_times
    return max(inside - (not one.lookup.allow_empty), 0)


def needed_weights(
    weighing: Weighing, sizes: list[int], i: int, smallest: int
) -> tuple[list[IntArray], int]:
    """Return what each count adds to a numerator at most, and how much of it a member needs.

    What it needs is more than 0.
    """
    one = weighing.of(i)
    rows = [
        weighing.weights[k] if weighing.weights.size else np.arange(size + 1)
        for k, size in enumerate(sizes)
    ]
    weights = [
        (one.at_least + one.above) * (row[: size + 1] - row[0])
        for row, size in zip(rows, sizes, strict=True)
    ]
    # equal scores add at_least, larger ones both; a count of scores >= is no lower than one of
    # scores >
    lowest = one.start + sum((one.at_least + one.above) * int(row[0]) for row in rows)
    return weights, smallest - int(lowest)


class LinearCosts(NamedTuple):
    """A linear function of the flips that is nowhere above the additive score of one fold.

    Attributes
    ----------
    lowest : float
        Its least value, where the flips of ``start`` are made and no others.
    start : bool array of shape (p,)
    costs : float array of shape (p,)
        What it costs to do otherwise at each position.
    """

    lowest: float
    start: BoolArray
    costs: FloatArray

    def log_sizes(self, thresholds: IntArray, near: int) -> FloatArray:
        """Return bounds of the log numbers of sets not above each threshold (Chernoff).

        For any b >= 0 there are at most exp(b room) prod_t (1 + exp(-b cost_t)) of them. Tight for
        thresholds ``near`` that one, where the sets drawn with odds exp(-b cost_t) cost as much as
        there is room in the mean.
        """
        room = np.maximum(thresholds - self.lowest, 0.0)
        own = max(near - self.lowest, 1.0)
        low = -2.0
        high = 12.0
        for _ in range(STEEPNESS_STEPS):
            middle = (low + high) / 2
            scaled = np.minimum(self.costs * (2**middle / own), 500)
            low, high = (
                (middle, high)
                if (scaled / (1 + np.exp(scaled))).sum() > 2**middle
                else (low, middle)
            )
        steep = 2.0 ** (low + STEEPNESS_RANGE) / own
        sums: FloatArray = np.log1p(np.exp(-steep[:, None] * self.costs)).sum(axis=1)
        sizes: FloatArray = (steep[:, None] * room + sums[:, None]).min(axis=0)
        return sizes


def choose_thresholds(
    sizes: dict[int, FloatArray], weights: list[IntArray], needed: int
) -> dict[int, int]:
    """Return which calibration score of each fold, 0 the highest, bounds its part of a cover.

    If a labelset's score were above the highest but n_k in every fold, its counts would be n_k at
    most, so what they add must not reach ``needed``. Of all such n_k those are taken for which the
    largest part is smallest.

    Parameters
    ----------
    sizes : dict of float arrays
        How large the part is by n_k, descending.
    weights, needed : list of int arrays, int
        As needed_weights returns them.
    """
    ascending = {k: own[::-1] for k, own in sizes.items()}
    largest = np.unique(np.concatenate(list(ascending.values())))

    def n_larger(size: float) -> dict[int, int]:
        return {
            k: len(own) - int(np.searchsorted(own, size, side="right"))
            for k, own in ascending.items()
        }

    low, high = -1, len(largest) - 1  # where parts may be as large as the largest, no counts are
    while high - low > 1:
        middle = (low + high) // 2
        if sum(int(weights[k][count]) for k, count in n_larger(largest[middle]).items()) < needed:
            high = middle
        else:
            low = middle
    chosen = n_larger(largest[high])
    return {k: count for k, count in chosen.items() if count < len(ascending[k])}


def _linear_costs(one: ObjectProblem, k: int) -> LinearCosts:
    """Return a linear function that is nowhere above the additive score in fold ``k``.

    With pairs, a negative one f_i f_j is at least (f_i + f_j) / 2 times as negative, and what
    relax_pairs adds to the diagonal is the most that all pairs together can be short of; whichever
    is tighter at its lowest.
    """
    problem, labels = one.problem, one.problem.labels
    changes = problem.changes[k] + problem.costs.slacks[k, labels] / 2
    if problem.costs.diagonals.shape[1]:
        relaxed = problem.changes[k] - problem.costs.diagonals[k, labels]
        changes = max(changes, relaxed, key=lambda one: np.minimum(one, 0).sum())
    lowest = float(problem.base[k]) + float(np.minimum(changes, 0).sum())
    return LinearCosts(lowest, changes < 0, np.abs(changes))


def _knapsack(linear: LinearCosts, threshold: int, n_cells: int) -> Knapsack:
    """Return a knapsack of every labelset whose additive score is at most ``threshold``."""
    room = threshold - linear.lowest
    fits = linear.costs <= max(room, 0)
    if room <= 0:
        return Knapsack(linear.start, (~fits).astype(np.int64), 0)
    budget = min(n_cells, max(GRID_NUMBERS // max(int(np.count_nonzero(fits)), 1), 64))
    cells = np.where(fits, np.minimum(linear.costs / room, 1) * budget * (1 - 1e-12), budget + 1)
    return Knapsack(linear.start, cells.astype(np.int64), budget)

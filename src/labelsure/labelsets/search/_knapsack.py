"""Simple regions that hold a region: sets of flips that fit a budget, counted on a grid and drawn from at random.

A labelset of the region has, in at least one fold k, a count of at least the fold's share of what is needed; so it
lies in one of K simpler regions ``{labelsets: additive score in fold k <= a threshold}``. Their sizes are subset-sum
counts on a grid, rounded so that none is too small, and labelsets can be drawn from them at random.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from labelsure._core.labelset_bits import unpack
from labelsure._core.types import BoolArray, FloatArray, IntArray, LabelMatrix
from labelsure.labelsets.arrays._fold_arrays import FoldArrays
from labelsure.labelsets.arrays._weighing import Weighing
from labelsure.labelsets.search._states import Problems, own_row

GRID_NUMBERS = 2**23
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

    def draw(self, n_draws: int, rng: np.random.Generator) -> Iterator[LabelMatrix]:
        """Draw labelsets from knapsacks according to their sizes, a limited number at a time."""
        most = max(DRAWN_NUMBERS // len(self.knapsacks[0].mode), 1)
        counts = rng.multinomial(n_draws, self.shares)
        for knapsack, n_own in zip(self.knapsacks, counts.tolist(), strict=True):
            if n_own:
                rows, _ = knapsack.tables()
                for start in range(0, n_own, most):
                    yield knapsack.draw(rows, min(most, n_own - start), rng)


def cover_region(
    arrays: FoldArrays, weighing: Weighing, problems: Problems, i: int, smallest: int, n_cells: int
) -> Union:
    """Return knapsacks that together hold all labelsets of a region, in the energies' general form.

    Parameters
    ----------
    arrays, weighing : FoldArrays, Weighing
        What the region follows from.
    problems : Problems
        Of object ``i`` alone.
    i, smallest : int
        The object, and the smallest numerator of a member: more than that of a labelset stranger than all calibration
        examples.
    n_cells : int
        How fine the grid is.
    """
    weights, needed = needed_weights(weighing, [len(one) for one in arrays.calibrations], i, smallest)
    largest = sum(int(of_fold[-1]) for of_fold in weights)
    knapsacks = []
    for k, of_fold in enumerate(weights):
        if of_fold[-1] > 0:
            # If in all folds the weight was below needed times the fold's share of the largest sum, so would be the sum
            share = -(-needed * int(of_fold[-1]) // largest)
            calibration, link = arrays.calibrations[k], arrays.general[k].link
            threshold = int(calibration[-min(int(np.searchsorted(of_fold, share)), len(calibration))])
            if link is not None:  # the largest additive score that is not above it once linked: roots are below 2^31
                threshold = ((min(max(threshold, -1), 2**31) + 1) ** 2 - 1) >> link.shift
            knapsacks.append(_knapsack(problems, k, threshold, n_cells))
    sizes = [(float(rows[-1, -1]), exponent) for rows, exponent in (knapsack.tables() for knapsack in knapsacks)]
    top_exponent = max(exponent for _, exponent in sizes)
    shares = np.array([size * 2.0 ** (exponent - top_exponent) for size, exponent in sizes])
    return Union(knapsacks, shares / shares.sum(), int(shares.sum() * ROUNDING) << int(top_exponent))


def needed_weights(weighing: Weighing, sizes: list[int], i: int, smallest: int) -> tuple[list[IntArray], int]:
    """Return what each count of each fold adds to a numerator at most, from 0 on, and how much a member needs of it.

    What it needs is more than 0. A member passes every prefix, if the weighing follows them: the last one is taken or,
    where a labelset without any counts would pass that too, the one that asks for the largest share. Folds behind it
    are left out.
    """
    one = weighing.of(i)
    rows = [weighing.weights[k] if weighing.weights.size else np.arange(size + 1) for k, size in enumerate(sizes)]
    weights = [(one.at_least + one.above) * (row[: size + 1] - row[0]) for row, size in zip(rows, sizes, strict=True)]
    # equal scores add at_least, larger ones both; a count of scores >= is no lower than one of scores >
    lowest = one.start + np.cumsum([(one.at_least + one.above) * int(row[0]) for row in rows])
    if not one.multipliers.size:
        return weights, smallest - int(lowest[-1])
    needed = {
        t: -(-smallest // int(multiplier)) - int(lowest[t])
        for t, multiplier in enumerate(one.multipliers)
        if multiplier > 0
    }
    useful = {t: more for t, more in needed.items() if more > 0}
    last = len(sizes) - 1
    most = [sum(int(of_fold[-1]) for of_fold in weights[: t + 1]) for t in range(len(sizes))]
    chosen = last if last in useful else max(useful, key=lambda t: useful[t] / max(most[t], 1))
    return weights[: chosen + 1], useful[chosen]


def _knapsack(problems: Problems, k: int, threshold: int, n_cells: int) -> Knapsack:
    """Return a knapsack that holds every labelset whose additive score in fold ``k`` is at most ``threshold``.

    It follows from a linear function of the first problem's labelsets that is nowhere above that score. With pairs, a
    negative one f_i f_j is at least (f_i + f_j) / 2 times as negative, and what relax_pairs adds to the diagonal is the
    most that all pairs together can be short of; whichever is tighter at its lowest.
    """
    label, cost = problems.label[0], problems.cost[0, :, k]
    diagonals = own_row(problems.diagonals, 0)
    changes = cost + (problems.least[0, :, k] - cost) / 2
    if diagonals.shape[1]:
        changes = max(changes, cost - diagonals[k, label], key=lambda one: np.minimum(one, 0).sum())
    mode = unpack(problems.mode[:1], len(label))[0].astype(bool)
    mode[label] ^= changes < 0
    costs = np.empty(len(label))
    costs[label] = np.abs(changes)
    room = threshold - (float(problems.base[0, k]) + np.minimum(changes, 0).sum())
    labels = np.flatnonzero(costs <= max(room, 0))
    if room <= 0:
        return Knapsack(mode, labels, np.zeros(len(labels), dtype=np.int64), 0)
    budget = min(n_cells, max(GRID_NUMBERS // max(len(labels), 1), 64))
    cells = np.floor(costs[labels] / room * budget * (1 - 1e-12)).astype(np.int64)
    return Knapsack(mode, labels, cells, budget)

"""Compiled counts of the sets of flips that fit a budget, and draws from them."""

import numpy as np

from labelsure._core.compilation import kernel
from labelsure._core.types import BoolArray, FloatArray, IntArray
from labelsure.labelsets.arrays._lookup_kernels import Integer

MUCH = 2.0**900
"""Counts beyond this are divided by it, to stay within floats."""


@kernel
def count_fitting(cells: IntArray, budget: Integer, rows: FloatArray) -> tuple[FloatArray, Integer]:
    """Return how many sets fit each budget up to this one, and how often these counts were divided by MUCH.

    Row r of ``rows`` becomes that of the first r positions that can be flipped, up to such a factor; where there are
    fewer rows, they are used again and again.

    Reference : knapsack_reference.count_fitting
    Requires : cells not negative; rows with budget + 1 columns, at least two
    Cost : O(p budget) additions
    """
    n_divided, last = 0, rows[0]
    last[:] = 1.0
    n_before = 0
    for cost in cells:
        if cost > budget:
            continue
        n_before += 1
        before, last = last, rows[n_before % rows.shape[0]]
        for room in range(cost):
            last[room] = before[room]
        for room in range(cost, budget + 1):
            last[room] = before[room] + before[room - cost]
        if last[budget] > MUCH:
            last /= MUCH
            n_divided += 1
    return last, n_divided


@kernel
def draw_fitting(cells: IntArray, start: BoolArray, rows: FloatArray, random: FloatArray, flips: BoolArray) -> None:
    """Draw sets of flips uniformly from those that fit; write them with those of ``start`` the other way round.

    Reference : knapsack_reference.draw_fitting
    Requires : rows as count_fitting has written them; random (m, p) between 0 and 1; flips (m, p)
    Cost : O(p) per set
    """
    budget = rows.shape[1] - 1
    n_fitting = np.count_nonzero(cells <= budget)
    for row in range(flips.shape[0]):
        left, n_before = budget, n_fitting
        for t in range(cells.shape[0] - 1, -1, -1):
            flipped = False
            if cells[t] <= budget:
                n_before -= 1
                if cells[t] <= left:
                    with_flip = rows[n_before, left - cells[t]]
                    flipped = random[row, t] * (with_flip + rows[n_before, left]) < with_flip
                    left -= cells[t] if flipped else 0
            flips[row, t] = start[t] != flipped


@kernel
def count_holders(flips: BoolArray, start: BoolArray, cells: IntArray, budgets: IntArray, holders: IntArray) -> None:
    """Write in how many of K knapsacks each set of flips lies.

    Reference : knapsack_reference.count_holders
    Requires : flips (m, p); start, cells (K, p); budgets (K,); holders (m,)
    Cost : O(p + K f) per set with f flips
    """
    (n_sets, n_positions), n_knapsacks = flips.shape, len(budgets)
    spent, unflipped = np.empty(n_knapsacks, np.int64), np.zeros(n_knapsacks, np.int64)
    change = np.empty((n_positions, n_knapsacks), np.int64)
    for t in range(n_positions):
        for k in range(n_knapsacks):
            change[t, k] = -cells[k, t] if start[k, t] else cells[k, t]
            unflipped[k] += cells[k, t] if start[k, t] else 0
    for row in range(n_sets):
        spent[:] = unflipped
        for t in range(n_positions):
            if flips[row, t]:
                for k in range(n_knapsacks):
                    spent[k] += change[t, k]
        holders[row] = 0
        for k in range(n_knapsacks):
            holders[row] += spent[k] <= budgets[k]

"""Compiled counts of the sets of flips that fit a budget, and draws from them."""

import numpy as np

from labelsure._checks import BoolArray, FloatArray, IntArray
from labelsure._compile import kernel
from labelsure.engine._lookup_kernels import Integer

MUCH = 2.0**900
"""Counts beyond this are divided by it, to stay within floats."""


@kernel
def count_fitting(
    cells: IntArray, budget: Integer, rows: FloatArray, divided: IntArray
) -> tuple[FloatArray, Integer]:
    """Return how many sets fit each budget, and how often these counts were divided by MUCH.

    Row r of ``rows`` becomes that of the first r positions that can be flipped, ``divided`` that
    often by MUCH; where there are fewer rows, they are used again and again::

        budget            0  1  2  3  4
        no position       1  1  1  1  1
        cost 1            1  2  2  2  2     a count is the one above
        costs 1 and 3     1  2  2  3  4     and the one ``cost`` to its left

    Twin : knapsack_reference.count_fitting
    Requires : cells not negative; rows with budget + 1 columns, at least two; as many ``divided``
    Cost : O(p budget) additions
    """
    n_divided, last = 0, rows[0]
    last[:] = 1.0
    divided[0] = 0
    n_before = 0
    for cost in cells:
        if cost > budget:
            continue
        n_before += 1
        before, last = last, rows[n_before % rows.shape[0]]
        for room in range(cost):
            last[room] = before[room]
        without = before[cost:]
        with_flip = before[: budget + 1 - cost]
        both = last[cost:]
        # no index may be negative, so the additions are done several at a time
        for room in range(both.shape[0]):
            both[room] = without[room] + with_flip[room]
        if last[budget] > MUCH:
            last /= MUCH
            n_divided += 1
        divided[n_before % rows.shape[0]] = n_divided
    return last, n_divided


@kernel
def draw_fitting(
    cells: IntArray,
    fitting: IntArray,
    rows: FloatArray,
    divided: IntArray,
    random: FloatArray,
    flips: BoolArray,
) -> None:
    """Draw sets of flips uniformly from those that fit, and flip them.

    The counts of sets of the first positions tell the last one that is flipped, and then the one
    before it.

    Twin : knapsack_reference.draw_fitting
    Requires : rows, divided as count_fitting has written them for the positions ``fitting``;
        random (m, f + 1) between 0 and 1, f the most flips that fit; flips (m, p)
    Cost : O(f log p) per set
    """
    for row in range(flips.shape[0]):
        left = rows.shape[1] - 1
        n_before = fitting.shape[0]
        n_flipped = 0
        while n_before > 0:
            rank = random[row, n_flipped] * rows[n_before, left]
            # the sets of the first ``above`` positions are more than the rank
            below, above = -1, n_before
            while above - below > 1:
                middle = (below + above) // 2
                scale = MUCH ** np.float64(divided[middle] - divided[n_before])
                if rows[middle, left] * scale > rank:
                    above = middle
                else:
                    below = middle
            if above == 0:
                break
            t = fitting[above - 1]
            flips[row, t] = not flips[row, t]
            left -= cells[t]
            n_before = above - 1
            n_flipped += 1

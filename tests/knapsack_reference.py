"""Sets of flips that fit a budget, slowly: what the kernels of knapsacks do, with numpy or one set after the other."""

from itertools import product

import numpy as np


def all_flips(n_positions):
    """Return every set of flips."""
    return np.array(list(product([False, True], repeat=n_positions)), dtype=bool).reshape(2**n_positions, n_positions)


def count_fitting(cells, budget):
    """Return how many sets cost at most 0, 1, ... and the budget."""
    costs = all_flips(len(cells)) @ np.asarray(cells)
    return [int((costs <= room).sum()) for room in range(budget + 1)]


def draw_fitting(cells, start, budget, random):
    """Return one set per row of random numbers: from the last position on, by the counts of the positions before."""
    drawn = []
    for row in random:
        left, flips = budget, np.array(start, dtype=bool)
        for t in range(len(cells) - 1, -1, -1):
            before = count_fitting(cells[:t], left)
            with_flip = before[left - cells[t]] if cells[t] <= left else 0
            if row[t] * (with_flip + before[left]) < with_flip:
                flips[t] = not flips[t]
                left -= cells[t]
        drawn.append(flips)
    return np.array(drawn).reshape(len(random), len(cells))


def count_holders(flips, start, cells, budgets):
    """Return in how many knapsacks each set lies."""
    return [
        sum(own[row != first].sum() <= budget for first, own, budget in zip(start, cells, budgets, strict=True))
        for row in flips
    ]

"""Sets of flips that fit a budget, slowly: twins of the knapsack kernels, in numpy or by set."""

from itertools import product

import numpy as np


def all_flips(n_positions):
    """Return every set of flips."""
    return np.array(list(product([False, True], repeat=n_positions)), dtype=bool).reshape(
        2**n_positions, n_positions
    )


def count_fitting(cells, budget):
    """Return how many sets cost at most 0, 1, ... and the budget."""
    costs = all_flips(len(cells)) @ np.asarray(cells)
    return [int((costs <= room).sum()) for room in range(budget + 1)]


def draw_fitting(cells, start, budget, random):
    """Return a set per row of random numbers: the last flip by the counts before it, and so on."""
    drawn = []
    for row in random:
        left, flips, n_before = budget, np.array(start, dtype=bool), len(cells)
        for number in row:
            rank = number * count_fitting(cells[:n_before], left)[left]
            n_before = (
                next(
                    n for n in range(len(cells) + 1) if count_fitting(cells[:n], left)[left] > rank
                )
                - 1
            )
            if n_before < 0:
                break
            flips[n_before] = not flips[n_before]
            left -= cells[n_before]
        drawn.append(flips)
    return np.array(drawn).reshape(len(random), len(cells))


def count_holders(flips, start, cells, budgets):
    """Return in how many knapsacks each set lies."""
    return [
        sum(
            own[row != first].sum() <= budget
            for first, own, budget in zip(start, cells, budgets, strict=True)
        )
        for row in flips
    ]

"""The slow, readable truth that every kernel of this room is compared with."""

from collections.abc import Sequence
from itertools import product

import numpy as np

from labelsure._core.types import IntArray
from labelsure.labelsets._fold import Fold


def subset_sums(start: int, costs: Sequence[int]) -> list[int]:
    """Return start + the sum of each subset of ``costs``; subset c holds cost j iff bit j of c is set."""
    return [start + sum(cost for j, cost in enumerate(costs) if code >> j & 1) for code in range(2 ** len(costs))]


def score(fold: Fold, i: int, labelset: Sequence[int]) -> int:
    """Return the score of one labelset for object ``i`` under one fold."""
    energy = fold.energy
    total = int(energy.constant[i])
    for j, on in enumerate(labelset):
        if on:
            total += int(energy.unary[i, j])
            for r in range(j + 1, len(labelset)):
                if energy.pairwise is not None and labelset[r]:
                    total += int(energy.pairwise[j, r])
    return total


def count_table(folds: Sequence[Fold]) -> IntArray:
    """Return, for each object and labelset code, #{calibration scores of all folds >= the labelset's score there}."""
    energy = folds[0].energy
    table = np.zeros((energy.n_objects, 2**energy.n_labels), dtype=np.int64)
    for i in range(energy.n_objects):
        for bits in product((0, 1), repeat=energy.n_labels):
            labelset = bits[::-1]  # product counts in binary with its last place first
            code = sum(on << j for j, on in enumerate(labelset))
            for fold in folds:
                threshold = score(fold, i, labelset)
                table[i, code] += sum(int(other) >= threshold for other in fold.calibration.scores)
    return table

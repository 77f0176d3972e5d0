"""Compiled p-values of single labels, for additive scores."""

import numpy as np

from labelsure._core.compilation import kernel
from labelsure._core.types import IntArray
from labelsure.labelsets._lookup_kernels import Int32Array, Integer, weigh


@kernel
def label_numerators(
    n_hard: Integer,
    base: IntArray,
    cost: IntArray,
    rest: IntArray,
    factors: IntArray,
    weights: IntArray,
    multipliers: IntArray,
    buckets: Int32Array,
    values: IntArray,
    counts: IntArray,
    layout: IntArray,
    numerators: IntArray,
) -> None:
    """Write the highest numerator of the labelsets that leave each position alone (0), and that flip it (1).

    Flips that are not hard never raise a numerator, so only the hard ones are searched, depth first: leave a position
    alone, then flip it, as long as what is left may improve on the best found.

    Reference : _reference.label_numerators
    Requires : one problem as in Problems without pairs, penalties or overrides, the empty labelset a candidate;
        numerators (p, 2)
    Cost : two evaluations of K look-ups per position, more where there are hard ones
    """
    n_positions, n_folds = cost.shape
    nothing = np.zeros(n_folds, np.int64)
    scores = np.empty((n_hard + 1, n_folds), np.int64)
    choice = np.empty(n_hard + 1, np.int64)
    for forced in range(n_positions):
        for flipped in range(2):
            for k in range(n_folds):
                scores[0, k] = base[k] + flipped * cost[forced, k]
            best = np.int64(0)
            level, arrived = 0, True
            while level >= 0:
                if arrived:
                    arrived = False
                    value = weigh(
                        scores[level], rest[level], nothing, factors, weights, multipliers,
                        buckets, values, counts, layout,
                    )  # fmt: skip
                    choice[level] = -1 if value > best and level < n_hard else 1  # 1: as if both had been tried
                    if level == n_hard:  # nothing below is better, so this is a labelset's own
                        best = max(best, value)
                choice[level] += 1
                if choice[level] == 2 or (choice[level] == 1 and level == forced):
                    level -= 1
                    continue
                for k in range(n_folds):
                    scores[level + 1, k] = scores[level, k] + choice[level] * cost[level, k]
                level += 1
                arrived = True
            numerators[forced, flipped] = best

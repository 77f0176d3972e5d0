r"""Compiled p-values of single labels, for additive scores.

Flips that are not hard never raise a numerator, so only the hard ones are searched, depth first: leave a position
alone, then flip it, as long as what is left may improve on the best found::

                     forced position as it has to be
                    /                               \
             hard 0 left alone                 hard 0 flipped
              /           \                    /          \
       hard 1 alone    hard 1 flipped        ...           ...
"""

from typing import NamedTuple

import numpy as np

from labelsure._core.compilation import kernel_part, lean_kernel
from labelsure._core.types import IntArray
from labelsure.labelsets.arrays._fold_arrays import Lookup
from labelsure.labelsets.arrays._lookup_kernels import Integer, weigh
from labelsure.labelsets.search._states import Flips

SHARES = 16
"""A label may take this part of the work that is left for all labels."""


class Way(NamedTuple):
    """The way to a node, level by level: additive scores, (n_hard + 1, K), choices and bounds, (n_hard + 1,)."""

    scores: IntArray
    choice: IntArray
    bound: IntArray


@lean_kernel
def label_numerators(flips: Flips, lookup: Lookup, budget: Integer, way: Way, numerators: IntArray) -> bool:
    """Write the highest numerator of the labelsets that leave each position alone (0), and that flip it (1).

    Each may take a share of the ``budget`` of evaluations that is left. Where that is not enough, an upper bound is
    written; return whether it was enough for all.

    Reference : labelset_reference.label_numerators
    Requires : no penalties or overrides, the empty labelset a candidate; numerators (p, 2)
    Cost : two evaluations of K look-ups per position, more where there are hard ones
    """
    n_positions, n_folds = flips.cost.shape
    n_hard, nothing = flips.n_hard, flips.rest[n_positions]
    scores, choice, bound = way.scores, way.choice, way.bound
    finished = True
    for forced in range(n_positions):
        for flipped in range(2):
            for k in range(n_folds):
                scores[0, k] = flips.base[k] + flipped * flips.cost[forced, k]
            best, left = np.int64(0), max(budget, 0) // SHARES + 1
            budget -= left
            level, arrived = 0, True
            while level >= 0 and left > 0:
                if arrived:
                    arrived = False
                    value = weigh(scores[level], flips.rest[level], nothing, lookup.weighing, lookup.tables)
                    left -= 1
                    bound[level] = value
                    choice[level] = -1 if value > best and level < n_hard else 1  # 1: as if both had been tried
                    if level == n_hard:  # nothing below is better, so this is a labelset's own
                        best = max(best, value)
                choice[level] += 1
                if choice[level] == 2 or (choice[level] == 1 and level == forced):
                    level -= 1
                    continue
                for k in range(n_folds):
                    scores[level + 1, k] = scores[level, k] + choice[level] * flips.cost[level, k]
                level += 1
                arrived = True
            budget += left
            if level >= 0:
                finished = False
                best = open_bound(best, level, choice, bound)
            numerators[forced, flipped] = best
    return finished


@kernel_part
def open_bound(best: Integer, level: Integer, choice: IntArray, bound: IntArray) -> Integer:
    """Return what no labelset of a search that stopped at a level exceeds: the best found, or a bound of what is left.

    The bound of a node holds for all below it; the first node on the way whose second choice is still to come has the
    highest.

    Reference : the maximum over all labelsets
    Requires : the bounds of all levels before this one
    Cost : O(level)
    """
    at = 0
    while at < level - 1 and choice[at] == 1:
        at += 1
    return max(best, bound[at])

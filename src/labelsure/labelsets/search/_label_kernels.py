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
from labelsure.labelsets.arrays._lookup_kernels import Integer, only_counts, value_of
from labelsure.labelsets.search._states import Flips

SHARES = 16
"""A label may take this part of the work that is left for all labels."""


class Way(NamedTuple):
    """The way to a node, level by level, and the best labelset of all.

    Attributes
    ----------
    scores : (n_hard + 1, K)
        Additive scores.
    choice, bound : (n_hard + 1,)
        Whether each hard position is flipped, or done with, and what nothing below exceeds.
    best_scores, best_choice : (K,), (n_hard + 1,)
        Of the best labelset.
    """

    scores: IntArray
    choice: IntArray
    bound: IntArray
    best_scores: IntArray
    best_choice: IntArray

    @classmethod
    def of(cls, n_hard: int, n_folds: int) -> "Way":
        """Return room for this many hard positions."""
        choice, bound, best_choice = np.empty((3, n_hard + 1), dtype=np.int64)
        scores = np.empty((n_hard + 1, n_folds), dtype=np.int64)
        return cls(scores, choice, bound, np.empty(n_folds, dtype=np.int64), best_choice)


@lean_kernel
def label_numerators(flips: Flips, lookup: Lookup, budget: Integer, way: Way, numerators: IntArray) -> bool:
    """Write the highest numerator of the labelsets that leave each position alone (0), and that flip it (1).

    The best labelset of all is the best of those with the same flip; with one flip changed it is the first of the
    others. Each search may take a share of the ``budget`` of evaluations that is left. Where that is not enough, an
    upper bound is written; return whether it was enough for all.

    Reference : labelset_reference.label_numerators
    Requires : no penalties or overrides, the empty labelset a candidate; numerators (p, 2)
    Cost : a few evaluations of K look-ups per position, more where there are hard ones
    """
    n_positions, n_folds = flips.cost.shape
    nothing, scores = flips.rest[n_positions], way.scores
    finished, highest, plain = True, np.int64(0), only_counts(lookup.weighing, lookup.tables)
    for k in range(n_folds):
        way.best_scores[k] = flips.base[k]
    for t in range(flips.n_hard + 1):
        way.best_choice[t] = 0
    for forced in range(-1, n_positions):
        flipped, best = 0, np.int64(0)
        for k in range(n_folds):
            scores[0, k] = flips.base[k]
        if forced >= 0:
            flipped = 1 - way.best_choice[forced] if forced < flips.n_hard else 1
            for k in range(n_folds):
                scores[0, k] += flipped * flips.cost[forced, k]
                way.scores[flips.n_hard, k] = way.best_scores[k] + (2 * flipped - 1) * flips.cost[forced, k]
            value = value_of(scores[flips.n_hard], nothing, nothing, plain, lookup.weighing, lookup.tables)
            best = max(value, np.int64(0))
            if flips.n_hard == 0:
                numerators[forced, 0], numerators[forced, 1] = highest, best
                continue
        share = max(budget, 0) // SHARES + 1
        best, left = best_choices(forced, best, share, plain, flips, lookup, way)
        budget -= share - max(left, 0)
        finished &= left >= 0
        if forced < 0:
            highest = best
        else:
            numerators[forced, 1 - flipped], numerators[forced, flipped] = highest, best
    return finished


@kernel_part
def best_choices(
    forced: Integer, best: Integer, left: Integer, plain: bool, flips: Flips, lookup: Lookup, way: Way
) -> tuple[Integer, Integer]:
    """Return the highest numerator of any flips of hard positions, or a bound of it, and the work left; -1: too little.

    Without a forced position the flips are kept.

    Reference : the maximum over all sets of flips
    Requires : scores[0] with the forced position as it has to be; best a numerator that is reached, or 0; plain as
        only_counts tells
    Cost : K look-ups for each set of flips that may be better than those before it
    """
    n_folds, n_hard, nothing = flips.cost.shape[1], flips.n_hard, flips.rest[flips.cost.shape[0]]
    scores, choice, bound = way.scores, way.choice, way.bound
    level, arrived = 0, True
    while level >= 0 and left > 0:
        if arrived:
            arrived = False
            value = value_of(scores[level], flips.rest[level], nothing, plain, lookup.weighing, lookup.tables)
            left -= 1
            bound[level] = value
            choice[level] = -1 if value > best and level < n_hard else 1  # 1: as if both had been tried
            if level == n_hard and value > best:  # nothing below is better, so this is a labelset's own
                best = value
                if forced < 0:
                    for k in range(n_folds):
                        way.best_scores[k] = scores[level, k]
                    for t in range(n_hard):
                        way.best_choice[t] = choice[t]
        choice[level] += 1
        if choice[level] == 2 or (choice[level] == 1 and level == forced):
            level -= 1
            continue
        for k in range(n_folds):
            scores[level + 1, k] = scores[level, k] + choice[level] * flips.cost[level, k]
        level += 1
        arrived = True
    if level >= 0:
        return open_bound(best, level, choice, bound), np.int64(-1)
    return best, left


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

"""Compiled looks at the labelsets with discounts, one by one: all of them, or those that may be among the best."""

from typing import NamedTuple

import numpy as np

from labelsure._core.compilation import kernel_part, lean_kernel
from labelsure._core.types import IntArray
from labelsure.labelsets.arrays._discounted import Discounted
from labelsure.labelsets.arrays._fold_arrays import FAR, Lookup
from labelsure.labelsets.arrays._lookup_kernels import Integer, highest_score, weigh
from labelsure.labelsets.search._labelset_kernels import NUMERATOR, TOTAL, is_candidate, offer
from labelsure.labelsets.search._states import Ranked


class LabelCosts(NamedTuple):
    """One object's additive scores, and room to add them up.

    Attributes
    ----------
    constant, unary : (K,), (q, K)
        Of the empty labelset, and what switching each label on adds.
    least, total : (q + 1,)
        The least of the folds' costs of each label and their sum, and last those of the constant: for notes.
    scores, nothing : (K,)
        For notes, and zeros.
    bounds, totals : (E,)
        For notes: lower bounds of each labelset's scores, and its total score.
    """

    constant: IntArray
    unary: IntArray
    least: IntArray
    total: IntArray
    scores: IntArray
    nothing: IntArray
    bounds: IntArray
    totals: IntArray

    @classmethod
    def of(cls, n_labels: int, n_folds: int, n_listed: int) -> "LabelCosts":
        """Return room for the costs of one object after the other."""
        constant, scores, nothing = np.zeros((3, n_folds), dtype=np.int64)
        least, total = np.empty((2, n_labels + 1), dtype=np.int64)
        bounds, totals = np.empty((2, n_listed), dtype=np.int64)
        unary = np.empty((n_labels, n_folds), dtype=np.int64)
        return cls(constant, unary, least, total, scores, nothing, bounds, totals)


@kernel_part
def add_labels(e: Integer, costs: LabelCosts, listed: Discounted) -> None:
    """Write the general scores of listed labelset e.

    Reference : Energy.scores
    Requires : as LabelCosts
    Cost : K additions per label
    """
    for k in range(costs.scores.shape[0]):
        costs.scores[k] = costs.constant[k]
    for place in range(listed.begin[e], listed.begin[e + 1]):
        j = listed.label[place]
        for k in range(costs.scores.shape[0]):
            costs.scores[k] += costs.unary[j, k]


@lean_kernel
def weigh_listed(
    costs: LabelCosts, listed: Discounted, lookup: Lookup, numerators: IntArray, general: IntArray, totals: IntArray
) -> None:
    """Write the numerators of all listed labelsets, what they would be without discounts, and the total scores.

    Reference : Weighing.of_scores
    Requires : scores that are sums over labels; numerators, general, totals (E,)
    Cost : two look-ups per fold and labelset, one addition per fold and label on
    """
    for e in range(listed.more.shape[0]):
        add_labels(e, costs, listed)
        general[e] = weigh(costs.scores, costs.nothing, costs.nothing, lookup.weighing, lookup.tables)
        numerators[e] = weigh(costs.scores, listed.more[e], costs.nothing, lookup.weighing, lookup.tables)
        totals[e] = listed.total[e]
        for k in range(costs.scores.shape[0]):
            totals[e] += costs.scores[k]


@lean_kernel
def bound_listed(costs: LabelCosts, listed: Discounted) -> Integer:
    """Write a lower bound of the scores of each listed labelset in all folds, and its total; return the lowest total's.

    Reference : Energy.scores
    Requires : at least one
    Cost : two additions per label on
    """
    n_labels, n_folds = costs.unary.shape
    for j in range(n_labels + 1):
        costs.least[j], costs.total[j] = FAR, 0
        for k in range(n_folds):
            cost = costs.unary[j, k] if j < n_labels else costs.constant[k]
            costs.least[j] = min(costs.least[j], cost)
            costs.total[j] += cost
    lowest: Integer = np.int64(0)
    for e in range(listed.more.shape[0]):
        bound, total = costs.least[n_labels] + listed.least[e], costs.total[n_labels] + listed.total[e]
        for place in range(listed.begin[e], listed.begin[e + 1]):
            bound += costs.least[listed.label[place]]
            total += costs.total[listed.label[place]]
        costs.bounds[e], costs.totals[e] = bound, total
        if total < costs.totals[lowest]:
            lowest = e
    return lowest


@lean_kernel
def best_listed(costs: LabelCosts, listed: Discounted, lookup: Lookup, n_found: Integer, best: Ranked) -> Integer:
    """Put listed labelsets among the best found; return how many these are.

    One with scores above some level in all folds cannot reach the worst of the best; nor can one that may tie with it
    but has a higher total. Neither is looked at.

    Reference : the definition
    Requires : as weigh_listed; n_found of the best there are found
    Cost : two additions per label on, and what weigh_listed takes for those looked at
    """
    n_best, n_listed = best.keys.shape[0] - 1, listed.more.shape[0]
    if n_listed == 0:
        return n_found
    lowest = bound_listed(costs, listed)
    reached, level, level_above = np.int64(-FAR), np.int64(FAR), np.int64(FAR)
    for place in range(n_listed + 1):
        e = place - 1 if place > 0 else lowest  # the likeliest first
        worst = best.order[0]
        if n_found == n_best:
            if costs.bounds[e] > level:
                continue
            if costs.bounds[e] > level_above and costs.totals[e] > best.keys[worst, TOTAL]:
                continue
        if (place > 0 and e == lowest) or not is_candidate(listed.words[e], lookup.allow_empty, lookup.rules):
            continue
        add_labels(e, costs, listed)
        value = weigh(costs.scores, listed.more[e], costs.nothing, lookup.weighing, lookup.tables)
        n_found = offer(value, costs.totals[e], listed.words[e], True, n_found, best)
        worst = best.order[0]
        if n_found == n_best and -best.keys[worst, NUMERATOR] != reached:
            reached = -best.keys[worst, NUMERATOR]
            level = highest_score(reached, costs.scores, costs.nothing, lookup.weighing, lookup.tables)
            level_above = highest_score(reached + 1, costs.scores, costs.nothing, lookup.weighing, lookup.tables)
    return n_found

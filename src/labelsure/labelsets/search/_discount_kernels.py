"""Compiled looks at those labelsets with discounts that may be among the best."""

import numpy as np

from labelsure._core.compilation import lean_kernel
from labelsure.labelsets.arrays._discount_kernels import LabelCosts, add_labels
from labelsure.labelsets.arrays._discounted import Discounted
from labelsure.labelsets.arrays._fold_arrays import FAR, Lookup
from labelsure.labelsets.arrays._lookup_kernels import Integer, highest_score, weigh
from labelsure.labelsets.search._labelset_kernels import NUMERATOR, TOTAL, is_candidate, offer
from labelsure.labelsets.search._states import Ranked


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

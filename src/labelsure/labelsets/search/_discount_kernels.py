"""Compiled bounds of what labelsets with discounts score."""

import numpy as np

from labelsure._core.compilation import lean_kernel
from labelsure.labelsets.arrays._discount_kernels import LabelCosts
from labelsure.labelsets.arrays._discounted import Discounted
from labelsure.labelsets.arrays._fold_arrays import FAR
from labelsure.labelsets.arrays._lookup_kernels import Integer


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

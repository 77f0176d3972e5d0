"""Compiled looks at labelsets with discounts: how they raise the highest numerators with each label off and on."""

import numpy as np

from labelsure._core.compilation import kernel_part, lean_kernel
from labelsure._core.types import IntArray
from labelsure.labelsets.arrays._discount_kernels import LabelCosts, add_labels
from labelsure.labelsets.arrays._discounted import Discounted
from labelsure.labelsets.arrays._fold_arrays import ScoreTables
from labelsure.labelsets.arrays._lookup_kernels import Integer, score_with, weigh, weighing_of
from labelsure.labelsets.arrays._rule_kernels import is_on
from labelsure.labelsets.arrays._weighing import ObjectWeighings
from labelsure.labelsets.search._discount_kernels import bound_listed
from labelsure.labelsets.search._labelset_kernels import is_some
from labelsure.labelsets.search._object_kernels import unpose
from labelsure.labelsets.search._states import Problems


@lean_kernel
def raise_by_listed(
    problems: Problems,
    tables: ScoreTables,
    weighings: ObjectWeighings,
    listed: Discounted,
    costs: LabelCosts,
    allow_empty: bool,
    found: IntArray,
) -> None:
    """Raise the highest numerators of each object with each label off and on by those of listed labelsets.

    One that by a bound of its scores cannot raise any is not looked at.

    Reference : the maximum over listed labelsets
    Requires : found (n, q, 2); at least one; no links or penalties
    Cost : three additions per label on; O(q) for each that raises something
    """
    for i in range(found.shape[0]):
        weighing, maxima = weighing_of(i, weighings), found[i]
        unpose(i, problems, costs)
        first, second = bound_listed(costs, listed), np.int64(-1)  # the one of lowest total, then none
        plain = weighing.weights.shape[0] == 0 and weighing.multipliers.shape[0] == 0
        plain &= weighing.above == 0 and weighing.at_least == 1  # else a level takes longer than a look
        lowest = np.int64(-1)
        for place in range(listed.more.shape[0] + 1):
            e = place - 1 if place > 0 else first
            words = listed.words[e]
            if lowest < 0:
                lowest, second = two_lowest_off(maxima)
            least = maxima[second if is_on(words, lowest) else lowest, 0]
            for at in range(listed.begin[e], listed.begin[e + 1]):
                least = min(least, maxima[listed.label[at], 1])
            if plain and costs.bounds[e] > score_with(least + 1 - weighing.start, tables.merged):
                continue
            if (place > 0 and e == first) or not (allow_empty or is_some(words)):
                continue
            add_labels(e, costs, listed)
            value = weigh(costs.scores, listed.more[e], costs.nothing, weighing, tables)
            if value > least:
                for j in range(maxima.shape[0]):
                    on = 1 if is_on(words, j) else 0
                    maxima[j, on] = max(maxima[j, on], value)
                lowest = np.int64(-1)


@kernel_part
def two_lowest_off(maxima: IntArray) -> tuple[Integer, Integer]:
    """Return the labels with the lowest two numerators of labelsets without them; twice the same if there is one.

    Reference : numpy.argsort
    Requires : maxima (q, 2)
    Cost : O(q)
    """
    lowest, second = np.int64(0), np.int64(0)
    for j in range(1, maxima.shape[0]):
        if maxima[j, 0] < maxima[lowest, 0]:
            lowest, second = np.int64(j), lowest
        elif second == lowest or maxima[j, 0] < maxima[second, 0]:
            second = np.int64(j)
    return lowest, second

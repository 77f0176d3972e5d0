"""Compiled looks at those labelsets with discounts that may matter, by bounds of what they score.

One labelset after the other::

    e        labels        least it scores in any fold    level: 7
    0        1 4           9                              skipped
    1        0             5                              its scores in all folds are looked up
    2        0 2 4         7                              and so are these
"""

from typing import NamedTuple

import numpy as np

from labelsure._checks import IntArray
from labelsure._compile import kernel_part, lean_kernel
from labelsure.engine._fold_arrays import FAR, Discounted, ScoreTables
from labelsure.engine._labelset_kernels import (
    NUMERATOR,
    TOTAL,
    insert,
    precedes,
    write_key,
)
from labelsure.engine._lookup_kernels import (
    Integer,
    highest_score,
    only_counts,
    score_with,
    value_of,
    weighing_of,
)
from labelsure.engine._rule_kernels import is_on
from labelsure.engine._walk_kernels import FOUND, Found
from labelsure.engine._weighing import ObjectWeighings


class LabelCosts(NamedTuple):
    """The additive scores of n objects, and room to add them up.

    Attributes
    ----------
    constant, unary : (K, n), (K, n, q)
        Of the empty labelset, and what switching each label on adds.
    scores, nothing : (K,)
        For notes, and zeros.
    """

    constant: IntArray
    unary: IntArray
    scores: IntArray
    nothing: IntArray

    @classmethod
    def of(cls, constant: IntArray, unary: IntArray) -> "LabelCosts":
        """Return these costs with room."""
        return cls(constant, unary, *np.zeros((2, len(unary)), dtype=np.int64))


@kernel_part
def add_labels(i: Integer, e: Integer, costs: LabelCosts, listed: Discounted) -> None:
    """Write the general scores of listed labelset e for object i.

    Twin : Energy.scores
    Requires : as LabelCosts
    Cost : K additions per label
    """
    for k in range(costs.scores.shape[0]):
        costs.scores[k] = costs.constant[k, i]
        for place in range(listed.begin[e], listed.begin[e + 1]):
            costs.scores[k] += costs.unary[k, i, listed.label[place]]


class ListedBounds(NamedTuple):
    """Costs that bound the scores of E listed labelsets, and room for one object's bounds.

    Attributes
    ----------
    least, total : (n, q + 1)
        The least of the folds' costs of each label and their sum, and last those of the constant.
    bounds, totals : (E,)
        For notes: a lower bound of a labelset's scores in all folds, and their sum.
    """

    least: IntArray
    total: IntArray
    bounds: IntArray
    totals: IntArray

    @classmethod
    def of(cls, costs: LabelCosts, n_listed: int) -> "ListedBounds":
        """Return them for labelsets of objects with these costs."""
        both = np.concatenate([costs.unary, costs.constant[:, :, None]], axis=2)
        return cls(both.min(axis=0), both.sum(axis=0), *np.empty((2, n_listed), dtype=np.int64))


@kernel_part
def bound_listed(i: Integer, listed: Discounted, bounds: ListedBounds) -> Integer:
    """Write the bounds of object i; return the labelset of lowest total.

    Twin : Energy.scores
    Requires : at least one
    Cost : two additions per label on
    """
    least, total = bounds.least[i], bounds.total[i]
    likeliest: Integer = np.int64(0)
    n_labels = least.shape[0] - 1
    for e in range(bounds.bounds.shape[0]):
        bound, sum_of_all = least[n_labels] + listed.least[e], total[n_labels] + listed.total[e]
        for place in range(listed.begin[e], listed.begin[e + 1]):
            bound += least[listed.label[place]]
            sum_of_all += total[listed.label[place]]
        bounds.bounds[e], bounds.totals[e] = bound, sum_of_all
        if sum_of_all < bounds.totals[likeliest]:
            likeliest = e
    return likeliest


@lean_kernel
def offer_listed(
    costs: LabelCosts,
    bounds: ListedBounds,
    listed: Discounted,
    tables: ScoreTables,
    weighings: ObjectWeighings,
    found: Found,
) -> None:
    """Write the best of the listed labelsets of each object.

    One with scores above some level in all folds cannot reach the worst of the best; nor can one
    that may tie with it but has a higher total. Neither is looked at.

    Twin : the definition
    Requires : at least one; no links or penalties
    Cost : two additions per label on, and what weigh takes for those looked at
    """
    n_best = found.keys.shape[1] - 1
    for i in range(bounds.least.shape[0]):
        weighing = weighing_of(i, weighings)
        keys = found.keys[i]
        n_found = np.int64(0)
        likeliest, plain = bound_listed(i, listed, bounds), only_counts(weighing, tables)
        reached = np.int64(-FAR)
        level = np.int64(FAR)
        level_above = np.int64(FAR)
        for place in range(listed.more.shape[0] + 1):
            e = place - 1 if place > 0 else likeliest
            if n_found == n_best:
                if bounds.bounds[e] > level:
                    continue
                if bounds.bounds[e] > level_above and bounds.totals[e] > keys[n_best - 1, TOTAL]:
                    continue
            if place > 0 and e == likeliest:
                continue
            add_labels(i, e, costs, listed)
            value = value_of(costs.scores, listed.more[e], costs.nothing, plain, weighing, tables)
            write_key(value, bounds.totals[e], listed.words[e], True, n_best, keys)
            if n_found < n_best or precedes(np.int64(n_best), np.int64(n_best - 1), keys, True):
                n_found = insert(n_found, keys)
            if n_found == n_best and -keys[n_best - 1, NUMERATOR] != reached:
                reached = -keys[n_best - 1, NUMERATOR]
                level = highest_score(reached, costs.scores, costs.nothing, weighing, tables)
                level_above = highest_score(
                    reached + 1, costs.scores, costs.nothing, weighing, tables
                )
        found.numbers[i, FOUND] = n_found


@lean_kernel
def raise_by_listed(
    costs: LabelCosts,
    bounds: ListedBounds,
    listed: Discounted,
    tables: ScoreTables,
    weighings: ObjectWeighings,
    found: IntArray,
) -> None:
    """Raise the highest numerators with each label off and on by those of listed labelsets.

    All labels outside one labelset, the leader, have been raised to some numerator already with the
    label off, and most labelsets do not exceed that: then only their own labels and the leader's
    are looked at. One that by a bound of its scores cannot raise any is not looked at.

    Twin : the maximum over listed labelsets
    Requires : found (n, q, 2); at least one; no links or penalties
    Cost : three additions per label on; O(q) for each that is a new leader
    """
    label, begin = listed.label, listed.begin
    for i in range(found.shape[0]):
        weighing = weighing_of(i, weighings)
        maxima = found[i]
        likeliest = bound_listed(i, listed, bounds)
        plain = only_counts(weighing, tables)  # else a level takes longer than a look
        # "outside": the value that all labels outside the leader have been raised to
        leader, outside = likeliest, np.int64(-FAR)
        for place in range(listed.more.shape[0] + 1):
            e = place - 1 if place > 0 else likeliest
            words = listed.words[e]
            least: Integer = outside
            for at in range(begin[e], begin[e + 1]):
                least = min(least, maxima[label[at], 1])
            for at in range(begin[leader], begin[leader + 1]):
                least = min(least, FAR if is_on(words, label[at]) else maxima[label[at], 0])
            if plain and bounds.bounds[e] > score_with(least + 1 - weighing.start, tables.merged):
                continue
            add_labels(i, e, costs, listed)
            value = value_of(costs.scores, listed.more[e], costs.nothing, plain, weighing, tables)
            if value <= least:
                continue
            for at in range(begin[e], begin[e + 1]):
                maxima[label[at], 1] = max(maxima[label[at], 1], value)
            for at in range(begin[leader], begin[leader + 1]):
                if not is_on(words, label[at]):
                    maxima[label[at], 0] = max(maxima[label[at], 0], value)
            if value > outside:
                leader, outside = e, np.int64(FAR)
                for j in range(maxima.shape[0]):
                    if not is_on(words, j):
                        maxima[j, 0] = max(maxima[j, 0], value)
                        outside = min(outside, maxima[j, 0])


@lean_kernel
def count_listed(
    costs: LabelCosts,
    bounds: ListedBounds,
    listed: Discounted,
    tables: ScoreTables,
    weighings: ObjectWeighings,
    smallest: IntArray,
    counts: IntArray,
) -> None:
    """Count listed labelsets with at least the smallest numerator, with and without discounts.

    One with scores above some level in all folds has a lower one, and is not looked at.

    Twin : the definition
    Requires : counts (n, 2); no links or penalties
    Cost : two additions per label on, and twice what weigh takes for those looked at
    """
    for i in range(bounds.least.shape[0]):
        weighing = weighing_of(i, weighings)
        n_own = 0
        n_general = 0
        plain = only_counts(weighing, tables)
        level = highest_score(smallest[i], costs.scores, costs.nothing, weighing, tables)
        least, n_labels = bounds.least[i], bounds.least.shape[1] - 1
        for e in range(listed.more.shape[0]):
            bound = least[n_labels] + listed.least[e]
            for place in range(listed.begin[e], listed.begin[e + 1]):
                bound += least[listed.label[place]]
            if bound > level:
                continue
            add_labels(i, e, costs, listed)
            for general in range(2):
                more = costs.nothing if general else listed.more[e]
                member = (
                    value_of(costs.scores, more, costs.nothing, plain, weighing, tables)
                    >= smallest[i]
                )
                n_general += member and general == 1
                n_own += member and general == 0
        counts[i, 0], counts[i, 1] = n_own, n_general

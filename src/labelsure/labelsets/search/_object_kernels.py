"""Compiled loops over the objects of a block: their search problems posed, their best labelsets searched for."""

from typing import NamedTuple

import numpy as np

from labelsure._core.compilation import kernel_part, lean_kernel
from labelsure._core.labelset_bits import Words
from labelsure._core.types import BoolArray, IntArray
from labelsure.labelsets.arrays._discount_kernels import LabelCosts, add_labels
from labelsure.labelsets.arrays._discounted import Discounted
from labelsure.labelsets.arrays._fold_arrays import LINK, Penalties, ScoreTables
from labelsure.labelsets.arrays._lookup_kernels import Integer, highest_score, total_of, weigh, weighing_of
from labelsure.labelsets.arrays._weighing import ObjectWeighings
from labelsure.labelsets.search._discount_kernels import bound_listed
from labelsure.labelsets.search._labelset_kernels import (
    CODE,
    HIGHEST_BIT,
    NUMERATOR,
    TOTAL,
    flip,
    insert,
    is_listed,
    is_some,
    penalise,
    precedes,
    switch_off,
    write_key,
)
from labelsure.labelsets.search._states import FAR, Problems


@lean_kernel
def pose_flips(
    unary: IntArray, own: IntArray, slack: IntArray, on: BoolArray, order: IntArray, problems: Problems
) -> None:
    """Write the problems of some objects, but for modes and pairs.

    Reference : the definitions in Problems
    Requires : unary, own (K, n, q), what switching each label on adds to the empty labelset and to the mode; slack
        (K, n, q), the least that other flips add to what flipping it costs, or (0, 0, 0); on (n, q), the mode; order
        (n, q), labels by what flipping them adds to the total; twice the constants as bases
    Cost : about 20 operations per object, label and fold
    """
    n_folds, n_objects, n_labels = own.shape
    has_slack = slack.shape[0] > 0
    for i in range(n_objects):
        cost, least, total = problems.cost[i], problems.least[i], problems.total[i]
        n_placed = 0
        for easy in range(2):  # hard labels come first
            for t in range(n_labels):
                j = order[i, t]
                sign = -1 if on[i, j] else 1
                total[n_placed], hard = 0, False
                for k in range(n_folds):
                    cost[n_placed, k] = least[n_placed, k] = sign * own[k, i, j]
                    total[n_placed] += cost[n_placed, k]
                    if has_slack:
                        least[n_placed, k] += slack[k, i, j]
                    hard |= least[n_placed, k] < 0
                if hard == (easy == 0):
                    problems.label[i, n_placed], problems.sign[i, n_placed] = j, sign
                    n_placed += 1
                if n_placed == n_labels:
                    break
            if easy == 0:
                problems.n_hard[i] = n_placed
            if n_placed == n_labels:
                break
        for k in range(n_folds):
            for j in range(n_labels):
                if on[i, j]:  # every pair inside the mode is met from both ends
                    problems.base[i, k] += unary[k, i, j] + own[k, i, j]
            problems.base[i, k] //= 2
        bound_rest(problems.least[i], problems.total[i], problems.rest[i], problems.nearest[i], problems.cheapest[i])


@kernel_part
def bound_rest(least: IntArray, total: IntArray, rest: IntArray, nearest: IntArray, cheapest: IntArray) -> None:
    """Write what flips from each position on add at least: any, at least one, and to the total.

    Reference : cumulative sums and minima from the end
    Requires : least (q, K), total (q,), the others with one row more
    Cost : a few operations per position and fold
    """
    n_labels, n_folds = least.shape
    cheapest[n_labels] = FAR
    for k in range(n_folds):
        rest[n_labels, k], nearest[n_labels, k] = 0, FAR
    for t in range(n_labels - 1, -1, -1):
        cheapest[t] = min(cheapest[t + 1], total[t])
        for k in range(n_folds):
            rest[t, k] = rest[t + 1, k] + min(least[t, k], 0)
            nearest[t, k] = min(nearest[t + 1, k], least[t, k])
    for t in range(n_labels):
        for k in range(n_folds):
            if rest[t, k] < 0:
                nearest[t, k] = rest[t, k]


class Asked(NamedTuple):
    """Searches of one call of a kernel.

    Attributes
    ----------
    row : (m,)
        Whose: a row of the problems.
    forced, flipped : (m,)
        A position that has to be flipped (1), or not (0); -1: none.
    by_total : bool
        Whether total scores and codes decide between equal numerators; else anything may.
    allow_empty : bool
        Whether the empty labelset is a candidate.
    budget : int
        Evaluations that each search may take.
    """

    row: IntArray
    forced: IntArray
    flipped: IntArray
    by_total: bool
    allow_empty: bool
    budget: int


class Descent(NamedTuple):
    """Room for the way from the mode to a labelset, flip by flip.

    Attributes
    ----------
    scores : (q + 1, K)
        Additive scores at each level.
    begin : (q + 1,)
        The next position to be flipped there.
    words : uint64 (W,)
        The present labelset.
    penalty, lowest : (K,), uint64 (W,)
        Room for penalties, zero at the beginning, and for codes.
    """

    scores: IntArray
    begin: IntArray
    words: Words
    penalty: IntArray
    lowest: Words

    @classmethod
    def of(cls, problems: Problems) -> "Descent":
        """Return room for one search after the other."""
        _, n_labels, n_folds = problems.cost.shape
        scores, begin = np.empty((n_labels + 1, n_folds), dtype=np.int64), np.empty(n_labels + 1, dtype=np.int64)
        words, lowest = np.empty((2, problems.mode.shape[1]), dtype=np.uint64)
        return cls(scores, begin, words, np.zeros(n_folds, dtype=np.int64), lowest)


class FoundBest(NamedTuple):
    """The best labelsets of m searches.

    Attributes
    ----------
    keys : (m, k + 1, 2 + W)
        See _labelset_kernels; in order, and a spare row last.
    count, work : (m,)
        How many were found, and evaluations.
    finished : bool (m,)
        Whether these are the best for sure.
    """

    keys: IntArray
    count: IntArray
    work: IntArray
    finished: BoolArray

    @classmethod
    def of(cls, n_searches: int, n_best: int, n_words: int) -> "FoundBest":
        """Return room for them."""
        keys = np.empty((n_searches, n_best + 1, CODE + n_words), dtype=np.int64)
        return cls(keys, *np.zeros((2, n_searches), dtype=np.int64), np.zeros(n_searches, dtype=bool))

    @property
    def numerators(self) -> IntArray:
        """Theirs, (m, k), 0 where there are no more."""
        there = np.arange(self.keys.shape[1] - 1) < self.count[:, None]
        return np.where(there, -self.keys[:, :-1, NUMERATOR], 0)

    @property
    def words(self) -> Words:
        """The labelsets, uint64 (m, k, W), empty where there are no more."""
        there = np.arange(self.keys.shape[1] - 1) < self.count[:, None]
        words: Words = np.ascontiguousarray(self.keys[:, :-1, : CODE - 1 : -1]).view(np.uint64) ^ HIGHEST_BIT
        return np.where(there[:, :, None], words, np.uint64(0))


@lean_kernel
def search_objects(
    problems: Problems,
    tables: ScoreTables,
    penalties: Penalties | None,
    weighings: ObjectWeighings,
    listed: Words,
    asked: Asked,
    descent: Descent,
    found: FoundBest,
) -> None:
    """Search the best labelsets of objects, depth first, beside those found already and those listed.

    Reference : labelset_reference.ranked
    Requires : no rules, pairs or scores of single objects; the listed ones, (E, W), in ascending order
    Cost : two evaluations of K look-ups for each labelset that may be better than the worst of those found before
    """
    n_labels, n_folds, n_best = problems.cost.shape[1], problems.cost.shape[2], found.keys.shape[1] - 1
    words, penalty, lowest, additive = descent.words, descent.penalty, descent.lowest, has_no_link(tables)
    for search in range(asked.row.shape[0]):
        i, forced, keys = asked.row[search], asked.forced[search], found.keys[search]
        label, cost, weighing = problems.label[i], problems.cost[i], weighing_of(i, weighings)
        begin_descent(search, asked, problems, descent)
        n_found, work, level, arrived = found.count[search], np.int64(0), np.int64(0), True
        while level >= 0 and work < asked.budget:
            scores, begin = descent.scores[level], descent.begin[level]
            more = problems.rest[i, n_labels]  # zeros
            if arrived:
                begin, good = np.int64(n_labels), asked.allow_empty or is_some(words)
            else:  # one flip more, from here on
                begin += begin == forced
                more, good = problems.nearest[i, begin], begin < n_labels
            if good:
                if penalties is not None:
                    penalise(words, label, begin, penalties, penalty, lowest)
                value = weigh(scores, more, penalty, weighing, tables)
                work += 1
                good = n_found < n_best or value >= -keys[n_best - 1, NUMERATOR]
            if good:
                for w in range(words.shape[0]):
                    lowest[w] = words[w]
                total = total_of(scores, more, penalty, tables) if asked.by_total else np.int64(0)
                if not arrived and n_found == n_best and asked.by_total and value == -keys[n_best - 1, NUMERATOR]:
                    present = np.int64(0)
                    for k in range(n_folds):
                        present += scores[k] + penalty[k]
                    if additive:
                        total = max(total, present + problems.cheapest[i, begin])
                    for t in range(begin, n_labels if total == keys[n_best - 1, TOTAL] else begin):
                        if not additive or problems.total[i, t] <= total - present:
                            switch_off(lowest, label[t])
                write_key(value, total, lowest, True, n_best, keys)
                good = n_found < n_best or value > -keys[n_best - 1, NUMERATOR]
                good |= asked.by_total and precedes(np.int64(n_best), np.int64(n_best - 1), keys, True)
            if arrived:
                arrived = False
                if good and not is_listed(words, listed):
                    n_found = insert(n_found, keys)
            elif good:
                descent.begin[level], descent.begin[level + 1] = begin + 1, begin + 1
                level += 1
                for k in range(n_folds):
                    descent.scores[level, k] = scores[k] + cost[begin, k]
                flip(words, label[begin])
                arrived = True
            else:
                level -= 1
                if level >= 0:
                    flip(words, label[descent.begin[level] - 1])
        found.count[search], found.work[search], found.finished[search] = n_found, work, level < 0


@kernel_part
def begin_descent(search: Integer, asked: Asked, problems: Problems, descent: Descent) -> None:
    """Begin at the mode, with the position that is forced as it has to be.

    Reference : the definition
    Requires : as search_objects
    Cost : O(K + W)
    """
    i, forced, words = asked.row[search], asked.forced[search], descent.words
    for w in range(words.shape[0]):
        words[w] = problems.mode[i, w]
    if asked.flipped[search]:
        flip(words, problems.label[i, forced])
    for k in range(problems.base.shape[1]):
        descent.scores[0, k] = problems.base[i, k] + asked.flipped[search] * problems.cost[i, forced, k]
    descent.begin[0] = 0


@kernel_part
def has_no_link(tables: ScoreTables) -> bool:
    """Tell whether no fold has a link.

    Reference : the definition
    Requires : nothing
    Cost : O(K)
    """
    additive = True
    for k in range(tables.layout.shape[0]):
        additive &= tables.layout[k, LINK] < 0
    return additive


@lean_kernel
def offer_listed(
    problems: Problems,
    tables: ScoreTables,
    weighings: ObjectWeighings,
    listed: Discounted,
    costs: LabelCosts,
    allow_empty: bool,
    found: FoundBest,
) -> None:
    """Write the best of the listed labelsets of each object.

    One with scores above some level in all folds cannot reach the worst of the best; nor can one that may tie with it
    but has a higher total. Neither is looked at.

    Reference : the definition
    Requires : at least one; no links or penalties
    Cost : two additions per label on, and what weigh takes for those looked at
    """
    n_best, n_listed = found.keys.shape[1] - 1, listed.more.shape[0]
    for i in range(problems.base.shape[0]):
        weighing, keys, n_found = weighing_of(i, weighings), found.keys[i], np.int64(0)
        unpose(i, problems, costs)
        likeliest = bound_listed(costs, listed)
        reached, level, level_above = np.int64(-FAR), np.int64(FAR), np.int64(FAR)
        for place in range(n_listed + 1):
            e = place - 1 if place > 0 else likeliest
            if n_found == n_best:
                if costs.bounds[e] > level:
                    continue
                if costs.bounds[e] > level_above and costs.totals[e] > keys[n_best - 1, TOTAL]:
                    continue
            if (place > 0 and e == likeliest) or not (allow_empty or is_some(listed.words[e])):
                continue
            add_labels(e, costs, listed)
            value = weigh(costs.scores, listed.more[e], costs.nothing, weighing, tables)
            write_key(value, costs.totals[e], listed.words[e], True, n_best, keys)
            if n_found < n_best or precedes(np.int64(n_best), np.int64(n_best - 1), keys, True):
                n_found = insert(n_found, keys)
            if n_found == n_best and -keys[n_best - 1, NUMERATOR] != reached:
                reached = -keys[n_best - 1, NUMERATOR]
                level = highest_score(reached, costs.scores, costs.nothing, weighing, tables)
                level_above = highest_score(reached + 1, costs.scores, costs.nothing, weighing, tables)
        found.count[i] = n_found


@kernel_part
def unpose(i: Integer, problems: Problems, costs: LabelCosts) -> None:
    """Write the costs of one object's labels, given its problem.

    Reference : the definition
    Requires : no pairs
    Cost : O(q K)
    """
    cost = problems.cost[i]
    for k in range(costs.constant.shape[0]):
        costs.constant[k] = problems.base[i, k]
    for t in range(cost.shape[0]):
        j, sign = problems.label[i, t], problems.sign[i, t]
        for k in range(costs.constant.shape[0]):
            costs.unary[j, k] = sign * cost[t, k]
            if sign < 0:
                costs.constant[k] += cost[t, k]

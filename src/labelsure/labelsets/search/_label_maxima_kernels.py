"""Compiled loop over the objects of a block: the highest numerators with each label off and on."""

from typing import NamedTuple

import numpy as np

from labelsure._core.compilation import kernel_part, lean_kernel
from labelsure._core.labelset_bits import Words
from labelsure._core.types import BoolArray, IntArray
from labelsure.labelsets.arrays._discount_kernels import LabelCosts, add_labels
from labelsure.labelsets.arrays._discounted import Discounted
from labelsure.labelsets.arrays._fold_arrays import FAR, Lookup
from labelsure.labelsets.arrays._lookup_kernels import Integer, only_counts, score_with, value_of, weighing_of
from labelsure.labelsets.arrays._rule_kernels import is_on
from labelsure.labelsets.arrays._weighing import ObjectWeighings
from labelsure.labelsets.search import _states as states
from labelsure.labelsets.search._best_first_kernels import Totals, best_first
from labelsure.labelsets.search._discount_kernels import bound_listed
from labelsure.labelsets.search._label_kernels import SHARES, Way, label_numerators
from labelsure.labelsets.search._labelset_kernels import CODE, HIGHEST_BIT, NUMERATOR, flip, is_candidate
from labelsure.labelsets.search._object_kernels import SearchDesk, begin_search, flips_of, has_no_link, unpose
from labelsure.labelsets.search._states import Flips, Problems


class LabelDesk(NamedTuple):
    """Room for one object after the other.

    Attributes
    ----------
    search : SearchDesk
        For the best labelset.
    way : Way
        For as many hard labels as there may be.
    by_flip : (q, 2)
        The highest numerators with each position left alone, and flipped.
    needed : bool (q, 2)
        Which of them are searched for.
    base, mode : (K,), (W,)
        Of a problem with a position flipped.
    """

    search: SearchDesk
    way: Way
    by_flip: IntArray
    needed: BoolArray
    base: IntArray
    mode: Words

    @classmethod
    def of(cls, problems: Problems, room: int) -> "LabelDesk":
        """Return room for some problems, and for this many entries of a frontier."""
        (_, n_labels), (_, n_folds) = problems.label.shape, problems.base.shape
        return cls(
            SearchDesk.of(problems, 1, room),
            Way.of(n_labels, n_folds),
            np.empty((n_labels, 2), dtype=np.int64),
            np.empty((n_labels, 2), dtype=bool),
            np.empty(n_folds, dtype=np.int64),
            np.empty_like(problems.mode[0]),
        )


class LabelMaxima(NamedTuple):
    """The highest numerators with each label off and on, (n, q, 2), and of which objects they are known, bool (n,)."""

    values: IntArray
    known: BoolArray


@lean_kernel
def search_labels(
    problems: Problems,
    lookup: Lookup,
    weighings: ObjectWeighings,
    listed: Discounted,
    costs: LabelCosts,
    budget: Integer,
    desk: LabelDesk,
    found: LabelMaxima,
) -> None:
    """Write the highest numerators of each object's labelsets with each label off and on.

    Reference : labelset_reference.label_numerators
    Requires : as search_objects, and no penalties
    Cost : that of label_numerators and raise_by_listed; where the empty labelset is no candidate, of some searches
    """
    additive = has_no_link(lookup.tables)
    for i in range(problems.base.shape[0]):
        own = Lookup(
            lookup.tables, lookup.penalties, weighing_of(i, weighings), lookup.allow_empty, lookup.rules, lookup.listed
        )
        flips, maxima = flips_of(i, problems), found.values[i]
        label_numerators(flips, own, budget, desk.way, desk.by_flip)
        found.known[i] = True
        if not lookup.allow_empty and mark_needed(flips, problems.sign[i], desk.needed):
            totals = Totals(True, additive, problems.total[i], problems.cheapest[i])
            found.known[i] = search_needed(flips, totals, own, budget, desk)
        for t in range(flips.label.shape[0]):
            j, on = flips.label[t], 1 if problems.sign[i, t] < 0 else 0
            maxima[j, on], maxima[j, 1 - on] = desk.by_flip[t, 0], desk.by_flip[t, 1]
        if found.known[i] and listed.more.shape[0] > 0:
            unpose(i, problems, costs)
            raise_by_listed(costs, listed, own, maxima)


@kernel_part
def mark_needed(flips: Flips, sign: IntArray, needed: BoolArray) -> bool:
    """Mark what the flips of hard positions may leave the empty labelset for; tell whether there is anything.

    Reference : _labels._need_search
    Requires : sign (q,), needed (q, 2)
    Cost : O(q)
    """
    n_stay = 0  # easy labels of the mode stay on unless forced
    for t in range(flips.n_hard, flips.label.shape[0]):
        n_stay += sign[t] < 0
    some = False
    for t in range(flips.label.shape[0]):
        on = sign[t] < 0
        others_stay = n_stay > (1 if on and t >= flips.n_hard else 0)
        needed[t, 0], needed[t, 1] = not (others_stay or on), not (others_stay or not on)
        some |= needed[t, 0] | needed[t, 1]
    return some


@kernel_part
def search_needed(flips: Flips, totals: Totals, lookup: Lookup, budget: Integer, desk: LabelDesk) -> bool:
    """Search the highest numerators that are needed; tell whether all searches were finished.

    The best labelset of all is the best with its own labels.

    Reference : _labels._search_labels
    Requires : as search_labels
    Cost : that of best_first
    """
    search, by_flip, needed = desk.search, desk.by_flip, desk.needed
    n_words, order, keys, left = flips.mode.shape[0], desk.search.best.order, desk.search.best.keys, budget
    begin_search(flips.base, flips.mode, search)
    nobody = np.int64(-1)
    ended = best_first(flips, totals, nobody, lookup, budget, search.node, search.frontier, search.best)
    if ended != states.FINISHED:
        return False
    if search.frontier.numbers[states.FOUND] > 0:
        for w in range(n_words):
            desk.mode[w] = np.uint64(keys[order[0], CODE + n_words - 1 - w]) ^ HIGHEST_BIT
        for t in range(flips.label.shape[0]):
            flipped = 1 if is_on(desk.mode, flips.label[t]) != is_on(flips.mode, flips.label[t]) else 0
            if needed[t, flipped]:
                by_flip[t, flipped], needed[t, flipped] = -keys[order[0], NUMERATOR], False
    without = Totals(False, totals.additive, totals.cost[:0], totals.cheapest[:0])
    for t in range(flips.label.shape[0]):
        for flipped in range(2):
            if not needed[t, flipped]:
                continue
            for k in range(flips.base.shape[0]):
                desk.base[k] = flips.base[k] + flipped * flips.cost[t, k]
            for w in range(n_words):
                desk.mode[w] = flips.mode[w]
            if flipped:
                flip(desk.mode, flips.label[t])
            forced = Flips(flips.label, flips.n_hard, desk.base, flips.cost, flips.rest, flips.nearest, desk.mode)
            begin_search(desk.base, desk.mode, search)
            share = left // SHARES + 1
            ended = best_first(forced, without, np.int64(t), lookup, share, search.node, search.frontier, search.best)
            if ended != states.FINISHED:
                return False
            left = max(left - search.frontier.numbers[states.WORK], 0)
            by_flip[t, flipped] = -keys[order[0], NUMERATOR] if search.frontier.numbers[states.FOUND] > 0 else 0
    return True


@lean_kernel
def raise_by_listed(costs: LabelCosts, listed: Discounted, lookup: Lookup, maxima: IntArray) -> None:
    """Raise the highest numerators with each label off and on by those of listed labelsets.

    All labels outside one labelset, the leader, have been raised to some numerator already with the label off, and most
    labelsets do not exceed that: then only their own labels and the leader's are looked at. One that by a bound of its
    scores cannot raise any is not looked at.

    Reference : the maximum over listed labelsets
    Requires : maxima (q, 2)
    Cost : three additions per label on; O(q) for each that is a new leader
    """
    likeliest = leader = bound_listed(costs, listed)
    plain = only_counts(lookup.weighing, lookup.tables)  # else a level takes longer than a look
    outside = np.int64(-FAR)  # what all labels outside the leader have been raised to
    for place in range(listed.more.shape[0] + 1):
        e = place - 1 if place > 0 else likeliest
        words = listed.words[e]
        least: Integer = outside
        for at in range(listed.begin[e], listed.begin[e + 1]):
            least = min(least, maxima[listed.label[at], 1])
        for at in range(listed.begin[leader], listed.begin[leader + 1]):
            least = min(least, FAR if is_on(words, listed.label[at]) else maxima[listed.label[at], 0])
        if plain and costs.bounds[e] > score_with(least + 1 - lookup.weighing.start, lookup.tables.merged):
            continue
        if not is_candidate(words, lookup.allow_empty, lookup.rules):
            continue
        add_labels(e, costs, listed)
        value = value_of(costs.scores, listed.more[e], costs.nothing, plain, lookup.weighing, lookup.tables)
        if value <= least:
            continue
        for at in range(listed.begin[e], listed.begin[e + 1]):
            maxima[listed.label[at], 1] = max(maxima[listed.label[at], 1], value)
        for at in range(listed.begin[leader], listed.begin[leader + 1]):
            if not is_on(words, listed.label[at]):
                maxima[listed.label[at], 0] = max(maxima[listed.label[at], 0], value)
        if value > outside:
            leader, outside = e, np.int64(FAR)
            for j in range(maxima.shape[0]):
                if not is_on(words, j):
                    maxima[j, 0] = max(maxima[j, 0], value)
                    outside = min(outside, maxima[j, 0])

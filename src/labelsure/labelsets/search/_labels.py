"""The highest p-values of labelsets with each label off and on: read off where scores are additive, else searched."""

import numpy as np

from labelsure._core.labelset_bits import labelset_keys, unpack, word_keys
from labelsure._core.types import BoolArray, IntArray
from labelsure.labelsets.search._best_first import best_of
from labelsure.labelsets.search._label_kernels import SHARES, Way, label_numerators
from labelsure.labelsets.search._labelset_kernels import NUMERATOR
from labelsure.labelsets.search._problems import ObjectSearch
from labelsure.labelsets.search._states import FAR


def label_numerators_of(one: ObjectSearch) -> IntArray:
    """Return the highest numerator of one object's labelsets with each label off and on, (q, 2).

    Where the budget for labels is spent, upper bounds of them: what follows from these holds, but may say less.
    """
    problems, row, overrides = one.problems, one.row, one.overrides
    n_labels = problems.label.shape[1]
    by_flip = np.zeros((n_labels, 2), dtype=np.int64)
    lookup = one.lookup
    additive = not (one.has_pairs or lookup.penalties.present or overrides.n_stranger or len(lookup.rules.most))
    if additive:
        flips = one.flips
        way = Way.of(flips.n_hard, len(flips.base))
        label_numerators(flips, lookup, one.options.label_budget, way, by_flip)
    need_search = _need_search(one, additive=additive)
    if need_search.any() and not overrides.n_stranger:  # the best of all is the best with its own labels
        _fill_in_best(one, by_flip, need_search)
    _search_labels(one, by_flip, need_search)
    on = problems.sign[row] < 0
    numerators = np.empty_like(by_flip)
    numerators[problems.label[row]] = np.where(on[:, None], by_flip[:, ::-1], by_flip)
    for value in (0, 1) if len(overrides.labelsets) else ():
        own = np.where(overrides.labelsets == value, overrides.numerators[:, None], -FAR).max(axis=0)
        numerators[:, value] = np.maximum(numerators[:, value], own)
    return numerators


def _search_labels(one: ObjectSearch, by_flip: IntArray, need_search: BoolArray) -> None:
    """Write the highest numerators, overrides left out, of what needs a search; 0 if there are none."""
    n_stranger = one.overrides.n_stranger
    known = labelset_keys(one.overrides.labelsets)
    left = one.options.label_budget
    for t, flipped in zip(*np.nonzero(need_search), strict=True):
        share = left // SHARES + 1
        best = best_of(one, 1 + n_stranger, by_total=n_stranger > 0, forced=int(t), flipped=bool(flipped), budget=share)
        left = max(left - best.work, 0)
        rank = best.rank
        if n_stranger:
            rank = rank[~np.isin(word_keys(best.words), known)]
        highest = int(rank[0, NUMERATOR]) if len(rank) else 0
        by_flip[t, flipped] = highest if best.missed is None else max(highest, best.missed)


def _fill_in_best(one: ObjectSearch, by_flip: IntArray, need_search: BoolArray) -> None:
    """Write the numerator of the best labelset for what it flips and what not, which then need no search."""
    best = best_of(one, 1)
    if len(best.words) and best.missed is None:
        flips = unpack(best.words ^ one.problems.mode[one.row], len(by_flip))[0, one.problems.label[one.row]]
        places = np.arange(len(flips)), flips
        by_flip[places] = np.where(need_search[places], best.rank[0, NUMERATOR], by_flip[places])
        need_search[places] = False


def _need_search(one: ObjectSearch, *, additive: bool) -> BoolArray:
    """Tell for each position, left alone and flipped, whether only a search finds the best labelset, (p, 2).

    Where scores are additive, that is where the flips of hard positions may leave the empty labelset, and that is no
    candidate.
    """
    on = one.problems.sign[one.row] < 0
    if not additive:
        return np.ones((len(on), 2), dtype=bool)
    if one.lookup.allow_empty:
        return np.zeros((len(on), 2), dtype=bool)
    stays_on = on.copy()
    stays_on[: one.problems.n_hard[one.row]] = False  # hard positions may be flipped off
    others_stay = stays_on.sum() > stays_on
    return np.column_stack([~(others_stay | on), ~(others_stay | ~on)])

"""The highest p-values of labelsets with each label off and on: read off where scores are additive, else searched."""

from typing import TYPE_CHECKING

import numpy as np

from labelsure._core.types import BoolArray, IntArray
from labelsure.labelsets._exceptional import OverrideList
from labelsure.labelsets._label_kernels import label_numerators
from labelsure.labelsets._pair_search import best_pair_members, force_label, pose_pair_problem
from labelsure.labelsets._problems import Problems, force_flip
from labelsure.labelsets._ranking_kernels import NUMERATOR
from labelsure.labelsets._words import as_keys, pack, unpack

if TYPE_CHECKING:
    from labelsure.labelsets._search import FoldSearch


class LabelSearch:
    """Answers about single labels, from searches for labelsets.

    Parameters
    ----------
    search : FoldSearch
        Whose objects to ask about.
    """

    def __init__(self, search: "FoldSearch") -> None:
        self.search = search

    def numerators_of(self, problems: Problems, row: int, i: int) -> IntArray:
        """Return the highest numerator of one object's labelsets with each label off and on, (n_labels, 2)."""
        overrides = self.search.exceptional.of_one(i)
        by_flip = np.zeros((self.search.engine.n_labels, 2), dtype=np.int64)
        additive = not (self.search.parts.pairs.present or self.search.parts.has_penalty or overrides.n_stranger)
        if additive:
            label_numerators(
                int(problems.n_hard[row]),
                problems.base[row],
                problems.cost[row],
                problems.rest[row],
                *self.search.look_up(i),
                by_flip,
            )
        need_search = self._need_search(problems, row, additive)
        if need_search.any() and not overrides.n_stranger:  # the best of all is the best with its own labels
            self._fill_in_best(problems, row, i, by_flip, need_search)
        self._search_labels(problems, row, i, by_flip, need_search, overrides)
        on = problems.sign[row] < 0
        numerators = np.empty_like(by_flip)
        numerators[problems.label[row]] = np.where(on[:, None], by_flip[:, ::-1], by_flip)
        for labelset, numerator in zip(overrides.labelsets, overrides.numerators, strict=True):
            own = numerators[np.arange(len(labelset)), labelset]
            numerators[np.arange(len(labelset)), labelset] = np.maximum(own, numerator)
        return numerators

    def _search_labels(
        self,
        problems: Problems,
        row: int,
        i: int,
        by_flip: IntArray,
        need_search: BoolArray,
        overrides: OverrideList,
    ) -> None:
        """Write the highest numerators, exceptional labelsets left out, of what needs a search; 0 if there are none."""
        n_best, by_total = 1 + overrides.n_stranger, overrides.n_stranger > 0
        known = as_keys(pack(overrides.labelsets))
        has_pairs = self.search.parts.pairs.present
        pair_problem, common = pose_pair_problem(problems, row), self.search.common(i)
        for t, flipped in zip(*np.nonzero(need_search), strict=True):
            if has_pairs:
                part = force_label(pair_problem, int(t), flipped=bool(flipped))
                words, rank = best_pair_members(part, common, n_best, by_total=by_total)
            else:
                one, one_row = (force_flip(problems, row, t), 0) if flipped else (problems, row)
                words, rank = self.search.best_of(one, one_row, i, n_best, forced=int(t), by_total=by_total)
            if overrides.n_stranger:
                rank = rank[~np.isin(as_keys(words), known)]
            by_flip[t, flipped] = rank[0, NUMERATOR] if len(rank) else 0

    def _fill_in_best(self, problems: Problems, row: int, i: int, by_flip: IntArray, need_search: BoolArray) -> None:
        """Write the numerator of the best labelset for what it flips and what not, which then need no search."""
        words, rank = self.search.best_of(problems, row, i, 1)
        if len(words):
            flips = unpack(words ^ problems.mode[row], self.search.engine.n_labels)[0, problems.label[row]]
            places = np.arange(len(flips)), flips
            by_flip[places] = np.where(need_search[places], rank[0, NUMERATOR], by_flip[places])
            need_search[places] = False

    def _need_search(self, problems: Problems, row: int, additive: bool) -> BoolArray:
        """Tell for each position, left alone and flipped, whether only a search finds the best labelset, (p, 2).

        Where scores are additive, that is where the flips of hard positions may leave the empty labelset, and that is
        no candidate.
        """
        on = problems.sign[row] < 0
        if not additive:
            return np.ones((len(on), 2), dtype=bool)
        if self.search.engine.allow_empty:
            return np.zeros((len(on), 2), dtype=bool)
        stays_on = on.copy()
        stays_on[: problems.n_hard[row]] = False  # hard positions may be flipped off
        others_stay = stays_on.sum() > stays_on
        return np.column_stack([~(others_stay | on), ~(others_stay | ~on)])

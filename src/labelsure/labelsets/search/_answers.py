"""Answers without listing: problems posed in batches, handed to the kernels in threads."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from labelsure._core.labelset_bits import labelset_keys, unpack, word_keys
from labelsure._core.running import stop_if_asked
from labelsure._core.types import IntArray
from labelsure.labelsets.arrays._fold_arrays import FoldArrays, Lookup, OverrideList
from labelsure.labelsets.arrays._results import (
    Answers,
    BestLabelsets,
    EngineOptions,
    Members,
    NotAllListedError,
    RegionSize,
)
from labelsure.labelsets.arrays._rules import NO_RULES, LabelsetRules
from labelsure.labelsets.arrays._weighing import Weighing
from labelsure.labelsets.search import _states as states
from labelsure.labelsets.search._best_first import top_of
from labelsure.labelsets.search._depth_first_kernels import LastFlips, search, weigh_rows
from labelsure.labelsets.search._estimate import estimate_size
from labelsure.labelsets.search._labels import label_numerators_of
from labelsure.labelsets.search._labelset_kernels import NUMERATOR
from labelsure.labelsets.search._pair_search import list_pair_members
from labelsure.labelsets.search._problems import ObjectSearch, pose_problems
from labelsure.labelsets.search._ruled_search import list_ruled_members
from labelsure.labelsets.search._states import Allowance, Buffer, DepthFirst
from labelsure.labelsets.search._together import TogetherSearch


@dataclass(eq=False)
class SearchAnswers(Answers):
    """Answers about labelsets whose scores are sums over labels and pairs, for any number of labels.

    Attributes
    ----------
    arrays : FoldArrays
        The folds.
    weighing : Weighing
        How their counts become numerators.
    allow_empty : bool
        Whether the empty labelset is a candidate.
    options : EngineOptions
        What a search may spend.
    n_jobs : int or None
        Threads to work with.
    constraints : LabelsetRules or None
        Inequalities that candidates obey.
    """

    arrays: FoldArrays
    weighing: Weighing
    allow_empty: bool
    options: EngineOptions
    n_jobs: int | None
    constraints: LabelsetRules | None = None
    _kept: dict[int, OverrideList] = field(default_factory=dict)
    _kept_bytes: int = 0

    def __post_init__(self) -> None:
        self.n_objects, self.n_labels = self.arrays.n_objects, self.arrays.n_labels
        numbers = self.n_labels + 1 + (self.n_labels**2 if self.arrays.own_pairs else 0)
        n_block = self.options.block_bytes // (8 * self.arrays.n_folds * numbers)
        self.n_block = min(max(n_block, 1), self.options.block_objects)
        self.together = None
        if TogetherSearch.can(self.arrays, self.constraints):
            self.together = TogetherSearch(self.arrays, self.weighing, self.allow_empty, self.options)

    def best(self, objects: IntArray, n_best: int) -> BestLabelsets:
        """Return the ``n_best`` most plausible labelsets of each object."""
        best, rest = BestLabelsets.nothing(len(objects), n_best, self.n_labels), np.arange(len(objects))
        if self.together is not None:
            found = self.together.best(objects, n_best)
            labelsets = unpack(found.words.reshape(-1, found.words.shape[2]), self.n_labels)
            best.labelsets[:] = labelsets.reshape(best.labelsets.shape)
            best.numerators[:] = best.upper[:] = found.numerators
            rest = np.flatnonzero(~found.finished)
        for row, one in zip(rest.tolist(), self.pose(objects[rest]), strict=True):
            top = top_of(one, n_best)
            best.write(row, top.rank[:, NUMERATOR], unpack(top.words, self.n_labels), top.missed)
        return best

    def label_maxima(self, objects: IntArray) -> IntArray:
        """Return the highest numerators of each object with each label off and on, (n, q, 2)."""
        if self.together is None:
            return np.stack([label_numerators_of(one) for one in self.pose(objects)])
        maxima, known = self.together.label_maxima(objects)
        for row, one in zip(np.flatnonzero(~known).tolist(), self.pose(objects[~known]), strict=True):
            maxima[row] = label_numerators_of(one)
        return maxima

    def count_members(self, smallest: IntArray) -> list[int | None]:
        """Return the exact sizes of all regions, None for those that a table counts sooner.

        Where that is most of the first few, none is counted. An evaluation with pairs or distances looks at more.
        """
        arrays = self.arrays
        node_cost = 5 if arrays.has_pairs else 1 + len(arrays.penalties.anchors) // arrays.n_folds
        budget = 1 + 2**arrays.n_labels // (self.options.table_share * node_cost)
        first = self.count(np.arange(min(self.options.probed_objects, self.n_objects)), smallest, budget)
        if 2 * sum(not finished for _, finished in first) > len(first):
            return [None] * self.n_objects
        blocks = self.map_blocks(lambda objects: self.count(objects, smallest, budget), "region sizes")
        return [size if finished else None for block in blocks for size, finished in block]

    def region_sizes(self, smallest: IntArray, *, bits: float = 1.0) -> list[RegionSize]:
        """Return the sizes of all regions, estimated where counting takes more than the budget."""
        n_candidates = 2**self.arrays.n_labels - (not self.allow_empty)
        if self.constraints is not None:
            n_candidates = self.constraints.n_candidates(allow_empty=self.allow_empty)

        def answer(objects: IntArray) -> list[RegionSize]:
            sizes = dict.fromkeys(objects.tolist(), RegionSize.counted(n_candidates))
            for one in self.pose(objects[smallest[objects] > self.weighing.lowest[objects]]):  # others hold everything
                sizes[one.i] = self._size(one, int(smallest[one.i]), bits)
            return list(sizes.values())

        return [size for block in self.map_blocks(answer, "region sizes") for size in block]

    def _size(self, one: ObjectSearch, smallest: int, bits: float) -> RegionSize:
        """Return the size of one region: the rough budget tells small from large, and the large are estimated."""
        options = self.options
        found, finished = self._count(one, smallest, min(options.rough_budget, options.count_budget))
        if finished:
            return RegionSize.counted(found)
        estimate = partial(estimate_size, one, self.arrays, self.weighing, smallest)
        size, sure = estimate(at_least=found, bits=max(bits, 1.0))
        # counting takes about an evaluation for each member: where there are more it would be in vain
        if bits <= 1 and max(sure, size.at_least) <= options.count_budget:
            found, finished = self._count(one, smallest, options.count_budget)
            if finished:
                return RegionSize.counted(found)
            size = size.raised(found)
        return size if bits >= 1 else estimate(at_least=size.at_least, bits=bits).size

    def iterate_members(self, i: int, smallest: int) -> Iterator[Members]:
        """Yield labelsets with a numerator of at least ``smallest``, overrides first, then depth first."""
        (one,) = self.pose(np.array([i]))
        members = one.overrides.numerators >= smallest
        yield one.overrides.labelsets[members], one.overrides.numerators[members]
        known = labelset_keys(one.overrides.labelsets)
        found = Buffer.of(self.options.chunk, len(one.flips.mode))
        n_found, is_all = int(members.sum()), False
        allowance = Allowance(self.options.list_budget, self.options.member_budget)
        for n_new, finished in self._depth_first(one, smallest, found, allowance):
            fresh = ~np.isin(word_keys(found.words[:n_new]), known)
            n_found, is_all = n_found + int(fresh.sum()), finished
            yield unpack(found.words[:n_new][fresh], self.arrays.n_labels), found.numerators[:n_new][fresh]
        if not is_all:
            raise NotAllListedError(n_found)

    def count(self, objects: IntArray, smallest: IntArray, budget: int) -> list[tuple[int, bool]]:
        """Return the members of each region that at most ``budget`` evaluations find, and whether these are all."""
        return [self._count(one, int(smallest[one.i]), budget) for one in self.pose(objects)]

    def _count(self, one: ObjectSearch, smallest: int, budget: int) -> tuple[int, bool]:
        """Return the same for one region."""
        nothing = Buffer(one.problems.mode[:0], np.empty(0, dtype=np.int64))
        steps = list(self._depth_first(one, smallest, nothing, Allowance(budget)))
        size, finished = sum(n_new for n_new, _ in steps), steps[-1][1]
        if self.arrays.has_overrides:
            general = int((one.overrides.general >= smallest).sum())
            # an unfinished search may have met any of them, or none
            size = max(size - general, 0) + int((one.overrides.numerators >= smallest).sum())
        return size, finished

    def pose(self, objects: IntArray) -> Iterator[ObjectSearch]:
        """Yield the problems of some objects, one after the other."""
        if not len(objects):
            return
        arrays, problems, constraints = self.arrays, pose_problems(self.arrays, objects), self.constraints
        allowed: dict[str, Any] = {"allow_empty": self.allow_empty, "constraints": constraints}
        for row, i in enumerate(objects.tolist()):
            overrides = self._kept.get(i) or arrays.overrides_of(i, self.weighing, **allowed)
            n_bytes = len(overrides.labelsets) * (arrays.n_labels + 24)
            if i not in self._kept and self._kept_bytes + n_bytes <= self.options.override_bytes:
                self._kept[i] = overrides
                self._kept_bytes += n_bytes
            rules = NO_RULES if constraints is None else constraints.rules.placed(problems.label[row])
            lookup = Lookup(arrays.tables, arrays.penalties, self.weighing.of(i), self.allow_empty, rules)
            settings = (arrays.has_pairs, not arrays.has_link, self.options)
            yield ObjectSearch(i, problems, row, problems.flips(row), lookup, overrides, *settings)

    def _depth_first(
        self, one: ObjectSearch, smallest: int, found: Buffer, allowance: Allowance
    ) -> Iterator[tuple[int, bool]]:
        """Search a region; yield how many members were found since, and whether the search is finished.

        They are in ``found`` until the next step, if that has room. Ends when its ``allowance`` is spent.
        """
        if one.has_pairs:
            call = self.options.ranked_call
            yield from list_pair_members(one.pair_problem, one.lookup, smallest, found, call, allowance)
            return
        flips = one.flips
        # positions that some labelset looked for may have flipped
        lowest = flips.base + flips.rest[0] + np.maximum(one.problems.least[one.row], 0)
        numerators = np.empty(len(lowest), dtype=np.int64)
        weigh_rows(lowest, one.lookup.weighing, one.lookup.tables, numerators)
        kept = numerators >= smallest
        ends = np.append(kept, True)
        flips = flips._replace(
            label=flips.label[kept],
            n_hard=int(np.count_nonzero(kept[: flips.n_hard])),
            cost=np.ascontiguousarray(flips.cost[kept]),
            rest=np.ascontiguousarray(flips.rest[ends]),
            nearest=np.ascontiguousarray(flips.nearest[ends]),
        )
        if self.constraints is not None:
            call = self.options.depth_first_call
            yield from list_ruled_members(flips, one.lookup, smallest, found, call, allowance)
            return
        position, flipped = np.zeros((2, len(flips.label) + 2), dtype=np.int64)
        scores = np.zeros((len(flips.label) + 2, len(flips.base)), dtype=np.int64)
        scores[0] = flips.base
        numbers, penalty = np.zeros(states.N_NUMBERS, dtype=np.int64), np.zeros_like(flips.base)
        present, known = np.array([flips.mode, flips.mode])
        state = DepthFirst(numbers, position, flipped, scores, present, penalty, known)
        plain = self.weighing.is_plain and not (one.lookup.penalties.present or self.arrays.has_link)
        counted = not (len(found.numerators) or one.lookup.penalties.present)
        counting = LastFlips.of(flips, counted=counted, allow_empty=self.allow_empty)
        ended, call = states.BUFFER_FULL, self.options.depth_first_call
        while ended != states.FINISHED and (left := allowance.left(numbers)) > 0:
            stop_if_asked()
            before = int(numbers[states.FOUND])
            ended = search(flips, one.lookup, plain, smallest, min(call, left), state, found, counting)
            yield int(numbers[states.FOUND]) - before, ended == states.FINISHED

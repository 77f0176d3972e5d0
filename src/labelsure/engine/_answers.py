"""Answers without listing: blocks of objects, handed to the searches in threads.

Searches look at labelsets in the energies' general form. Those with a score of their own in some
fold, the *listed* ones, are looked at one by one, and take the place of what a search finds.
"""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from labelsure._checks import IntArray
from labelsure._parallel import stop_if_asked
from labelsure.engine._block import N_COUNTED, Block, pose_block
from labelsure.engine._discounted import Discounted
from labelsure.engine._estimate import estimate_size
from labelsure.engine._fold_arrays import FAR, FoldArrays, Lookup, OverrideList
from labelsure.engine._labelset_kernels import CODE, HIGHEST_BIT, NUMERATOR, TOTAL
from labelsure.engine._listed_kernels import (
    LabelCosts,
    ListedBounds,
    count_listed,
    offer_listed,
    raise_by_listed,
)
from labelsure.engine._pair_problem import (
    Allowance,
    Buffer,
    ObjectSearch,
    force_label,
    pose_problem,
)
from labelsure.engine._pair_search import Best, best_pair_members, list_pair_members
from labelsure.engine._results import (
    Answers,
    BestLabelsets,
    EngineOptions,
    Members,
    NotAllListedError,
    RegionSize,
)
from labelsure.engine._rules import NO_RULES, LabelsetRules
from labelsure.engine._walk_kernels import FINISHED, FOUND, UPPER, WORK, Asked, Found, Room, walk
from labelsure.engine._weighing import Weighing
from labelsure.measures._labelset_bits import Words, labelset_keys, pack, unpack, word_keys

MAX_STEPS = 100


def climb(
    arrays: FoldArrays,
    weighing: Weighing,
    i: int,
    keys: IntArray,
    numbers: IntArray,
    allow_empty: bool,
) -> None:
    """Put labelsets of one object among the best found: from each fold's mode and their sum's, flip by flip.

    Parameters
    ----------
    arrays, weighing : FoldArrays, Weighing
        Scores that are sums over labels, and how they become numerators.
    i : int
        The object.
    keys, numbers : arrays
        Its rows of Found.
    allow_empty : bool
        Whether the empty labelset is a candidate.
    """
    constant, unary = (
        np.stack([getattr(energy, part)[i] for energy in arrays.general])
        for part in ("constant", "unary")
    )
    on = np.vstack([unary < 0, unary.sum(axis=0) < 0])
    scores = constant[:, None] + unary @ on.T.astype(np.int64)  # (K, starts)
    for _ in range(MAX_STEPS):
        changes = np.where(on[None], -unary[:, None], unary[:, None])
        reached = scores[:, :, None] + changes  # with one flip each
        numerators, totals = _rank(weighing, arrays, i, reached.reshape(len(unary), -1)).reshape(
            2, *on.shape
        )
        now, now_totals = _rank(weighing, arrays, i, scores)
        highest = numerators.max(axis=1)
        flip = np.where(numerators == highest[:, None], totals, np.iinfo(np.int64).max).argmin(
            axis=1
        )
        everyone = np.arange(len(on))
        better = (highest > now) | ((highest == now) & (totals[everyone, flip] < now_totals))
        if not better.any():
            break
        rows = np.flatnonzero(better)
        on[rows, flip[rows]] ^= True
        scores[:, rows] = reached[:, rows, flip[rows]]
    candidates = on.any(axis=1) | allow_empty
    now, now_totals = _rank(weighing, arrays, i, scores[:, candidates])
    words = pack(on[candidates])[:, ::-1] ^ HIGHEST_BIT
    new = np.column_stack([-now, now_totals, words.view(np.int64)])
    every = np.vstack([keys[: numbers[FOUND]], new])
    every = every[np.lexsort(every.T[::-1])]
    best = np.sort(np.unique(every[:, CODE:], axis=0, return_index=True)[1])[: len(keys) - 1]
    keys[: len(best)] = every[best]
    numbers[FOUND] = len(best)


def _rank(weighing: Weighing, arrays: FoldArrays, i: int, scores: IntArray) -> IntArray:
    """Return numerators and total scores, (2, m), of scores (K, m)."""
    numerators = weighing.of_scores(arrays.calibrations, scores, np.full(scores.shape[1], i))
    return np.stack([numerators, scores.sum(axis=0)])


MANY = 64
"""Where more labelsets are asked for, it is worth while to know first what numerators so many have."""

LEVELS = 12
"""These numerators are found as exactly as so many halvings of what they may be allow."""

SHARES = 16
"""A label may take this part of the work that is left for all labels."""


@dataclass(eq=False)
class SearchAnswers(Answers):
    """Answers about any number of labels.

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
        self.n_block = min(
            max(self.options.block_bytes // (8 * self._numbers), 1), self.options.block_objects
        )

    @property
    @abstractmethod
    def _numbers(self) -> int:
        """How many numbers an object takes in a block."""

    @abstractmethod
    def count(self, objects: IntArray, smallest: IntArray, budget: int) -> list[tuple[int, bool]]:
        """Return the members of each region that at most ``budget`` evaluations find, and whether these are all."""

    @abstractmethod
    def list_general(self, i: int, smallest: int) -> Iterator[tuple[Words, IntArray, bool]]:
        """Yield members in the general form and their numerators, and whether these were the last."""

    @abstractmethod
    def highest_general(self, i: int, n_best: int) -> Iterator[tuple[int, int, Best]]:
        """Yield each label, whether it is on, and the best labelsets of the general form with it so."""

    @abstractmethod
    def find_start(self, i: int) -> Words:
        """Return a labelset that is as likely as any as far as is known soon."""

    def count_members(self, smallest: IntArray) -> list[int | None]:
        """Return the exact sizes of all regions, None for those that a table counts sooner."""
        budget = 1 + 2**self.n_labels // self.options.table_share
        blocks = self.map_blocks(
            lambda objects: self.count(objects, smallest, budget), "region sizes"
        )
        return [size if finished else None for block in blocks for size, finished in block]

    def region_sizes(self, smallest: IntArray, *, bits: float = 1.0) -> list[RegionSize]:
        """Return the sizes of all regions, estimated where counting takes more than the budget."""
        n_candidates = 2**self.n_labels - (not self.allow_empty)
        if self.constraints is not None:
            n_candidates = self.constraints.n_candidates(allow_empty=self.allow_empty)

        def answer(objects: IntArray) -> list[RegionSize]:
            sizes = dict.fromkeys(objects.tolist(), RegionSize.counted(n_candidates))
            some = objects[
                smallest[objects] > self.weighing.lowest[objects]
            ]  # others hold everything
            budget = min(self.options.rough_budget, self.options.count_budget)
            counts = self.count(some, smallest, budget) if len(some) else []
            for i, (found, finished) in zip(some.tolist(), counts, strict=True):
                counted = RegionSize.counted(found)
                sizes[i] = (
                    counted
                    if finished
                    else self._large_size(i, int(smallest[i]), found, smallest, bits)
                )
            return list(sizes.values())

        return [size for block in self.map_blocks(answer, "region sizes") for size in block]

    def _large_size(
        self, i: int, least: int, found: int, smallest: IntArray, bits: float
    ) -> RegionSize:
        """Return the size of one region: estimated, but counted where it seems to have not too many members."""
        listed = self.overrides_of(i, least)
        estimate = partial(
            estimate_size,
            self.pose(i),
            self.arrays,
            self.weighing,
            least,
            known=pack(listed.labelsets[listed.general >= least]),
            n_own=int((listed.numerators >= least).sum()),
            constraints=self.constraints,
            find_start=partial(self.find_start, i),
            count_budget=self.options.count_budget // 2,
        )
        size, sure = estimate(at_least=found, bits=max(bits, 1.0))
        # counting takes about two evaluations for each member: where there are more it would be in
        # vain
        if bits <= 1 and 2 * max(sure, size.at_least) <= self.options.count_budget:
            ((found, finished),) = self.count(np.array([i]), smallest, self.options.count_budget)
            if finished:
                return RegionSize.counted(found)
            size = size.raised(found)
        return size if bits >= 1 else estimate(at_least=size.at_least, bits=bits).size

    def iterate_members(self, i: int, smallest: int) -> Iterator[Members]:
        """Yield labelsets with a numerator of at least ``smallest``, listed ones first, then depth first."""
        listed = self.overrides_of(i)
        members = listed.numerators >= smallest
        yield listed.labelsets[members], listed.numerators[members]
        known = labelset_keys(listed.labelsets)
        n_found, is_all = int(members.sum()), False
        for words, numerators, finished in self.list_general(i, smallest):
            fresh = ~np.isin(word_keys(words), known)
            n_found, is_all = n_found + int(fresh.sum()), finished
            yield unpack(words[fresh], self.n_labels), numerators[fresh]
        if not is_all:
            raise NotAllListedError(n_found)

    def _label_maxima_of(self, i: int) -> IntArray:
        """Return the highest numerators of one object's labelsets with each label off and on, (q, 2).

        Where a search spends its budget, upper bounds: what follows from them holds, but may say
        less.
        """
        listed, maxima = self.overrides_of(i), np.zeros((self.n_labels, 2), dtype=np.int64)
        known = labelset_keys(listed.labelsets)
        for j, value, best in self.highest_general(i, 1 + listed.n_stranger):
            rank = (
                best.rank[~np.isin(word_keys(best.words), known)]
                if listed.n_stranger
                else best.rank
            )
            maxima[j, value] = max(rank[:1, NUMERATOR].max(initial=0), best.missed or 0)
        for value in (0, 1) if len(listed.labelsets) else ():
            own = np.where(listed.labelsets == value, listed.numerators[:, None], -FAR).max(axis=0)
            np.maximum(maxima[:, value], own, out=maxima[:, value])
        return maxima

    def overrides_of(self, i: int, smallest: int | None = None) -> OverrideList:  # noqa: ARG002
        """Return one object's labelsets with scores of their own, kept for further questions.

        Given the ``smallest`` numerator that is asked about, those are left out that have a lower
        one for sure.
        """
        if i in self._kept:
            return self._kept[i]
        allowed: dict[str, Any] = {"allow_empty": self.allow_empty, "constraints": self.constraints}
        overrides = self.arrays.overrides_of(i, self.weighing, **allowed)
        n_bytes = len(overrides.labelsets) * (self.n_labels + 24)
        if self._kept_bytes + n_bytes <= self.options.override_bytes:
            self._kept[i] = overrides
            self._kept_bytes += n_bytes
        return overrides

    def pose(self, i: int) -> ObjectSearch:
        """Return the problem of one object, posed by itself."""
        problem = pose_problem(self.arrays, i)
        rules = (
            NO_RULES if self.constraints is None else self.constraints.rules.placed(problem.labels)
        )
        lookup = Lookup(
            self.arrays.tables, self.arrays.penalties, self.weighing.of(i), self.allow_empty, rules
        )
        return ObjectSearch(i, problem, lookup)


@dataclass(eq=False)
class WalkAnswers(SearchAnswers):
    """Answers about labelsets whose scores are sums over labels: one search, see _walk_kernels."""

    @property
    def _numbers(self) -> int:
        return N_COUNTED * self.arrays.n_folds * (self.n_labels + 1)

    @cached_property
    def _listed(self) -> Discounted:
        """The candidates with discounts, which are the same for all objects; none where scores do not just add up."""
        listed = self.arrays.discounted
        if not self.arrays.adds_up:
            return listed.take(np.zeros(len(listed.more), dtype=bool))
        allowed = np.asarray(listed.labelsets.any(axis=1) | self.allow_empty)
        if self.constraints is not None:
            allowed &= self.constraints.allow(listed.labelsets)
        return listed.take(allowed)

    def overrides_of(self, i: int, smallest: int | None = None) -> OverrideList:
        """Return one object's listed labelsets; those that do not matter may be left out."""
        if self._looks_one_by_one:
            return super().overrides_of(i)
        listed, general = self._listed, self.arrays.general
        constant, unary = (
            np.stack([getattr(energy, part)[i] for energy in general])
            for part in ("constant", "unary")
        )
        if smallest is not None and self.weighing.is_plain:
            merged = (
                self.arrays.tables.merged
            )  # one above this score in all folds has a lower numerator
            level = merged[-min(smallest - 1, len(merged))] if smallest > 1 else FAR
            bounds = (
                listed.scores(constant.min(keepdims=True), unary.min(axis=0)[None])[0]
                + listed.least
            )
            listed = listed.take(bounds <= level)
        scores, objects = listed.scores(constant, unary), np.full(len(listed.more), i)
        own = scores + listed.more.T
        of = partial(self.weighing.of_scores, self.arrays.calibrations, objects=objects)
        return OverrideList(listed.labelsets, of(scores=own), own.sum(axis=0), of(scores=scores), 0)

    @property
    def _looks_one_by_one(self) -> bool:
        """Whether labelsets have scores of their own that kernels do not know."""
        return self.arrays.has_overrides and not self.arrays.adds_up

    def best(self, objects: IntArray, n_best: int) -> BestLabelsets:
        """Return the ``n_best`` most plausible labelsets of each object."""
        own = [self.overrides_of(i) for i in objects.tolist()] if self._looks_one_by_one else []
        n_stranger = max((one.n_stranger for one in own), default=0)
        found = self._find_best(objects, n_best + n_stranger)
        best = BestLabelsets.nothing(len(objects), n_best, self.n_labels)
        finished = found.finished
        words = found.words
        for row, listed in enumerate(own):
            rank = found.rank(row)
            merged, rank = merge_listed(words[row, : len(rank)], rank, listed, n_best)
            best.write(row, rank[:, NUMERATOR], unpack(merged, self.n_labels))
        if not own:
            labelsets = unpack(words.reshape(-1, words.shape[2]), self.n_labels)
            best.labelsets[:] = labelsets.reshape(best.labelsets.shape)
            best.numerators[:] = best.upper[:] = found.numerators
        for row in np.flatnonzero(~finished).tolist():
            best.write(row, best.numerators[row], missed=int(found.numbers[row, UPPER]))
        return best

    def label_maxima(self, objects: IntArray) -> IntArray:
        """Return the highest numerators of each object with each label off and on, (n, q, 2).

        The best labelset of all is the best with its labels as they are; each label is changed in a
        search of its own.
        """
        if self._looks_one_by_one:
            return np.stack([self._label_maxima_of(i) for i in objects.tolist()])
        block, (n, q) = (
            pose_block(self.arrays, objects, counted=False),
            (len(objects), self.n_labels),
        )
        everyone, budget = np.arange(n), self._label_budget
        best, changed = Found.of(n, 1, block.mode.shape[1]), Found.of(n * q, 1, 0)
        self._walk(block, objects, (everyone, -1, 0, -FAR), best, budget, by_total=False)
        on = np.take_along_axis(unpack(best.words[:, 0], q), block.label, axis=1)
        flipped = on != np.take_along_axis(unpack(block.mode, q), block.label, axis=1)
        searches = (np.repeat(everyone, q), np.tile(np.arange(q), n), 1 - flipped.ravel(), -FAR)
        self._walk(block, objects, searches, changed, budget, by_total=False)
        highest, others = best.highest[:, None], changed.highest.reshape(n, q)
        maxima = np.empty((n, q, 2), dtype=np.int64)
        np.put_along_axis(maxima[:, :, 0], block.label, np.where(on, others, highest), axis=1)
        np.put_along_axis(maxima[:, :, 1], block.label, np.where(on, highest, others), axis=1)
        if len(self._listed.more):
            raise_by_listed(*self._listed_arrays(objects), maxima)
        return maxima

    def highest_general(self, i: int, n_best: int) -> Iterator[tuple[int, int, Best]]:
        """Yield each label, whether it is on, and the best labelsets of the general form with it so."""
        block, q = pose_block(self.arrays, np.array([i]), counted=False), self.n_labels
        on = unpack(block.mode, q)[0]
        found = Found.of(2 * q, n_best, block.mode.shape[1])
        searches = (0, np.repeat(np.arange(q), 2), np.tile([0, 1], q), -FAR)
        self._walk(block, np.array([i]), searches, found, self._label_budget, by_total=True)
        for row, (words, numbers) in enumerate(zip(found.words, found.numbers, strict=True)):
            j, n_found = int(block.label[0, row // 2]), numbers[FOUND]
            missed = None if numbers[FINISHED] else int(numbers[UPPER])
            yield (
                j,
                int(on[j]) ^ (row % 2),
                Best(words[:n_found], found.rank(row), missed, int(numbers[WORK])),
            )

    def count(self, objects: IntArray, smallest: IntArray, budget: int) -> list[tuple[int, bool]]:
        """Return the members of each region that at most ``budget`` evaluations find, and whether these are all."""
        block, least = pose_block(self.arrays, objects, counted=True), smallest[objects]
        found = Found.of(len(objects), 0, 0)
        self._walk(
            block, objects, (np.arange(len(objects)), -1, 0, least), found, budget, ranked=False
        )
        sizes, finished = found.numbers[:, FOUND], found.finished
        if not self.allow_empty and (self.constraints is None or self.constraints.allows_empty):
            nothing = np.zeros((len(objects), self.n_labels), dtype=np.int8)
            sizes = sizes - (
                self.arrays.general_numerators(nothing, self.weighing, objects) >= least
            )
        if len(self._listed.more):
            listed = np.empty((len(objects), 2), dtype=np.int64)
            count_listed(*self._listed_arrays(objects), least, listed)
        elif self._looks_one_by_one:
            own = [self.overrides_of(i) for i in objects.tolist()]
            members = [
                [one.numerators >= n, one.general >= n] for one, n in zip(own, least, strict=True)
            ]
            listed = np.array([[part.sum() for part in one] for one in members]).reshape(-1, 2)
        else:
            listed = np.zeros((len(objects), 2), dtype=np.int64)
        # an unfinished search may have met any of these, or none
        sizes = np.maximum(sizes - listed[:, 1], 0) + listed[:, 0]
        return list(zip(sizes.tolist(), finished.tolist(), strict=True))

    def list_general(self, i: int, smallest: int) -> Iterator[tuple[Words, IntArray, bool]]:
        """Yield members in the general form and their numerators, and whether these were the last."""
        objects, options = np.array([i]), self.options
        block = pose_block(self.arrays, objects, counted=False)
        room, found = Room.of(block), Found.of(1, options.chunk, block.mode.shape[1])
        left = options.list_budget
        while not found.finished[0] and left > 0:
            found.numbers[:] = 0
            call = min(left, options.best_budget)
            self._walk(block, objects, (0, -1, 0, smallest), found, call, ranked=False, room=room)
            n_found = int(found.numbers[0, FOUND])
            left += options.member_budget * n_found - int(found.numbers[0, WORK])
            yield found.words[0, :n_found], found.numerators[0, :n_found], bool(found.finished[0])

    def find_start(self, i: int) -> Words:
        """Return a labelset that is as likely as any as far as is known soon."""
        found = self._find_best(np.array([i]), 1, general=True)
        words: Words = found.words[0, 0]
        return words

    @property
    def _label_budget(self) -> int:
        return min(self.options.label_budget // (self.n_labels + 1) + 1, self.options.best_budget)

    def _find_best(self, objects: IntArray, n_best: int, *, general: bool = False) -> Found:
        """Return the best labelsets of some objects; where a first search is not enough, after a climb."""
        block, n = pose_block(self.arrays, objects, counted=False), len(objects)
        found = Found.of(n, n_best, block.mode.shape[1])
        if len(self._listed.more) and not general:
            offer_listed(*self._listed_arrays(objects), found)
        first, limits = min(self.options.first_budget, self.options.best_budget), np.full(n, -FAR)
        if n_best > MANY:
            limits = self._reached_by(objects, n_best)
        self._walk(block, objects, (np.arange(n), -1, 0, limits), found, first)
        rest = np.flatnonzero(~found.finished)
        if len(rest) and first < self.options.best_budget:
            again = Found(found.keys[rest], found.numbers[rest])
            if self.constraints is None and not (
                self.arrays.has_link or self.arrays.penalties.present
            ):
                for row, i in enumerate(objects[rest].tolist()):
                    climb(
                        self.arrays,
                        self.weighing,
                        i,
                        again.keys[row],
                        again.numbers[row],
                        self.allow_empty,
                    )
            self._walk(block, objects, (rest, -1, 0, limits[rest]), again, self.options.best_budget)
            found.keys[rest], found.numbers[rest] = again.keys, again.numbers
        return found

    def _reached_by(self, objects: IntArray, n_labelsets: int) -> IntArray:
        """Return numerators that at least so many labelsets of the general form have, or lower ones.

        A search for many labelsets that begins without a limit goes deep before it finds any that
        are good.
        """
        everyone, block = np.arange(len(objects)), pose_block(self.arrays, objects, counted=True)
        reached = np.zeros(len(objects), dtype=np.int64)
        missed = self._find_best(objects, 1, general=True).numerators[:, 0] + 1
        for _ in range(LEVELS):
            level, found = (reached + missed) // 2, Found.of(len(objects), 0, 0)
            budget = 8 * n_labelsets + self.options.first_budget
            self._walk(block, objects, (everyone, -1, 0, level), found, budget, ranked=False)
            many = found.numbers[:, FOUND] >= n_labelsets
            reached, missed = np.where(many, level, reached), np.where(many, missed, level)
        return np.where(reached > 0, reached, -FAR)

    def _walk(
        self,
        block: Block,
        objects: IntArray,
        searches: tuple[IntArray | int, ...],
        found: Found,
        budget: int,
        *,
        ranked: bool = True,
        by_total: bool = True,
        room: Room | None = None,
    ) -> None:
        """Search objects of a block; ``searches`` are the columns of Asked.searches."""
        stop_if_asked()
        arrays = self.arrays
        columns = np.column_stack(np.broadcast_arrays(*searches, found.numbers[:, 0])[:-1])
        # the empty labelset is counted, and taken off afterwards
        allow_empty = self.allow_empty or found.keys.shape[1] == 1
        asked = Asked(columns, ranked, by_total, not arrays.has_link, allow_empty, budget)
        rules = None if self.constraints is None else self.constraints.rules.placed(block.label[0])
        penalties = arrays.penalties if arrays.penalties.present else None
        weighings = self.weighing.of_objects(objects)
        walk(
            block, arrays.tables, penalties, weighings, rules, asked, room or Room.of(block), found
        )

    def _listed_arrays(self, objects: IntArray) -> tuple[Any, ...]:
        """Return what kernels take that look at listed labelsets."""
        costs = LabelCosts.of(self.arrays.general, objects)
        bounds, weighings = (
            ListedBounds.of(costs, len(self._listed.more)),
            self.weighing.of_objects(objects),
        )
        return costs, bounds, self._listed, self.arrays.tables, weighings


@dataclass(eq=False)
class PairAnswers(SearchAnswers):
    """Answers about labelsets of which pairs of labels have costs of their own."""

    @property
    def _numbers(self) -> int:
        return self.arrays.n_folds * (
            self.n_labels + 1 + (self.n_labels**2 if self.arrays.own_pairs else 0)
        )

    def best(self, objects: IntArray, n_best: int) -> BestLabelsets:
        """Return the ``n_best`` most plausible labelsets of each object."""
        best = BestLabelsets.nothing(len(objects), n_best, self.n_labels)
        for row, one in enumerate(map(self.pose, objects.tolist())):
            listed = self.overrides_of(one.i)
            n_room = n_best + listed.n_stranger
            found = best_pair_members(
                one.problem, one.lookup, n_room, budget=self.options.best_budget
            )
            words, rank = merge_listed(found.words, found.rank, listed, n_best)
            best.write(row, rank[:, NUMERATOR], unpack(words, self.n_labels), found.missed)
        return best

    def label_maxima(self, objects: IntArray) -> IntArray:
        """Return the highest numerators of each object with each label off and on, (n, q, 2)."""
        return np.stack([self._label_maxima_of(i) for i in objects.tolist()])

    def highest_general(self, i: int, n_best: int) -> Iterator[tuple[int, int, Best]]:
        """Yield each label, whether it is on, and the best labelsets of the general form with it so."""
        one = self.pose(i)
        problem, left = one.problem, self.options.label_budget
        for t, j in enumerate(problem.labels.tolist()):
            for flipped in (False, True):
                forced, share = force_label(problem, t, flipped=flipped), left // SHARES + 1
                found = best_pair_members(
                    forced, one.lookup, n_best, by_total=n_best > 1, budget=share
                )
                left = max(left - found.work, 0)
                yield j, int(flipped == (problem.costs.sign[j] > 0)), found

    def count(self, objects: IntArray, smallest: IntArray, budget: int) -> list[tuple[int, bool]]:
        """Return the members of each region that at most ``budget`` evaluations find, and whether these are all."""
        counted = []
        for one in map(self.pose, objects.tolist()):
            least, nothing = (
                int(smallest[one.i]),
                Buffer(one.problem.mode[None][:0], np.empty(0, dtype=np.int64)),
            )
            steps = list(
                list_pair_members(one.problem, one.lookup, least, nothing, Allowance(budget))
            )
            size, own = sum(n_new for n_new, _ in steps), self.overrides_of(one.i)
            # an unfinished search may have met any of the listed ones, or none
            size = max(size - int((own.general >= least).sum()), 0) + int(
                (own.numerators >= least).sum()
            )
            counted.append((size, steps[-1][1]))
        return counted

    def list_general(self, i: int, smallest: int) -> Iterator[tuple[Words, IntArray, bool]]:
        """Yield members in the general form and their numerators, and whether these were the last."""
        one = self.pose(i)
        found = Buffer.of(self.options.chunk, len(one.problem.mode))
        allowance = Allowance(self.options.list_budget, self.options.member_budget)
        for n_new, finished in list_pair_members(
            one.problem, one.lookup, smallest, found, allowance
        ):
            yield found.words[:n_new], found.numerators[:n_new], finished

    def find_start(self, i: int) -> Words:
        """Return a labelset that is as likely as any as far as is known soon."""
        one = self.pose(i)
        found = best_pair_members(one.problem, one.lookup, 1, budget=self.options.start_budget)
        words: Words = found.words[0] if len(found.words) else one.problem.mode
        return words


def merge_listed(
    words: Words, rank: IntArray, listed: OverrideList, n_best: int
) -> tuple[Words, IntArray]:
    """Return the best of labelsets of the general form and of listed ones, which take their places."""
    if len(listed.labelsets):
        known = pack(listed.labelsets)
        general = ~np.isin(word_keys(words), word_keys(known))
        words = np.concatenate([words[general], known])
        rank = np.concatenate([rank[general], np.column_stack([listed.numerators, listed.totals])])
    order = np.lexsort((*words.T, rank[:, TOTAL], -rank[:, NUMERATOR]))[:n_best]
    return words[order], rank[order]

"""Answers without looking at all labelsets: a search of blocks of objects.

The searches look at labelsets in the energies' general form. *Listed* labelsets, whose scores
differ from it in some fold, are looked at one by one beside them::

    listed labelsets --> the best of them   --+--> walk, or search_pairs where pairs have costs
                         or their numbers     |    (listed ones are skipped, or counted out)
    first search --> climb, if it is too long +
"""

from collections.abc import Iterator
from functools import cached_property, partial
from typing import Any

import numpy as np

from labelsure._checks import IntArray
from labelsure._parallel import stop_if_asked
from labelsure.engine._block import N_COUNTED, Block, pose_block
from labelsure.engine._estimate import estimate_size
from labelsure.engine._fold_arrays import FAR, Discounted, FoldArrays, ListedLabelsets, Lookup
from labelsure.engine._listed_kernels import (
    LabelCosts,
    ListedBounds,
    count_listed,
    offer_listed,
    raise_by_listed,
)
from labelsure.engine._pair_problem import ObjectProblem, PairBlock, PairRoom, pose_problem
from labelsure.engine._pair_search import run_pair_search
from labelsure.engine._results import (
    BestLabelsets,
    EngineOptions,
    Members,
    NotAllListedError,
    RegionSize,
)
from labelsure.engine._rows import Rows
from labelsure.engine._rules import NO_RULES, LabelsetRules
from labelsure.engine._walk_kernels import (
    FOUND,
    UPPER,
    WORK,
    Asked,
    Found,
    Known,
    Room,
    walk,
)
from labelsure.engine._weighing import Weighing
from labelsure.measures._labelset_bits import Words, pack, unpack, word_keys

BLOCK_OBJECTS = 128
"""At most so many objects are searched in one call, so that an interrupt is heard soon."""

ROUGH_BUDGET = 60_000
"""Evaluations before it is estimated whether a region has too many members to count."""

TABLE_SHARE = 5
"""A search that rows could replace may take one evaluation for so many of their entries: that adds
at most a tenth to the cost, as an evaluation takes as long as four or five entries."""

START_BUDGET = 100_000
"""Evaluations of a search with pairs for the labelset that draws start from."""

MEMBER_BUDGET = 50
"""Evaluations that listing may take more for each member that it finds."""

MANY = 64
"""To find more labelsets than this, it pays to know first what numerators so many have."""

LEVELS = 12
"""How often the interval of these numerators is halved."""

MAX_STEPS = 100


class Search:
    """Answers about any number of labels.

    Parameters
    ----------
    arrays, weighing : FoldArrays, Weighing
        The folds, and how their counts become numerators.
    allow_empty : bool
        Whether the empty labelset is a candidate.
    options : EngineOptions
        What a search may spend.
    constraints : LabelsetRules or None
        Inequalities that candidates obey.
    rows : Rows or None
        Where these can count, they count the regions that are larger than a search counts soon.
    """

    def __init__(
        self,
        arrays: FoldArrays,
        weighing: Weighing,
        allow_empty: bool,
        options: EngineOptions,
        constraints: LabelsetRules | None,
        rows: Rows | None,
    ) -> None:
        self.arrays = arrays
        self.weighing = weighing
        self.allow_empty = allow_empty
        self.options = options
        self.constraints = constraints
        self.rows = rows
        self.n_labels = q = arrays.n_labels
        numbers = N_COUNTED * (q + 1)
        if arrays.has_pairs:
            numbers = q + 1 + (q**2 if arrays.own_pairs else 0)
        n_fitting = options.block_bytes // (8 * arrays.n_folds * numbers)
        self.n_block = min(max(n_fitting, 1), BLOCK_OBJECTS)

    def best(self, objects: IntArray, n_best: int) -> BestLabelsets:
        """Return the ``n_best`` most plausible labelsets of each object."""
        found = self._find_best(objects, n_best)
        best = BestLabelsets.nothing(len(objects), n_best, self.n_labels)
        labelsets = unpack(found.words.reshape(-1, found.words.shape[2]), self.n_labels)
        best.labelsets[:] = labelsets.reshape(best.labelsets.shape)
        best.numerators[:] = best.upper[:] = found.numerators
        for row in np.flatnonzero(~found.finished).tolist():
            best.write(row, best.numerators[row], missed=int(found.numbers[row, UPPER]))
        return best

    def label_maxima(self, objects: IntArray) -> IntArray:
        """Return the highest numerators with each label off and on, (n, q, 2).

        The best labelset of all is the best with its labels as they are; each label is changed in a
        search that is forced.
        """
        block = self._pose(objects)
        n = len(objects)
        q = self.n_labels
        everyone, listed = np.arange(n), self._listed_of_all(objects)
        known = Known.of(listed, block.mode.shape[1])
        budget = self.options.best_budget // (q + 1) + 1
        best, changed = Found.of(n, 1, block.mode.shape[1]), Found.of(n * q, 1, 0)
        common: dict[str, Any] = {"by_total": False, "known": known}
        self._search(block, objects, (everyone, -1, 0, -FAR), best, budget, **common)
        on = np.take_along_axis(unpack(best.words[:, 0], q), block.label, axis=1)
        flipped = on != np.take_along_axis(unpack(block.mode, q), block.label, axis=1)
        searches = (np.repeat(everyone, q), np.tile(np.arange(q), n), 1 - flipped.ravel(), -FAR)
        self._search(block, objects, searches, changed, budget, **common)
        highest, others = best.highest[:, None], changed.highest.reshape(n, q)
        maxima = np.empty((n, q, 2), dtype=np.int64)
        np.put_along_axis(maxima[:, :, 0], block.label, np.where(on, others, highest), axis=1)
        np.put_along_axis(maxima[:, :, 1], block.label, np.where(on, highest, others), axis=1)
        if len(self._discounted.more):
            raise_by_listed(*self._discounted_arrays(objects), maxima)
        for of_object, one in zip(maxima, listed, strict=False):
            for value in (0, 1) if len(one.words) else ():
                with_it = np.where(one.labelsets == value, one.numerators[:, None], -FAR)
                np.maximum(of_object[:, value], with_it.max(axis=0), out=of_object[:, value])
        return maxima

    def region_sizes(
        self, objects: IntArray, smallest: IntArray, bits: float = 1.0
    ) -> list[RegionSize]:
        """Return how many numerators of each object are at least ``smallest[object]``.

        Large regions are counted by rows, or estimated where these cannot be made.
        """
        sizes = dict.fromkeys(objects.tolist(), RegionSize.counted(self._n_candidates))
        # others hold everything
        some = objects[smallest[objects] > self.weighing.lowest[objects]]
        by_rows = self.rows is not None and bits <= 1
        budget = min(ROUGH_BUDGET, self.options.count_budget)
        counts = self.count(
            some, smallest, 1 + 2**self.n_labels // TABLE_SHARE if by_rows else budget
        )
        open_regions = []
        for i, (size, finished) in zip(some.tolist(), counts, strict=True):
            if finished:
                sizes[i] = RegionSize.counted(size)
            elif by_rows:
                open_regions.append(i)
            else:
                sizes[i] = self._large_size(i, smallest, size, bits)
        for start in range(0, len(open_regions), self.rows.n_block if self.rows else 1):
            assert self.rows is not None
            large = open_regions[start : start + self.rows.n_block]
            sizes |= zip(large, self.rows.region_sizes(np.array(large), smallest), strict=True)
        return list(sizes.values())

    @cached_property
    def _n_candidates(self) -> int:
        if self.constraints is None:
            return int(2**self.n_labels) - (not self.allow_empty)
        return self.constraints.n_candidates(allow_empty=self.allow_empty)

    def _large_size(self, i: int, smallest: IntArray, found: int, bits: float) -> RegionSize:
        """Return the size of one region: estimated, but counted if it seems to be small enough."""
        least, count_budget = int(smallest[i]), self.options.count_budget
        listed = self.listed_of(i, least)
        estimate = partial(
            estimate_size,
            self.pose_one(i),
            self.arrays,
            self.weighing,
            least,
            known=listed.words[listed.general >= least],
            n_own=int((listed.numerators >= least).sum()),
            constraints=self.constraints,
            find_start=partial(self.find_start, i),
            count_budget=count_budget // 2,
        )
        size, sure = estimate(at_least=found, bits=max(bits, 1.0))
        # counting takes about two evaluations for each member
        if bits <= 1 and 2 * max(sure, size.at_least) <= count_budget:
            ((found, finished),) = self.count(np.array([i]), smallest, count_budget)
            if finished:
                return RegionSize.counted(found)
            size = size.raised(found)
        return size if bits >= 1 else estimate(at_least=size.at_least, bits=bits).size

    def count(self, objects: IntArray, smallest: IntArray, budget: int) -> list[tuple[int, bool]]:
        """Return how many members ``budget`` evaluations find, and whether these are all."""
        if not len(objects):
            return []
        block, least = self._pose(objects, counted=True), smallest[objects]
        found = Found.of(len(objects), 0, 0)
        searches = (np.arange(len(objects)), -1, 0, least)
        self._search(block, objects, searches, found, budget, ranked=False)
        sizes, finished = found.numbers[:, FOUND], found.finished
        if not self.allow_empty and (self.constraints is None or self.constraints.allows_empty):
            nothing = np.zeros((len(objects), self.n_labels), dtype=np.int8)
            of_empty = self.arrays.general_numerators(nothing, self.weighing, objects)
            sizes = sizes - (of_empty >= least)
        listed = np.zeros((len(objects), 2), dtype=np.int64)
        if len(self._discounted.more):
            count_listed(*self._discounted_arrays(objects), least, listed)
        for counts, one, level in zip(listed, self._listed_of_all(objects), least, strict=False):
            counts[:] = (one.numerators >= level).sum(), (one.general >= level).sum()
        # an unfinished search may have met any of these, or none
        sizes = np.maximum(sizes - listed[:, 1], 0) + listed[:, 0]
        return list(zip(sizes.tolist(), finished.tolist(), strict=True))

    def iterate_members(self, i: int, smallest: int) -> Iterator[Members]:
        """Yield labelsets with a numerator of at least ``smallest``, listed ones first."""
        listed = self.listed_of(i)
        objects = np.array([i])
        options = self.options
        members = listed.numerators >= smallest
        yield listed.labelsets[members], listed.numerators[members]
        block = self._pose(objects)
        # a search with pairs stops only between lists of labels
        n_room = options.chunk + (self.n_labels + 1 if self.arrays.has_pairs else 0)
        room, found = self._room(block), Found.of(1, n_room, block.mode.shape[1])
        left, n_found = options.list_budget, int(members.sum())
        known = Known.of([listed], block.mode.shape[1])
        while not found.finished[0] and left > 0:
            found.numbers[:] = 0
            searches = (0, -1, 0, smallest)
            budget = min(left, options.best_budget)
            self._search(
                block, objects, searches, found, budget, ranked=False, known=known, room=room
            )
            n_new = int(found.numbers[0, FOUND])
            left += MEMBER_BUDGET * n_new - int(found.numbers[0, WORK])
            n_found += n_new
            yield unpack(found.words[0, :n_new], self.n_labels), found.numerators[0, :n_new]
        if not found.finished[0]:
            raise NotAllListedError(n_found)

    def find_start(self, i: int) -> Words:
        """Return a labelset that is as likely as any, as far as is known soon."""
        words: Words = self._find_best(np.array([i]), 1, general=True).words[0, 0]
        return words

    def listed_of(self, i: int, smallest: int | None = None) -> ListedLabelsets:
        """Return one object's listed labelsets that are candidates.

        Given the ``smallest`` numerator that matters, those that certainly have a lower one may be
        left out.
        """
        if self._looks_one_by_one or not len(self._discounted.more):
            return self.arrays.listed_of(i, self.weighing, self.allow_empty, self.constraints)
        listed, objects = self._discounted, np.array([i])
        constant, unary = (costs[:, 0] for costs in self.arrays.label_costs(objects))
        if smallest is not None and self.weighing.is_plain:
            # one above this score in all folds has a lower numerator
            merged = self.arrays.tables.merged
            level = merged[-min(smallest - 1, len(merged))] if smallest > 1 else FAR
            least = listed.scores(constant.min(keepdims=True), unary.min(axis=0)[None])[0]
            listed = listed.take(least + listed.least <= level)
        general = listed.scores(constant, unary)
        scores = general + listed.more.T
        numerators = partial(
            self.weighing.of_scores,
            self.arrays.calibrations,
            objects=np.full(len(listed.more), i),
        )
        return ListedLabelsets(
            listed.labelsets,
            listed.words,
            numerators(scores=scores),
            scores.sum(axis=0),
            numerators(scores=general),
        )

    @cached_property
    def _discounted(self) -> Discounted:
        """The candidates with discounts; none where other scores are not sums over labels."""
        listed = self.arrays.discounted
        if not self.arrays.adds_up:
            return listed.take(np.zeros(len(listed.more), dtype=bool))
        allowed = np.asarray(listed.labelsets.any(axis=1) | self.allow_empty)
        if self.constraints is not None:
            allowed &= self.constraints.allow(listed.labelsets)
        return listed.take(allowed)

    @property
    def _looks_one_by_one(self) -> bool:
        """Whether labelsets have scores of their own that kernels do not know."""
        return self.arrays.has_overrides and not self.arrays.adds_up

    def _listed_of_all(self, objects: IntArray) -> list[ListedLabelsets]:
        """Return each object's listed labelsets; none where kernels look at them."""
        return [self.listed_of(i) for i in objects.tolist()] if self._looks_one_by_one else []

    def _discounted_arrays(self, objects: IntArray) -> tuple[Any, ...]:
        """Return what kernels take that look at labelsets with discounts."""
        costs = LabelCosts.of(*self.arrays.label_costs(objects))
        bounds = ListedBounds.of(costs, len(self._discounted.more))
        weighings = self.weighing.of_objects(objects)
        return costs, bounds, self._discounted, self.arrays.tables, weighings

    def _find_best(self, objects: IntArray, n_best: int, *, general: bool = False) -> Found:
        """Return the best labelsets; where a first search is not enough, after a climb."""
        block = self._pose(objects)
        n = len(objects)
        options = self.options
        found = Found.of(n, n_best, block.mode.shape[1])
        listed = [] if general else self._listed_of_all(objects)
        if len(self._discounted.more) and not general:
            offer_listed(*self._discounted_arrays(objects), found)
        for row, one in enumerate(listed):
            found.offer(row, one.numerators, one.totals, one.words)
        known = Known.of(listed, block.mode.shape[1])
        limits = np.full(n, -FAR)
        if n_best > MANY:
            n_known = np.diff(known.begin) if listed else np.zeros(n, dtype=np.int64)
            limits = self._reached_by(block, objects, n_best + n_known)
        arrays = self.arrays
        climbs = self.constraints is None and not (
            arrays.has_pairs or arrays.has_link or arrays.penalties.present
        )
        most = options.best_budget
        if general and arrays.has_pairs:
            most = min(most, START_BUDGET)
        first = min(options.first_budget, most) if climbs else most
        self._search(block, objects, (np.arange(n), -1, 0, limits), found, first, known=known)
        rest = np.flatnonzero(~found.finished)
        if len(rest) and first < most:
            again = Found(found.keys[rest], found.numbers[rest])
            for row, i in enumerate(objects[rest].tolist()):
                words, numerators, totals = climb(arrays, self.weighing, i, self.allow_empty)
                if listed:
                    fresh = ~np.isin(word_keys(words), word_keys(listed[rest[row]].words))
                    words = words[fresh]
                    numerators = numerators[fresh]
                    totals = totals[fresh]
                again.offer(row, numerators, totals, words)
            searches = (rest, -1, 0, limits[rest])
            self._search(block, objects, searches, again, most, known=known)
            found.keys[rest], found.numbers[rest] = again.keys, again.numbers
        return found

    def _reached_by(
        self, block: Block | PairBlock, objects: IntArray, n_labelsets: IntArray
    ) -> IntArray:
        """Return numerators that so many labelsets of the general form reach, or lower ones.

        A search for many labelsets that begins without a limit goes deep before it finds any that
        are good.
        """
        everyone = np.arange(len(objects))
        if not self.arrays.has_pairs:
            block = self._pose(objects, counted=True)
        reached = np.zeros(len(objects), dtype=np.int64)
        missed = self._find_best(objects, 1, general=True).numerators[:, 0] + 1
        for _ in range(LEVELS):
            level, found = (reached + missed) // 2, Found.of(len(objects), 0, 0)
            budget = 8 * int(n_labelsets.max()) + self.options.first_budget
            self._search(block, objects, (everyone, -1, 0, level), found, budget, ranked=False)
            many = found.numbers[:, FOUND] >= n_labelsets
            reached, missed = np.where(many, level, reached), np.where(many, missed, level)
        return np.where(reached > 0, reached, -FAR)

    def _pose(self, objects: IntArray, *, counted: bool = False) -> Block | PairBlock:
        """Return the search problems of some objects."""
        if self.arrays.has_pairs:
            return PairBlock([self.pose_one(i) for i in objects.tolist()])
        return pose_block(self.arrays, objects, counted=counted)

    def pose_one(self, i: int) -> ObjectProblem:
        """Return the problem of one object, with pairs or without, and its look-up."""
        problem = pose_problem(self.arrays, i)
        rules = NO_RULES
        if self.constraints is not None:
            rules = self.constraints.rules.placed(problem.labels[:0])
        tables, penalties = self.arrays.tables, self.arrays.penalties
        lookup = Lookup(tables, penalties, self.weighing.of(i), self.allow_empty, rules)
        return ObjectProblem(i, problem, lookup)

    def _room(self, block: Block | PairBlock) -> Room | PairRoom:
        """Return room for searches that go on where they stopped."""
        if isinstance(block, PairBlock):
            return PairRoom.of(block.problems[0].problem)
        return Room.of(block)

    def _search(
        self,
        block: Block | PairBlock,
        objects: IntArray,
        searches: tuple[IntArray | int, ...],
        found: Found,
        budget: int,
        *,
        ranked: bool = True,
        by_total: bool = True,
        known: Known | None = None,
        room: Room | PairRoom | None = None,
    ) -> None:
        """Search objects of a block; ``searches`` are the columns of Asked.searches."""
        arrays = self.arrays
        columns = np.column_stack(np.broadcast_arrays(*searches, found.numbers[:, 0])[:-1])
        # a walk counts the empty labelset, which is taken off afterwards
        allow_empty = self.allow_empty or found.keys.shape[1] == 1
        known = known or Known.of([], 1)
        asked = Asked(columns, known, ranked, by_total, not arrays.has_link, allow_empty, budget)
        if isinstance(block, PairBlock):
            run_pair_search(block, asked, found, room if isinstance(room, PairRoom) else None)
            return
        stop_if_asked()
        rules = None if self.constraints is None else self.constraints.rules.placed(block.label[0])
        penalties = arrays.penalties if arrays.penalties.present else None
        weighings = self.weighing.of_objects(objects)
        room = room if isinstance(room, Room) else Room.of(block)
        walk(block, arrays.tables, penalties, weighings, rules, asked, room, found)


def climb(
    arrays: FoldArrays, weighing: Weighing, i: int, allow_empty: bool
) -> tuple[Words, IntArray, IntArray]:
    """Return good labelsets of one object, their numerators and total scores.

    From each fold's mode, and from that of their sum, labels are flipped one by one for as long as
    that helps.

    Parameters
    ----------
    arrays, weighing : FoldArrays, Weighing
        Scores that are sums over labels, and how they become numerators.
    i : int
        The object.
    allow_empty : bool
        Whether the empty labelset is a candidate.
    """

    def rank(scores: IntArray) -> tuple[IntArray, IntArray]:
        objects = np.full(scores.shape[1], i)
        return weighing.of_scores(arrays.calibrations, scores, objects), scores.sum(axis=0)

    constant, unary = (costs[:, 0] for costs in arrays.label_costs(np.array([i])))
    on = np.vstack([unary < 0, unary.sum(axis=0) < 0])
    everyone = np.arange(len(on))
    scores = constant[:, None] + unary @ on.T.astype(np.int64)  # (K, starts)
    for _ in range(MAX_STEPS):
        changes = np.where(on[None], -unary[:, None], unary[:, None])
        reached = scores[:, :, None] + changes  # with one flip each
        numerators, totals = (
            part.reshape(on.shape) for part in rank(reached.reshape(len(unary), -1))
        )
        now, now_totals = rank(scores)
        highest = numerators.max(axis=1)
        ties = np.where(numerators == highest[:, None], totals, np.iinfo(np.int64).max)
        flip = ties.argmin(axis=1)
        better = (highest > now) | ((highest == now) & (totals[everyone, flip] < now_totals))
        if not better.any():
            break
        rows = np.flatnonzero(better)
        on[rows, flip[rows]] ^= True
        scores[:, rows] = reached[:, rows, flip[rows]]
    candidates = on.any(axis=1) | allow_empty
    return pack(on[candidates]), *rank(scores[:, candidates])

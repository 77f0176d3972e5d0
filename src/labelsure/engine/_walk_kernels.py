r"""The compiled search of labelsets whose scores are sums over labels, depth first.

A labelset is looked at, then all that add one flip or more from some position on: if these may hold
something that is looked for, that position is flipped, and the same is done there::

            flips F, one more from t on
              /                     \
          F + {t}              F, one more
       and its own more       from t + 1 on

Flips come cheap first, so one question about all that is left ends a node. Below a position that is
not *hard* nothing is better than the node's own labelset, so that is the only question there. Where
members are counted, most of them need not be looked at: if no two flips more lead to one, those
with a single flip more are counted by groups.

Under rules a node takes with it all that follows from its decisions::

            F, one more from t on
            /                  \
      t flipped, and        t left alone, and what has to be flipped
    what follows from it    then is flipped at this very node
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from labelsure._checks import IntArray
from labelsure._compile import kernel_part, lean_kernel
from labelsure.engine._block import (
    ALL,
    CHEAPEST,
    COST,
    GROUP,
    N_COUNTED,
    NEXT,
    ONE,
    SOME,
    TWO,
    WHOLE,
    Block,
)
from labelsure.engine._fold_arrays import FAR, Penalties, ScoreTables
from labelsure.engine._labelset_kernels import (
    CODE,
    HIGHEST_BIT,
    NUMERATOR,
    TOTAL,
    flip,
    insert,
    is_known,
    is_some,
    penalise,
    precedes,
    switch_off,
    write_key,
)
from labelsure.engine._lookup_kernels import Integer, only_counts, total_of, value_of, weighing_of
from labelsure.engine._rule_kernels import (
    BROKEN,
    DECIDED,
    FORCED,
    QUIET,
    Course,
    is_on,
    obeys,
    settle,
)
from labelsure.engine._rules import Rules
from labelsure.engine._weighing import ObjectWeighing, ObjectWeighings
from labelsure.measures._labelset_bits import Words

# Columns of Asked.searches
ROW, FORCED_POSITION, FLIPPED, SMALLEST = range(4)

# Columns of Found.numbers
FOUND, WORK, FINISHED, UPPER = range(4)

# Entries of Room.state
LEVEL, ARRIVED = range(2)

# Where members are counted, entries of Room.pending
UNSURE, SURE = -1, 1

FEW = 16
"""So many positions before the end, all flips from there on are tested at once."""


class Known(NamedTuple):
    """Labelsets that each object of a block is not searched for.

    Attributes
    ----------
    begin : (n + 1,)
        Where each object's begin in ``words``; all zeros where there are none.
    words : uint64 (E, W)
        The labelsets, each object's in ascending order, the first word deciding first.
    """

    begin: IntArray
    words: Words

    @classmethod
    def of(cls, listed: Sequence[Any], n_words: int) -> "Known":
        """Return the words of each object's listed labelsets; none where nothing is listed."""
        nothing: Words = np.empty((0, n_words), dtype=np.uint64)
        words = [one.words for one in listed]
        begin = np.cumsum([0, *map(len, words)], dtype=np.int64)
        return cls(begin, np.concatenate([nothing, *words]))


class Asked(NamedTuple):
    """Searches of one call of the kernel.

    Attributes
    ----------
    searches : (m, 4)
        A row of the block; a position that has to be as it is told, or -1; whether that is flipped
        (1) or not (0); the smallest numerator that is looked for.
    known : Known
        Labelsets that are skipped.
    ranked : bool
        Whether the best labelsets are looked for, else all.
    by_total : bool
        Whether total scores and codes decide between equal numerators; else anything may.
    additive : bool
        Whether no fold has a link.
    allow_empty : bool
        Whether the empty labelset is a candidate.
    budget : int
        Evaluations that each search may take.
    """

    searches: IntArray
    known: "Known"
    ranked: bool
    by_total: bool
    additive: bool
    allow_empty: bool
    budget: int


class Room(NamedTuple):
    """Room for the way from the mode to a labelset, level by level.

    Attributes
    ----------
    state : (2,)
        The level reached, -1 before a search begins, and whether its labelset is still to be looked
        at.
    scores, words : (q + 2, K), uint64 (q + 2, W)
        The additive scores and the labelset at each level.
    begin, pending : (q + 2,)
        The next position to be flipped there; under rules the one to be left alone now, or -1, and
        where members are counted whether one flip more is known to lead to one.
    penalty, lowest, waiting : (K,), uint64 (W,), (q,)
        Room for penalties, zero at the beginning, for codes, and for labels that rules decide.
    """

    state: IntArray
    scores: IntArray
    words: Words
    begin: IntArray
    pending: IntArray
    penalty: IntArray
    lowest: Words
    waiting: IntArray

    @classmethod
    def of(cls, block: Block) -> "Room":
        """Return room for one search after the other."""
        (_, q) = block.label.shape
        n_folds = block.base.shape[1]
        n_words = block.mode.shape[1]
        scores, words = (
            np.empty((q + 2, n_folds), dtype=np.int64),
            np.empty((q + 2, n_words), dtype=np.uint64),
        )
        begin, pending = np.full((2, q + 2), -1)
        penalty, lowest = np.zeros(n_folds, dtype=np.int64), np.empty(n_words, dtype=np.uint64)
        return cls(
            np.array([-1, 0]),
            scores,
            words,
            begin,
            pending,
            penalty,
            lowest,
            np.empty(q, dtype=np.int64),
        )


class Found(NamedTuple):
    """What m searches found.

    Attributes
    ----------
    keys : (m, k + 1, 2 + W) or (m, k + 1, 2)
        The best in order, or members in any, and a spare row last; without words where only
        numerators are asked for. With k = 0 members are counted.
    numbers : (m, 4)
        How many were found, evaluations, whether the search is finished, and what no numerator
        exceeds that it missed.
    """

    keys: IntArray
    numbers: IntArray

    @classmethod
    def of(cls, n_searches: int, n_room: int, n_words: int) -> "Found":
        """Return room for them."""
        keys = np.zeros((n_searches, n_room + 1, CODE + n_words), dtype=np.int64)
        keys[:, :, CODE:] = np.int64(HIGHEST_BIT)  # that of the empty labelset
        return cls(keys, np.zeros((n_searches, 4), dtype=np.int64))

    @property
    def numerators(self) -> IntArray:
        """Theirs, (m, k), 0 where there are no more."""
        numerators: IntArray = -self.keys[:, :-1, NUMERATOR]
        return numerators

    @property
    def words(self) -> Words:
        """The labelsets, uint64 (m, k, W), empty where there are no more."""
        words: Words = (
            np.ascontiguousarray(self.keys[:, :-1, : CODE - 1 : -1]).view(np.uint64) ^ HIGHEST_BIT
        )
        return words

    @property
    def highest(self) -> IntArray:
        """The highest numerator of each search, (m,), or a bound of it if it is unfinished."""
        highest: IntArray = np.where(self.finished, self.numerators[:, 0], self.numbers[:, UPPER])
        return np.maximum(highest, self.numerators[:, 0])

    def offer(self, row: int, numerators: IntArray, totals: IntArray, words: Words) -> None:
        """Put labelsets among the best found by one search, each once."""
        keys, n_found = self.keys[row], self.numbers[row, FOUND]
        codes = (words[:, ::-1] ^ HIGHEST_BIT).view(np.int64)
        every = np.vstack([keys[:n_found], np.column_stack([-numerators, totals, codes])])
        every = every[np.lexsort(every.T[::-1])]
        first = np.unique(every[:, CODE:], axis=0, return_index=True)[1]
        best = np.sort(first)[: len(keys) - 1]
        keys[: len(best)] = every[best]
        self.numbers[row, FOUND] = len(best)

    @property
    def finished(self) -> "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]":
        """Whether each search is finished, (m,)."""
        return np.asarray(self.numbers[:, FINISHED] == 1)


@lean_kernel
def walk(
    block: Block,
    tables: ScoreTables,
    penalties: Penalties | None,
    weighings: ObjectWeighings,
    rules: Rules | None,
    asked: Asked,
    room: Room,
    found: Found,
) -> None:
    """Search for the best labelsets beside those found, or for all with some numerator or more.

    Twin : labelset_reference.ranked
    Requires : scores that are sums over labels, linked or not, and penalties; bounds of counts
        where members are counted; room whose state is -1, but to go on with a list that was full
    Cost : two evaluations of K look-ups for each labelset that may be looked for, fewer to count
    """
    n_labels = block.label.shape[1]
    n_best = found.keys.shape[1] - 1
    for search in range(asked.searches.shape[0]):
        i, limit = asked.searches[search, ROW], asked.searches[search, SMALLEST]
        label = block.label[i]
        bounds = block.bounds[i]
        numbers = found.numbers[search]
        keys = found.keys[search]
        n_hard = block.n_hard[i]
        mode = block.mode[i]
        weighing = weighing_of(i, weighings)
        plain, free = (
            penalties is None and only_counts(weighing, tables),
            penalties is None and rules is None,
        )
        counted = free and bounds.shape[0] == N_COUNTED
        forced, is_list = asked.searches[search, FORCED_POSITION], n_best > 0 and not asked.ranked
        if room.state[LEVEL] < 0:
            begin_walk(search, block, asked, room)
            if rules is not None and not place_labels(i, block, forced, room, rules):
                room.state[LEVEL] = -1
        level, arrived = room.state[LEVEL], room.state[ARRIVED] == 1
        work, n_open = np.int64(0), np.int64(n_labels)
        if counted and level >= 0:
            n_open = close_positions(bounds, room, weighing, plain, tables, limit)
        if asked.ranked and numbers[FOUND] == n_best:
            limit = max(limit, -keys[n_best - 1, NUMERATOR])
        while level >= 0 and work < asked.budget:
            if rules is not None and not arrived:
                outcome = decide_next(level, label, mode, bounds[ONE], room, rules)
                arrived = outcome == FORCED  # this level goes on with what it leads to
                if outcome == BROKEN:
                    level -= 1
                    continue
            # The one question of this step: the labelset itself, all with one flip more, or the
            # next flip alone
            question, t = NEXT, np.int64(n_labels)
            words = room.words[level]
            if not arrived:
                question, t = next_question(level, forced, n_hard, counted, room)
            candidate = t < n_open or (arrived and (asked.allow_empty or is_some(words)))
            value = limit - 1
            if arrived or candidate:
                if penalties is not None:
                    penalise(words, label, t, penalties, room.penalty, room.lowest)
                value = value_of(
                    room.scores[level], bounds[question, t], room.penalty, plain, weighing, tables
                )
                work += 1
            good, bulk = bool(candidate and value >= limit), False
            if good and arrived and rules is not None:
                good = obeys(words, words, np.int64(DECIDED), rules)
            if good and arrived and asked.known.words.shape[0] > 0:
                good = not is_known(words, i, asked.known.begin, asked.known.words)
            if good and asked.ranked:
                room.state[LEVEL] = level
                good = belongs_to_best(value, t, search, block, tables, asked, room, found)
            # Where to go from here
            if arrived:
                arrived = False
                if good:
                    limit = keep(value, limit, words, asked, numbers, keys)
                    if is_list and numbers[FOUND] == n_best:
                        break
                if free and room.begin[level] >= n_hard:
                    bulk = bool(counted and value >= limit)
                    level -= value < limit
            elif good and (question == ONE or not (counted and t >= n_hard)):
                flip_next(level, label[t], bounds[ONE, t], room)
                level = level + 1
                arrived = question != ONE
                bulk = question == ONE
                numbers[FOUND] += question == ONE
                if rules is not None:
                    arrived = settle_next(level, t, label, mode, bounds[ONE], room, rules) != BROKEN
                    level -= not arrived
            elif good:
                room.pending[level] = SURE
            elif question == ONE and candidate:
                room.pending[level] = UNSURE
                room.begin[level] += 1
            else:
                level -= 1
            if bulk:
                n_last, more_work = count_last(
                    level, n_open, room, bounds, weighing, plain, tables, limit
                )
                work += more_work
                room.pending[level] = SURE if n_last < 0 else UNSURE
                numbers[FOUND] += max(n_last, 0)
                level -= n_last >= 0
        numbers[WORK], numbers[FINISHED] = numbers[WORK] + work, level < 0
        if level >= 0 and asked.ranked:
            numbers[UPPER] = bound_open(level, arrived, i, plain, block, tables, weighing, room)
        # a list may go on
        room.state[LEVEL], room.state[ARRIVED] = level if is_list else -1, arrived


@kernel_part
def begin_walk(search: Integer, block: Block, asked: Asked, room: Room) -> None:
    """Begin at the mode, with the position that is forced as it has to be.

    Twin : the definition
    Requires : as walk
    Cost : O(K + W)
    """
    i = asked.searches[search, ROW]
    forced = asked.searches[search, FORCED_POSITION]
    flipped = False
    flipped = asked.searches[search, FLIPPED] == 1
    for w in range(block.mode.shape[1]):
        room.words[0, w] = block.mode[i, w]
    for k in range(block.base.shape[1]):
        room.scores[0, k] = block.base[i, k] + (block.bounds[i, ONE, forced, k] if flipped else 0)
    if flipped:
        flip(room.words[0], block.label[i, forced])
    room.begin[0], room.pending[0] = 0, -1
    room.state[LEVEL], room.state[ARRIVED] = 0, 1


@kernel_part
def place_labels(i: Integer, block: Block, forced: Integer, room: Room, rules: Rules) -> bool:
    """Write the position of each label, -1 for a forced one; tell whether rules allow any.

    Twin : Rules.placed, Rules.allow
    Requires : rules with places of their own; a search that begins
    Cost : O(q + terms of the rules)
    """
    for t in range(block.label.shape[1]):
        rules.place[block.label[i, t]] = t if t != forced else -1
    return bool(obeys(room.words[0], block.mode[i], np.int64(0), rules))


@kernel_part
def decide_next(
    level: Integer, label: IntArray, mode: Words, cost: IntArray, room: Room, rules: Rules
) -> Integer:
    """Leave alone what was flipped before, and go on to the next position to decide.

    Twin : what settle says
    Requires : rules with places
    Cost : see settle
    """
    outcome = QUIET
    t = room.pending[level]
    words = room.words[level]
    if t >= 0:
        room.pending[level] = -1
        outcome = settle(
            label[t], t + 1, words, room.scores[level], Course(mode, cost, room.waiting), rules
        )
    t = room.begin[level]
    while t < label.shape[0] and (
        rules.place[label[t]] < 0 or is_on(words, label[t]) != is_on(mode, label[t])
    ):
        t += 1
    room.begin[level] = t
    return outcome


@kernel_part
def next_question(
    level: Integer, forced: Integer, n_hard: Integer, counted: bool, room: Room
) -> tuple[int, Integer]:
    """Return what is asked at a level that goes on, and from which position on.

    Where a flip more is known to lead to a member, it is the next flip alone: nothing below is
    better.

    Twin : the definition
    Requires : a level whose own labelset was looked at
    Cost : O(1)
    """
    room.begin[level] += room.begin[level] == forced
    t: Integer = room.begin[level]
    return ONE if counted and t >= n_hard and room.pending[level] == SURE else NEXT, t


@kernel_part
def settle_next(
    level: Integer,
    t: Integer,
    label: IntArray,
    mode: Words,
    cost: IntArray,
    room: Room,
    rules: Rules,
) -> Integer:
    """Flip what has to be flipped at a new level, now that position t is.

    Twin : what settle says
    Requires : rules with places
    Cost : see settle
    """
    room.pending[level - 1] = t
    course = Course(mode, cost, room.waiting)
    return settle(label[t], t + 1, room.words[level], room.scores[level], course, rules)


@kernel_part
def keep(
    value: Integer, limit: Integer, words: Words, asked: Asked, numbers: IntArray, keys: IntArray
) -> Integer:
    """Rank, list or count a labelset; return the numerator that others have to reach from now on.

    Twin : sorted
    Requires : one that is looked for; its key in the last row where the best are looked for
    Cost : see insert
    """
    n_best = keys.shape[0] - 1
    if asked.ranked:
        numbers[FOUND] = insert(numbers[FOUND], keys)
        return max(limit, -keys[n_best - 1, NUMERATOR]) if numbers[FOUND] == n_best else limit
    if n_best > 0:
        write_key(value, np.int64(0), words, True, numbers[FOUND], keys)
    numbers[FOUND] += 1
    return limit


@lean_kernel
def close_positions(
    bounds: IntArray,
    room: Room,
    weighing: ObjectWeighing,
    plain: bool,
    tables: ScoreTables,
    smallest: Integer,
) -> Integer:
    """Return up to which position members may have flips.

    Twin : the last position with NEXT of the lowest scores in the region
    Requires : a search that begins, bounds of counts
    Cost : O(log q) evaluations
    """
    n_labels = bounds.shape[1] - 1
    scores = room.scores[1]
    penalty = room.penalty
    for k in range(scores.shape[0]):
        scores[k] = room.scores[0, k] + min(bounds[NEXT, 0, k], 0)
    low, high = 0, n_labels  # flips from high on lead to no member
    while low < high:
        middle = (low + high) // 2
        if value_of(scores, bounds[NEXT, middle], penalty, plain, weighing, tables) >= smallest:
            low = middle + 1
        else:
            high = middle
    return np.int64(high)


@kernel_part
def belongs_to_best(
    value: Integer,
    t: Integer,
    search: Integer,
    block: Block,
    tables: ScoreTables,
    asked: Asked,
    room: Room,
    found: Found,
) -> bool:
    """Tell whether a labelset, or one with a flip more from t on, may be among the best.

    Among equal numerators total scores decide, and then codes: bounds of both follow from what
    these flips add.

    Twin : tuple comparison in labelset_reference.ranked
    Requires : at most this numerator, at least that of the worst found; t the last position for
        the labelset itself; writes the key
    Cost : O(K), and O(q) where totals tie
    """
    i = asked.searches[search, ROW]
    level = room.state[LEVEL]
    keys = found.keys[search]
    n_labels = block.label.shape[1]
    n_best = keys.shape[0] - 1
    lowest = room.lowest
    scores = room.scores[room.state[LEVEL]]
    bounds = block.bounds[i]
    is_full, total = found.numbers[search, FOUND] == n_best, np.int64(0)
    for w in range(lowest.shape[0]):
        lowest[w] = room.words[level, w]
    if asked.by_total:
        total = total_of(scores, bounds[NEXT, t], room.penalty, tables)
    if t < n_labels and is_full and asked.by_total and value == -keys[n_best - 1, NUMERATOR]:
        present = np.int64(0)
        for k in range(scores.shape[0]):
            present += scores[k] + room.penalty[k]
        if asked.additive:
            total = max(total, present + block.totals[i, CHEAPEST, t])
        for later in range(t, n_labels if total == keys[n_best - 1, TOTAL] else t):
            if asked.additive:
                is_free = block.totals[i, COST, later] <= total - present
            else:  # flips of positions that are not hard lower no fold's score
                is_free = (
                    t < block.n_hard[i]
                    or total_of(scores, bounds[ONE, later], room.penalty, tables) <= total
                )
            if is_free:
                switch_off(lowest, block.label[i, later])
    write_key(value, total, lowest, True, n_best, keys)
    if not is_full or value > -keys[n_best - 1, NUMERATOR]:
        return True
    return bool(asked.by_total and precedes(np.int64(n_best), np.int64(n_best - 1), keys, True))


@kernel_part
def flip_next(level: Integer, j: Integer, cost: IntArray, room: Room) -> None:
    """Write the next level: one label more is flipped.

    Twin : the definition
    Requires : room for a level more
    Cost : O(K + W)
    """
    for k in range(cost.shape[0]):
        room.scores[level + 1, k] = room.scores[level, k] + cost[k]
    for w in range(room.words.shape[1]):
        room.words[level + 1, w] = room.words[level, w]
    flip(room.words[level + 1], j)
    room.begin[level] += 1
    room.begin[level + 1], room.pending[level + 1] = room.begin[level], -1


@lean_kernel
def count_last(
    level: Integer,
    n_flips: Integer,
    room: Room,
    bounds: IntArray,
    weighing: ObjectWeighing,
    plain: bool,
    tables: ScoreTables,
    smallest: Integer,
) -> tuple[Integer, Integer]:
    """Return how many members a level's flips lead to, if none with two flips or all, else -1.

    And the work. Where that is -1, a single flip leads to one.

    Twin : labelset_reference.ranked
    Requires : no penalties, no rules, and no hard positions from the level's next one on
    Cost : at best one evaluation for each group of positions
    """
    u = room.begin[level]
    n_members = 0
    work = 0
    failed = False
    scores = room.scores[level]
    nothing = bounds[NEXT, bounds.shape[1] - 1]
    first = room.begin[level]
    asked = NEXT
    while u < n_flips:
        if asked == WHOLE:  # its sums go on to the end
            scores = room.scores[room.scores.shape[0] - 1]
            for k in range(scores.shape[0]):
                scores[k] = room.scores[level, k] - bounds[WHOLE, n_flips, k]
        value = value_of(scores, bounds[asked, u], nothing, plain, weighing, tables)
        work += 1
        inside = value >= smallest
        if asked == NEXT:
            if not inside:
                break
            if u == first:
                asked = TWO
                continue
        elif asked == TWO:
            if inside and n_flips - u > FEW:
                return np.int64(-1), work
            if inside:
                asked = WHOLE
                continue
        elif asked == WHOLE:
            return (np.int64(1) << (n_flips - u)) - 1 if inside else np.int64(-1), work
        elif asked == ALL:
            if not inside:
                asked = SOME
                continue
            n_members += GROUP
            u += GROUP
        elif asked == SOME:
            if inside:
                asked = ONE
                continue
            u += GROUP
            failed = True
        else:
            n_members += inside
            failed |= not inside
            u += 1
            if u % GROUP != 0:
                continue
        asked = NEXT if failed else ALL if u % GROUP == 0 and u + GROUP <= n_flips else ONE
        failed = False
    return np.int64(n_members), work


@lean_kernel
def bound_open(
    level: Integer,
    arrived: bool,
    i: Integer,
    plain: bool,
    block: Block,
    tables: ScoreTables,
    weighing: ObjectWeighing,
    room: Room,
) -> Integer:
    """Return what no numerator of a labelset exceeds that an unfinished search has not looked at.

    Twin : the maximum over these labelsets
    Requires : a search that stopped at this level; penalties are left out, they only lower
        numerators
    Cost : an evaluation per level
    """
    n_labels, highest = block.label.shape[1], np.int64(-FAR)
    for k in range(room.penalty.shape[0]):
        room.penalty[k] = 0
    for at in range(level + 1 + arrived):
        row = min(at, level)
        t = room.begin[row] if at == row else n_labels  # last the labelset itself that was come to
        if t < n_labels or at > row:
            value = value_of(
                room.scores[row], block.bounds[i, NEXT, t], room.penalty, plain, weighing, tables
            )
            highest = max(highest, value)
    return highest

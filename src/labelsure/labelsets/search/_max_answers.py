"""Answers about scores that are the largest of labels' costs and nothing else, for any number of labels."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from labelsure._core.labelset_bits import Words, pack, unpack
from labelsure._core.running import stop_if_asked
from labelsure._core.types import IntArray
from labelsure.labelsets.arrays._fold_arrays import FoldArrays
from labelsure.labelsets.arrays._results import (
    Answers,
    BestLabelsets,
    EngineOptions,
    Members,
    NotAllListedError,
    RegionSize,
    sum_sizes,
)
from labelsure.labelsets.arrays._weighing import Counts, Weighing
from labelsure.labelsets.search._max_problem import (
    UNTOUCHED,
    MaxProblem,
    OpenLabels,
    Rank,
    count_members,
    decisive_first,
    equal_rows,
    estimate_members,
    minima_from,
    open_labels,
    with_both,
)

Note = TypeVar("Note", Words, IntArray)


@dataclass(eq=False)
class Spending:
    """What a walk may spend, and what it leaves open once that is spent.

    Attributes
    ----------
    left : int
        Rows of minima that may still be looked at.
    open : list of (minima, notes)
        Bounds of what was not looked at any more.
    """

    left: int
    open: list[tuple[IntArray, Any]] = field(default_factory=list)


@dataclass(eq=False)
class MaxAnswers(Answers):
    """Answers without listing.

    Attributes
    ----------
    arrays, weighing, allow_empty, options, n_jobs
        As in SearchAnswers; all energies are maxima and nothing else.
    """

    arrays: FoldArrays
    weighing: Weighing
    allow_empty: bool
    options: EngineOptions
    n_jobs: int | None
    n_block = 1

    def __post_init__(self) -> None:
        self.n_objects, self.n_labels = self.arrays.n_objects, self.arrays.n_labels

    def best(self, objects: IntArray, n_best: int) -> BestLabelsets:
        """Return the ``n_best`` most plausible labelsets of each object."""
        best = BestLabelsets.nothing(len(objects), n_best, self.n_labels)
        for row, i in enumerate(objects.tolist()):
            problem = MaxProblem.of(self.arrays, self.weighing, i, with_totals=True)
            spending = Spending(self.options.best_budget)
            words, numerators = best_members(problem, n_best + (not self.allow_empty), self.options.chunk, spending)
            candidates = np.flatnonzero(words.any(axis=1) | self.allow_empty)[:n_best]
            missed = max((int(problem.numerators(states).max()) for states, _ in spending.open), default=None)
            best.write(row, numerators[candidates], unpack(words[candidates], self.n_labels), missed)
        return best

    def label_maxima(self, objects: IntArray) -> IntArray:
        """Return the highest numerators of each object with each label off and on, (n, q, 2)."""
        problems = (MaxProblem.of(self.arrays, self.weighing, i) for i in objects.tolist())
        chunk, budget = self.options.chunk, self.options.label_budget
        found = [label_numerators(one, allow_empty=self.allow_empty, chunk=chunk, budget=budget) for one in problems]
        return np.stack(found)

    def count_members(self, smallest: IntArray) -> list[int | None]:
        """Return the exact sizes of all regions, None where there are too many different scores to count with."""
        sizes = self._sizes(smallest, self.options.exact_minima, None)
        return [None if size is None else size.value for size in sizes]

    def region_sizes(self, smallest: IntArray, *, bits: float = 1.0) -> list[RegionSize]:
        """Return the sizes of all regions, estimated where there are too many different scores to count with."""
        options = self.options
        exact, estimated = (options.rough_minima,) * 2 if bits > 1 else (options.exact_minima, options.estimate_minima)
        return [size for size in self._sizes(smallest, exact, estimated) if size is not None]

    def _sizes(self, smallest: IntArray, exact: int, estimated: int | None) -> list[RegionSize | None]:
        """Return sizes counted with, or else estimated from, this many different minima; None where neither is done."""

        def answer(objects: IntArray) -> RegionSize | None:
            problem, least = MaxProblem.of(self.arrays, self.weighing, int(objects[0])), int(smallest[objects[0]])
            empty_is_one = problem.numerators(problem.values[:, 0].min(axis=0)) >= least
            n_excluded = int(not self.allow_empty and empty_is_one)
            size = count_members(problem, least, exact)
            if size is not None:
                return RegionSize.counted(size - n_excluded)
            if estimated is None:
                return None
            estimate = estimate_members(problem, least, estimated, at_least=n_excluded)
            return sum_sizes([estimate, RegionSize.counted(-n_excluded)])

        return self.map_blocks(answer, "region sizes")

    def iterate_members(self, i: int, smallest: int) -> Iterator[Members]:
        """Yield the labelsets of object ``i`` with a numerator of at least ``smallest``, some at a time."""
        problem = MaxProblem.of(self.arrays, self.weighing, i)
        opened = open_labels(problem, Rank(smallest))
        if opened is None:
            return
        opened = decisive_first(problem, opened)

        def members(states: IntArray, _: Words) -> IntArray:
            return np.flatnonzero(problem.numerators(states) >= smallest)

        spending, n_found = Spending(self.options.list_budget), 0
        for states, words in _walk(opened, members, self.options.chunk, spending):
            candidates = words.any(axis=1) | self.allow_empty
            n_found += len(states)
            spending.left += self.options.member_budget * len(states)
            yield unpack(words[candidates], self.n_labels), problem.numerators(states[candidates])
        if spending.open:
            raise NotAllListedError(n_found)


def max_rows(arrays: FoldArrays, weighing: Weighing, objects: IntArray) -> Counts:
    """Return the numerators of every code, one row per object, for tables of maxima."""
    rows = []
    for i in objects.tolist():
        problem = MaxProblem.of(arrays, weighing, i)
        total: IntArray = np.full(1, problem.start)
        for k in range(problem.n_folds):  # fold by fold: all minima at once would take K times the memory
            row = problem.values[0, :, k]
            for off, on in problem.values[1:, :, k]:
                row = np.concatenate([np.minimum(row, off), np.minimum(row, on)])
            total = total + row
        rows.append(total)
    return np.stack(rows)


def best_members(problem: MaxProblem, n_best: int, chunk: int, spending: Spending) -> tuple[Words, IntArray]:
    """Return the best labelsets, and their numerators.

    Highest numerators come first, then lowest totals, then lowest codes. The problem must have totals. About ``chunk``
    rows are worked on at a time. Once all is spent, the best that were found, among them one that no flip of one label
    makes better; then what is left open, and might be as good, stays in ``spending``.
    """
    limit = _reached_by(problem, n_best)
    opened = open_labels(problem, limit)
    assert opened is not None  # some labelsets reach the limit
    found = np.empty((0, problem.values.shape[2]), dtype=np.int64)
    found_words = pack(np.empty((0, len(problem.values)), dtype=np.int8))

    def may_be_best(states: IntArray, words: Words) -> IntArray:
        good = np.flatnonzero(problem.reach(states, limit))
        return good[_lowest_codes(states[good], words[good], n_best)]

    both = np.minimum(opened.start, opened.values)  # labels that do much harm either way are decided first
    order = np.lexsort((-problem.totals(both).min(axis=1), problem.numerators(both).max(axis=1)))
    for states, words in chain(
        _walk(opened.in_order(order), may_be_best, max(chunk, 2 * n_best), spending), _settled(problem, spending)
    ):
        found, found_words = np.concatenate([found, states]), np.concatenate([found_words, words])
        order = np.lexsort((*found_words.T, problem.totals(found), -problem.numerators(found)))
        again = (found_words[order[1:]] == found_words[order[:-1]]).all(axis=1)
        first = np.delete(order, 1 + np.flatnonzero(again))[:n_best]
        found, found_words = found[first], found_words[first]
        if len(found) == n_best:
            limit = Rank(int(problem.numerators(found[-1])), int(problem.totals(found[-1])))
    spending.open = [(states, words) for states, words in spending.open if problem.reach(states, limit).any()]
    return found_words, problem.numerators(found)


def _settled(problem: MaxProblem, spending: Spending) -> Iterator[tuple[IntArray, Words]]:
    """Yield a labelset that no flip of one label makes better, and its flips, where something is left open."""
    if spending.open:
        choice, _, own, flips = _settle_down(problem)
        words = pack(np.concatenate([choice[None], choice ^ np.eye(len(choice), dtype=np.int64)]).astype(np.int8))
        yield np.concatenate([own[None], flips]), words


def label_numerators(problem: MaxProblem, *, allow_empty: bool, chunk: int, budget: int) -> IntArray:
    """Return the highest numerator among the labelsets with each label off and on, (q, 2); bounds once all is spent.

    For a label that is easy, one of the two is nowhere worse, whatever the others are; only the others are searched.
    """
    spending = Spending(budget)
    values = problem.values
    everyone = np.arange(len(values))
    off, on = np.minimum(values, values.max(axis=1).min(axis=0)).transpose(1, 0, 2)
    on_wins, off_wins = (on >= off).all(axis=1), (off >= on).all(axis=1)
    easy = on_wins | off_wins
    start = values[easy, on_wins[easy].astype(np.int64)].min(axis=0, initial=UNTOUCHED)
    hard = values[~easy]
    starts = np.minimum(start, values).reshape(-1, len(start))
    numerators = _highest(problem, hard, starts, chunk, spending).reshape(-1, 2)
    if allow_empty:
        return numerators
    for j in np.flatnonzero(on_wins.sum() == on_wins):  # nothing else is sure to be on when this label is off
        others = everyone != j
        if off_wins[j]:  # the best labelset with any other label on has this one off
            numerators[j, 0] = numerators[others, 1].max(initial=0)
        else:
            starts = np.minimum(np.minimum(start, values[j, 0]), values[others, 1])
            numerators[j, 0] = _highest(problem, hard, starts, chunk, spending).max(initial=0)
    return numerators


def _highest(problem: MaxProblem, hard: IntArray, starts: IntArray, chunk: int, spending: Spending) -> IntArray:
    """Return the highest numerator of each start's minima with those of any choice for each hard label, (R,)."""
    first, which = equal_rows(starts)
    hard = hard[np.argsort(problem.numerators(hard).max(axis=1))]
    best = minima_from(hard.max(axis=1))
    states = starts[first]
    for t, values in enumerate(hard):  # each hard label as it seems better in its turn
        both = np.minimum(np.minimum(states[:, None], values), best[t + 1])
        states = np.minimum(states, values[problem.numerators(both).argmax(axis=1)])
    highest = problem.numerators(states)

    def better(states: IntArray, whose: IntArray) -> IntArray:
        higher = np.flatnonzero(problem.numerators(states) > highest[whose])
        once, _ = equal_rows(np.column_stack([whose[higher], states[higher]]))
        return higher[once]

    found = _decide(starts[first], np.arange(len(first)), hard, best, better, chunk, spending=spending)
    for states, whose in chain(found, spending.open):  # of what is left open, the bounds
        np.maximum.at(highest, whose, problem.numerators(states))
    spending.open = []
    return highest[which]


def _reached_by(problem: MaxProblem, n_best: int) -> Rank:
    """Return a rank that at least ``n_best`` labelsets reach, or all of them if there are fewer."""
    n_labels = len(problem.values)
    if n_best > 2**n_labels:
        return Rank(-UNTOUCHED)
    _, flipped, own, flips = _settle_down(problem)
    order = np.lexsort((problem.totals(flips), -problem.numerators(flips)))
    # those that flip some of the first few labels are not below the minima that both values of these leave
    few = order[: (n_best - 1).bit_length()]
    candidates = [np.minimum(own, flipped[few].min(axis=0, initial=UNTOUCHED))]
    if 2 <= n_best <= n_labels + 1:
        candidates.append(flips[order[n_best - 2]])
    ranks = [(int(problem.numerators(state)), -int(problem.totals(state))) for state in candidates]
    numerator, total = max(ranks)
    return Rank(numerator, -total)


def _settle_down(problem: MaxProblem) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Find a labelset that no flip of one label makes better.

    Return it, the values its labels would have flipped, (q, D), its minima, (D,), and these with each label flipped.
    """
    values = problem.values
    everyone = np.arange(len(values))
    bounds = np.minimum(values, values.max(axis=1).min(axis=0))
    numerators, totals = problem.numerators(bounds), problem.totals(bounds)
    choice = np.lexsort((totals, -numerators), axis=1)[:, 0]
    while True:
        chosen, flipped = values[everyone, choice], values[everyone, 1 - choice]
        ends = np.full_like(chosen[:1], UNTOUCHED)
        before = np.minimum.accumulate(np.concatenate([ends, chosen[:-1]]), axis=0)
        after = np.minimum.accumulate(np.concatenate([ends, chosen[:0:-1]]), axis=0)[::-1]
        own, flips = chosen.min(axis=0), np.minimum(np.minimum(before, after), flipped)
        best = np.lexsort((problem.totals(flips), -problem.numerators(flips)))[0]
        limit = Rank(int(problem.numerators(own)), int(problem.totals(own)) - 1)
        if not problem.reach(flips[best], limit):
            return choice, flipped, own, flips
        choice[best] ^= 1


def _walk(
    opened: OpenLabels, keep: Callable[[IntArray, Words], IntArray], most: int, spending: Spending | None = None
) -> Iterator[tuple[IntArray, Words]]:
    """Yield the minima and words of the labelsets that ``keep`` keeps, at most ``most`` at a time."""
    words = pack(opened.template[None])
    return _decide(opened.start[None], words, opened.values, opened.best, keep, most, opened.labels, spending)


def _decide(
    states: IntArray,
    notes: Note,
    values: IntArray,
    best: IntArray,
    keep: Callable[[IntArray, Note], IntArray],
    most: int,
    labels: IntArray | None = None,
    spending: Spending | None = None,
) -> Iterator[tuple[IntArray, Note]]:
    """Decide label after label; yield minima, and notes about whose they are, at most ``most`` at a time.

    Only what ``keep`` tells of bounds on their minima, and at last of the minima themselves, is followed. Notes are
    words of labelsets where ``labels`` tells which bits are decided.
    """
    stack = [(0, states, notes)]
    while stack:
        stop_if_asked()
        t, states, notes = stack.pop()
        states = np.minimum(states, best[t])
        if spending is not None:
            if spending.left <= 0:
                spending.open.append((states, notes))
                continue
            spending.left -= len(states)
        kept = keep(states, notes)
        states, notes = states[kept], notes[kept]
        if len(states) > most:
            half = len(states) // 2
            stack += [(t, states[half:], notes[half:]), (t, states[:half], notes[:half])]
        elif t == len(values):
            yield states, notes
        elif len(states):
            notes = np.repeat(notes, 2, axis=0)
            if labels is not None:
                notes[1::2, labels[t] >> 6] |= np.uint64(1) << np.uint64(labels[t] & 63)
            stack.append((t + 1, with_both(states, values[t]), notes))


def _lowest_codes(states: IntArray, words: Words, n_lowest: int) -> IntArray:
    """Return the positions of this many lowest codes among those with equal rows of minima."""
    if len(states) <= n_lowest:
        return np.arange(len(states))
    _, which = equal_rows(states)
    sizes = np.bincount(which)
    order = np.lexsort((*words.T, which))
    return order[np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes) < n_lowest]

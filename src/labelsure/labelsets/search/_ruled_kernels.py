r"""Compiled depth-first search under rules: every labelset of a region that obeys inequalities.

The tree is that of the search without rules, but a node takes with it all that follows from its decisions::

            mode                       t flipped, and what has to be flipped then
          /      \                    /
      t flipped   t left alone       o---- nothing is left that obeys the rules: no node
                  \
                   ... what has to be flipped now is flipped at this very node

So what a rule costs is in the scores as soon as it is known, and bounds cut off what is too strange because of it.
"""

from typing import NamedTuple

from labelsure._core.compilation import kernel_part, lean_kernel
from labelsure._core.labelset_bits import Words
from labelsure._core.types import IntArray
from labelsure.labelsets.arrays._fold_arrays import Lookup
from labelsure.labelsets.arrays._lookup_kernels import Integer, weigh
from labelsure.labelsets.arrays._rule_kernels import BROKEN, FORCED, Course, is_on, settle
from labelsure.labelsets.search import _states as states
from labelsure.labelsets.search._labelset_kernels import flip, is_candidate, penalise
from labelsure.labelsets.search._states import Buffer, Flips

# What comes next at a level: its own labelset, the next position flipped, that position left alone
OWN, FLIP, ALONE = range(3)


class RuledDepthFirst(NamedTuple):
    """The state of a depth-first search under rules.

    Attributes
    ----------
    numbers : (7,)
        See _states.
    position, step : (p + 2,)
        The next position at each level, and what comes next.
    scores, words : (p + 2, K), uint64 (p + 2, W)
        The additive scores and the labelset at each level, forced flips included.
    penalty, known : (K,), uint64 (W,)
        Room for penalties, and for notes.
    course : Course
        What settles what is forced.
    """

    numbers: IntArray
    position: IntArray
    step: IntArray
    scores: IntArray
    words: Words
    penalty: IntArray
    known: Words
    course: Course


@lean_kernel
def most_at(
    level: Integer, more: IntArray, n_known: Integer, flips: Flips, lookup: Lookup, state: RuledDepthFirst
) -> Integer:
    """Return the highest numerator of labelsets that add ``more`` at least to a level's scores.

    Reference : the maximum of labelset_reference.numerator over these
    Requires : the first n_known positions decided
    Cost : one evaluation
    """
    if lookup.penalties.present:
        penalise(state.words[level], flips.label, n_known, lookup.penalties, state.penalty, state.known)
    state.numbers[states.WORK] += 1
    return weigh(state.scores[level], more, state.penalty, lookup.weighing, lookup.tables)


@kernel_part
def decide(level: Integer, t: Integer, flipped: bool, flips: Flips, lookup: Lookup, state: RuledDepthFirst) -> Integer:
    """Write the next level: position t flipped or not, and what follows; return what that leads to, as settle.

    Reference : the definition
    Requires : room for a level more
    Cost : O(W + K), see settle
    """
    for w in range(state.words.shape[1]):
        state.words[level + 1, w] = state.words[level, w]
    for k in range(state.scores.shape[1]):
        state.scores[level + 1, k] = state.scores[level, k] + (flips.cost[t, k] if flipped else 0)
    if flipped:
        flip(state.words[level + 1], flips.label[t])
    words, scores = state.words[level + 1], state.scores[level + 1]
    return settle(flips.label[t], t + 1, words, scores, state.course, lookup.rules)


@lean_kernel
def search_ruled(
    flips: Flips, lookup: Lookup, smallest: Integer, budget: Integer, state: RuledDepthFirst, found: Buffer
) -> Integer:
    """Go on with a search for labelsets that obey the rules, with a numerator of at least ``smallest``.

    Members are written into ``found`` until that is full; with no room at all they are only counted.

    Reference : labelset_reference.ranked
    Requires : positions that cannot be flipped left out, and rules that do not rule out all labelsets at once;
        everything in the state zero at the beginning but words[0] = mode and scores[0] = base
    Cost : a few evaluations of K look-ups per node
    """
    n_positions, numbers = flips.label.shape[0], state.numbers
    nothing = flips.rest[n_positions]
    last, n_written = numbers[states.WORK] + budget, 0
    while numbers[states.LEVEL] >= 0:
        level = numbers[states.LEVEL]
        step, t, words = state.step[level], state.position[level], state.words[level]
        if step == OWN:
            state.step[level] = FLIP
            value = most_at(level, nothing, n_positions, flips, lookup, state)
            if value >= smallest and is_candidate(words, lookup.allow_empty, lookup.rules):
                numbers[states.FOUND] += 1
                if found.numerators.shape[0] > 0:
                    for w in range(words.shape[0]):
                        found.words[n_written, w] = words[w]
                    found.numerators[n_written] = value
                    n_written += 1
                    if n_written == found.numerators.shape[0]:
                        return states.BUFFER_FULL
            continue
        if step == FLIP:
            if numbers[states.WORK] >= last:
                return states.BUDGET_SPENT
            while t < n_positions and is_on(words, flips.label[t]) != is_on(flips.mode, flips.label[t]):
                t += 1  # forced
            state.position[level] = t
            if t == n_positions or most_at(level, flips.nearest[t], t, flips, lookup, state) < smallest:
                numbers[states.LEVEL] -= 1
                continue
        outcome = decide(level, t, step == FLIP, flips, lookup, state)
        state.step[level] = ALONE
        if step == ALONE:
            state.step[level] = FLIP
            state.position[level] = t + 1
            if outcome == BROKEN:
                numbers[states.LEVEL] -= 1
            elif outcome == FORCED:  # this level goes on with what it leads to
                for w in range(words.shape[0]):
                    words[w] = state.words[level + 1, w]
                for k in range(state.scores.shape[1]):
                    state.scores[level, k] = state.scores[level + 1, k]
                state.step[level] = OWN
        elif outcome != BROKEN and most_at(level + 1, flips.rest[t + 1], t + 1, flips, lookup, state) >= smallest:
            numbers[states.LEVEL] = level + 1
            state.position[level + 1] = t + 1
            state.step[level + 1] = OWN
    return states.FINISHED

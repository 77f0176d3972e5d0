r"""Compiled depth-first search: every labelset of a region, in time linear in their number and bounded memory.

A node of the search tree is a set of flips; its children add one flip at a later position::

                        mode
            /        /        \        \
          {0}      {1}        {2}      {3}         positions, cheap flips first
        /  |  \     |  \        |
    {0,1} ...     {1,2} {1,3}  {2,3}

Flips come cheap first, so the children of a node fail from some position on, and one look-up of what is nearest from
there (AFTER) tells so. A position that is not *hard* never lowers a score: below it, the bound of a subtree (BELOW) is
the exact value of its root, and need not be asked again (ITSELF).

Where members are only counted, most of them need not be looked at: if no two flips more can lead to one, those with a
single flip more are counted by blocks of positions, all of them inside or all outside for one look-up.
"""

from typing import NamedTuple

import numpy as np

from labelsure._core.compilation import kernel, kernel_part, lean_kernel
from labelsure._core.types import IntArray
from labelsure.labelsets.arrays._fold_arrays import Lookup, ScoreTables
from labelsure.labelsets.arrays._lookup_kernels import Integer, count_additive, weigh
from labelsure.labelsets.arrays._weighing import ObjectWeighing
from labelsure.labelsets.search import _states as states
from labelsure.labelsets.search._labelset_kernels import flip, is_candidate, penalise
from labelsure.labelsets.search._states import Buffer, DepthFirst, Flips

BLOCK = 8
"""Positions that are counted together; neighbours cost about the same."""

FEW = 16
"""So many positions before the end it is asked whether all flips from there on lead to members, however many."""

# What is asked of the last flips: any, any two, whatever is left, all of a block, any of it, a single one
ANY, TWO, WHOLE, ALL, SOME, ONE = range(6)


class LastFlips(NamedTuple):
    """Bounds of what flips behind the hard positions add, to count members; of none to list them, or with penalties.

    Attributes
    ----------
    two : (p + 1, K) or (0, K)
        The least that two flips from each position on add.
    whole : (p + 1, K) or (0, K)
        What all flips from each position on add.
    least, most : (p // BLOCK, K)
        Of the positions of each whole block.
    nothing : (n,)
        The positions whose flips lead to the empty labelset, where that is no candidate; none where that is impossible.
    """

    two: IntArray
    whole: IntArray
    least: IntArray
    most: IntArray
    nothing: IntArray

    @classmethod
    def of(cls, flips: Flips, *, counted: bool, allow_empty: bool) -> "LastFlips":
        """Return those of a problem."""
        cost, mode, label = flips.cost, flips.mode, flips.label
        if not counted:
            return cls(cost[:0], cost[:0], cost[:0], cost[:0], label[:0])
        on = np.flatnonzero((mode[label >> 6] >> (label & 63).astype(np.uint64)) & np.uint64(1))
        nothing = on[: 0 if allow_empty or len(on) < np.bitwise_count(mode).sum() else None]
        two = np.full((len(cost) + 1, cost.shape[1]), states.FAR)
        bound_two(cost, two)
        whole = np.zeros_like(two)
        whole[:-1] = np.cumsum(cost[::-1], axis=0)[::-1]
        blocks = cost[: len(cost) // BLOCK * BLOCK].reshape(-1, BLOCK, cost.shape[1])
        return cls(two, whole, blocks.min(axis=1), blocks.max(axis=1), nothing)


@kernel
def bound_two(cost: IntArray, two: IntArray) -> None:
    """Write the least that two flips from each position on add in each fold.

    Reference : the sum of the two smallest of the costs from there on
    Requires : two (p + 1, K), FAR everywhere
    Cost : O(p K)
    """
    for k in range(cost.shape[1]):
        nearest = next_one = np.int64(states.FAR)
        for t in range(cost.shape[0] - 1, -1, -1):
            next_one = min(next_one, max(nearest, cost[t, k]))
            nearest = min(nearest, cost[t, k])
            two[t, k] = min(nearest + next_one, np.int64(states.FAR))


@kernel_part
def leads_to(positions: IntArray, level: Integer, flipped: IntArray) -> bool:
    """Tell whether a search comes to the flips of these positions, ascending, below its present node.

    Reference : the definition
    Requires : what search has prepared
    Cost : O(level), mostly one comparison
    """
    above = level if level < positions.shape[0] else -1
    while above > 0 and flipped[above] == positions[above - 1]:
        above -= 1
    return above == 0


@lean_kernel
def count_last(
    level: Integer,
    first: Integer,
    flips: Flips,
    last: LastFlips,
    lookup: Lookup,
    plain: bool,
    smallest: Integer,
    state: DepthFirst,
) -> Integer:
    """Return how many members flips from ``first`` on lead to, if none with two flips or all; else -1.

    Reference : labelset_reference.ranked
    Requires : as search; no penalties, no rules, all below candidates, and no hard positions from ``first`` on
    Cost : at best one evaluation for each block of positions
    """
    n_flips, u, n_members, failed = flips.cost.shape[0], first, 0, False
    asked = ANY
    while u < n_flips:
        more = flips.nearest[u]
        if asked == TWO:
            more = last.two[u]
        elif asked == WHOLE:
            more = last.whole[u]
        elif asked == ALL:
            more = last.most[u // BLOCK]
        elif asked == SOME:
            more = last.least[u // BLOCK]
        elif asked == ONE:
            more = flips.cost[u]
        if plain:
            value = 1 + count_additive(state.scores[level], more, lookup.tables)
        else:
            value = weigh(state.scores[level], more, state.penalty, lookup.weighing, lookup.tables)
        state.numbers[states.WORK] += 1
        inside = value >= smallest
        if asked == ANY:
            if not inside:
                break
            if u == first:
                asked = TWO
                continue
        elif asked == TWO:
            if inside and n_flips - u > FEW:
                return -1
            if inside:
                asked = WHOLE
                continue
        elif asked == WHOLE:
            if not inside:
                return -1
            return (1 << (n_flips - u)) - 1
        elif asked == ALL:
            if not inside:
                asked = SOME
                continue
            n_members += BLOCK
            u += BLOCK
        elif asked == SOME:
            if inside:
                asked = ONE
                continue
            u += BLOCK
            failed = True
        else:
            n_members += inside
            failed |= not inside
            u += 1
            if u % BLOCK != 0:
                continue
        asked = ANY if failed else ALL if u % BLOCK == 0 and u + BLOCK <= n_flips else ONE
        failed = False
    return n_members


@kernel_part
def ask(
    asked: Integer, level: Integer, t: Integer, flips: Flips, lookup: Lookup, plain: bool, state: DepthFirst
) -> Integer:
    """Return the numerator of the present labelset, or the highest of those with flip t, or with a later one.

    Reference : the maximum of labelset_reference.numerator over these
    Requires : what search has prepared; plain where numerators are 1 + counts of additive scores
    Cost : one evaluation
    """
    # All questions in one place: numba compiles what is called once for each place
    at, n_known = level, flips.label.shape[0]
    more = flips.rest[n_known]  # zeros
    if asked == states.BELOW:
        at, more, n_known = level + 1, flips.rest[t + 1], t + 1
    elif asked == states.AFTER:
        more = flips.nearest[t + 1]
    if plain:
        return 1 + count_additive(state.scores[at], more, lookup.tables)
    penalty = state.penalty
    if asked == states.AFTER:
        for k in range(penalty.shape[0]):
            penalty[k] = 0
    elif lookup.penalties.present:
        penalise(state.words, flips.label, n_known, lookup.penalties, penalty, state.known)
    return weigh(state.scores[at], more, penalty, lookup.weighing, lookup.tables)


@lean_kernel
def search(
    flips: Flips,
    lookup: Lookup,
    plain: bool,
    smallest: Integer,
    budget: Integer,
    state: DepthFirst,
    found: Buffer,
    counting: LastFlips,
) -> Integer:
    """Go on with a depth-first search for labelsets with a numerator of at least ``smallest``.

    Members are written into ``found`` until that is full; with no room at all they are only counted.

    Reference : labelset_reference.ranked
    Requires : positions that cannot be flipped left out; everything in the state zero at the beginning but
        scores[0] = base and words = mode
    Cost : about three evaluations of K look-ups per member, less than one where they are counted; O(p K) memory
    """
    n_flips, n_folds = flips.cost.shape
    label, words, numbers, penalised = flips.label, state.words, state.numbers, lookup.penalties.present
    n_written = 0
    last = numbers[states.WORK] + budget
    level, t = numbers[states.LEVEL], np.int64(0)
    asked = states.ITSELF if numbers[states.STARTED] == 0 else states.BELOW
    numbers[states.STARTED] = 1
    while level >= 0:
        if asked == states.BELOW:
            t = state.position[level]
            if t >= n_flips:  # go back
                if level > 0:
                    flip(words, label[state.flipped[level]])
                level -= 1
                continue
            if numbers[states.WORK] >= last:
                numbers[states.LEVEL] = level
                return states.BUDGET_SPENT
            for k in range(n_folds):
                state.scores[level + 1, k] = state.scores[level, k] + flips.cost[t, k]
            state.position[level] = t + 1
            if penalised:  # the bound needs the flip already
                flip(words, label[t])
        value = ask(asked, level, t, flips, lookup, plain, state)
        numbers[states.WORK] += 1
        if asked == states.AFTER:
            asked = states.BELOW
            if value < smallest:
                state.position[level] = n_flips
            continue
        if asked == states.BELOW:
            if penalised != (value >= smallest):  # go there, or take the flip back
                flip(words, label[t])
            if value < smallest:
                asked = states.AFTER if t + 1 < n_flips else states.BELOW
                continue
            level += 1
            state.position[level] = t + 1
            state.flipped[level] = t
            if t + 1 < flips.n_hard or penalised:
                asked = states.ITSELF
                continue
        # Here ``value`` is the present labelset's own: nothing below is better where no position is hard
        asked = states.BELOW
        if value >= smallest and is_candidate(words, lookup.allow_empty, lookup.rules):
            numbers[states.FOUND] += 1
            if found.numerators.shape[0] > 0:
                for w in range(words.shape[0]):
                    found.words[n_written, w] = words[w]
                found.numerators[n_written] = value
                n_written += 1
                if n_written == found.numerators.shape[0]:
                    numbers[states.LEVEL] = level
                    return states.BUFFER_FULL
        first = state.position[level]
        bulk = counting.two.shape[0] > 0 and first >= flips.n_hard
        if bulk and not leads_to(counting.nothing, level, state.flipped):
            n_last = count_last(level, first, flips, counting, lookup, plain, smallest, state)
            if n_last >= 0:
                numbers[states.FOUND] += n_last
                state.position[level] = n_flips
    numbers[states.LEVEL] = -1
    return states.FINISHED


@kernel
def weigh_rows(scores: IntArray, weighing: ObjectWeighing, tables: ScoreTables, numerators: IntArray) -> None:
    """Write the numerators of labelsets with the additive scores in each row and no penalty.

    Reference : labelset_reference.numerator
    Requires : scores (m, K), numerators (m,)
    Cost : see weigh
    """
    nothing = np.zeros(scores.shape[1], np.int64)
    for row in range(scores.shape[0]):
        numerators[row] = weigh(scores[row], nothing, nothing, weighing, tables)

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
"""

import numpy as np

from labelsure._core.compilation import kernel, kernel_part, lean_kernel
from labelsure._core.types import IntArray
from labelsure.labelsets.arrays._fold_arrays import Lookup, ScoreTables
from labelsure.labelsets.arrays._lookup_kernels import Integer, count_additive, weigh
from labelsure.labelsets.arrays._weighing import ObjectWeighing
from labelsure.labelsets.search import _states as states
from labelsure.labelsets.search._labelset_kernels import flip, is_candidate, penalise
from labelsure.labelsets.search._states import Buffer, DepthFirst, Flips


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
    flips: Flips, lookup: Lookup, plain: bool, smallest: Integer, budget: Integer, state: DepthFirst, found: Buffer
) -> Integer:
    """Go on with a depth-first search for labelsets with a numerator of at least ``smallest``.

    Members are written into ``found`` until that is full; with no room at all they are only counted.

    Reference : labelset_reference.ranked
    Requires : positions that cannot be flipped left out; everything in the state zero at the beginning but
        scores[0] = base and words = mode
    Cost : about three evaluations of K look-ups per member; O(p K) memory
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

"""Searches under rules: the state of the compiled search, and what is asked of it."""

from collections.abc import Iterator

import numpy as np

from labelsure._core.running import stop_if_asked
from labelsure.labelsets.arrays._fold_arrays import Lookup
from labelsure.labelsets.arrays._rule_kernels import Course
from labelsure.labelsets.search import _states as states
from labelsure.labelsets.search._ruled_kernels import RuledDepthFirst, search_ruled
from labelsure.labelsets.search._states import Allowance, Buffer, Flips


def list_ruled_members(
    flips: Flips, lookup: Lookup, smallest: int, found: Buffer, call: int, allowance: Allowance
) -> Iterator[tuple[int, bool]]:
    """Search a region; yield how many members were found since, and whether the search is finished.

    They are in ``found`` until the next step, if that has room. Ends when the ``allowance`` is; a step takes ``call``.
    """
    lookup = lookup._replace(rules=lookup.rules.placed(flips.label))
    if not lookup.rules.may_allow(flips.mode):
        yield 0, True
        return
    (n_folds,), n_levels = flips.base.shape, len(flips.label) + 2
    numbers, penalty = np.zeros(states.N_NUMBERS, dtype=np.int64), np.zeros(n_folds, dtype=np.int64)
    position, step = np.zeros((2, n_levels), dtype=np.int64)
    scores = np.zeros((n_levels, n_folds), dtype=np.int64)
    scores[0] = flips.base
    words = np.tile(flips.mode, (n_levels, 1))
    course = Course(flips.mode, flips.cost, np.empty_like(lookup.rules.place))
    state = RuledDepthFirst(numbers, position, step, scores, words, penalty, flips.mode.copy(), course)
    ended = states.BUFFER_FULL
    while ended != states.FINISHED and allowance.left(numbers) > 0:
        stop_if_asked()
        before = int(numbers[states.FOUND])
        ended = search_ruled(flips, lookup, smallest, min(call, allowance.left(numbers)), state, found)
        yield int(numbers[states.FOUND]) - before, ended == states.FINISHED

r"""Compiled loop over the objects of a block: their best labelsets searched for, depth first.

A labelset is looked at, then all that add one flip or more from some position on: if these may hold something better
than the worst of the best found, that position is flipped, and the same is done there::

            flips F, one more from t on
              /                     \
          F + {t}              F, one more
       and its own more       from t + 1 on
"""

from typing import NamedTuple

import numpy as np

from labelsure._core.compilation import kernel_part, lean_kernel
from labelsure._core.labelset_bits import Words
from labelsure._core.types import IntArray
from labelsure.labelsets.arrays._fold_arrays import Penalties, ScoreTables
from labelsure.labelsets.arrays._lookup_kernels import Integer, only_counts, total_of, value_of, weighing_of
from labelsure.labelsets.arrays._weighing import ObjectWeighings
from labelsure.labelsets.search._labelset_kernels import (
    NUMERATOR,
    TOTAL,
    FoundBest,
    flip,
    insert,
    is_some,
    penalise,
    precedes,
    switch_off,
    write_key,
)
from labelsure.labelsets.search._states import FAR, Problems


@lean_kernel
def bound_rest(least: IntArray, rest: IntArray, nearest: IntArray) -> None:
    """Write what flips from each position on add at least: any, and at least one.

    Reference : cumulative sums and minima from the end
    Requires : least (n, q, K), the others with one position more
    Cost : a few operations per position and fold
    """
    n_objects, n_labels, n_folds = least.shape
    for i in range(n_objects):
        for k in range(n_folds):
            rest[i, n_labels, k], nearest[i, n_labels, k] = 0, FAR
        for t in range(n_labels - 1, -1, -1):
            for k in range(n_folds):
                rest[i, t, k] = rest[i, t + 1, k] + min(least[i, t, k], 0)
                if rest[i, t, k] < 0:
                    nearest[i, t, k] = rest[i, t, k]
                else:
                    nearest[i, t, k] = min(nearest[i, t + 1, k], least[i, t, k])


class Asked(NamedTuple):
    """Searches of one call of a kernel.

    Attributes
    ----------
    row : (m,)
        Whose: a row of the problems.
    forced, flipped : (m,)
        A position that has to be flipped (1), or not (0); -1: none.
    additive : bool
        Whether no fold has a link.
    by_total : bool
        Whether total scores and codes decide between equal numerators; else anything may.
    allow_empty : bool
        Whether the empty labelset is a candidate.
    budget : int
        Evaluations that each search may take.
    """

    row: IntArray
    forced: IntArray
    flipped: IntArray
    additive: bool
    by_total: bool
    allow_empty: bool
    budget: int


class Descent(NamedTuple):
    """Room for the way from the mode to a labelset, flip by flip.

    Attributes
    ----------
    scores : (q + 1, K)
        Additive scores at each level.
    begin : (q + 1,)
        The next position to be flipped there.
    words : uint64 (W,)
        The present labelset.
    penalty, lowest : (K,), uint64 (W,)
        Room for penalties, zero at the beginning, and for codes.
    """

    scores: IntArray
    begin: IntArray
    words: Words
    penalty: IntArray
    lowest: Words

    @classmethod
    def of(cls, problems: Problems) -> "Descent":
        """Return room for one search after the other."""
        _, n_labels, n_folds = problems.cost.shape
        scores, begin = np.empty((n_labels + 1, n_folds), dtype=np.int64), np.empty(n_labels + 1, dtype=np.int64)
        words, lowest = np.empty((2, problems.mode.shape[1]), dtype=np.uint64)
        return cls(scores, begin, words, np.zeros(n_folds, dtype=np.int64), lowest)


@lean_kernel
def search_objects(
    problems: Problems,
    tables: ScoreTables,
    penalties: Penalties | None,
    weighings: ObjectWeighings,
    asked: Asked,
    descent: Descent,
    found: FoundBest,
) -> None:
    """Search the best labelsets of objects, depth first, beside those found already.

    Reference : labelset_reference.ranked
    Requires : no rules, pairs or scores of single objects; of those with discounts the best are found already
    Cost : two evaluations of K look-ups for each labelset that may be better than the worst of those found before
    """
    n_labels, n_folds, n_best = problems.cost.shape[1], problems.cost.shape[2], found.keys.shape[1] - 1
    words, penalty, lowest, additive = descent.words, descent.penalty, descent.lowest, asked.additive
    for search in range(asked.row.shape[0]):
        i, forced, keys = asked.row[search], asked.forced[search], found.keys[search]
        label, cost, weighing = problems.label[i], problems.cost[i], weighing_of(i, weighings)
        plain = penalties is None and only_counts(weighing, tables)
        begin_descent(search, asked, problems, descent)
        n_found, work, level, arrived = found.n_found[search], np.int64(0), np.int64(0), True
        while level >= 0 and work < asked.budget:
            scores, begin = descent.scores[level], descent.begin[level]
            more = problems.rest[i, n_labels]  # zeros
            if arrived:
                begin, good = np.int64(n_labels), asked.allow_empty or is_some(words)
            else:  # one flip more, from here on
                begin += begin == forced
                more, good = problems.nearest[i, begin], begin < n_labels
            if good:
                if penalties is not None:
                    penalise(words, label, begin, penalties, penalty, lowest)
                value = value_of(scores, more, penalty, plain, weighing, tables)
                work += 1
                good = n_found < n_best or value >= -keys[n_best - 1, NUMERATOR]
            if good:
                for w in range(words.shape[0]):
                    lowest[w] = words[w]
                total = total_of(scores, more, penalty, tables) if asked.by_total else np.int64(0)
                if not arrived and n_found == n_best and asked.by_total and value == -keys[n_best - 1, NUMERATOR]:
                    present = np.int64(0)
                    for k in range(n_folds):
                        present += scores[k] + penalty[k]
                    if additive:
                        total = max(total, present + problems.cheapest[i, begin])
                    for t in range(begin, n_labels if total == keys[n_best - 1, TOTAL] else begin):
                        if not additive or problems.total[i, t] <= total - present:
                            switch_off(lowest, label[t])
                write_key(value, total, lowest, True, n_best, keys)
                good = n_found < n_best or value > -keys[n_best - 1, NUMERATOR]
                good |= asked.by_total and precedes(np.int64(n_best), np.int64(n_best - 1), keys, True)
            if arrived:
                arrived = False
                if good:
                    n_found = insert(n_found, keys)
            elif good:
                descent.begin[level], descent.begin[level + 1] = begin + 1, begin + 1
                level += 1
                for k in range(n_folds):
                    descent.scores[level, k] = scores[k] + cost[begin, k]
                flip(words, label[begin])
                arrived = True
            else:
                level -= 1
                if level >= 0:
                    flip(words, label[descent.begin[level] - 1])
        found.n_found[search], found.work[search], found.finished[search] = n_found, work, level < 0


@kernel_part
def begin_descent(search: Integer, asked: Asked, problems: Problems, descent: Descent) -> None:
    """Begin at the mode, with the position that is forced as it has to be.

    Reference : the definition
    Requires : as search_objects
    Cost : O(K + W)
    """
    i, forced, words = asked.row[search], asked.forced[search], descent.words
    for w in range(words.shape[0]):
        words[w] = problems.mode[i, w]
    if asked.flipped[search]:
        flip(words, problems.label[i, forced])
    for k in range(problems.base.shape[1]):
        descent.scores[0, k] = problems.base[i, k] + asked.flipped[search] * problems.cost[i, forced, k]
    descent.begin[0] = 0

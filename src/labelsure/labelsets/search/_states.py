"""What the search with pairs keeps: its state, what it looks for and what was found, and their indices."""

from typing import NamedTuple

import numpy as np

from labelsure._checks import FloatArray, IntArray
from labelsure.labelsets.arrays import _fold_arrays
from labelsure.measures._labelset_bits import Words

FAR = _fold_arrays.FAR

# Entries of ``numbers``: the level reached (-1: finished), labelsets found, work done in evaluations, whether the root
# was looked at, whether the list of the present level was made, labelsets in the buffer, entries of a frontier
LEVEL, FOUND, WORK, STARTED, LISTED, WRITTEN, WAITING = range(7)
N_NUMBERS = 7

# What a numerator is asked of: the labelset itself; everything with the next flip; everything with a later one;
# everything below a node; a labelset with one flip more, at most
ITSELF, BELOW, AFTER, NODE, OWN_BOUND = range(5)

# What a call of a kernel ends with
FINISHED, BUDGET_SPENT, BUFFER_FULL, NO_ROOM = range(4)


class Allowance(NamedTuple):
    """What a search may spend: evaluations, and more of them for each member that it finds."""

    budget: int
    per_member: int = 0

    def left(self, numbers: IntArray) -> int:
        """Return how many evaluations are left to a search."""
        return self.budget + self.per_member * int(numbers[FOUND]) - int(numbers[WORK])


class Buffer(NamedTuple):
    """Room for labelsets, (m, W), and their numerators, (m,); with none they are only counted."""

    words: Words
    numerators: IntArray

    @classmethod
    def of(cls, n_room: int, n_words: int) -> "Buffer":
        """Return room for this many labelsets."""
        return cls(np.empty((n_room, n_words), dtype=np.uint64), np.empty(n_room, dtype=np.int64))


class Ranked(NamedTuple):
    """The best labelsets found.

    Attributes
    ----------
    order : (k + 1,)
        Rows of ``keys``: a heap with the worst on top, and a spare row last.
    keys : (k + 1, 2 + W)
        See _ranking_kernels.
    """

    order: IntArray
    keys: IntArray


class Goal(NamedTuple):
    """What a search with pairs looks for.

    Attributes
    ----------
    ranked : bool
        Whether the best labelsets, else all with a numerator of at least ``limit[0]``.
    by_total : bool
        Whether total scores and codes decide between equal numerators; else anything may.
    limit : (3,)
        The numerator and total score of the worst that is still looked for, and whether as many as asked for are found.
    """

    ranked: bool
    by_total: bool
    limit: IntArray


class PairStack(NamedTuple):
    """The state of a search with pairs.

    Attributes
    ----------
    numbers : (7,)
        See above.
    levels : (n + 2, 4)
        The next child of each level, where its list begins, its length, and the label flipped to come here.
    scores : (n + 2, K)
        The additive scores at each level.
    changes : float (K, m)
        The lists of all levels one after the other: what each flip adds.
    entries : (3, m)
        Theirs: a label, the numerator with it flipped, and the highest one below that.
    words : uint64 (W,)
        The present labelset.
    """

    numbers: IntArray
    levels: IntArray
    scores: IntArray
    changes: FloatArray
    entries: IntArray
    words: Words


# Columns of PairStack.levels, rows of PairStack.entries, and the entry of Goal.limit after those of a rank
CHILD, BEGIN, LENGTH, FLIPPED = range(4)
LABEL, OWN, REACH = range(3)
FULL = 2

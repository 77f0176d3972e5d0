"""What the search kernels take and keep: one object's problem, resumable states, what was found, and their indices."""

from typing import NamedTuple, TypeVar

import numpy as np

from labelsure._core.labelset_bits import Words
from labelsure._core.types import BoolArray, FloatArray, IntArray
from labelsure.labelsets.arrays import _fold_arrays

Part = TypeVar("Part", IntArray, FloatArray, Words)

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


class Flips(NamedTuple):
    """One object's problem without pairs: labelsets as sets of flips from the mode.

    Attributes
    ----------
    label : (p,)
        The labels in the order in which they are flipped, *hard* ones first: those whose flip may lower some score.
    n_hard : int
        How many of them are hard.
    base : (K,)
        The mode's additive scores.
    cost : (p, K)
        What flipping each position adds to them.
    rest : (p + 1, K)
        A lower bound of what flips from each position on add; no flip is allowed.
    nearest : (p + 1, K)
        The same for at least one flip.
    mode : uint64 (W,)
        The mode, bit j being label j.
    """

    label: IntArray
    n_hard: int
    base: IntArray
    cost: IntArray
    rest: IntArray
    nearest: IntArray
    mode: Words


class DepthFirst(NamedTuple):
    """The state of a depth-first search.

    Attributes
    ----------
    numbers : (7,)
        See above.
    position, flipped : (p + 2,)
        The next position to flip at each level, and the one flipped to reach it.
    scores : (p + 2, K)
        The additive scores at each level.
    words : uint64 (W,)
        The present labelset.
    penalty, known : (K,), uint64 (W,)
        Room for penalties, zero at the beginning, and for notes.
    """

    numbers: IntArray
    position: IntArray
    flipped: IntArray
    scores: IntArray
    words: Words
    penalty: IntArray
    known: Words


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


class Frontier(NamedTuple):
    """The state of a best-first search.

    Attributes
    ----------
    numbers : (7,)
        See above.
    heap : (m,)
        Rows of the others, the most promising on top.
    keys : (m, 2 + W)
        Of the best labelset that an entry may hold.
    entries : (m, W + K + 1)
        Words, scores, and from where on flips are added.
    """

    numbers: IntArray
    heap: IntArray
    keys: IntArray
    entries: IntArray


class PairCosts(NamedTuple):
    """What pairs of labels add, and bounds of it, by label.

    Attributes
    ----------
    sign : float (q,)
        1 for labels that are off in the mode, -1 for those that are on.
    pairs : (K, q, q) or (K, 0, 0)
        Pairwise costs, symmetric.
    diagonals, gains : float (K, q) or (K, 0)
        As in relax_pairs.
    slacks : float (K, q)
        The sum of each label's pairs that other flips could make negative.
    charged : bool (K,)
        Which of the two bounds is the tighter one in each fold.
    """

    sign: FloatArray
    pairs: IntArray
    diagonals: FloatArray
    gains: FloatArray
    slacks: FloatArray
    charged: BoolArray


class PairProblem(NamedTuple):
    """One object's problem with pairs, or without.

    Attributes
    ----------
    base : (K,)
        The mode's additive scores.
    mode : uint64 (W,)
        The mode.
    labels : (n,)
        The labels that may be flipped.
    changes : float (K, n)
        What flipping each of them alone adds.
    costs : PairCosts
        What pairs add.
    """

    base: IntArray
    mode: Words
    labels: IntArray
    changes: FloatArray
    costs: PairCosts


def own_row(part: Part, row: int) -> Part:
    """Return the row of one problem, of a part that may be the same for all problems."""
    own: Part = part[row] if len(part) > 1 else part[0]
    return own


class Problems(NamedTuple):
    """The search problems of n objects with q labels under K folds.

    Attributes
    ----------
    label : (n, q)
        The labels in the order in which they are flipped, *hard* ones first: those whose flip may lower some score.
    n_hard : (n,)
        How many of them are hard.
    sign : (n, q)
        1 where the label at that position is off in the mode, -1 where it is on.
    base : (n, K)
        The mode's additive scores.
    cost : (n, q, K)
        What flipping each position alone adds to the additive scores.
    least : (n, q, K)
        The least it can add, whatever else is flipped.
    rest : (n, q + 1, K)
        A lower bound of what flips from each position on add; no flip is allowed.
    nearest : (n, q + 1, K)
        The same for at least one flip.
    total, cheapest : (n, q), (n, q + 1)
        What flipping each position adds to the total of the additive scores, and the least that one from each position
        on adds to it.
    mode : uint64 (n, W)
        The mode, bit j being label j.
    pairs : (n, K, q, q) or (1, K, q, q), or (1, K, 0, 0)
        Pairwise costs by label, symmetric: of each object, or of all, or none.
    diagonals, gains : float (n, K, q) or (1, K, q), or (1, K, 0)
        As in relax_pairs, by label; none where no position is hard.
    """

    label: IntArray
    n_hard: IntArray
    sign: IntArray
    base: IntArray
    cost: IntArray
    least: IntArray
    rest: IntArray
    nearest: IntArray
    total: IntArray
    cheapest: IntArray
    mode: Words
    pairs: IntArray
    diagonals: FloatArray
    gains: FloatArray

    def flips(self, row: int) -> Flips:
        """Return one problem without pairs."""
        return Flips(
            self.label[row],
            int(self.n_hard[row]),
            self.base[row],
            self.cost[row],
            self.rest[row],
            self.nearest[row],
            self.mode[row],
        )

    def with_pairs(self, row: int) -> PairProblem:
        """Return one problem with or without pairs, labels in the order of its positions; folds have tighter bounds."""
        label = self.label[row]
        n_folds = self.cost.shape[2]
        sign = np.empty(len(label))
        sign[label] = self.sign[row]
        slacks = np.empty((n_folds, len(label)))
        slacks[:, label] = (self.least[row] - self.cost[row]).T
        diagonals, gains = own_row(self.diagonals, row), own_row(self.gains, row)
        changes = np.ascontiguousarray(self.cost[row].T, dtype=np.float64)
        charged = np.ones(n_folds, dtype=bool)
        if diagonals.shape[1]:
            relaxed = np.minimum(changes - diagonals[:, label], 0).sum(axis=1)
            charged = np.minimum(changes + slacks[:, label], 0).sum(axis=1) >= relaxed
        costs = PairCosts(sign, own_row(self.pairs, row), diagonals, gains, slacks, charged)
        return PairProblem(self.base[row], self.mode[row], label, changes, costs)


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

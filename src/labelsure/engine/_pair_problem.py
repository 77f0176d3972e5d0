"""One object posed as a search problem, with or without costs of pairs: labelsets as flips of its most likely one."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from labelsure._checks import BoolArray, FloatArray, IntArray
from labelsure.engine import _fold_arrays
from labelsure.engine._fold_arrays import FoldArrays, Lookup
from labelsure.measures._labelset_bits import Words, pack

FAR = _fold_arrays.FAR

# Entries of ``numbers``: the level reached (-1: finished), labelsets found, work done in
# evaluations, whether the root was looked at, whether the list of the present level was made,
# labelsets in the buffer
LEVEL, FOUND, WORK, STARTED, LISTED, WRITTEN = range(6)
N_NUMBERS = 6

# What a numerator is asked of: the labelset itself; everything with the next flip; everything with
# a later one; everything below a node; a labelset with one flip more, at most
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
        The numerator and total score of the worst that is still looked for, and whether as many as
        asked for are found.
    """

    ranked: bool
    by_total: bool
    limit: IntArray


class PairStack(NamedTuple):
    """The state of a search with pairs.

    Attributes
    ----------
    numbers : (6,)
        See above.
    levels : (n + 2, 4)
        The next child of each level, where its list begins, its length, and the label flipped to
        come here.
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


# Columns of PairStack.levels, rows of PairStack.entries, and the entry of Goal.limit after those of
# a rank
CHILD, BEGIN, LENGTH, FLIPPED = range(4)
LABEL, OWN, REACH = range(3)
FULL = 2


MAX_MODE_SWEEPS = 20


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


@dataclass(eq=False)
class ObjectSearch:
    """One object with all that searches for its labelsets take.

    Attributes
    ----------
    i : int
        The object.
    problem : PairProblem
        Its labelsets as flips.
    lookup : Lookup
        How scores become numerators.
    """

    i: int
    problem: PairProblem
    lookup: Lookup


def pose_problem(arrays: FoldArrays, i: int) -> PairProblem:
    """Return the search problem of one object, *hard* labels first: those whose flip may lower some fold's score."""
    constant = np.stack([energy.constant[i] for energy in arrays.general])
    own = unary = np.stack([energy.unary[i] for energy in arrays.general])
    n_folds, total = len(unary), unary.sum(axis=0)
    on = total < 0
    slack = np.zeros_like(unary)
    pairs = np.empty((n_folds, 0, 0), dtype=np.int64)
    if arrays.has_pairs:
        of_object = arrays.pairs.of(np.array([i]))
        pairs = of_object[0]
        _settle_down(on, total, pairs.sum(axis=0))
        own = unary + pairs @ on.astype(np.int64)
        slack = _least_pairs(pairs, on)
        total = own.sum(axis=0)
    sign = np.where(on, -1, 1)
    cost = own * sign
    hard: BoolArray = (cost + slack < 0).any(axis=0)
    labels = np.lexsort((sign * total, ~hard))
    diagonals, gains = np.empty((2, n_folds, 0))
    charged = np.ones(n_folds, dtype=bool)
    if arrays.has_pairs and hard.any():
        diagonals, gains = (part[0] for part in arrays.pairs.relaxation(of_object, cost.T[None]))
        relaxed = np.minimum(cost - diagonals, 0).sum(axis=1)
        charged = np.minimum(cost + slack, 0).sum(axis=1) >= relaxed
    costs = PairCosts(
        sign.astype(np.float64), pairs, diagonals, gains, slack.astype(np.float64), charged
    )
    # pairs inside the mode are met from both ends
    base = constant + (unary + own) @ on.astype(np.int64) // 2
    changes = np.ascontiguousarray(
        cost[:, labels], dtype=np.float64
    )  # kernels are compiled anew for another layout
    return PairProblem(base, pack(on[None])[0], labels, changes, costs)


def _settle_down(on: BoolArray, unary: IntArray, pairs: IntArray) -> None:
    """Change a labelset, (q,), to where flips of single labels lower its total score no more.

    Parameters
    ----------
    on : (q,)
        The labelset.
    unary, pairs : (q,), (q, q)
        Summed over the folds; pairs symmetric.
    """
    for _ in range(MAX_MODE_SWEEPS):
        before = on.copy()
        for j in range(len(unary)):
            on[j] = unary[j] + pairs[j, on].sum() < 0
        if (on == before).all():
            break


def _least_pairs(pairs: IntArray, on: BoolArray) -> IntArray:
    """Return, for each fold and label, the sum of its pairs that other flips could make negative, (K, q)."""
    negative, positive = np.minimum(pairs, 0), np.maximum(pairs, 0)
    with_on: IntArray = (
        negative @ on - positive @ ~on
    )  # for a label that is on: same kind, then the other kind
    with_off: IntArray = negative @ ~on - positive @ on
    return np.where(on, with_on, with_off)


def force_label(problem: PairProblem, t: int, *, flipped: bool) -> PairProblem:
    """Return the problem with the t-th label flipped in the mode, or left alone, and not to be flipped any more."""
    others = np.arange(len(problem.labels)) != t
    labels, changes = problem.labels[others], problem.changes
    if not flipped:
        return problem._replace(labels=labels, changes=np.ascontiguousarray(changes[:, others]))
    j = problem.labels[t]
    sign, pairs = problem.costs.sign, problem.costs.pairs
    if pairs.shape[1]:
        changes = changes + sign[j] * sign[problem.labels] * pairs[:, j, problem.labels]
    mode = problem.mode.copy()
    mode[j >> 6] ^= np.uint64(1) << np.uint64(j & 63)
    return problem._replace(
        base=problem.base + problem.changes[:, t].astype(np.int64),
        mode=mode,
        labels=labels,
        changes=np.ascontiguousarray(
            changes[:, others]
        ),  # kernels are compiled anew for another layout
    )

"""Objects whose pairs of labels have costs, posed as problems: labelsets as flips."""

from typing import NamedTuple

import numpy as np

from labelsure._checks import BoolArray, FloatArray, IntArray
from labelsure.engine._fold_arrays import FAR, FoldArrays, Lookup
from labelsure.measures._labelset_bits import Words, pack

# Entries of PairStack.state: the level reached (-1: finished), whether the list of the present
# level was made, the numerator that is still looked for, and whether a member is known below
LEVEL, LISTED, LIMIT, SURE = range(4)
NEW = -1

# Columns of PairStack.levels, and rows of PairStack.entries
BEGIN, CHILD, LENGTH, FLIPPED = range(4)
LABEL, VALUE = range(2)

# What a numerator is asked of: everything with the next flip, with a later one, or below a node
BELOW, AFTER, NODE = range(3)

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


class ObjectProblem(NamedTuple):
    """One object with all that searches for its labelsets, and estimates, take.

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


class PairBlock(NamedTuple):
    """The problems of several objects with pairs."""

    problems: list[ObjectProblem]

    @property
    def label(self) -> IntArray:
        """The labels in the order in which they are flipped, (n, q)."""
        return np.stack([one.problem.labels for one in self.problems])

    @property
    def mode(self) -> Words:
        """The modes, uint64 (n, W)."""
        modes: Words = np.stack([one.problem.mode for one in self.problems])
        return modes


class PairStack(NamedTuple):
    """The state of a search with pairs.

    Attributes
    ----------
    state : (4,)
        See above.
    levels : (n + 2, 4)
        Where the list of each level begins, its next child, its length, and the label flipped to
        come here.
    scores : (n + 2, K)
        The additive scores at each level.
    changes : float (K, m)
        The lists of all levels one after the other: what each flip adds.
    entries : (2, m)
        Theirs: a label, and the highest numerator with it flipped, of the labelset itself where all
        members are looked for, and else of everything below.
    words : uint64 (W,)
        The present labelset.
    """

    state: IntArray
    levels: IntArray
    scores: IntArray
    changes: FloatArray
    entries: IntArray
    words: Words


class Desk(NamedTuple):
    """Room for the list at hand.

    Attributes
    ----------
    labels, order : (q,)
        The labels, as many as there are in the list; its places, cheap flips first.
    fresh, forced : float (K, q)
        What flipping each of them alone adds now, whole numbers; how much higher ``bounds`` is if
        it is flipped.
    nearest : float (K, q)
        The least of ``forced`` from each place of the order on.
    totals : float (q,)
        What each flip adds to the total of the additive scores.
    work, places : float (3, q), (q,)
        Room for bounds.
    bounds : (K,)
        Lower bounds of what flips of any of them add together.
    more, penalty, asked_penalty : (K,)
        What is asked about adds this at least; penalties of all below, and of what is asked about.
    notes_of_words : uint64 (W,)
    """

    labels: IntArray
    order: IntArray
    fresh: FloatArray
    forced: FloatArray
    nearest: FloatArray
    totals: FloatArray
    work: FloatArray
    places: IntArray
    bounds: IntArray
    more: IntArray
    penalty: IntArray
    asked_penalty: IntArray
    notes_of_words: Words


class PairRoom(NamedTuple):
    """Room for one search, which can be taken up again."""

    stack: PairStack
    desk: Desk

    @classmethod
    def of(cls, problem: PairProblem) -> "PairRoom":
        """Return room for a search that begins."""
        (n_folds, n), n_all = problem.changes.shape, len(problem.costs.sign)
        # memory that no list reaches is never touched
        width = n * (n + 1) // 2 + 1
        stack = PairStack(
            state=np.array([0, NEW, -FAR, 0]),
            levels=np.zeros((n + 2, 4), dtype=np.int64),
            scores=np.zeros((n + 2, n_folds), dtype=np.int64),
            changes=np.empty((n_folds, width)),
            entries=np.empty((2, width), dtype=np.int64),
            words=problem.mode.copy(),
        )
        stack.levels[0, LENGTH] = n
        stack.scores[0] = problem.base
        stack.changes[:, :n] = problem.changes
        stack.entries[LABEL, :n] = problem.labels
        of_labels, of_folds = np.empty((3, n_all), dtype=np.int64), np.zeros((4, n_folds), np.int64)
        floats, lists = np.empty((4, n_all)), np.empty((3, n_folds, n_all))
        desk = Desk(
            labels=of_labels[0],
            order=of_labels[1],
            fresh=lists[0],
            forced=lists[1],
            nearest=lists[2],
            totals=floats[3],
            work=floats[:3],
            places=of_labels[2],
            bounds=of_folds[0],
            more=of_folds[1],
            penalty=of_folds[2],
            asked_penalty=of_folds[3],
            notes_of_words=np.empty_like(problem.mode),
        )
        return cls(stack, desk)


def pose_problem(arrays: FoldArrays, i: int) -> PairProblem:
    """Return the problem of one object, labels first whose flip may lower some fold's score."""
    constant = np.stack([energy.constant[i] for energy in arrays.general])
    own = unary = np.stack([energy.unary[i] for energy in arrays.general])
    n_folds, total = len(unary), unary.sum(axis=0)
    on = total < 0
    slack = np.zeros_like(unary)
    pairs = np.empty((n_folds, 0, 0), dtype=np.int64)
    if arrays.has_pairs:
        pairs = arrays.pairs.of(i)
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
        diagonals, gains = arrays.pairs.relaxation(pairs, cost)
        relaxed = np.minimum(cost - diagonals, 0).sum(axis=1)
        charged = np.minimum(cost + slack, 0).sum(axis=1) >= relaxed
    costs = PairCosts(
        sign.astype(np.float64), pairs, diagonals, gains, slack.astype(np.float64), charged
    )
    # pairs inside the mode are met from both ends
    base = constant + (unary + own) @ on.astype(np.int64) // 2
    # kernels would be recompiled for another layout
    changes = np.ascontiguousarray(cost[:, labels], dtype=np.float64)
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
    """Return the sums of pairs of each label that other flips could make negative, (K, q)."""
    negative, positive = np.minimum(pairs, 0), np.maximum(pairs, 0)
    # for a label that is on: same kind, then the other kind
    with_on: IntArray = negative @ on - positive @ ~on
    with_off: IntArray = negative @ ~on - positive @ on
    return np.where(on, with_on, with_off)


def force_label(problem: PairProblem, t: int, *, flipped: bool) -> PairProblem:
    """Return the problem with the t-th label flipped or left alone for good."""
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
        # kernels would be recompiled for another layout
        changes=np.ascontiguousarray(changes[:, others]),
    )

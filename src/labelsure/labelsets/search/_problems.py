"""Search problems: the labelsets of an object as flips of its most likely one.

A search does not walk over labelsets but over sets of *flips*: labels that differ from the mode, a labelset of low
total score. Flips are cheap first, so a search finds members early and stops early.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np

from labelsure._core.labelset_bits import Words, pack
from labelsure._core.types import BoolArray, FloatArray, IntArray
from labelsure.labelsets.arrays._fold_arrays import FoldArrays, Lookup, OverrideList
from labelsure.labelsets.arrays._results import EngineOptions
from labelsure.labelsets.search._states import FAR, Flips, PairCosts, PairProblem

Part = TypeVar("Part", IntArray, FloatArray, Words)

MAX_MODE_SWEEPS = 20


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


@dataclass(eq=False)
class ObjectSearch:
    """One object with all that searches for its labelsets take.

    Attributes
    ----------
    i : int
        The object.
    problems, row : Problems, int
        Its problem.
    flips : Flips
        The same without pairs.
    lookup : Lookup
        How scores become numerators.
    overrides : OverrideList
        What searches leave out.
    has_pairs, additive : bool
        Whether some fold has pairwise costs, and whether none has a link.
    options : EngineOptions
        Budgets.
    """

    i: int
    problems: Problems
    row: int
    flips: Flips
    lookup: Lookup
    overrides: OverrideList
    has_pairs: bool
    additive: bool
    options: EngineOptions

    @cached_property
    def pair_problem(self) -> PairProblem:
        """Its problem with pairs, if there are any."""
        return self.problems.with_pairs(self.row)


def pose_problems(arrays: FoldArrays, objects: IntArray) -> Problems:
    """Return the search problems of some objects."""
    folds = arrays.general
    unary = np.stack([energy.unary[objects] for energy in folds], axis=2)
    twice_base = 2 * np.stack([energy.constant[objects] for energy in folds], axis=1)
    pairs = np.empty((1, len(folds), 0, 0), dtype=np.int64)
    on, own, slack = unary.sum(axis=2) < 0, unary, np.zeros((), dtype=np.int64)
    if arrays.has_pairs:
        pairs = arrays.pairs.of(objects)
        _settle_down(on, unary.sum(axis=2), pairs.sum(axis=1))
        own = unary + np.stack([_met(on, pairs[:, k]) for k in range(len(folds))], axis=2)
        slack = np.stack([_least_pairs(pairs[:, k], on) for k in range(len(folds))], axis=2)
    twice_base += ((unary + own) * on[:, :, None]).sum(axis=1)  # every pair inside the mode is met from both ends
    cost = np.where(on[:, :, None], -own, own)
    least = cost + slack
    hard = (least < 0).any(axis=2)
    diagonals, gains = np.empty((2, 1, len(folds), 0))
    if arrays.has_pairs and hard.any():
        diagonals, gains = arrays.pairs.relaxation(pairs, cost)
    order = np.lexsort((cost.sum(axis=2), ~hard), axis=-1)
    cost = np.take_along_axis(cost, order[:, :, None], axis=1)
    least = np.take_along_axis(least, order[:, :, None], axis=1)
    rest = np.zeros((len(objects), unary.shape[1] + 1, len(folds)), dtype=np.int64)
    rest[:, :-1] = np.minimum(least, 0)[:, ::-1].cumsum(axis=1)[:, ::-1]
    nearest = np.full_like(rest, FAR)
    nearest[:, :-1] = np.minimum.accumulate(least[:, ::-1], axis=1)[:, ::-1]
    return Problems(
        label=order,
        n_hard=hard.sum(axis=1),
        sign=np.take_along_axis(np.where(on, -1, 1), order, axis=1),
        base=twice_base // 2,
        cost=cost,
        least=least,
        rest=rest,
        nearest=np.where(rest < 0, rest, nearest),
        mode=pack(on.astype(np.int8)),
        pairs=pairs,
        diagonals=diagonals,
        gains=gains,
    )


def _settle_down(on: BoolArray, unary: IntArray, pairs: IntArray) -> None:
    """Change labelsets, (n, q), to where flips of single labels lower their total scores no more.

    Parameters
    ----------
    on : (n, q)
        The labelsets.
    unary, pairs : (n, q), (n, q, q) or (1, q, q)
        Summed over the folds; pairs symmetric.
    """
    for _ in range(MAX_MODE_SWEEPS):
        before = on.copy()
        for j in range(unary.shape[1]):
            on[:, j] = unary[:, j] + (on * pairs[:, j]).sum(axis=1) < 0
        if (on == before).all():
            break


def _least_pairs(pairs: IntArray, on: BoolArray) -> IntArray:
    """Return, for each label, the sum of its pairs that other flips could make negative, (n, q)."""
    negative, positive = np.minimum(pairs, 0), np.maximum(pairs, 0)
    with_on = _met(on, negative) - _met(~on, positive)  # for a label that is on: same kind, then the other kind
    with_off = _met(~on, negative) - _met(on, positive)
    return np.where(on, with_on, with_off)


def _met(on: BoolArray, pairs: IntArray) -> IntArray:
    """Return the sum of each label's pairs with the labels of each row of ``on``, (n, q)."""
    met: IntArray = on @ pairs[0] if len(pairs) == 1 else (on[:, None, :] @ pairs)[:, 0]
    return met


def force_flip(flips: Flips, t: int) -> Flips:
    """Return one problem without pairs whose mode has position t flipped; that must not be flipped again."""
    j = flips.label[t]
    mode = flips.mode.copy()
    mode[j >> 6] ^= np.uint64(1) << np.uint64(j & 63)
    return flips._replace(base=flips.base + flips.cost[t], mode=mode)


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
        changes=np.ascontiguousarray(changes[:, others]),  # kernels are compiled anew for another layout
    )


def own_row(part: Part, row: int) -> Part:
    """Return the row of one problem, of a part that may be the same for all problems."""
    own: Part = part[row] if len(part) > 1 else part[0]
    return own

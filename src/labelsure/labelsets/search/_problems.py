"""Search problems: the labelsets of an object as flips of its most likely one.

A search does not walk over labelsets but over sets of *flips*: labels that differ from the mode, a labelset of low
total score. Flips are cheap first, so a search finds members early and stops early.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from labelsure._core.labelset_bits import pack
from labelsure._core.types import BoolArray, IntArray
from labelsure.labelsets.arrays._fold_arrays import FoldArrays, Lookup, OverrideList
from labelsure.labelsets.arrays._results import EngineOptions
from labelsure.labelsets.search._states import FAR, Flips, PairProblem, Problems

MAX_MODE_SWEEPS = 20


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
    options : EngineOptions
        Budgets.
    """

    i: int
    problems: Problems
    row: int
    flips: Flips
    lookup: Lookup
    overrides: OverrideList
    options: EngineOptions

    @cached_property
    def pair_problem(self) -> PairProblem:
        """Its problem with pairs, if there are any."""
        return self.problems.with_pairs(self.row)


def pose_problems(arrays: FoldArrays, objects: IntArray) -> Problems:
    """Return the search problems of some objects."""
    constant = np.stack([energy.constant[objects] for energy in arrays.general])
    unary = np.stack([energy.unary[objects] for energy in arrays.general])
    own, total, n_folds = unary, unary.sum(axis=0), arrays.n_folds
    on, slack, pairs = total < 0, None, np.empty((1, n_folds, 0, 0), dtype=np.int64)
    if arrays.has_pairs:
        pairs = arrays.pairs.of(objects)
        _settle_down(on, total, pairs.sum(axis=1))
        own = unary + np.stack([_met(on, pairs[:, k]) for k in range(n_folds)])
        slack = np.stack([_least_pairs(pairs[:, k], on) for k in range(n_folds)])
        total = own.sum(axis=0)
    sign = np.where(on, -1, 1)
    added = own * sign
    hard: BoolArray = np.any((added if slack is None else added + slack) < 0, axis=0)
    label = np.lexsort((sign * total, ~hard), axis=1)
    places = (label + label.shape[1] * np.arange(len(label))[:, None]).ravel()
    by_position = (part.reshape(n_folds, -1).take(places, axis=1).T for part in (added, slack) if part is not None)
    cost, *more = (np.ascontiguousarray(part).reshape(*label.shape, n_folds) for part in by_position)
    least = cost + more[0] if more else cost
    rest, nearest = np.zeros((2, len(hard), hard.shape[1] + 1, n_folds), dtype=np.int64)
    np.cumsum(np.minimum(least, 0)[:, ::-1], axis=1, out=rest[:, -2::-1])
    nearest[:, -1] = FAR
    np.minimum.accumulate(least[:, ::-1], axis=1, out=nearest[:, -2::-1])
    nearest = np.where(rest < 0, rest, nearest)
    total, cheapest = cost.sum(axis=2), np.full((len(hard), hard.shape[1] + 1), FAR)
    np.minimum.accumulate(total[:, ::-1], axis=1, out=cheapest[:, -2::-1])
    # pairs inside the mode are met from both ends; kernels are compiled anew for another layout
    base = np.ascontiguousarray(constant.T + np.einsum("kij,ij->ik", unary + own, on.astype(np.int64)) // 2)
    diagonals, gains = np.empty((2, 1, n_folds, 0))
    if arrays.has_pairs and hard.any():
        diagonals, gains = arrays.pairs.relaxation(pairs, np.ascontiguousarray(added.transpose(1, 2, 0)))
    return Problems(
        label=label,
        n_hard=hard.sum(axis=1),
        sign=np.take_along_axis(sign, label, axis=1),
        base=base,
        cost=cost,
        least=least,
        rest=rest,
        nearest=nearest,
        total=total,
        cheapest=cheapest,
        mode=pack(on),
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

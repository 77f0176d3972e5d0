"""Objects posed as search problems: labelsets as flips of the most likely one.

A search does not walk over labelsets but over sets of *flips*: labels that differ from the mode,
the labelset of lowest total score. Flips are cheap first, so a search finds members early and stops
early.
"""

from typing import NamedTuple

import numpy as np

from labelsure._checks import IntArray
from labelsure.engine._fold_arrays import FAR, FoldArrays
from labelsure.measures._labelset_bits import Words, pack

# What a bound is of: one flip or more from a position on; that position's flip alone. To count
# members: two flips from there on; all flips from there on; the dearest and the cheapest flip of
# the group of positions that begins there
NEXT, ONE, TWO, WHOLE, ALL, SOME = range(6)

N_RANKED, N_COUNTED = 2, 6
"""How many of these a search for the best needs, and one that counts."""

GROUP = 8
"""Positions that are counted together; neighbours cost about the same."""

COST, CHEAPEST = range(2)
"""Rows of ``Block.totals``."""

LATER = 1 << 62
"""Sorts positions that are not hard behind all others."""


class Block(NamedTuple):
    """The search problems of n objects with q labels under K folds.

    Attributes
    ----------
    label : (n, q)
        The labels in the order in which they are flipped, *hard* ones first: those whose flip
        lowers some fold's score.
    n_hard : (n,)
        How many of them are hard.
    base : (n, K)
        The mode's additive scores.
    bounds : (n, 2 or 6, q + 1, K)
        What flips from each position on add at least, see above; zeros at the last position of
        NEXT.
    totals : (n, 2, q + 1)
        What flipping each position adds to the total of the scores, and the least that one from
        there on adds to it.
    mode : uint64 (n, W)
        The mode, bit j being label j.
    """

    label: IntArray
    n_hard: IntArray
    base: IntArray
    bounds: IntArray
    totals: IntArray
    mode: Words


def pose_block(arrays: FoldArrays, objects: IntArray, *, counted: bool) -> Block:
    """Return the search problems of some objects, to count members or to find the best."""
    constant = np.stack([energy.constant[objects] for energy in arrays.general])
    unary = np.stack([energy.unary[objects] for energy in arrays.general])
    n_folds, n, q = unary.shape
    total = unary.sum(axis=0)
    on = total < 0
    added = unary * np.where(on, -1, 1)
    hard = added.min(axis=0) < 0
    sizes = np.abs(total)
    label = np.argsort(np.where(hard, sizes, sizes + LATER), axis=1, kind="stable")
    places = (label + q * np.arange(n)[:, None]).ravel()
    bounds = np.empty((n, N_COUNTED if counted else N_RANKED, q + 1, n_folds), dtype=np.int64)
    cost, nearest = bounds[:, ONE, :q], bounds[:, NEXT, :q]
    cost[:] = added.reshape(n_folds, -1).take(places, axis=1).T.reshape(n, q, n_folds)
    np.minimum.accumulate(cost[:, ::-1], axis=1, out=nearest[:, ::-1])
    bounds[:, : ONE + 1, q] = 0
    if counted:
        _bound_groups(cost, nearest, bounds)
    n_hard = hard.sum(axis=1)
    few = n_hard.max(initial=0)
    rest = np.minimum(cost[:, :few], 0)[:, ::-1].cumsum(axis=1)[:, ::-1]
    nearest[:, :few] = np.where(rest < 0, rest, nearest[:, :few])
    totals = np.full((n, 2, q + 1), FAR)
    totals[:, COST, :q] = np.take_along_axis(sizes, label, axis=1)
    np.minimum.accumulate(totals[:, COST, ::-1], axis=1, out=totals[:, CHEAPEST, ::-1])
    base = (constant + (unary * on).sum(axis=2)).T.copy()
    return Block(label, n_hard, base, bounds, totals, pack(on))


def _bound_groups(cost: IntArray, nearest: IntArray, bounds: IntArray) -> None:
    """Write what only counting asks for."""
    n, q, n_folds = cost.shape
    bounds[:, TWO:, q] = FAR
    bounds[:, WHOLE, q] = 0
    bounds[:, TWO, q - 1 :] = FAR
    if q > 1:
        second = np.maximum(nearest[:, 1:], cost[:, :-1])
        np.minimum.accumulate(second[:, ::-1], axis=1, out=bounds[:, TWO, q - 2 :: -1])
        bounds[:, TWO, : q - 1] += nearest[:, : q - 1]
    np.cumsum(cost[:, ::-1], axis=1, out=bounds[:, WHOLE, q - 1 :: -1])
    whole = q // GROUP * GROUP
    groups = cost[:, :whole].reshape(n, whole // GROUP, GROUP, n_folds)
    bounds[:, ALL, :whole:GROUP] = groups.max(axis=2)
    bounds[:, SOME, :whole:GROUP] = groups.min(axis=2)

"""Good labelsets found by climbing from the folds' modes, where so many folds disagree that a search takes long."""

import numpy as np

from labelsure._checks import IntArray
from labelsure.labelsets.arrays._fold_arrays import FoldArrays
from labelsure.labelsets.arrays._weighing import Weighing
from labelsure.labelsets.search._labelset_kernels import CODE, HIGHEST_BIT
from labelsure.labelsets.search._walk_kernels import FOUND
from labelsure.measures._labelset_bits import pack

MAX_STEPS = 100


def climb(arrays: FoldArrays, weighing: Weighing, i: int, keys: IntArray, numbers: IntArray, allow_empty: bool) -> None:
    """Put labelsets of one object among the best found: from each fold's mode and their sum's, flip by flip.

    Parameters
    ----------
    arrays, weighing : FoldArrays, Weighing
        Scores that are sums over labels, and how they become numerators.
    i : int
        The object.
    keys, numbers : arrays
        Its rows of Found.
    allow_empty : bool
        Whether the empty labelset is a candidate.
    """
    constant, unary = (
        np.stack([getattr(energy, part)[i] for energy in arrays.general]) for part in ("constant", "unary")
    )
    on = np.vstack([unary < 0, unary.sum(axis=0) < 0])
    scores = constant[:, None] + unary @ on.T.astype(np.int64)  # (K, starts)
    for _ in range(MAX_STEPS):
        changes = np.where(on[None], -unary[:, None], unary[:, None])
        reached = scores[:, :, None] + changes  # with one flip each
        numerators, totals = _rank(weighing, arrays, i, reached.reshape(len(unary), -1)).reshape(2, *on.shape)
        now, now_totals = _rank(weighing, arrays, i, scores)
        highest = numerators.max(axis=1)
        flip = np.where(numerators == highest[:, None], totals, np.iinfo(np.int64).max).argmin(axis=1)
        everyone = np.arange(len(on))
        better = (highest > now) | ((highest == now) & (totals[everyone, flip] < now_totals))
        if not better.any():
            break
        rows = np.flatnonzero(better)
        on[rows, flip[rows]] ^= True
        scores[:, rows] = reached[:, rows, flip[rows]]
    candidates = on.any(axis=1) | allow_empty
    now, now_totals = _rank(weighing, arrays, i, scores[:, candidates])
    words = pack(on[candidates])[:, ::-1] ^ HIGHEST_BIT
    new = np.column_stack([-now, now_totals, words.view(np.int64)])
    every = np.vstack([keys[: numbers[FOUND]], new])
    every = every[np.lexsort(every.T[::-1])]
    best = np.sort(np.unique(every[:, CODE:], axis=0, return_index=True)[1])[: len(keys) - 1]
    keys[: len(best)] = every[best]
    numbers[FOUND] = len(best)


def _rank(weighing: Weighing, arrays: FoldArrays, i: int, scores: IntArray) -> IntArray:
    """Return numerators and total scores, (2, m), of scores (K, m)."""
    numerators = weighing.of_scores(arrays.calibrations, scores, np.full(scores.shape[1], i))
    return np.stack([numerators, scores.sum(axis=0)])

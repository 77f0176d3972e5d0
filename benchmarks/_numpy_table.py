"""The baseline: the p-value table as one writes it with numpy."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from labelsure.engine._fold_arrays import Fold

Array = np.ndarray[Any, Any]


def p_value_table(folds: Sequence[Fold], labelsets: Array, n_chunk: int) -> Array:
    """Return the p-values of all labelsets: a matrix product for scores, a searchsorted per fold.

    Parameters
    ----------
    folds : sequence of Fold
        Calibration scores, and the energies of the n objects.
    labelsets : array of shape (m, q)
        The columns of the table.
    n_chunk : int
        Objects at a time: all of them, or few enough for the scores to stay in the processor's
        cache.
    """
    n_objects = folds[0].energy.n_objects
    transposed = labelsets.T.astype(np.float64)
    pairs = [pair_scores(fold, labelsets) for fold in folds]
    n_calibration = sum(len(fold.calibration) for fold in folds)
    table = np.empty((n_objects, len(labelsets)))
    for start in range(0, n_objects, n_chunk):
        chunk = slice(start, start + n_chunk)
        counts = np.zeros(table[chunk].shape, dtype=np.int64)
        for fold, pair_score in zip(folds, pairs, strict=True):
            # Sums of whole numbers below 2^53 are exact in float64, and only there has numpy a fast
            # matrix product. Searching integers is faster than searching floats, also with the
            # conversion.
            scores = (fold.energy.unary[chunk].astype(np.float64) @ transposed).astype(np.int64)
            scores += fold.energy.constant[chunk, None]
            if pair_score is not None:
                scores += pair_score
            counts += len(fold.calibration) - np.searchsorted(fold.calibration, scores)
        np.divide(counts + 1, n_calibration + 1, out=table[chunk])
    return table


def pair_scores(fold: Fold, labelsets: Array) -> Array | None:
    """Return what the pairs inside each labelset add to its score, None without pair costs."""
    if fold.energy.pairwise is None:
        return None
    on = labelsets.astype(np.int64)
    scores: Array = np.einsum("ij,ij->i", on @ np.triu(fold.energy.pairwise, 1), on)
    return scores

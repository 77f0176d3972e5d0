"""The pairwise costs of folds: one matrix for all objects of a fold, or one for each object."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from labelsure._core.running import one_thread
from labelsure._core.types import FloatArray, IntArray
from labelsure.labelsets._fold import Fold
from labelsure.labelsets._relaxation import relax_pairs

SCALE_OBJECTS = 256
"""So many objects tell what flipping a label typically costs."""


class FoldPairs:
    """The pairwise costs of K folds.

    Parameters
    ----------
    folds : sequence of Fold
        Of energies without discounts and overrides, if these are not asked for.

    Attributes
    ----------
    present : bool
        Whether any fold has pairwise costs.
    own : bool
        Whether some fold has a matrix for each object.
    """

    def __init__(self, folds: Sequence[Fold]) -> None:
        self.folds = folds
        pairwise = [fold.energy.pairwise for fold in folds]
        self.present = any(costs is not None for costs in pairwise)
        self.own = any(costs is not None and costs.ndim == 3 for costs in pairwise)

    def of(self, objects: IntArray) -> IntArray:
        """Return the symmetric matrices of some objects.

        Returns
        -------
        int64 array of shape (n, K, q, q), (1, K, q, q) or (1, K, 0, 0)
            Those of each object, those of all objects, or none.
        """
        return self._stack(objects) if self.own else self.shared

    @cached_property
    def shared(self) -> IntArray:
        """The matrices of all objects, (1, K, q, q), or (1, K, 0, 0) where there are none."""
        if not self.present:
            return np.empty((1, len(self.folds), 0, 0), dtype=np.int64)
        return self._stack(np.zeros(1, dtype=np.int64))

    @cached_property
    def shared_relaxation(self) -> tuple[FloatArray, FloatArray]:
        """The diagonals and gains of ``relax_pairs`` for all objects, each (1, K, q)."""
        units = [np.median(np.abs(fold.energy.unary[:SCALE_OBJECTS]), axis=0) for fold in self.folds]
        with one_thread():  # more of them only wait for each other on matrices this small
            relaxed = [relax_pairs(pairs, unit) for pairs, unit in zip(self.shared[0], units, strict=True)]
        diagonals, gains = zip(*relaxed, strict=True)
        return np.stack(diagonals)[None], np.stack(gains)[None]

    def relaxation(self, pairs: IntArray, costs: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return diagonals and gains for some objects.

        Parameters
        ----------
        pairs : as returned by ``of``
            With q labels.
        costs : (n, q, K)
            What flipping each label costs each of the objects.

        Returns
        -------
        diagonals, gains : float arrays of shape (n, K, q) or (1, K, q)
        """
        if not self.own:
            return self.shared_relaxation
        diagonals, gains = np.zeros((2, *pairs.shape[:3]))
        with one_thread():
            for row, of_object in enumerate(pairs):
                for k, of_fold in enumerate(of_object):
                    unit = np.abs(costs[row, :, k]).astype(np.float64)
                    diagonals[row, k], gains[row, k] = relax_pairs(of_fold, unit)
        return diagonals, gains

    def _stack(self, objects: IntArray) -> IntArray:
        n_labels = self.folds[0].energy.n_labels
        pairs = np.zeros((len(objects), len(self.folds), n_labels, n_labels), dtype=np.int64)
        for k, fold in enumerate(self.folds):
            costs = fold.energy.pairwise
            if costs is not None:
                upper = np.triu(costs[objects] if costs.ndim == 3 else costs, 1)
                pairs[:, k] = upper + np.swapaxes(upper, -1, -2)
        return pairs

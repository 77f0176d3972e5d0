"""Folds of objects with very many labels, almost all of which have the default output, and what those labels cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from labelsure._core.labelset_bits import Keys, find_keys, labelset_keys
from labelsure._core.sparse_energy import SparseEnergy
from labelsure._core.sparse_outputs import SparseOutputs
from labelsure._core.types import BoolArray, IntArray, LabelMatrix
from labelsure.labelsets.arrays._fold_arrays import Fold


@dataclass(frozen=True, eq=False)
class CompactFolds:
    """The folds of objects that have outputs of their own for few labels.

    Attributes
    ----------
    calibrations : sequence of int64 arrays
        The calibration scores of each of K folds, in ascending order.
    energies : sequence of SparseEnergy
        What labelsets cost under each fold.
    outputs : sequence of SparseOutputs
        Of the n objects, under each fold.
    """

    calibrations: Sequence[IntArray]
    energies: Sequence[SparseEnergy]
    outputs: Sequence[SparseOutputs]

    def __len__(self) -> int:
        return len(self.outputs[0])

    @property
    def n_labels(self) -> int:
        """The number of all labels."""
        return int(self.outputs[0].matrix.shape[1])

    def labels_of(self, i: int) -> IntArray:
        """Return the labels that object ``i`` has an output of its own for in some fold, ascending."""
        labels = np.unique(np.concatenate([part.labels_of(i) for part in self.outputs]))
        return labels if len(labels) else np.array([0])  # an engine needs a label; this one has the default output

    def on(self, i: int, labels: IntArray) -> list[Fold]:
        """Return the folds of object ``i`` over some labels, its own among them; the others off, without discounts."""
        parts = zip(self.calibrations, self.energies, strict=True)
        return [Fold(calibration, energy.energy_of(i, labels)) for calibration, energy in parts]

    @cached_property
    def costs(self) -> IntArray:
        """What switching a label with the default output on adds at least, (K, q)."""
        return np.stack([np.broadcast_to(energy.unary, self.n_labels) for energy in self.energies])

    @cached_property
    def kinds(self) -> tuple[IntArray, IntArray]:
        """Labels that cost the same are of one kind: a label of each kind, (G,), and the kind of each label, (q,)."""
        if all(len(energy.unary) == 1 for energy in self.energies):
            return np.array([0]), np.zeros(self.n_labels, dtype=np.int64)
        _, first, kind = np.unique(self.costs, axis=1, return_index=True, return_inverse=True)
        return first, kind.ravel()

    def lowest_without(self, labels: IntArray) -> IntArray:
        """Return what no sum of costs of labels other than these falls below, (K,)."""
        total: IntArray = self._negative.sum(axis=1) - self._negative[:, labels].sum(axis=1)
        return total

    @cached_property
    def _negative(self) -> IntArray:
        return np.minimum(self.costs, 0)

    @cached_property
    def seen(self) -> "SeenLabelsets":
        """The labelsets with discounts in some fold."""
        lists = [energy.discounts for energy in self.energies if energy.discounts is not None]
        every = np.concatenate([np.empty((0, self.n_labels), dtype=np.int8), *(one.labelsets for one in lists)])
        keys, first = np.unique(labelset_keys(every), return_index=True)
        on = every[first]
        nothing = np.zeros(len(on), dtype=np.int64)
        amounts = [nothing if energy.discounts is None else energy.discounts.of(on) for energy in self.energies]
        matrix = sparse.csc_array(on, dtype=np.int64)
        scores = (matrix @ self.costs.T).T - amounts
        return SeenLabelsets(keys, matrix, np.stack(amounts), scores, on.sum(axis=1, dtype=np.int64))


@dataclass(frozen=True, eq=False)
class SeenLabelsets:
    """Labelsets that have discounts.

    Attributes
    ----------
    keys : array of shape (S,)
        As from labelset_keys, sorted.
    on : sparse int64 array of shape (S, q)
        Zeros and ones, column by column.
    amounts : int64 array of shape (K, S)
        What each is spared in each fold.
    scores : int64 array of shape (K, S)
        What each costs where all labels have the default output, but for the constant.
    sizes : int64 array of shape (S,)
        How many labels each has.
    """

    keys: Keys
    on: Any
    amounts: IntArray
    scores: IntArray
    sizes: IntArray

    def within(self, labels: BoolArray) -> BoolArray:
        """Tell which of them have no label but these."""
        return np.asarray(self.on @ labels.astype(np.int64) == self.sizes)

    def amounts_of(self, Y: LabelMatrix) -> IntArray:
        """Return what each row of ``Y`` is spared, (K, m)."""
        places = find_keys(labelset_keys(Y), self.keys)
        return np.where(places >= 0, np.pad(self.amounts, ((0, 0), (0, 1)))[:, places], 0)

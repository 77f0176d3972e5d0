"""Folds, and the plain arrays that tables and searches make of them: built once, on first use."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from labelsure._core.calibration import Calibration
from labelsure._core.energy import Energy
from labelsure._core.types import IntArray, LabelMatrix
from labelsure.labelsets.arrays._lookup import Penalties, ScoreTables
from labelsure.labelsets.arrays._pairs import FoldPairs
from labelsure.labelsets.arrays._weighing import Weighing


@dataclass(frozen=True, eq=False)
class Fold:
    """One fold: the sorted scores of its calibration part, and the energy of the objects at hand under its model.

    An inductive predictor has one fold, a cross-conformal predictor K of them.
    """

    calibration: Calibration
    energy: Energy

    def take(self, objects: IntArray | slice) -> "Fold":
        """Return the fold for some of the objects."""
        return Fold(self.calibration, self.energy.take(objects))


class OverrideList(NamedTuple):
    """One object's labelsets that are looked at one by one: those with discounts or scores of their own in some fold.

    Attributes
    ----------
    labelsets : int8 array of shape (E, q)
    numerators, totals : int64 arrays of shape (E,)
        Of their p-values, and their total scores.
    general : int64 array of shape (E,)
        What the numerators would be in the energies' general form.
    n_stranger : int
        How many have a higher score of their own than in the general form, in some fold. The others are found no
        earlier than they should be by a search of the general form, so they never crowd out a labelset there.
    """

    labelsets: LabelMatrix
    numerators: IntArray
    totals: IntArray
    general: IntArray
    n_stranger: int


class FoldArrays:
    """The folds of n objects with q labels.

    Parameters
    ----------
    folds : sequence of Fold
        At least one.
    """

    def __init__(self, folds: Sequence[Fold]) -> None:
        self.folds = tuple(folds)
        self.n_folds = len(self.folds)
        self.n_objects, self.n_labels = self.folds[0].energy.unary.shape
        self.calibrations = [fold.calibration for fold in self.folds]
        pairwise = [fold.energy.pairwise for fold in self.folds]
        self.has_pairs = any(costs is not None for costs in pairwise)
        self.own_pairs = any(costs is not None and costs.ndim == 3 for costs in pairwise)
        self.has_link = any(fold.energy.link is not None for fold in self.folds)
        self.has_overrides = any(
            fold.energy.discounts is not None or fold.energy.overrides is not None for fold in self.folds
        )

    @cached_property
    def general(self) -> list[Energy]:
        """The energies without discounts and overrides, one per fold."""
        return [fold.energy.general_form() for fold in self.folds]

    @cached_property
    def tables(self) -> ScoreTables:
        """The folds' calibration scores, ready to be looked up."""
        links = [-1 if energy.link is None else energy.link.shift for energy in self.general]
        return ScoreTables.of(self.calibrations, [energy.lower_bound() for energy in self.general], links)

    @cached_property
    def penalties(self) -> Penalties:
        """The penalties of the general form."""
        return Penalties.of([energy.penalty for energy in self.general], self.n_labels)

    @cached_property
    def pairs(self) -> FoldPairs:
        """The pairwise costs; only where some fold has any."""
        return FoldPairs(self.general)

    def scores(self, Y: LabelMatrix, objects: IntArray) -> IntArray:
        """Return the scores in each fold of ``Y[r]`` for object ``objects[r]``, (K, m)."""
        return np.stack([fold.energy.scores(Y, objects=objects) for fold in self.folds])

    def total_scores(self, Y: LabelMatrix, objects: IntArray) -> IntArray:
        """Return the total score over the folds of ``Y[r]`` for object ``objects[r]``."""
        totals: IntArray = self.scores(Y, objects).sum(axis=0)
        return totals

    def overridden(self, objects: IntArray) -> tuple[IntArray, LabelMatrix]:
        """Return the labelsets that are looked at one by one, and whose they are: positions in ``objects``."""
        owners, labelsets = [], []
        if self._discounted is not None:
            owners.append(np.repeat(np.arange(len(objects)), len(self._discounted)))
            labelsets.append(np.tile(self._discounted, (len(objects), 1)))
        for fold in self.folds:
            if fold.energy.overrides is not None:
                overrides = fold.energy.overrides.take(objects)
                owners.append(overrides.owners())
                labelsets.append(overrides.labelsets)
        owner, listed = np.concatenate(owners), np.concatenate(labelsets)
        if len(owners) > 1:
            once = np.unique(np.column_stack([owner, listed]), axis=0)
            owner, listed = once[:, 0], once[:, 1:].astype(np.int8)
        return owner, listed

    @cached_property
    def _discounted(self) -> LabelMatrix | None:
        """The labelsets that have discounts in some fold."""
        lists = [fold.energy.discounts.labelsets for fold in self.folds if fold.energy.discounts is not None]
        return np.unique(np.concatenate(lists), axis=0) if lists else None

    def overrides_of(self, i: int, weighing: Weighing, *, allow_empty: bool) -> OverrideList:
        """Return those of object ``i`` that are candidates, with all that is asked about them."""
        if not self.has_overrides:
            nothing = np.empty(0, dtype=np.int64)
            return OverrideList(np.empty((0, self.n_labels), dtype=np.int8), nothing, nothing, nothing, 0)
        labelsets = self.overridden(np.array([i]))[1]
        labelsets = labelsets[labelsets.any(axis=1) | allow_empty]
        objects = np.full(len(labelsets), i)
        own = self.scores(labelsets, objects)
        general = np.stack([energy.scores(labelsets, objects=objects) for energy in self.general])
        return OverrideList(
            labelsets,
            weighing.of_scores(self.calibrations, own, objects),
            own.sum(axis=0),
            weighing.of_scores(self.calibrations, general, objects),
            int((own > general).any(axis=0).sum()),
        )

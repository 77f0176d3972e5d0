"""Labelsets that are looked at one by one: those that have discounts, or scores of their own, in some fold."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from labelsure._core.types import IntArray, LabelMatrix
from labelsure.labelsets._fold import Fold

if TYPE_CHECKING:
    from labelsure.labelsets._fold_engine import FoldEngine

KEPT_BYTES = 2**28
"""Answers about exceptional labelsets are kept for further questions, as long as they take no more than this."""


class OverrideList(NamedTuple):
    """The exceptional labelsets of one object.

    Attributes
    ----------
    labelsets : int8 array of shape (E, q)
    numerators, totals : int64 arrays of shape (E,)
        Of their p-values, and their total scores.
    general : int64 array of shape (E,)
        What the numerators would be, were they not exceptional.
    n_stranger : int
        How many have a higher score of their own than in the general form, in some fold. The others are found no
        earlier than they should be by a search of the general form, so they never crowd out a labelset there.
    """

    labelsets: LabelMatrix
    numerators: IntArray
    totals: IntArray
    general: IntArray
    n_stranger: int


class ExceptionalLabelsets:
    """The exceptional labelsets of an engine's objects.

    Parameters
    ----------
    engine : FoldEngine
        Whose folds to look at.
    general : sequence of Fold
        The same folds with the energies' general form.
    """

    def __init__(self, engine: "FoldEngine", general: Sequence[Fold]) -> None:
        self.engine = engine
        self.general = general
        lists = [fold.energy.discounts.labelsets for fold in engine.folds if fold.energy.discounts is not None]
        self.discounted = np.unique(np.concatenate(lists), axis=0) if lists else None
        self.present = bool(lists) or any(fold.energy.overrides is not None for fold in engine.folds)
        self._kept: dict[int, OverrideList] = {}
        self._kept_bytes = 0

    def of(self, objects: IntArray) -> tuple[IntArray, LabelMatrix]:
        """Return the labelsets that are exceptional in some fold, and whose they are: positions in ``objects``."""
        owners, labelsets = [], []
        if self.discounted is not None:
            owners.append(np.repeat(np.arange(len(objects)), len(self.discounted)))
            labelsets.append(np.tile(self.discounted, (len(objects), 1)))
        for fold in self.engine.folds:
            if fold.energy.overrides is not None:
                overrides = fold.energy.overrides.take(objects)
                owners.append(overrides.owners())
                labelsets.append(overrides.labelsets)
        owner, listed = np.concatenate(owners), np.concatenate(labelsets)
        if len(owners) > 1:
            once = np.unique(np.column_stack([owner, listed]), axis=0)
            owner, listed = once[:, 0], once[:, 1:].astype(np.int8)
        candidates = listed.any(axis=1) | self.engine.allow_empty
        return owner[candidates], listed[candidates]

    def of_one(self, i: int) -> OverrideList:
        """Return the exceptional labelsets of object ``i`` with all that is asked about them."""
        kept = self._kept.get(i)
        if kept is None:
            kept = self._look_at(i)
            n_bytes = len(kept.labelsets) * (self.engine.n_labels + 24)
            if self._kept_bytes + n_bytes <= KEPT_BYTES:
                self._kept[i] = kept
                self._kept_bytes += n_bytes
        return kept

    def _look_at(self, i: int) -> OverrideList:
        engine = self.engine
        if not self.present:
            nothing = np.empty(0, dtype=np.int64)
            return OverrideList(np.empty((0, engine.n_labels), dtype=np.int8), nothing, nothing, nothing, 0)
        labelsets = self.of(np.array([i]))[1]
        objects = np.full(len(labelsets), i)
        own = [fold.energy.scores(labelsets, objects=objects) for fold in engine.folds]
        general = [fold.energy.scores(labelsets, objects=objects) for fold in self.general]
        stranger = np.zeros(len(labelsets), dtype=bool)
        for fold_own, fold_general in zip(own, general, strict=True):
            stranger |= fold_own > fold_general
        return OverrideList(
            labelsets,
            engine.numerators_from(own, labelsets, objects),
            np.sum(own, axis=0),
            engine.numerators_from(general, labelsets, objects),
            int(stranger.sum()),
        )

"""Folds, and the plain arrays that tables and searches make of them: built once, on first use.

So that a count is one look-up instead of a binary search, the range of a fold's calibration scores
is cut into equal buckets. A bucket without a calibration score inside has one count for every score
that falls into it; only scores that share a bucket with a calibration score are compared, exactly,
with the few values there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from labelsure._checks import Int32Array, IntArray, LabelMatrix
from labelsure.engine._discounted import Discounted, Memory, pool_discounts
from labelsure.engine._pairs import FoldPairs
from labelsure.engine._rules import NO_RULES, LabelsetRules, Rules
from labelsure.engine._weighing import ObjectWeighing, Weighing
from labelsure.measures._energy import Energy, Penalty
from labelsure.measures._labelset_bits import Words, pack

BUCKET_BITS = 13
"""2^13 four-byte buckets are 32 KiB: the first-level cache of today's processors, so look-ups do not wait."""

MAX_BUCKET_BITS = 17
"""Many calibration scores would share so few buckets; up to 2^17 of them still are in the second-level cache."""

FAR = 1 << 60
"""Farther than any sum of costs: scores stay below 2^50."""

# Columns of ScoreTables.layout
BUCKET_BEGIN, BUCKET_LAST, VALUE_BEGIN, VALUE_END, COUNT_SHIFT, ORIGIN, SHIFT, LINK = range(8)


class ScoreTables(NamedTuple):
    """The calibration scores of K folds, concatenated.

    Attributes
    ----------
    buckets : int32 array
        The number of calibration scores at least as large as any score in the bucket or, where that
        differs within the bucket, ``~p`` with p the position among the fold's values of the first
        calibration score there.
    values : int64 array
        The distinct calibration scores, ascending within each fold.
    counts : int64 array
        How many calibration scores are >= each value, and a 0 after those of each fold.
    layout : int64 array of shape (K, 8)
        Where the fold's buckets begin, which is its last, where its values begin and end, by how
        much further its counts lie, the origin and shift of its buckets (score s falls into bucket
        ``(s - origin) >> shift``, those below all into the first, those above all into the last),
        and the shift of its square root link (-1: none).
    merged : int64 array
        The calibration scores of all folds, ascending.
    """

    buckets: Int32Array
    values: IntArray
    counts: IntArray
    layout: IntArray
    merged: IntArray

    @classmethod
    def of(cls, calibrations: Sequence[IntArray], links: Sequence[int]) -> "ScoreTables":
        """Return the tables of several folds.

        Parameters
        ----------
        calibrations : sequence of int64 arrays
            Scores in ascending order, none empty.
        links : sequence of int
            Shifts of square roots, -1 where there is none.
        """
        buckets = []
        values = []
        counts = []
        rows = []
        n_buckets = n_values = 0
        for k, (calibration, link) in enumerate(zip(calibrations, links, strict=True)):
            first = np.flatnonzero(
                np.diff(calibration, prepend=calibration[0] - 1)
            )  # of each distinct value
            own_values, own_counts = calibration[first], np.append(len(calibration) - first, 0)
            span = int(own_values[-1] - own_values[0])
            bits = min(max(BUCKET_BITS, (16 * len(own_values)).bit_length()), MAX_BUCKET_BITS)
            shift = max(0, span.bit_length() - bits)
            origin = int(own_values[0]) - (
                1 << shift
            )  # the first bucket is below all of them, the last above
            occupied = (own_values - origin) >> shift
            in_bucket = np.bincount(occupied, minlength=int(occupied[-1]) + 2)
            first_value = np.cumsum(in_bucket) - in_bucket
            own = own_counts[first_value].astype(np.int32)
            own[occupied] = ~first_value[occupied].astype(np.int32)
            ends = n_buckets + len(own), n_values + len(own_values)
            rows.append([n_buckets, ends[0] - 1, n_values, ends[1], k, origin, shift, link])
            n_buckets, n_values = ends
            buckets.append(own)
            values.append(own_values)
            counts.append(own_counts)
        layout, merged = np.array(rows, dtype=np.int64), np.sort(np.concatenate(calibrations))
        return cls(
            np.concatenate(buckets), np.concatenate(values), np.concatenate(counts), layout, merged
        )


_tables = Memory()


class Penalties(NamedTuple):
    """The penalties of K folds.

    Attributes
    ----------
    by_cardinality : int64 array of shape (K, levels, q + 1)
        The least penalty by number of labels over 1, 2, 4, ... numbers from each on; beyond the end
        it is cut off. One level of zeros where there is no penalty.
    anchors : uint64 array of shape (A, W)
        Labelsets as words, fold k's from ``anchor_begin[k]`` on.
    anchor_begin : int64 array of shape (K + 1,)
    per_distance : int64 array of shape (K,)
        What each unit of Hamming distance to the nearest of them costs.
    present : bool
        Whether any fold has a penalty.
    """

    by_cardinality: IntArray
    anchors: Words
    anchor_begin: IntArray
    per_distance: IntArray
    present: bool

    @classmethod
    def of(cls, penalties: Sequence[Penalty | None], n_labels: int) -> "Penalties":
        """Return the penalties of several folds, None where a fold has none."""
        n_words, n_levels = (n_labels + 63) // 64, (n_labels + 1).bit_length()
        least = np.zeros((len(penalties), n_levels, n_labels + 1), dtype=np.int64)
        per_distance = np.zeros(len(penalties), dtype=np.int64)
        anchors: list[Words] = [np.empty((0, n_words), dtype=np.uint64)] * len(penalties)
        for k, penalty in enumerate(penalties):
            if penalty is not None and penalty.by_cardinality is not None:
                least[k, 0] = penalty.by_cardinality
            if penalty is not None and penalty.per_distance > 0 and penalty.anchors is not None:
                per_distance[k] = penalty.per_distance
                anchors[k] = pack(penalty.anchors)
        present = any(penalty is not None for penalty in penalties)
        for level in range(1, n_levels if present else 1):
            half, last = 1 << (level - 1), least[:, level - 1]
            least[:, level] = np.concatenate(
                [np.minimum(last[:, :-half], last[:, half:]), last[:, -half:]], axis=1
            )
        return cls(
            by_cardinality=least,
            anchors=np.concatenate(anchors),
            anchor_begin=np.cumsum([0, *map(len, anchors)], dtype=np.int64),
            per_distance=per_distance,
            present=present,
        )


class Lookup(NamedTuple):
    """All that the numerator of one object's labelset follows from, once its additive scores are known.

    Attributes
    ----------
    tables : ScoreTables
    penalties : Penalties
    weighing : ObjectWeighing
    allow_empty : bool
        Whether the empty labelset is a candidate.
    rules : Rules
        What candidates have to obey, with the object's own places.
    """

    tables: ScoreTables
    penalties: Penalties
    weighing: ObjectWeighing
    allow_empty: bool
    rules: Rules = NO_RULES


@dataclass(frozen=True, eq=False)
class Fold:
    """One fold: the scores of its calibration part, and the energy of the objects at hand under its model.

    An inductive predictor has one fold, a cross-conformal predictor K of them.

    Attributes
    ----------
    calibration : int64 array of shape (m,)
        The nonconformity scores of the true labelsets of its calibration examples, in ascending
        order.
    energy : Energy
        Of the objects at hand.
    """

    calibration: IntArray
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
        How many have a higher score of their own than in the general form, in some fold. The others
        are found no earlier than they should be by a search of the general form, so they never
        crowd out a labelset there.
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
        # the energies without discounts and overrides
        self.general = [fold.energy.general_form() for fold in folds]
        self.n_folds = len(self.folds)
        self.n_objects, self.n_labels = self.folds[0].energy.unary.shape
        self.calibrations = [fold.calibration for fold in self.folds]
        pairwise = [fold.energy.pairwise for fold in self.folds]
        self.has_pairs = any(costs is not None for costs in pairwise)
        self.own_pairs = any(costs is not None and costs.ndim == 3 for costs in pairwise)
        self.has_maxima = any(fold.energy.maxima for fold in self.folds)
        self.has_link = any(fold.energy.link is not None for fold in self.folds)
        self.has_own_scores = any(fold.energy.overrides is not None for fold in self.folds)
        self.has_discounts = any(fold.energy.discounts is not None for fold in self.folds)
        self.has_overrides = self.has_own_scores or self.has_discounts

    @cached_property
    def tables(self) -> ScoreTables:
        """The folds' calibration scores, ready to be looked up."""
        links = [-1 if fold.energy.link is None else fold.energy.link.shift for fold in self.folds]
        return _tables.recall(
            self.calibrations, lambda: ScoreTables.of(self.calibrations, links), *links
        )

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
        if self.has_discounts:
            shared = self.discounted.labelsets
            owners.append(np.repeat(np.arange(len(objects)), len(shared)))
            labelsets.append(np.tile(shared, (len(objects), 1)))
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
    def discounted(self) -> Discounted:
        """The labelsets that have discounts in some fold."""
        return pool_discounts([fold.energy.discounts for fold in self.folds], self.n_labels)

    @property
    def adds_up(self) -> bool:
        """Whether scores are sums over labels, but for discounts."""
        return not (
            self.has_pairs or self.has_link or self.penalties.present or self.has_own_scores
        )

    def overrides_of(
        self,
        i: int,
        weighing: Weighing,
        *,
        allow_empty: bool,
        constraints: LabelsetRules | None = None,
    ) -> OverrideList:
        """Return those of object ``i`` that are candidates, with all that is asked about them."""
        if not self.has_overrides:
            nothing = np.empty(0, dtype=np.int64)
            return OverrideList(
                np.empty((0, self.n_labels), dtype=np.int8), nothing, nothing, nothing, 0
            )
        labelsets = self.overridden(np.array([i]))[1]
        labelsets = labelsets[labelsets.any(axis=1) | allow_empty]
        if constraints is not None:
            labelsets = labelsets[constraints.allow(labelsets)]
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

    def general_numerators(self, Y: LabelMatrix, weighing: Weighing, objects: IntArray) -> IntArray:
        """Return the numerators in the general form of ``Y[r]`` for object ``objects[r]``."""
        scores = np.stack([energy.scores(Y, objects=objects) for energy in self.general])
        return weighing.of_scores(self.calibrations, scores, objects)

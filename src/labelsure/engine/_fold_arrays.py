"""Folds, and the plain arrays that tables and searches make of them: built once, on first use.

So that a count is one look-up instead of a binary search, the range of a fold's calibration scores
is cut into equal buckets. A bucket without a calibration score inside has one count for every score
that falls into it; only scores that share a bucket with a calibration score are compared, exactly,
with the few values there.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeVar
from weakref import ref

import numpy as np

from labelsure._checks import BoolArray, Int32Array, IntArray, LabelMatrix
from labelsure.engine._pairs import FoldPairs
from labelsure.engine._rules import NO_RULES, LabelsetRules, Rules
from labelsure.engine._weighing import ObjectWeighing, Weighing
from labelsure.measures._energy import Discounts, Energy, Penalty
from labelsure.measures._labelset_bits import Words, pack

BUCKET_BITS = 13
"""2^13 four-byte buckets are 32 KiB and fit the first-level cache of today's processors."""

MAX_BUCKET_BITS = 17
"""Where calibration scores are many; 2^17 buckets still fit the second-level cache."""

FAR = 1 << 60
"""Farther than any sum of costs: scores stay below 2^50."""

# Columns of ScoreTables.layout
BUCKET_BEGIN, BUCKET_LAST, VALUE_BEGIN, VALUE_END, COUNT_SHIFT, ORIGIN, SHIFT, LINK = range(8)


Made = TypeVar("Made")


class Memory:
    """Keeps what was made of some objects as long as the first of them lives.

    Examples
    --------
    >>> import numpy as np
    >>> memory, part = Memory(), np.arange(3)
    >>> memory.recall([part], part.sum) is memory.recall([part], part.sum)
    True
    """

    def __init__(self) -> None:
        self._made: dict[Hashable, tuple[Any, list[Any], Any]] = {}

    def recall(self, parts: Sequence[Any], make: Callable[[], Made], *more: Hashable) -> Made:
        """Return what ``make`` returns, called once for the same objects and ``more``.

        Parameters
        ----------
        parts : sequence of objects or None
            None of which changes; what is made must not hold the first that is not None.
        """
        first = next((part for part in parts if part is not None), None)
        if first is None:
            return make()
        key = (*map(id, parts), *more)
        if key not in self._made:
            # kept, so that no other object gets their number
            others = [part for part in parts if part is not first]
            self._made[key] = ref(first, lambda _: self._made.pop(key, None)), others, make()
        made: Made = self._made[key][2]
        return made


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
            # index of each distinct value
            first = np.flatnonzero(np.diff(calibration, prepend=calibration[0] - 1))
            own_values, own_counts = calibration[first], np.append(len(calibration) - first, 0)
            span = int(own_values[-1] - own_values[0])
            bits = min(max(BUCKET_BITS, (16 * len(own_values)).bit_length()), MAX_BUCKET_BITS)
            shift = max(0, span.bit_length() - bits)
            # the first bucket is below all of them, the last above
            origin = int(own_values[0]) - (1 << shift)
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


_tables, _discounts = Memory(), Memory()


class Discounted(NamedTuple):
    """E labelsets, each once, and what they are spared in each of K folds.

    Attributes
    ----------
    labelsets : int8 (E, q)
        Zeros and ones.
    words : uint64 (E, W)
        The same, bit j being label j, in ascending order: the first word decides, then the second.
    begin, label : (E + 1,), (m,)
        The same: labelset e has the labels ``label[begin[e] : begin[e + 1]]``.
    more : (E, K)
        Minus what is taken from the general score; 0 in folds that do not know the labelset.
    least, total : (E,)
        The least of that, and its sum.
    """

    labelsets: LabelMatrix
    words: Words
    begin: IntArray
    label: IntArray
    more: IntArray
    least: IntArray
    total: IntArray

    @classmethod
    def of(cls, folds: Sequence[Discounts | None], n_labels: int) -> "Discounted":
        """Return the labelsets of several folds' discounts; None where a fold has none."""
        there = [(k, discounts) for k, discounts in enumerate(folds) if discounts is not None]
        labelsets = np.concatenate(
            [
                np.empty((0, n_labels), dtype=np.int8),
                *(discounts.labelsets for _, discounts in there),
            ]
        )
        words = pack(labelsets)
        order = np.lexsort(words.T[::-1])
        is_first = np.ones(len(order), dtype=bool)
        is_first[1:] = (words[order[1:]] != words[order[:-1]]).any(axis=1)
        number = np.empty(len(order), dtype=np.int64)
        number[order] = np.cumsum(is_first) - 1
        once = order[is_first]
        more = np.zeros((len(once), len(folds)), dtype=np.int64)
        start = 0
        for k, discounts in there:
            more[number[start : start + len(discounts.amounts)], k] = -discounts.amounts
            start += len(discounts.amounts)
        return cls.from_costs(labelsets[once], more)

    @classmethod
    def from_costs(cls, labelsets: LabelMatrix, more: IntArray) -> "Discounted":
        """Return labelsets, in the order of their words, with what is added to their scores."""
        rows, label = np.nonzero(labelsets)
        begin = np.searchsorted(rows, np.arange(len(labelsets) + 1))
        return cls(
            labelsets, pack(labelsets), begin, label, more, more.min(axis=1), more.sum(axis=1)
        )

    def take(self, kept: BoolArray) -> "Discounted":
        """Return some of the labelsets."""
        return self if kept.all() else Discounted.from_costs(self.labelsets[kept], self.more[kept])

    def scores(self, constant: IntArray, unary: IntArray) -> IntArray:
        """Return one object's additive scores of each labelset, (K, E)."""
        sums = np.zeros((len(unary), len(self.label) + 1), dtype=np.int64)
        np.cumsum(unary[:, self.label], axis=1, out=sums[:, 1:])
        scores: IntArray = constant[:, None] + sums[:, self.begin[1:]] - sums[:, self.begin[:-1]]
        return scores


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
    """What turns the additive scores of one object's labelset into its numerator.

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
    """One fold: its calibration scores, and the energy of the objects under its model.

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


class ListedLabelsets(NamedTuple):
    """One object's labelsets whose score is not the general form's in some fold.

    Attributes
    ----------
    labelsets : int8 array of shape (E, q)
    words : uint64 array of shape (E, W)
        The same, in ascending order: the first word decides, then the second.
    numerators, totals : int64 arrays of shape (E,)
        Of their p-values, and their total scores.
    general : int64 array of shape (E,)
        What the numerators would be in the general form.
    """

    labelsets: LabelMatrix
    words: Words
    numerators: IntArray
    totals: IntArray
    general: IntArray


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

    def label_costs(self, objects: IntArray) -> tuple[IntArray, IntArray]:
        """Return constants and costs of labels in the general form, (K, n) and (K, n, q)."""
        constant = np.stack([energy.constant[objects] for energy in self.general])
        return constant, np.stack([energy.unary[objects] for energy in self.general])

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

    @cached_property
    def discounted(self) -> Discounted:
        """The labelsets that have discounts in some fold."""
        discounts = [fold.energy.discounts for fold in self.folds]
        return _discounts.recall(discounts, lambda: Discounted.of(discounts, self.n_labels))

    @property
    def adds_up(self) -> bool:
        """Whether scores are sums over labels, but for discounts."""
        return not (
            self.has_pairs or self.has_link or self.penalties.present or self.has_own_scores
        )

    def listed_of(
        self, i: int, weighing: Weighing, allow_empty: bool, constraints: LabelsetRules | None
    ) -> ListedLabelsets:
        """Return the listed labelsets of object ``i`` that are candidates."""
        own = [fold.energy.overrides for fold in self.folds if fold.energy.overrides is not None]
        of_object = np.array([i])
        listed = [self.discounted.labelsets, *(one.take(of_object).labelsets for one in own)]
        labelsets = np.concatenate(listed)
        words = pack(labelsets)
        words, first = np.unique(words, axis=0, return_index=True)
        labelsets = labelsets[first]
        candidates = labelsets.any(axis=1) | allow_empty
        if constraints is not None:
            candidates &= constraints.allow(labelsets)
        labelsets, words = labelsets[candidates], words[candidates]
        objects = np.full(len(labelsets), i)
        scores = self.scores(labelsets, objects)
        return ListedLabelsets(
            labelsets,
            words,
            weighing.of_scores(self.calibrations, scores, objects),
            scores.sum(axis=0),
            self.general_numerators(labelsets, weighing, objects),
        )

    def general_numerators(self, Y: LabelMatrix, weighing: Weighing, objects: IntArray) -> IntArray:
        """Return the numerators in the general form of ``Y[r]`` for object ``objects[r]``."""
        scores = np.stack([energy.scores(Y, objects=objects) for energy in self.general])
        return weighing.of_scores(self.calibrations, scores, objects)

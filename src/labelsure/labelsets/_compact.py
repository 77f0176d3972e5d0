"""The engine for very many labels of which each object has few that matter.

Where outputs are sparse, almost all labels of an object have the same default output in every fold. A bound tells which
of these can be on in a labelset that is asked for, most often none; the answer comes from them and the object's own
labels alone. Labelsets with discounts are looked at one by one, whatever their labels.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, TypeVar

import numpy as np

from labelsure._core.energy_parts import Discounts
from labelsure._core.running import map_in_threads
from labelsure._core.types import BoolArray, FloatArray, IntArray, LabelMatrix
from labelsure.labelsets._compact_folds import CompactFolds
from labelsure.labelsets._engine import LabelsetEngine
from labelsure.labelsets._fold_engine import FoldEngine, WeighingAt, weighing_of_some
from labelsure.labelsets.arrays._fold_arrays import Fold
from labelsure.labelsets.arrays._results import BestLabelsets, EngineOptions, Members, RegionSize, check_listable
from labelsure.labelsets.arrays._weighing import Weighing

Answer = TypeVar("Answer")


class CompactEngine(LabelsetEngine):
    """Answers questions about labelsets object by object, from the few labels that matter to each.

    Parameters
    ----------
    folds : CompactFolds
        Of all objects.
    objects : int64 array of shape (n,)
        The numbers of the objects.
    weighing : Weighing
        How the folds' counts become numerators, for these objects.
    allow_empty, weighing_at, options, n_jobs
        As in FoldEngine.
    """

    def __init__(
        self,
        folds: CompactFolds,
        objects: IntArray,
        weighing: Weighing,
        *,
        allow_empty: bool,
        weighing_at: WeighingAt | None = None,
        options: EngineOptions | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.folds, self.objects, self.weighing, self.weighing_at = folds, objects, weighing, weighing_at
        self.n_objects, self.n_labels, self.denominators = len(objects), folds.n_labels, weighing.denominators
        self.allow_empty, self.options, self.n_jobs = allow_empty, options or EngineOptions(), n_jobs

    def take(self, objects: IntArray) -> "CompactEngine":
        """Return the engine for some of the objects."""
        at = self.weighing_at
        weighing_at = None if at is None else partial(weighing_of_some, at, objects)
        return self._with(self.objects[objects], self.weighing.take(objects), weighing_at)

    def at_level(self, significance: Fraction) -> tuple[LabelsetEngine, IntArray]:
        """Return the engine that decides about regions at a level, and the smallest numerator of each object's."""
        if self.weighing_at is None:
            return self, self.smallest_member(significance)
        return self._with(self.objects, self.weighing_at(significance)), np.ones(self.n_objects, dtype=np.int64)

    def _with(self, objects: IntArray, weighing: Weighing, weighing_at: WeighingAt | None = None) -> "CompactEngine":
        kept: dict[str, Any] = {name: getattr(self, name) for name in ("allow_empty", "options", "n_jobs")}
        return CompactEngine(self.folds, objects, weighing, weighing_at=weighing_at, **kept)

    def total_scores(self, Y: LabelMatrix, objects: IntArray) -> IntArray:
        """Return the total score over the folds of ``Y[r]`` for object ``objects[r]``."""
        totals: IntArray = self._fold_scores(Y, objects).sum(axis=0)
        return totals

    def p_value_table(self, *, empty: IntArray | None = None) -> FloatArray:
        """Refuse, or list all labelsets."""
        return self._list_all(lambda engine, own: engine.p_value_table(empty=own), empty, self.n_candidates)

    def label_masses(self, *, empty: IntArray | None = None) -> FloatArray:
        """Refuse, or list all labelsets."""
        return self._list_all(lambda engine, own: engine.label_masses(empty=own), empty, self.n_labels)

    def top(self, n_best: int, objects: IntArray | None = None) -> BestLabelsets:
        """Return the ``n_best`` most plausible labelsets of some objects (None: of all)."""

        def answer(i: int) -> tuple[LabelMatrix, BestLabelsets]:
            one = self._object(i)
            own = self._mask(one.labels)
            best = self._engine_on(i, own).top(n_best)
            # as good as the last of the best or better: what is found so far, each labelset once
            found = np.concatenate([best.numerators[0], one.seen[~self.folds.seen.within(own)]])
            relevant = self._relevant(one, int(np.partition(found, -n_best)[-n_best]))
            if relevant.sum() > len(one.labels):
                best = self._engine_on(i, relevant).top(n_best)
            return self._expand(best.labelsets[0], np.flatnonzero(relevant)), best

        chosen = range(self.n_objects) if objects is None else objects.tolist()
        together = BestLabelsets.nothing(len(chosen), n_best, self.n_labels)
        for row, (labelsets, best) in enumerate(self._map(answer, chosen)):
            missed = None if best.certain[0] else int(best.upper[0].max())
            together.write(row, best.numerators[0], labelsets, missed)
        return together

    def region_sizes(self, smallest: int | IntArray, *, bits: float = 1.0) -> Sequence[RegionSize]:
        """Return how many labelsets of each object have a numerator of at least ``smallest``, which may differ."""
        least = np.broadcast_to(smallest, self.n_objects).tolist()
        return self._map(lambda i: self._engine_at(i, least[i])[0].region_sizes(least[i], bits=bits)[0])

    def region_members(self, i: int, smallest: int, limit: int | None) -> Members:
        """Return the most plausible labelsets of object ``i`` with a numerator of at least ``smallest``."""
        engine, labels = self._engine_at(i, smallest)
        labelsets, numerators = engine.region_members(0, smallest, limit)
        return self._expand(labelsets, labels), numerators

    def iterate_members(self, i: int, smallest: int) -> Iterator[Members]:
        """Yield the labelsets of object ``i`` with a numerator of at least ``smallest``, some at a time."""
        engine, labels = self._engine_at(i, smallest)
        for labelsets, numerators in engine.iterate_members(0, smallest):
            yield self._expand(labelsets, labels), numerators

    def label_numerators(self) -> IntArray:
        """Return the highest numerator among the labelsets with each label off and on, (n_objects, n_labels, 2)."""

        def answer(i: int) -> IntArray:
            one = self._object(i)
            own = self._mask(one.labels)
            shown, stand_in = self._stand_ins(own, all(fold.energy.pairwise is None for fold in one.folds))
            labels = np.flatnonzero(shown)
            numerators = np.empty((self.n_labels, 2), dtype=np.int64)
            numerators[labels] = self._engine(i, self.folds.on(int(self.objects[i]), labels)).label_numerators()[0]
            numerators = numerators[stand_in]
            self._add_seen(one.seen, numerators)
            return numerators

        return np.array(self._map(answer), dtype=np.int64).reshape(-1, self.n_labels, 2)

    def _stand_ins(self, own: BoolArray, alike: bool) -> tuple[BoolArray, IntArray]:
        """Return labels whose answers are those of all, an object's own among them, and which stands for each label.

        Of labels that cost nothing less than zero in any fold, one at most is on in a best labelset, where that is the
        forced one or the empty labelset is no candidate. So two stand for all of their kind: one off, the other on.
        """
        first, kind = self.folds.kinds
        shown, stand_in = np.ones_like(own), np.arange(self.n_labels)
        if not alike:
            return shown, stand_in
        others = np.flatnonzero(~own)
        others = others[np.argsort(kind[others], kind="stable")]
        begin = np.searchsorted(kind[others], kind[others])  # of each one's kind
        spare = np.arange(len(others)) - begin >= 2
        spare &= np.all(self.folds.costs[:, first] >= 0, axis=0)[kind[others]]
        shown[others[spare]] = False
        stand_in[others[spare]] = others[begin[spare]]
        return shown, stand_in

    def _add_seen(self, seen: IntArray, numerators: IntArray) -> None:
        """Raise the highest numerators of labels, (q, 2), to those of labelsets with discounts, (S,)."""
        on = self.folds.seen.on
        np.maximum.at(numerators[:, 1], np.repeat(np.arange(self.n_labels), np.diff(on.indptr)), seen[on.indices])
        off, rows = np.arange(self.n_labels), on.tocsr()
        for row in np.argsort(-seen, kind="stable"):  # the best, and the next best for the labels that it has, ...
            if not len(off):
                break
            has = np.isin(off, rows.indices[rows.indptr[row] : rows.indptr[row + 1]])
            numerators[off[~has], 0] = np.maximum(numerators[off[~has], 0], seen[row])
            off = off[has]

    def numerators_of(self, Y: LabelMatrix, objects: IntArray | None = None) -> IntArray:
        """Return the numerators of the p-values of ``Y[r]`` for object ``objects[r]`` (None: one row per object)."""
        objects = np.arange(self.n_objects) if objects is None else objects
        numerators = self.weighing.of_scores(self.folds.calibrations, self._fold_scores(Y, objects), objects)
        return numerators if self.allow_empty else np.where(np.any(Y, axis=1), numerators, 0)

    def _fold_scores(self, Y: LabelMatrix, objects: IntArray) -> IntArray:
        """Return the scores of ``Y[r]`` for object ``objects[r]`` under each fold, (K, m)."""
        scores = -self.folds.seen.amounts_of(Y)
        for i in np.unique(objects):
            rows, number = np.flatnonzero(objects == i), int(self.objects[i])
            labels = np.flatnonzero(self._mask(self.folds.labels_of(number)) | Y[rows].any(axis=0))
            inside, nobody = Y[np.ix_(rows, labels)], np.zeros(len(rows), dtype=np.int64)
            scores[:, rows] += [fold.energy.scores(inside, objects=nobody) for fold in self.folds.on(number, labels)]
        return scores

    def _object(self, i: int) -> "CompactObject":
        """Return all that tells which labels matter to object ``i``."""
        labels, known = self.folds.labels_of(int(self.objects[i])), self.folds.seen
        folds = self.folds.on(int(self.objects[i]), labels)
        unary, constant = (np.stack([getattr(one.energy, name)[0] for one in folds]) for name in ("unary", "constant"))
        change = known.on[:, labels] @ (unary - self.folds.costs[:, labels]).T
        scores = constant[:, None] + known.scores + change.T
        lowest = np.array([one.energy.lower_bound() for one in folds]) + self.folds.lowest_without(labels)
        highest = self._weigh(i, lowest[:, None] + np.maximum(self.folds.costs[:, self.folds.kinds[0]], 0))
        seen = np.where((known.sizes > 0) | self.allow_empty, self._weigh(i, scores), -1)
        return CompactObject(labels, folds, highest, seen)

    def _weigh(self, i: int, scores: IntArray) -> IntArray:
        """Return the numerators of labelsets of object ``i`` with these scores, (K, m)."""
        return self.weighing.of_scores(self.folds.calibrations, scores, np.full(scores.shape[1], i))

    def _engine(self, i: int, folds: Sequence[Fold]) -> FoldEngine:
        """Return an engine for object ``i`` alone."""
        weighing = self.weighing.take(np.array([i]))
        return FoldEngine(folds, allow_empty=self.allow_empty, weighing=weighing, options=self.options)

    def _engine_on(self, i: int, shown: BoolArray) -> FoldEngine:
        """Return an engine for object ``i`` alone that knows some labels, (q,)."""
        labels, seen = np.flatnonzero(shown), self.folds.seen
        folds = self.folds.on(int(self.objects[i]), labels)
        inside = np.flatnonzero(seen.within(shown))
        if len(inside):
            labelsets = seen.on[:, labels][inside].toarray().astype(np.int8)
            folds = [
                replace(fold, energy=replace(fold.energy, discounts=Discounts(labelsets, amounts[inside])))
                for fold, amounts in zip(folds, seen.amounts, strict=True)
            ]
        return self._engine(i, folds)

    def _engine_at(self, i: int, smallest: int) -> tuple[FoldEngine, IntArray]:
        """Return an engine that knows all labelsets with a numerator of at least ``smallest``, and its labels."""
        relevant = self._relevant(self._object(i), smallest)
        return self._engine_on(i, relevant), np.flatnonzero(relevant)

    def _relevant(self, one: "CompactObject", smallest: int) -> BoolArray:
        """Tell which labels are the object's own or those of a labelset with a numerator of at least ``smallest``."""
        relevant = (one.highest >= smallest)[self.folds.kinds[1]]
        relevant[one.labels] = True
        relevant |= self.folds.seen.on.T @ (one.seen >= smallest) > 0
        return relevant

    def _mask(self, labels: IntArray) -> BoolArray:
        mask = np.zeros(self.n_labels, dtype=bool)
        mask[labels] = True
        return mask

    def _expand(self, labelsets: LabelMatrix, labels: IntArray) -> LabelMatrix:
        expanded = np.zeros((len(labelsets), self.n_labels), dtype=np.int8)
        expanded[:, labels] = labelsets
        return expanded

    def _list_all(
        self, ask: Callable[[FoldEngine, IntArray | None], FloatArray], empty: IntArray | None, width: int
    ) -> FloatArray:
        """Return the answers of engines that know all labels, one below the other."""
        check_listable(self.n_labels, self.options)
        everything = np.ones(self.n_labels, dtype=bool)
        answers = self._map(lambda i: ask(self._engine_on(i, everything), None if empty is None else empty[[i]]))
        return np.concatenate(answers) if answers else np.empty((0, width))

    def _map(self, answer: Callable[[int], Answer], objects: Sequence[int] | None = None) -> list[Answer]:
        chosen = range(self.n_objects) if objects is None else objects
        return list(map_in_threads(answer, chosen, n_jobs=self.n_jobs, description="objects"))


@dataclass(frozen=True, eq=False)
class CompactObject:
    """What tells which labels matter to an object.

    Attributes
    ----------
    labels : int64 array of shape (u,)
        Those with an output of its own in some fold, ascending.
    folds : sequence of Fold
        Over these labels, the others being off, without discounts.
    highest : int64 array of shape (G,)
        Numbers that no numerator of a labelset without discounts exceeds that has another label of each kind.
    seen : int64 array of shape (S,)
        The numerators of labelsets with discounts; -1 for what is no candidate.
    """

    labels: IntArray
    folds: Sequence[Fold]
    highest: IntArray
    seen: IntArray

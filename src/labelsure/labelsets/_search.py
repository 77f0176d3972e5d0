"""Searches over labelsets that are never listed: problems posed in batches, handed to the kernels in threads."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from labelsure._core.running import map_in_threads, stop_if_asked
from labelsure._core.types import BoolArray, IntArray, LabelMatrix
from labelsure.labelsets._best_first import best_members
from labelsure.labelsets._depth_first_kernels import BUFFER_FULL, FINISHED, FOUND, search
from labelsure.labelsets._engine import DRAW_UNIT, BestLabelsets
from labelsure.labelsets._estimate import estimate_size
from labelsure.labelsets._exceptional import ExceptionalLabelsets
from labelsure.labelsets._fold import Fold
from labelsure.labelsets._fold_arrays import FoldParts, fold_tables
from labelsure.labelsets._label_search import LabelSearch
from labelsure.labelsets._listed_members import sorted_members
from labelsure.labelsets._lookup_kernels import weigh_rows
from labelsure.labelsets._pair_search import best_pair_members, list_pair_members, pose_pair_problem
from labelsure.labelsets._problems import Problems, pose_problems
from labelsure.labelsets._ranking_kernels import NUMERATOR, TOTAL
from labelsure.labelsets._size import RegionSize
from labelsure.labelsets._words import Words, as_keys, pack, unpack

if TYPE_CHECKING:
    from labelsure.labelsets._fold_engine import FoldEngine

Answer = TypeVar("Answer")

BLOCK_BYTES = 2**22
"""Costs of the objects that one thread works on at a time; a problem takes about six times as much."""

BLOCK_OBJECTS = 32
"""At most so many, so that an interrupt is heard soon."""

PROBED_OBJECTS = 8
"""So many regions are counted to see whether counting is worth while."""

CHUNK = 4096
"""Members handed over at a time."""

CALL_BUDGET = 1_000_000
"""Evaluations of one call of the depth-first kernel, about 0.05 s, so that an interrupt is heard soon."""


class FoldSearch:
    """Searches for one engine.

    Parameters
    ----------
    engine : FoldEngine
        Whose folds to search.
    """

    def __init__(self, engine: "FoldEngine") -> None:
        self.engine = engine
        self.n_words = (engine.n_labels + 63) // 64
        self.general = [Fold(fold.calibration, fold.energy.general_form()) for fold in engine.folds]
        self.parts = FoldParts(self.general)
        self.tables = fold_tables(self.general)
        weighted = engine.draws is not None or engine.rule is not None
        self.plain = not (self.parts.has_penalty or self.parts.has_link or weighted)
        self.exceptional = ExceptionalLabelsets(engine, self.general)

    @property
    def node_cost(self) -> int:
        """About how many additive evaluations one evaluation takes: bounds of pairs and of distances look at more.

        Searches with pairs count what distances take themselves.
        """
        return 5 if self.parts.pairs.present else 1 + len(self.parts.anchors) // len(self.engine.folds)

    def top(self, n_best: int) -> BestLabelsets:
        """Return the ``n_best`` most plausible labelsets of each object."""

        def answer(objects: IntArray) -> tuple[LabelMatrix, IntArray]:
            problems = pose_problems(self.general, self.parts, objects)
            words = np.zeros((len(objects), n_best, self.n_words), dtype=np.uint64)
            numerators = np.zeros((len(objects), n_best), dtype=np.int64)
            for row, i in enumerate(objects):
                self._top_of(problems, row, int(i), words[row], numerators[row])
            labelsets = unpack(words.reshape(-1, self.n_words), self.engine.n_labels)
            return labelsets.reshape(len(objects), n_best, -1), numerators

        nobody = (np.empty((0, n_best, self.engine.n_labels), dtype=np.int8), np.empty((0, n_best), dtype=np.int64))
        labelsets, numerators = zip(*[nobody, *self._map_blocks(answer, "best labelsets")], strict=True)
        return BestLabelsets(np.concatenate(labelsets), np.concatenate(numerators))

    def label_numerators(self) -> IntArray:
        """Return the highest numerator among the labelsets with each label off and on, (n_objects, n_labels, 2)."""
        labels = LabelSearch(self)

        def answer(objects: IntArray) -> IntArray:
            problems = pose_problems(self.general, self.parts, objects)
            return np.stack([labels.numerators_of(problems, row, int(i)) for row, i in enumerate(objects)])

        nobody = np.empty((0, self.engine.n_labels, 2), dtype=np.int64)
        return np.concatenate([nobody, *self._map_blocks(answer, "p-values of labels")])

    def count_members(self, smallest: int | IntArray, budget: int) -> list[int | None]:
        """Return the exact sizes of all regions, None for those that take more than ``budget`` evaluations.

        Where that is most of the first few, none is counted.
        """
        first = self._count(np.arange(min(PROBED_OBJECTS, self.engine.n_objects)), smallest, budget)
        if 2 * sum(not finished for _, finished in first) > len(first):
            return [None] * self.engine.n_objects
        blocks = self._map_blocks(lambda objects: self._count(objects, smallest, budget), "region sizes")
        return [size if finished else None for block in blocks for size, finished in block]

    def region_sizes(self, smallest: int | IntArray, budget: int, *, rough: bool = False) -> list[RegionSize]:
        """Return the sizes of all regions, estimated where counting takes more than ``budget`` evaluations."""
        engine = self.engine
        least = np.broadcast_to(smallest, engine.n_objects)

        def answer(objects: IntArray) -> list[RegionSize]:
            sizes: dict[int, RegionSize] = dict.fromkeys(objects.tolist(), engine.n_candidates)
            open_ones = objects[[least[i] > self._lowest(int(i)) for i in objects]]  # others hold everything
            for i, (size, finished) in zip(open_ones.tolist(), self._count(open_ones, smallest, budget), strict=True):
                sizes[i] = size if finished else estimate_size(engine, i, int(least[i]), at_least=size, rough=rough)
            return list(sizes.values())

        return [size for block in self._map_blocks(answer, "region sizes") for size in block]

    def region_members(self, i: int, smallest: int, limit: int | None) -> tuple[LabelMatrix, IntArray]:
        """Return the most plausible labelsets of object ``i`` with a numerator of at least ``smallest``."""
        return sorted_members(self.engine, i, smallest, limit, lambda most: self._best_members(i, smallest, most))

    def _best_members(self, i: int, smallest: int, limit: int) -> tuple[LabelMatrix, IntArray]:
        """Return the ``limit`` most plausible of the labelsets with a numerator of at least ``smallest``."""
        words = np.zeros((limit, self.n_words), dtype=np.uint64)
        numerators = np.zeros(limit, dtype=np.int64)
        if limit > 0:
            problems = pose_problems(self.general, self.parts, np.array([i]))
            self._top_of(problems, 0, i, words, numerators)
        members = np.flatnonzero(numerators >= smallest)
        return unpack(words[members], self.engine.n_labels), numerators[members]

    def iterate_members(self, i: int, smallest: int) -> Iterator[tuple[LabelMatrix, IntArray]]:
        """Yield labelsets with a numerator of at least ``smallest``, exceptional ones first, then depth first."""
        overrides = self.exceptional.of_one(i)
        members = overrides.numerators >= smallest
        yield overrides.labelsets[members], overrides.numerators[members]
        problems = pose_problems(self.general, self.parts, np.array([i]))
        words = np.empty((CHUNK, self.n_words), dtype=np.uint64)
        numerators = np.empty(CHUNK, dtype=np.int64)
        known = as_keys(pack(overrides.labelsets))
        for n_new, _ in self._depth_first(problems, 0, i, smallest, words, numerators):
            fresh = ~np.isin(as_keys(words[:n_new]), known)
            yield unpack(words[:n_new][fresh], self.engine.n_labels), numerators[:n_new][fresh]

    def _top_of(self, problems: Problems, row: int, i: int, words: Words, numerators: IntArray) -> None:
        """Write the best labelsets of one object and their numerators, as far as there are so many."""
        n_best = len(numerators)
        overrides = self.exceptional.of_one(i)
        found_words, found_rank = self.best_of(problems, row, i, n_best + overrides.n_stranger)
        if len(overrides.labelsets):
            known = pack(overrides.labelsets)
            general = ~np.isin(as_keys(found_words), as_keys(known))
            found_words = np.concatenate([found_words[general], known])
            own_rank = np.column_stack([overrides.numerators, overrides.totals])
            found_rank = np.concatenate([found_rank[general], own_rank])
            order = np.lexsort((*found_words.T, found_rank[:, TOTAL], -found_rank[:, NUMERATOR]))
            found_words, found_rank = found_words[order], found_rank[order]
        n_found = min(n_best, len(found_words))
        words[:n_found] = found_words[:n_found]
        numerators[:n_found] = found_rank[:n_found, NUMERATOR]

    def best_of(
        self,
        problems: Problems,
        row: int,
        i: int,
        n_best: int,
        *,
        forced: int = -1,
        by_total: bool = True,
        pair_budget: int | None = None,
    ) -> tuple[Words, IntArray]:
        """Return the best labelsets of one problem, their numerators and total scores, in order.

        Where there are pairs and a budget for them, the best of those met until it is spent.
        """
        if self.parts.pairs.present:
            problem = pose_pair_problem(problems, row)
            return best_pair_members(problem, self.common(i), n_best, by_total=by_total, budget=pair_budget)
        additive = not self.parts.has_link
        return best_members(problems, row, self.common(i), n_best, forced=forced, by_total=by_total, additive=additive)

    def _count(self, objects: IntArray, smallest: int | IntArray, budget: int) -> list[tuple[int, bool]]:
        """Return the members of each region that at most ``budget`` evaluations find, and whether these are all."""
        least = np.broadcast_to(smallest, self.engine.n_objects).tolist()
        problems = pose_problems(self.general, self.parts, objects)
        no_words, no_numerators = np.empty((0, self.n_words), dtype=np.uint64), np.empty(0, dtype=np.int64)
        answers = []
        for row, i in enumerate(objects):
            steps = list(self._depth_first(problems, row, int(i), least[i], no_words, no_numerators, budget=budget))
            size, finished = sum(n_new for n_new, _ in steps), steps[-1][1]
            if self.exceptional.present:
                overrides = self.exceptional.of_one(int(i))
                general = overrides.general >= least[i]
                # an unfinished search may have met any of them, or none
                size = max(size - int(general.sum()), 0) + int((overrides.numerators >= least[i]).sum())
            answers.append((size, finished))
        return answers

    def _depth_first(
        self,
        problems: Problems,
        row: int,
        i: int,
        smallest: int,
        words: Words,
        numerators: IntArray,
        *,
        budget: int | None = None,
    ) -> Iterator[tuple[int, bool]]:
        """Search a region; yield how many members were found since, and whether the search is finished.

        They are in ``words`` and ``numerators`` until the next step, if these have room. Ends when ``budget`` is spent.
        """
        if self.parts.pairs.present:
            problem = pose_pair_problem(problems, row)
            yield from list_pair_members(problem, self.common(i), smallest, words, numerators, budget)
            return
        kept = self._flippable(problems, row, i, smallest)
        cost = np.ascontiguousarray(problems.cost[row][kept])
        ends = np.append(kept, True)
        n_hard = int(np.count_nonzero(kept[: problems.n_hard[row]]))
        scores = np.zeros((len(cost) + 2, cost.shape[1]), dtype=np.int64)
        scores[0] = problems.base[row]
        numbers = np.zeros(4, dtype=np.int64)
        position, flipped = np.zeros((2, len(cost) + 2), dtype=np.int64)
        mode = problems.mode[row].copy()
        ended, spent = BUFFER_FULL, 0
        while ended != FINISHED and (budget is None or spent < budget):
            stop_if_asked()
            before = int(numbers[FOUND])
            allowance = CALL_BUDGET if budget is None else min(CALL_BUDGET, budget - spent)
            ended = search(
                problems.label[row][kept],
                n_hard,
                cost,
                np.ascontiguousarray(problems.rest[row][ends]),
                np.ascontiguousarray(problems.nearest[row][ends]),
                *self.common(i),
                self.plain,
                smallest,
                allowance,
                numbers,
                position,
                flipped,
                scores,
                mode,
                words,
                numerators,
            )
            spent += allowance
            yield int(numbers[FOUND]) - before, ended == FINISHED

    def _flippable(self, problems: Problems, row: int, i: int, smallest: int) -> BoolArray:
        """Tell which positions some labelset with a numerator of at least ``smallest`` may have flipped."""
        lowest = problems.base[row] + problems.rest[row, 0] + np.maximum(problems.least[row], 0)
        numerators = np.empty(len(lowest), dtype=np.int64)
        weigh_rows(lowest, *self.look_up(i), numerators)
        return numerators >= smallest

    def _lowest(self, i: int) -> int:
        """Return the numerator of a labelset that is stranger than all calibration examples."""
        if self.engine.rule is None:
            return 1 if self.engine.draws is None else int(self.engine.draws[i])
        stranger = np.zeros((len(self.engine.folds), 1), dtype=np.int64)
        return int(self.engine.rule.numerators(stranger, np.array([i]))[0])

    def look_up(self, i: int) -> tuple[Any, ...]:
        """Return what look-ups for object ``i`` take: how counts are weighed, and the tables.

        A calibration score >= a labelset's adds 1 to its numerator, a larger one nothing more; with smoothing u and
        1 - u; with a rule, what that says.
        """
        engine, rule = self.engine, self.engine.rule
        if rule is not None:
            factors = np.array([0, 0, rule.start[i], rule.first[i]], dtype=np.int64)
            return factors, rule.weights, rule.multipliers, *self.tables
        draw = 1 if engine.draws is None else int(engine.draws[i])
        above = 0 if engine.draws is None else DRAW_UNIT - draw
        no_weights, no_multipliers = np.empty((0, 0), dtype=np.int64), np.empty(0, dtype=np.int64)
        return np.array([draw, above, draw, 0], dtype=np.int64), no_weights, no_multipliers, *self.tables

    def common(self, i: int) -> tuple[Any, ...]:
        """Return what both kinds of search take for object ``i``, in their order."""
        parts, (factors, weights, multipliers, *tables) = self.parts, self.look_up(i)
        return (
            parts.by_cardinality,
            parts.anchors,
            parts.anchor_begin,
            parts.per_distance,
            *tables,
            factors,
            weights,
            multipliers,
            parts.has_penalty,
            self.engine.allow_empty,
        )

    def _map_blocks(self, answer: Callable[[IntArray], Answer], description: str) -> Iterable[Answer]:
        engine = self.engine
        numbers = engine.n_labels + 1 + (engine.n_labels**2 if self.parts.pairs.own else 0)
        object_bytes = 8 * len(engine.folds) * numbers
        n_rows = int(np.clip(BLOCK_BYTES // object_bytes, 1, BLOCK_OBJECTS))
        everyone = np.arange(engine.n_objects)
        blocks = [everyone[start : start + n_rows] for start in range(0, engine.n_objects, n_rows)]
        return map_in_threads(answer, blocks, n_jobs=engine.n_jobs, description=description)

"""Questions about all objects of a block in one call of a kernel, where nothing but costs of labels is an object's own.

What a call leaves open, because it took too much work or room, is answered object by object.
"""

from dataclasses import dataclass

import numpy as np

from labelsure._core.types import IntArray
from labelsure.labelsets.arrays._discount_kernels import LabelCosts
from labelsure.labelsets.arrays._fold_arrays import FoldArrays, Lookup
from labelsure.labelsets.arrays._results import EngineOptions
from labelsure.labelsets.arrays._rules import LabelsetRules
from labelsure.labelsets.arrays._weighing import ObjectWeighing, Weighing
from labelsure.labelsets.search._label_maxima_kernels import LabelDesk, LabelMaxima, search_labels
from labelsure.labelsets.search._object_kernels import FoundBest, SearchDesk, search_objects
from labelsure.labelsets.search._problems import pose_problems


@dataclass(eq=False)
class TogetherSearch:
    """Searches of all objects of a block.

    Attributes
    ----------
    arrays, weighing, allow_empty, options
        As in SearchAnswers.
    """

    arrays: FoldArrays
    weighing: Weighing
    allow_empty: bool
    options: EngineOptions

    def __post_init__(self) -> None:
        whose = ObjectWeighing(1, 1, 0, self.weighing.weights, self.weighing.multipliers)  # kernels replace it
        self.lookup = Lookup(self.arrays.tables, self.arrays.penalties, whose, self.allow_empty)

    @classmethod
    def can(cls, arrays: FoldArrays, constraints: LabelsetRules | None) -> bool:
        """Tell whether objects can be searched together."""
        if arrays.has_pairs or arrays.has_own_scores or constraints is not None:
            return False
        return not arrays.has_discounts or arrays.adds_up

    def best(self, objects: IntArray, n_best: int) -> FoundBest:
        """Return the best labelsets of some objects, as far as one call finds them."""
        problems, listed, options = pose_problems(self.arrays, objects), self.arrays.discounted, self.options
        desk = SearchDesk.of(problems, n_best, options.plain_frontier)
        found = FoundBest.of(len(objects), n_best, problems.mode.shape[1])
        lookup, weighings = self.lookup._replace(listed=listed.words), self.weighing.of_objects(objects)
        search_objects(problems, lookup, weighings, listed, self._room(), options.ranked_call, desk, found)
        return found

    def label_maxima(self, objects: IntArray) -> LabelMaxima:
        """Return the highest numerators with each label off and on, of those objects that one call finds them of."""
        n_objects, n_labels = len(objects), self.arrays.n_labels
        found = LabelMaxima(np.empty((n_objects, n_labels, 2), dtype=np.int64), np.zeros(n_objects, dtype=bool))
        if not self.arrays.penalties.present:
            problems, weighings = pose_problems(self.arrays, objects), self.weighing.of_objects(objects)
            desk, budget = LabelDesk.of(problems, self.options.plain_frontier), self.options.label_budget
            listed = self.arrays.discounted
            search_labels(problems, self.lookup, weighings, listed, self._room(), budget, desk, found)
        return found

    def _room(self) -> LabelCosts:
        return LabelCosts.of(self.arrays.n_labels, self.arrays.n_folds, len(self.arrays.discounted.more))

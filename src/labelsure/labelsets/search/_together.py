"""Questions about all objects of a block in one call of a kernel, where nothing but costs of labels is an object's own.

What a call leaves open, because it took too much work, is answered object by object.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from labelsure._core.labelset_bits import unpack
from labelsure._core.types import BoolArray, IntArray
from labelsure.labelsets.arrays._discount_kernels import LabelCosts
from labelsure.labelsets.arrays._fold_arrays import FoldArrays
from labelsure.labelsets.arrays._results import EngineOptions
from labelsure.labelsets.arrays._rules import LabelsetRules
from labelsure.labelsets.arrays._weighing import Weighing
from labelsure.labelsets.search._discount_kernels import ListedBounds, offer_listed, raise_by_listed
from labelsure.labelsets.search._labelset_kernels import FoundBest
from labelsure.labelsets.search._object_kernels import Asked, Descent, search_objects
from labelsure.labelsets.search._problems import pose_problems
from labelsure.labelsets.search._states import Problems


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

    @classmethod
    def can(cls, arrays: FoldArrays, constraints: LabelsetRules | None) -> bool:
        """Tell whether objects can be searched together."""
        if arrays.has_pairs or arrays.has_own_scores or constraints is not None:
            return False
        return not arrays.has_discounts or arrays.adds_up

    def best(self, objects: IntArray, n_best: int) -> FoundBest:
        """Return the best labelsets of some objects, as far as one call finds them."""
        problems = pose_problems(self.arrays, objects)
        found = FoundBest.of(len(objects), n_best, problems.mode.shape[1])
        if len(self.arrays.discounted.more):
            offer_listed(*self._listed(objects), found)
        everyone, nothing = np.arange(len(objects)), np.zeros(len(objects), dtype=np.int64)
        additive = not self.arrays.has_link
        asked = Asked(everyone, nothing - 1, nothing, additive, True, self.allow_empty, self.options.ranked_call)
        self._search(problems, objects, asked, found)
        return found

    def label_maxima(self, objects: IntArray) -> tuple[IntArray, BoolArray]:
        """Return the highest numerators with each label off and on, (n, q, 2), and whose are known, bool (n,).

        The best labelset of all is the best with its labels as they are; each label is changed in a search of its own.
        """
        problems, (n, q) = pose_problems(self.arrays, objects), (len(objects), self.arrays.n_labels)
        budget = min(self.options.label_budget // (q + 1) + 1, self.options.ranked_call)
        everyone, nothing = np.arange(n), np.zeros(n, dtype=np.int64)
        best, changed = FoundBest.of(n, 1, problems.mode.shape[1]), FoundBest.of(n * q, 1, 0)
        asked = Asked(everyone, nothing - 1, nothing, not self.arrays.has_link, False, self.allow_empty, budget)
        self._search(problems, objects, asked, best)
        on = np.take_along_axis(unpack(best.words[:, 0], q), problems.label, axis=1)
        flipped = on != (problems.sign < 0)  # by position
        positions = np.tile(np.arange(q), n)
        asked = asked._replace(row=np.repeat(everyone, q), forced=positions, flipped=1 - flipped.ravel())
        self._search(problems, objects, asked, changed)
        changed_values = changed.numerators.reshape(n, q)
        maxima = np.empty((n, q, 2), dtype=np.int64)
        np.put_along_axis(maxima[:, :, 0], problems.label, np.where(on, changed_values, best.numerators), axis=1)
        np.put_along_axis(maxima[:, :, 1], problems.label, np.where(on, best.numerators, changed_values), axis=1)
        if len(self.arrays.discounted.more):
            raise_by_listed(*self._listed(objects), maxima)
        return maxima, best.finished & changed.finished.reshape(n, q).all(axis=1)

    def _listed(self, objects: IntArray) -> tuple[Any, ...]:
        """Return what kernels take that look at labelsets with discounts."""
        arrays, costs = self.arrays, LabelCosts.of(self.arrays.general, objects)
        bounds, weighings = ListedBounds.of(costs, len(arrays.discounted.more)), self.weighing.of_objects(objects)
        return costs, bounds, arrays.discounted, arrays.tables, weighings, self.allow_empty

    def _search(self, problems: Problems, objects: IntArray, asked: Asked, found: FoundBest) -> None:
        penalties = self.arrays.penalties if self.arrays.penalties.present else None
        weighings, descent = self.weighing.of_objects(objects), Descent.of(problems)
        search_objects(problems, self.arrays.tables, penalties, weighings, asked, descent, found)

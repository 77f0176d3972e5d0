"""Compiled looks at the labelsets with discounts, one by one."""

from typing import NamedTuple

import numpy as np

from labelsure._core.compilation import kernel_part, lean_kernel
from labelsure._core.types import IntArray
from labelsure.labelsets.arrays._discounted import Discounted
from labelsure.labelsets.arrays._fold_arrays import ScoreTables
from labelsure.labelsets.arrays._lookup_kernels import Integer, weigh
from labelsure.labelsets.arrays._weighing import ObjectWeighing


class LabelCosts(NamedTuple):
    """One object's additive scores, and room to add them up.

    Attributes
    ----------
    constant, unary : (K,), (q, K)
        Of the empty labelset, and what switching each label on adds.
    least, total : (q + 1,)
        The least of the folds' costs of each label and their sum, and last those of the constant: for notes.
    scores, nothing : (K,)
        For notes, and zeros.
    bounds, totals : (E,)
        For notes: lower bounds of each labelset's scores, and its total score.
    """

    constant: IntArray
    unary: IntArray
    least: IntArray
    total: IntArray
    scores: IntArray
    nothing: IntArray
    bounds: IntArray
    totals: IntArray

    @classmethod
    def of(cls, n_labels: int, n_folds: int, n_listed: int) -> "LabelCosts":
        """Return room for the costs of one object after the other."""
        constant, scores, nothing = np.zeros((3, n_folds), dtype=np.int64)
        least, total = np.empty((2, n_labels + 1), dtype=np.int64)
        bounds, totals = np.empty((2, n_listed), dtype=np.int64)
        unary = np.empty((n_labels, n_folds), dtype=np.int64)
        return cls(constant, unary, least, total, scores, nothing, bounds, totals)


@kernel_part
def add_labels(e: Integer, costs: LabelCosts, listed: Discounted) -> None:
    """Write the general scores of listed labelset e.

    Reference : Energy.scores
    Requires : as LabelCosts
    Cost : K additions per label
    """
    for k in range(costs.scores.shape[0]):
        costs.scores[k] = costs.constant[k]
    for place in range(listed.begin[e], listed.begin[e + 1]):
        j = listed.label[place]
        for k in range(costs.scores.shape[0]):
            costs.scores[k] += costs.unary[j, k]


class ListedScores(NamedTuple):
    """Of E listed labelsets: numerators, what these would be without discounts, and total scores; (E,) each."""

    numerators: IntArray
    general: IntArray
    totals: IntArray


@lean_kernel
def weigh_listed(
    costs: LabelCosts, listed: Discounted, weighing: ObjectWeighing, tables: ScoreTables, found: ListedScores
) -> None:
    """Write the numerators and total scores of all listed labelsets of an object.

    Reference : Weighing.of_scores
    Requires : scores that are sums over labels
    Cost : two look-ups per fold and labelset, one addition per fold and label on
    """
    for e in range(listed.more.shape[0]):
        add_labels(e, costs, listed)
        found.general[e] = weigh(costs.scores, costs.nothing, costs.nothing, weighing, tables)
        found.numerators[e] = weigh(costs.scores, listed.more[e], costs.nothing, weighing, tables)
        found.totals[e] = listed.total[e]
        for k in range(costs.scores.shape[0]):
            found.totals[e] += costs.scores[k]

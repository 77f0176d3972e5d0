"""Compiled looks at the labelsets with discounts, one by one."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from labelsure._core.compilation import kernel_part, lean_kernel
from labelsure._core.energy import Energy
from labelsure._core.types import IntArray
from labelsure.labelsets.arrays._discounted import Discounted
from labelsure.labelsets.arrays._fold_arrays import ScoreTables
from labelsure.labelsets.arrays._lookup_kernels import Integer, weigh
from labelsure.labelsets.arrays._weighing import ObjectWeighing


class LabelCosts(NamedTuple):
    """The additive scores of n objects, and room to add them up.

    Attributes
    ----------
    constant, unary : (K, n), (K, n, q)
        Of the empty labelset, and what switching each label on adds.
    scores, nothing : (K,)
        For notes, and zeros.
    """

    constant: IntArray
    unary: IntArray
    scores: IntArray
    nothing: IntArray

    @classmethod
    def of(cls, energies: Sequence[Energy], objects: IntArray) -> "LabelCosts":
        """Return those of some objects under the folds' energies, in their general form."""
        constant, unary = (
            np.stack([getattr(one, part)[objects] for one in energies]) for part in ("constant", "unary")
        )
        scores, nothing = np.zeros((2, len(energies)), dtype=np.int64)
        return cls(constant, unary, scores, nothing)


@kernel_part
def add_labels(i: Integer, e: Integer, costs: LabelCosts, listed: Discounted) -> None:
    """Write the general scores of listed labelset e for object i.

    Reference : Energy.scores
    Requires : as LabelCosts
    Cost : K additions per label
    """
    for k in range(costs.scores.shape[0]):
        costs.scores[k] = costs.constant[k, i]
        for place in range(listed.begin[e], listed.begin[e + 1]):
            costs.scores[k] += costs.unary[k, i, listed.label[place]]


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
    Requires : scores that are sums over labels; one object
    Cost : two look-ups per fold and labelset, one addition per fold and label on
    """
    for e in range(listed.more.shape[0]):
        add_labels(np.int64(0), e, costs, listed)
        found.general[e] = weigh(costs.scores, costs.nothing, costs.nothing, weighing, tables)
        found.numerators[e] = weigh(costs.scores, listed.more[e], costs.nothing, weighing, tables)
        found.totals[e] = listed.total[e]
        for k in range(costs.scores.shape[0]):
            found.totals[e] += costs.scores[k]

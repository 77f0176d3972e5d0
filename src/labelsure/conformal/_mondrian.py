"""Mondrian predictors: calibration scores are counted within a labelset's, or an object's, category.

P-values add up a category's counts over the folds; another guarantee decides about regions alone.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from labelsure._checks import IntArray
from labelsure._random import DRAW_UNIT
from labelsure.conformal._guarantees import Merging
from labelsure.conformal._taxonomy import Categories, LabelsetTaxonomy
from labelsure.engine._composite import CategoryEngine, GroupedEngine
from labelsure.engine._engine import LabelsetEngine
from labelsure.engine._fold_arrays import Fold
from labelsure.engine._fold_engine import Empty, FoldEngine, make_engine
from labelsure.engine._weighing import Weighing

COMMON_BITS, COMMON_SMOOTHED_BITS = 40, 28
"""P-values of all categories have one denominator: a common one below 2^40 (beside draws: 2^28), or that power,
numerators rounded up."""

NO_SCORE = -(1 << 60)
"""Stands for a fold without calibration scores in a category: below every score, so never counted."""

NO_MEMBER = -(1 << 55)
"""Below what any sum of weights makes up for."""


def category_engine(
    folds: Sequence[Fold],
    scores: Sequence[IntArray],
    categories: Sequence[Categories],
    taxonomy: LabelsetTaxonomy,
    merging: Merging,
    *,
    empty: Empty,
    **settings: Any,
) -> LabelsetEngine:
    """Return the engine of a taxonomy of labelsets: p = (#{>= within the category} + 1) / (n_category + 1).

    Parameters
    ----------
    folds : sequence of Fold
        For new objects.
    scores, categories : sequences of arrays
        Per fold, the calibration examples' scores and categories.
    taxonomy : LabelsetTaxonomy
        What they are categories of.
    merging : Merging
        Of the folds' counts in a category.
    empty : str
        Whether the empty labelset is "ordinary" or "excluded".
    **settings
        As in make_engine.
    """
    within = {
        category: [
            own[of_examples == category]
            for own, of_examples in zip(scores, categories, strict=True)
        ]
        for category in taxonomy.all_categories(folds[0].energy.n_labels)
    }
    sizes = {category: [len(own) for own in of_folds] for category, of_folds in within.items()}
    largest = 2 ** (COMMON_BITS if merging.smoothing is None else COMMON_SMOOTHED_BITS)
    denominator = min(math.lcm(*(sum(of_folds) + 1 for of_folds in sizes.values())), largest)
    parts = []
    for category, of_folds in within.items():
        kept = [
            _keep(*fold, taxonomy, category, first=k == 0)
            for k, fold in enumerate(zip(folds, of_folds, strict=True))
        ]
        weighing = _weigh_category(sizes[category], denominator, merging)
        at_level = merging.weighing_at(sizes[category])
        settings["weighing_at"] = at_level and partial(_decide, weighing_at=at_level)
        parts.append(
            FoldEngine(kept, allow_empty=empty == "ordinary", weighing=weighing, **settings)
        )
    return CategoryEngine(parts)


def grouped_engine(
    folds: Sequence[Fold],
    scores: Sequence[IntArray],
    categories: Sequence[Categories],
    groups: Categories,
    merging: Merging,
    **settings: Any,
) -> LabelsetEngine:
    """Return the engine of a taxonomy of objects: each new object meets the calibration examples of its own category.

    Parameters
    ----------
    folds : sequence of Fold
        For new objects.
    scores, categories : sequences of arrays
        Per fold, the calibration examples' scores and categories.
    groups : array of shape (n_objects,)
        The new objects' categories.
    merging : Merging
        Of the folds' counts in a category.
    **settings
        As in make_engine.
    """
    engines, places = [], []
    for group in np.unique(groups):
        objects = np.flatnonzero(groups == group)
        within = [
            own[of_examples == group] for own, of_examples in zip(scores, categories, strict=True)
        ]
        kept = [
            Fold(_calibration(own), fold.energy.take(objects))
            for fold, own in zip(folds, within, strict=True)
        ]
        sizes, of_group = [len(own) for own in within], merging.take(objects)
        weighing, weighing_at = of_group.weighing(sizes), of_group.weighing_at(sizes)
        engines.append(make_engine(kept, weighing=weighing, weighing_at=weighing_at, **settings))
        places.append(objects)
    return GroupedEngine(engines, places)


def _calibration(scores: IntArray) -> IntArray:
    return np.sort(scores if len(scores) else np.array([NO_SCORE]))


def _keep(
    fold: Fold, within: IntArray, taxonomy: LabelsetTaxonomy, category: int, *, first: bool
) -> Fold:
    """Return the fold in which labelsets of other categories are stranger than everything.

    The first fold gets one calibration score above all of the category's own: where it is not
    counted, the labelset is of another category, and where it is, it stands for the new object,
    which the p-value counts too.
    """
    highest = fold.energy.upper_bound() + 1
    calibration = _calibration(np.append(within, highest) if first else within)
    beyond = max(int(calibration[-1]), highest) - fold.energy.lower_bound() + 1
    return Fold(calibration, taxonomy.keep(fold.energy, category, beyond))


def _weigh_category(sizes: Sequence[int], denominator: int, merging: Merging) -> Weighing:
    """Return the weighing of a category's counts into numerators over the common denominator."""
    share = -(
        -denominator // (sum(sizes) + 1)
    )  # exact where the denominator is a multiple, else rounded up
    weights = np.tile(share * np.arange(max(sizes) + 2), (len(sizes), 1))
    nothing = np.zeros(len(merging.draws), dtype=np.int64)
    weighing = Weighing.ruled(weights, nothing, denominator)
    if merging.smoothing is None:
        return weighing
    rest = DRAW_UNIT - merging.smoothing
    return replace(  # the first fold's score above all others counts u + (1 - u), and the new object only u
        weighing,
        start=-share * rest,
        denominators=weighing.denominators * DRAW_UNIT,
        at_least=merging.smoothing,
        above=rest,
    )


def _decide(significance: Fraction, *, weighing_at: Callable[[Fraction], Weighing]) -> Weighing:
    """Return the weighing at a level where the first fold has one more score, without which a labelset is no member."""
    weighing = weighing_at(significance)
    weights = np.pad(weighing.weights, ((0, 0), (0, 1)), mode="edge")
    weights[0, 1:] = weighing.weights[0]
    weights[0, 0] = NO_MEMBER
    return replace(weighing, weights=weights)

"""Mondrian predictors: calibration scores are counted within a labelset's, or an object's, category.

P-values add up a category's counts over the folds; another guarantee decides about regions alone.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from labelsure._core.randomness import DRAW_UNIT
from labelsure._core.types import IntArray
from labelsure.conformal._guarantees import Merging
from labelsure.conformal._taxonomy import Categories, LabelsetTaxonomy
from labelsure.labelsets import (
    CategoryEngine,
    Empty,
    EngineOptions,
    Fold,
    FoldEngine,
    GroupedEngine,
    LabelsetEngine,
    Weighing,
    make_engine,
)

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
    n_jobs: int | None,
    options: EngineOptions | None = None,
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
    empty, n_jobs, options
        As in make_engine; the empty labelset is ordinary or excluded.
    """
    all_categories = taxonomy.all_categories(folds[0].energy.n_labels)
    sizes = {category: [int((own == category).sum()) for own in categories] for category in all_categories}
    denominator = _common_denominator(
        [sum(of_category) + 1 for of_category in sizes.values()],
        COMMON_BITS if merging.smoothing is None else COMMON_SMOOTHED_BITS,
    )
    parts = []
    for category, of_folds in sizes.items():
        within = [own_scores[own == category] for own_scores, own in zip(scores, categories, strict=True)]
        kept = [
            _keep(fold, own, taxonomy, category, first=k == 0)
            for k, (fold, own) in enumerate(zip(folds, within, strict=True))
        ]
        weighing = _weigh_category(of_folds, denominator, merging)
        at_level = merging.weighing_at(of_folds)
        weighing_at = None if at_level is None else partial(_decide, weighing_at=at_level)
        allow_empty = empty == "ordinary"
        parts.append(
            FoldEngine(
                kept,
                allow_empty=allow_empty,
                weighing=weighing,
                weighing_at=weighing_at,
                n_jobs=n_jobs,
                options=options,
            )
        )
    return CategoryEngine(parts)


def grouped_engine(
    folds: Sequence[Fold],
    scores: Sequence[IntArray],
    categories: Sequence[Categories],
    groups: Categories,
    merging: Merging,
    *,
    empty: Empty,
    n_jobs: int | None,
    options: EngineOptions | None = None,
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
    empty, n_jobs, options
        As in make_engine.
    """
    engines, places = [], []
    for group in np.unique(groups):
        own = np.flatnonzero(groups == group)
        within = [fold_scores[of_fold == group] for fold_scores, of_fold in zip(scores, categories, strict=True)]
        sizes, kept = [len(part) for part in within], []
        for fold, part in zip(folds, within, strict=True):
            kept.append(Fold(np.sort(part if len(part) else np.array([NO_SCORE])), fold.energy.take(own)))
        of_group = merging.take(own)
        engines.append(
            make_engine(
                kept,
                empty=empty,
                weighing=of_group.counting(sizes),
                weighing_at=of_group.weighing_at(sizes),
                n_jobs=n_jobs,
                options=options,
            )
        )
        places.append(own)
    return GroupedEngine(engines, places)


def _keep(fold: Fold, within: IntArray, taxonomy: LabelsetTaxonomy, category: int, *, first: bool) -> Fold:
    """Return the fold in which labelsets of other categories are stranger than everything.

    The first fold gets one calibration score above all of the category's own: where it is not counted, the labelset is
    of another category, and where it is, it stands for the new object, which the p-value counts too.
    """
    highest = fold.energy.upper_bound() + 1
    scores = np.append(within, highest) if first else within
    scores = scores if len(scores) else np.array([NO_SCORE])
    beyond = max(int(scores.max()), highest) - fold.energy.lower_bound() + 1
    return Fold(np.sort(scores), taxonomy.keep(fold.energy, category, beyond))


def _weigh_category(sizes: Sequence[int], denominator: int, merging: Merging) -> Weighing:
    """Return the weighing of a category's counts into numerators over the common denominator."""
    share = -(-denominator // (sum(sizes) + 1))  # exact where the denominator is a multiple, else rounded up
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


def _common_denominator(denominators: Sequence[int], bits: int) -> int:
    common = math.lcm(*denominators)
    return common if common <= 2**bits else 2**bits

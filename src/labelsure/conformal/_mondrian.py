"""Mondrian predictors: calibration scores are counted within a labelset's, or an object's, category."""

import math
from collections.abc import Sequence

import numpy as np

from labelsure._core.calibration import Calibration
from labelsure._core.types import IntArray
from labelsure.conformal._taxonomy import Categories, LabelsetTaxonomy
from labelsure.labelsets import CategoryEngine, Fold, FoldEngine, GroupedEngine, LabelsetEngine, Weighing

COMMON_BITS = 40
"""P-values of all categories have one denominator: a common one below 2^40, or 2^40, numerators rounded up."""

NO_SCORE = -(1 << 60)
"""Stands for a fold without calibration scores in a category: below every score, so never counted."""


def category_engine(
    folds: Sequence[Fold],
    scores: Sequence[IntArray],
    categories: Sequence[Categories],
    taxonomy: LabelsetTaxonomy,
    *,
    allow_empty: bool,
    n_jobs: int | None,
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
    allow_empty, n_jobs
        As in FoldEngine.
    """
    n_labels = folds[0].energy.n_labels
    sizes = {
        category: sum(int((own == category).sum()) for own in categories)
        for category in taxonomy.all_categories(n_labels)
    }
    denominator = _common_denominator([size + 1 for size in sizes.values()])
    parts = []
    for category, size in sizes.items():
        within = [own_scores[own == category] for own_scores, own in zip(scores, categories, strict=True)]
        kept = [
            _keep(fold, own, taxonomy, category, first=k == 0)
            for k, (fold, own) in enumerate(zip(folds, within, strict=True))
        ]
        rule = _rule([len(fold.calibration) for fold in kept], size + 1, denominator, folds[0].energy.n_objects)
        parts.append(FoldEngine(kept, allow_empty=allow_empty, n_jobs=n_jobs, weighing=rule))
    return CategoryEngine(parts)


def grouped_engine(
    folds: Sequence[Fold],
    scores: Sequence[IntArray],
    categories: Sequence[Categories],
    groups: Categories,
    *,
    allow_empty: bool,
    n_jobs: int | None,
) -> LabelsetEngine:
    """Return the engine of a taxonomy of objects: each new object meets the calibration examples of its own category.

    Parameters
    ----------
    folds, scores, categories, allow_empty, n_jobs
        As in ``category_engine``.
    groups : array of shape (n_objects,)
        The new objects' categories.
    """
    engines, places = [], []
    for group in np.unique(groups):
        own = np.flatnonzero(groups == group)
        within = [fold_scores[of_fold == group] for fold_scores, of_fold in zip(scores, categories, strict=True)]
        kept = [
            Fold(Calibration.of(part if len(part) else np.array([NO_SCORE])), fold.energy.take(own))
            for fold, part in zip(folds, within, strict=True)
        ]
        size = sum(map(len, within))
        rule = _rule([len(fold.calibration) for fold in kept], size + 1, size + 1, len(own), start=1)
        engines.append(FoldEngine(kept, allow_empty=allow_empty, n_jobs=n_jobs, weighing=rule))
        places.append(own)
    return GroupedEngine(engines, places)


def _keep(fold: Fold, within: IntArray, taxonomy: LabelsetTaxonomy, category: int, *, first: bool) -> Fold:
    """Return the fold in which labelsets of other categories are stranger than everything.

    The first fold also gets a calibration score that no labelset of the category is stranger than: it stands for the
    labelset itself, the 1 in the p-value's numerator, and leaves other categories' labelsets with a numerator of 0.
    """
    highest = fold.energy.upper_bound()
    scores = np.append(within, highest) if first else within
    scores = scores if len(scores) else np.array([NO_SCORE])
    beyond = max(int(scores.max()), highest) - fold.energy.lower_bound() + 1
    return Fold(Calibration.of(scores), taxonomy.keep(fold.energy, category, beyond))


def _rule(sizes: Sequence[int], own_denominator: int, denominator: int, n_objects: int, *, start: int = 0) -> Weighing:
    """Return the rule that turns a category's counts into numerators over the common denominator."""
    share = -(-denominator // own_denominator)
    weights = np.tile(share * np.arange(max(sizes) + 1), (len(sizes), 1))
    return Weighing.ruled(weights, np.full(n_objects, start, dtype=np.int64), denominator)


def _common_denominator(denominators: Sequence[int]) -> int:
    common = math.lcm(*denominators)
    return common if common <= 2**COMMON_BITS else 2**COMMON_BITS

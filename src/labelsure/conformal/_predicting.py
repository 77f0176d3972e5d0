"""From folds that have met new objects to predictions with a guarantee."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from labelsure._core.types import IntArray, MatrixLike
from labelsure.conformal._base import draw_smoothing, open_stream
from labelsure.conformal._guarantees import (
    WITHIN_CATEGORIES,
    check_guarantee,
    merge_folds,
    state_guarantee_of_labelsets,
)
from labelsure.conformal._mondrian import category_engine, grouped_engine
from labelsure.conformal._taxonomy import Categories, LabelsetTaxonomy, Taxonomy, check_taxonomy
from labelsure.labelsets import DRAW_UNIT, Fold, Weighing, make_engine
from labelsure.predictions import LabelsetPredictions, NoGuarantee

MERGING_STREAM = 3
"""Sets the draws of randomised guarantees apart from all others of the same random_state."""


def predict_folds(
    folds: Sequence[Fold],
    *,
    guarantee: str,
    smoothed: bool,
    random_state: Any,
    allow_empty: bool,
    label_names: Sequence[str] | None,
    n_jobs: int | None,
) -> LabelsetPredictions:
    """Return the predictions of a cross-conformal or inductive predictor for the objects that its folds have met.

    Parameters
    ----------
    folds : sequence of Fold
        At least one.
    guarantee : str
        How they are merged.
    smoothed : bool
        Whether p-values are smoothed.
    random_state : int, RandomState or None
        For draws.
    allow_empty, label_names, n_jobs
        As in CrossConformalClassifier.
    """
    n_objects = folds[0].energy.n_objects
    sizes = [len(fold.calibration) for fold in folds]
    merging = merge_folds(guarantee, sizes, _draws(guarantee, n_objects, random_state), smoothed=smoothed)
    weighing = merging.weighing
    if smoothed:
        weighing = Weighing.smoothed(sum(sizes), draw_smoothing(n_objects, random_state))
    engine = make_engine(
        folds,
        empty="ordinary" if allow_empty else "excluded",
        weighing=weighing,
        weighing_at=merging.weighing_at,
        n_jobs=n_jobs,
    )
    return LabelsetPredictions(
        engine, label_names=label_names, guarantee=state_guarantee_of_labelsets(guarantee, sizes, smoothed=smoothed)
    )


def predict_categories(
    folds: Sequence[Fold],
    scores: Sequence[IntArray],
    categories: Sequence[Categories],
    taxonomy: Taxonomy,
    X: MatrixLike,
    *,
    allow_empty: bool,
    label_names: Sequence[str] | None,
    n_jobs: int | None,
) -> LabelsetPredictions:
    """Return the predictions of a Mondrian predictor.

    Parameters
    ----------
    folds : sequence of Fold
        At least one.
    scores, categories : sequences of arrays
        Per fold, the calibration examples' scores and categories.
    taxonomy : Taxonomy
        What they are categories of.
    X : array-like of n_objects rows
        The new objects.
    allow_empty, label_names, n_jobs
        As in CrossConformalClassifier.
    """
    if isinstance(taxonomy, LabelsetTaxonomy):
        engine = category_engine(folds, scores, categories, taxonomy, allow_empty=allow_empty, n_jobs=n_jobs)
    else:
        groups = taxonomy.of_examples(X, np.empty((folds[0].energy.n_objects, 0), dtype=np.int8))
        engine = grouped_engine(folds, scores, categories, groups, allow_empty=allow_empty, n_jobs=n_jobs)
    guarantee = WITHIN_CATEGORIES if len(folds) == 1 else NoGuarantee("cross-conformal p-values within categories")
    return LabelsetPredictions(engine, label_names=label_names, guarantee=guarantee)


def check_mondrian(
    mondrian: Any, label_names: Sequence[str] | None, *, guarantee: str = "cross", smoothed: bool
) -> Taxonomy | None:
    """Return the taxonomy asked for, or raise ValueError where it does not go with the other choices."""
    taxonomy = check_taxonomy(mondrian, label_names)
    if taxonomy is not None and (smoothed or guarantee != "cross"):
        other = "smoothed=True" if smoothed else f"guarantee={guarantee!r}"
        raise ValueError(f"mondrian={mondrian!r} does not go with {other}: choose one of the two.")
    return taxonomy


def _draws(guarantee: str, n_objects: int, random_state: Any) -> IntArray:
    """Draw one number from 1 to DRAW_UNIT per object, where the guarantee looks at them."""
    if not check_guarantee(guarantee).randomised:
        return np.zeros(n_objects, dtype=np.int64)
    return open_stream(random_state, MERGING_STREAM).randint(1, DRAW_UNIT + 1, size=n_objects, dtype=np.int64)

"""Weighted p-values: calibration examples from one distribution of objects, new objects from another that is known."""

from collections.abc import Callable
from typing import Any

import numpy as np

from labelsure._core.types import FloatArray, IntArray, MatrixLike
from labelsure._core.validation import n_rows
from labelsure.conformal._taxonomy import NO_OBJECTS
from labelsure.labelsets import Weighing

WEIGHT_UNITS = 2**30
"""Weights are whole numbers of 2^-30 of the largest calibration weight."""

LARGEST = 2**60
"""A new object with a larger weight than this many units has p-values of 1 either way."""


def weights_of(weight: Callable[[MatrixLike], Any], X: MatrixLike) -> FloatArray:
    """Return the weights of objects, or say what is wrong with them."""
    if X is None:
        raise ValueError(NO_OBJECTS)
    weights = np.asarray(weight(X), dtype=np.float64)
    if weights.shape != (n_rows(X),):
        raise ValueError(
            f"weight must return one number per object, {n_rows(X)} in all, got an array of shape {weights.shape}."
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError(
            "weight must return numbers of at least 0, the density of new objects over that of training objects, got"
            f" {weights[~(np.isfinite(weights) & (weights >= 0))][0]}."
        )
    return weights


def weigh_densities(scores: IntArray, weights: FloatArray, new_weights: FloatArray) -> Weighing:
    """Return the weighing of p = (sum of w_i over {i: alpha_i >= alpha} + w) / (sum of w_i + w).

    Parameters
    ----------
    scores, weights : arrays of shape (m,)
        Of the calibration examples.
    new_weights : array of shape (n,)
        Of the new objects.
    """
    unit = weights.max() / WEIGHT_UNITS
    own = np.rint(weights / unit).astype(np.int64)
    new = np.minimum(np.rint(new_weights / unit), LARGEST).astype(np.int64)
    of_largest = np.concatenate([[0], np.cumsum(own[np.argsort(-scores, kind="stable")])])
    return Weighing.ruled(of_largest[None], new, np.maximum(of_largest[-1] + new, 1))

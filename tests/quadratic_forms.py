"""Forms as dense as those of Mahalanobis distances, in whole numbers."""

import numpy as np

from labelsure.engine._fold_arrays import Fold
from labelsure.engine._fold_engine import FoldEngine
from labelsure.measures._energy import Energy, SquareRoot

EXPONENT = 30


def precision_matrix(rng, n_labels, *, strength=0.7):
    """Return the inverse of a covariance with three common factors."""
    factors = strength * rng.normal(size=(n_labels, 3))
    return np.linalg.inv(np.diag(rng.uniform(0.05, 0.3, size=n_labels)) + 0.1 * factors @ factors.T)


def form_energy(precision, outputs, *, own=False, **parts):
    """Return the energy of ``(t - o)' P (t - o)`` or, with own pairs, of ``|t - o|`` instead."""
    offset, weight = (outputs, 1 - 2 * outputs) if own else (-outputs, np.ones_like(outputs))
    constant = np.einsum("ij,jr,ir->i", offset, precision, offset)
    unary = weight * (2 * offset @ precision + weight * np.diag(precision))
    pairs = 2 * precision * (weight[:, :, None] * weight[:, None, :]) if own else 2 * precision
    return Energy(
        *(np.rint(part * 2**EXPONENT).astype(np.int64) for part in (constant, unary, pairs)),
        **parts,
    )


def form_engine(
    seed,
    *,
    n_labels,
    n_folds,
    n_objects=1,
    n_calibration=60,
    own=False,
    strength=0.7,
    shape=(0.4, 0.8),
    options=None,
    **parts,
):
    """Return an engine of roughly agreeing folds, under a square root unless ``parts`` has a link.

    Outputs have a beta distribution of that shape: the smaller, the more certain.
    """
    rng = np.random.default_rng([seed, n_labels, n_folds])
    parts = {"link": SquareRoot(8)} | parts
    precision = precision_matrix(rng, n_labels, strength=strength)
    outputs = rng.beta(*shape, size=(n_objects, n_labels))
    folds = []
    for _ in range(n_folds):
        seen = rng.beta(*shape, size=(n_calibration, n_labels))
        labels = (rng.random(seen.shape) < seen).astype(np.int8)
        scores = form_energy(precision, seen, own=own, **parts).scores(labels)
        noisy = np.clip(outputs + 0.05 * rng.normal(size=outputs.shape), 0, 1)
        folds.append(Fold(np.sort(scores), form_energy(precision, noisy, own=own, **parts)))
    return FoldEngine(folds, allow_empty=True, options=options)

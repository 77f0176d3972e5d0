"""Synthetic outputs of ten folds' models, for any number of labels, without a learner."""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

Array = np.ndarray[Any, Any]
N_FOLDS = 10
N_CAUSES = 8
ON_PER_OBJECT = 3.0


class MadeUp(NamedTuple):
    """Examples that calibrate, and new objects.

    Attributes
    ----------
    fold_of, calibration, Y : (n,), (n, q), (n, q)
        The fold of each example, what the model that did not see it says, its labels.
    new, Y_new : (K, m, q), (m, q)
        What all models say of new objects, and their labels.
    """

    fold_of: Array
    calibration: Array
    Y: Array
    new: Array
    Y_new: Array


def make_up(n_labels: int, n_examples: int, n_objects: int) -> MadeUp:
    """Return labels with common causes, about three per object, and models with noisy outputs."""
    rng = np.random.default_rng(n_labels)
    causes = rng.normal(size=(n_examples + n_objects, N_CAUSES))
    rare = np.log(ON_PER_OBJECT / n_labels) - rng.exponential(size=n_labels)
    logits = rare + causes @ rng.normal(scale=0.7, size=(N_CAUSES, n_labels))
    Y = (rng.random(logits.shape) < expit(logits)).astype(np.int8)
    fold_of = rng.integers(N_FOLDS, size=n_examples)
    said = logits[:n_examples] + rng.normal(scale=0.3, size=(n_examples, n_labels))
    new = np.stack(
        [
            logits[n_examples:] + rng.normal(scale=0.3, size=(n_objects, n_labels))
            for _ in range(N_FOLDS)
        ]
    )
    return MadeUp(fold_of, expit(said), Y[:n_examples], expit(new), Y[n_examples:])

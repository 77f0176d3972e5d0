"""Out-of-fold outputs for the training parts of all folds, from five models that the folds share.

A measure or a pool that learns from outputs needs honest ones: for the training examples of fold k,
from models that were trained neither on the example nor on anything in fold k. A few parameters
are learned from them, so part of the training examples is enough. Each fold is left out by two of
five models, a different two for each of ten folds, and each model leaves out four folds of ten. The
two models that leave out fold k tell it about the other folds that they leave out, six of nine::

    fold      0  1  2  3  4  5  6  7  8  9
    model 0   .  x  x  x  .  .  x  x  .  x        x  trains the model
    model 1   .  .  x  x  x  x  .  x  x  .
    model 2   x  .  .  x  x  .  x  .  x  x        Models 0 and 1 leave out fold 0. Model 0 tells it
    model 3   x  x  .  .  x  x  .  x  .  x        about the folds 4, 5 and 8, model 1 about 1, 6
    model 4   x  x  x  .  .  x  x  .  x  .        and 9; no model tells it about 2, 3 and 7.

With five folds each is told about two of four. With four folds there are four models, trained on
half of the examples. Nothing that a fold calibrates reaches its own measure, so whatever holds for
any function of the training part still holds.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from labelsure._checks import BoolArray, FloatArray, IntArray
from labelsure.conformal._splits import Split

N_MODELS = 5
"""With fewer, they would be trained on too few of the examples; more take longer."""

FEWEST_FOLDS = 4
"""With three, models that leave out two folds would be trained on a third of the examples."""


class SharedModels(NamedTuple):
    """Which examples each of the shared models leaves out.

    Attributes
    ----------
    pairs : int64 array of shape (n, 2)
        The two models that leave out each example; -1 for those that neither train nor calibrate.
    n_models : int
        The number of models.
    """

    pairs: IntArray
    n_models: int

    def split(self, model: int) -> Split:
        """Return the rows that train a model, and those that it leaves out and tells about."""
        left_out = (self.pairs == model).any(axis=1)
        return Split(np.flatnonzero(~left_out & (self.pairs[:, 0] >= 0)), np.flatnonzero(left_out))

    def gather(self, split: Split, outputs: Sequence[FloatArray]) -> FloatArray:
        """Return the out-of-fold outputs for a fold's training examples, NaN where there are none.

        Parameters
        ----------
        split : Split
            The fold.
        outputs : sequence of arrays of shape (m, ...)
            What each model says about the examples that it leaves out, in ascending order of rows.
        """
        gathered = np.full((len(split.train), *outputs[0].shape[1:]), np.nan)
        for model in self.pairs[split.calibration[0]]:
            left_out = self.split(model).calibration
            known = np.isin(split.train, left_out)
            gathered[known] = outputs[model][np.searchsorted(left_out, split.train[known])]
        return gathered


def share_models(
    splits: Sequence[Split], trainable: BoolArray, together: IntArray | None = None, *, seed: int
) -> SharedModels | None:
    """Return the models that the folds can share, None where they cannot.

    They can where there are at least four folds, and every fold's model is trained on all
    ``trainable`` examples that do not calibrate it. Examples that calibrate no fold are left out by
    all pairs of models in turn; those that belong together, by the user's own groups, by the same.

    Which models leave out which folds is drawn with ``seed``: by their numbers, folds would not be
    exchangeable.
    """
    n_examples = trainable.sum()
    if len(splits) < FEWEST_FOLDS or any(
        len(split.train) + len(split.calibration) < n_examples for split in splits
    ):
        return None
    n_models = min(len(splits), N_MODELS)
    models = np.arange(n_models)
    around = np.column_stack([models, (models + 1) % n_models])
    across = np.column_stack([models, (models + 2) % n_models])
    choices = np.concatenate([around, across]) if n_models == N_MODELS else around
    spread = np.arange(len(trainable)) if together is None else together
    numbers = np.where(trainable, spread, 0)
    order = np.random.RandomState(seed).permutation(len(splits))
    for number, split in zip(order, splits, strict=True):
        numbers[split.calibration] = number
    pairs = choices[numbers % len(choices)]
    return SharedModels(np.where(trainable[:, None], pairs, -1), n_models)

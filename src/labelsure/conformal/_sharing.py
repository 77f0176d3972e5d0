"""Out-of-fold outputs for the training parts of all folds, from a few models that the folds share.

A measure or a pool that learns from outputs needs honest ones: for the training examples of fold k,
from models that were trained neither on the example nor on anything in fold k. Five more models for
every fold would give them, 50 for ten folds. Instead the folds are put into five groups, and a
model is fitted for every pair of groups, on the examples in neither. The model without groups g and
h serves the folds in g, for the examples of h, and the folds in h, for the examples of g: ten
models in all, for any number of folds, each trained on three fifths of the examples::

           g=0   1    2    3    4
    h=0     .   0,1  0,2  0,3  0,4        fold k in group 0: examples of group 2 have their outputs from model 0,2;
      1          .   1,2  1,3  1,4        those of the other folds in group 0 from one of the models 0,1 ... 0,4,
      2               .   2,3  2,4        none of which has seen group 0
      3                    .   3,4

Nothing in fold k reaches what it calibrates, so whatever holds for any function of the training
part still holds.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from labelsure._checks import BoolArray, FloatArray, IntArray
from labelsure.conformal._splits import Split

N_GROUPS = 5
"""With fewer, models would be trained on too few of the examples; with more there are more of them."""


N_SHARED = N_GROUPS * (N_GROUPS - 1) // 2
"""Models that are shared, one for each pair of groups."""


class SharedModels(NamedTuple):
    """Which examples each of the shared models leaves out.

    Attributes
    ----------
    groups : int64 array of shape (n,)
        The group of each example; -1 for those that neither train nor calibrate.
    """

    groups: IntArray

    @property
    def splits(self) -> dict[tuple[int, int], Split]:
        """For every pair of groups the rows of neither, which train, and those of either, which are asked about."""
        rows = np.flatnonzero(self.groups >= 0)
        inside = {
            pair: np.isin(self.groups[rows], pair) for pair in combinations(range(N_GROUPS), 2)
        }
        return {pair: Split(rows[~part], rows[part]) for pair, part in inside.items()}

    def gather(self, split: Split, outputs: Mapping[tuple[int, int], FloatArray]) -> FloatArray:
        """Return the out-of-fold outputs for a fold's training examples.

        Parameters
        ----------
        split : Split
            The fold.
        outputs : mapping of pairs of groups to arrays of shape (m, ...)
            What the model without both says about the examples in them, in ascending order of their
            rows.
        """
        own, rows = int(self.groups[split.calibration[0]]), split.train
        other = self.groups[rows].copy()
        inside = (
            other == own
        )  # of other folds in the same group: any model that left it out, all in turn
        turn = (np.cumsum(self.groups >= 0) - 1)[rows[inside]]
        other[inside] = (own + 1 + turn % (N_GROUPS - 1)) % N_GROUPS
        first = next(iter(outputs.values()))
        gathered = np.empty((len(rows), *first.shape[1:]))
        for group in range(N_GROUPS):
            wanted = other == group
            if wanted.any():
                pair = min(own, group), max(own, group)
                asked = np.flatnonzero(np.isin(self.groups, pair))
                gathered[wanted] = outputs[pair][np.searchsorted(asked, rows[wanted])]
        return gathered


def share_models(
    splits: Sequence[Split], trainable: BoolArray, together: IntArray | None = None, *, seed: int
) -> SharedModels | None:
    """Return the models that the folds can share, None where they cannot.

    They can where there are at least five folds, and every fold's model is trained on all
    ``trainable`` examples that do not calibrate it. Examples that calibrate no fold are spread over
    the groups; those that belong together, by the user's own groups, stay together.

    Folds are put into groups at random, with ``seed``: were it by their place, folds would not be
    exchangeable, and rules that look at one fold after the other rest on that.
    """
    n_examples = trainable.sum()
    if len(splits) < N_GROUPS or any(
        len(split.train) + len(split.calibration) < n_examples for split in splits
    ):
        return None
    groups = np.where(
        trainable, (np.arange(len(trainable)) if together is None else together) % N_GROUPS, -1
    )
    for place, split in zip(
        np.random.RandomState(seed).permutation(len(splits)), splits, strict=True
    ):
        groups[split.calibration] = place % N_GROUPS
    return SharedModels(groups)

"""Which objects could be accepted without review, by conformal selection among objects whose truth is known."""

from dataclasses import dataclass

import numpy as np

from labelsure._core.types import BoolArray, FloatArray, IntArray
from labelsure.decisions import select_objects

ALPHAS = (0.01, 0.05, 0.1, 0.2)
"""Shares of wrong ones among the accepted that are tried."""


@dataclass(frozen=True, eq=False)
class Acceptance:
    """What each half of the objects accepts of the other.

    Attributes
    ----------
    alphas : tuple of float
        The shares of wrong ones that are put up with.
    accepted : bool array of shape (n_alphas, n)
        The objects that could be accepted.
    wrong : bool array of shape (n,)
        Those whose most plausible labelset is not the truth.
    """

    alphas: tuple[float, ...]
    accepted: BoolArray
    wrong: BoolArray

    @property
    def rows(self) -> list[tuple[float, int, int]]:
        """For each alpha, how many are accepted and how many of these are wrong."""
        return [
            (alpha, int(accepted.sum()), int((accepted & self.wrong).sum()))
            for alpha, accepted in zip(self.alphas, self.accepted, strict=True)
        ]

    @property
    def codes(self) -> IntArray:
        """The place of the first alpha at which each object is accepted; ``len(alphas)`` where it is at none."""
        reached = np.concatenate([self.accepted, np.ones((1, len(self.wrong)), dtype=bool)])
        first: IntArray = reached.argmax(axis=0).astype(np.int64)
        return first


def accept(confidence: FloatArray, right: BoolArray) -> Acceptance | None:
    """Return which objects could be accepted, each half decided about with the other as held-out examples.

    The halves are drawn once for all, and ties of confidence are broken in the same way at every alpha, so that what is
    accepted at one is accepted at the next. None for a single object, which has no other half.
    """
    if len(confidence) < 2:
        return None
    order = np.random.default_rng(0).permutation(len(confidence))
    halves = np.array_split(order, 2)
    accepted = np.zeros((len(ALPHAS), len(confidence)), dtype=bool)
    for held_out, new in (halves, halves[::-1]):
        for place, alpha in enumerate(ALPHAS):
            accepted[place, new] = select_objects(
                confidence[held_out], right[held_out], confidence[new], alpha=alpha, random_ties=True, random_state=0
            ).accepted
    return Acceptance(ALPHAS, accepted, ~right)

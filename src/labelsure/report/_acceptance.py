"""Which objects could be accepted without review, by conformal selection among objects whose truth is known."""

from dataclasses import dataclass

import numpy as np

from labelsure._checks import BoolArray, FloatArray, IntArray
from labelsure.decisions import select_objects

ALPHAS = (0.01, 0.05, 0.1, 0.2)
"""Shares of wrong ones among the accepted that are tried."""


@dataclass(frozen=True, eq=False)
class Acceptance:
    """What is accepted of one half of the objects, with the other half as held-out examples.

    Attributes
    ----------
    alphas : tuple of float
        The shares of wrong ones that are put up with.
    decided : bool array of shape (n,)
        The objects that are decided about.
    accepted : bool array of shape (n_alphas, n)
        Those of them that could be accepted.
    wrong : bool array of shape (n,)
        Objects whose most plausible labelset is not the truth.
    """

    alphas: tuple[float, ...]
    decided: BoolArray
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
    """Return which objects of one half could be accepted, with the other half as held-out examples.

    One half only: where each decides about the other, a half whose surest are wrong accepts little
    and has much of the other half accepted, so that the share of wrong ones among all that are
    accepted is not bounded. Halves are drawn once for all, and ties of confidence are broken in the
    same way at every alpha, so that what is accepted at one is accepted at the next. None for a
    single object, which has no other half.
    """
    if len(confidence) < 2:
        return None
    held_out, new = np.array_split(np.random.default_rng(0).permutation(len(confidence)), 2)
    decided = np.zeros(len(confidence), dtype=bool)
    decided[new] = True
    accepted = np.zeros((len(ALPHAS), len(confidence)), dtype=bool)
    for place, alpha in enumerate(ALPHAS):
        accepted[place, new] = select_objects(
            confidence[held_out],
            right[held_out],
            confidence[new],
            alpha=alpha,
            random_ties=True,
            random_state=0,
        ).accepted
    return Acceptance(ALPHAS, decided, accepted, ~right)

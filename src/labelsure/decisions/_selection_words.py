"""What a selection says: what is promised about the accepted ones, or why there are none."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from labelsure._core.types import IntArray

PROVED_BY = "conformal selection: Jin, Candes 2023"


@dataclass(frozen=True)
class Facts:
    """What a selection's statement is made of."""

    n_held_out: int
    n_wrong: int
    n_new: int
    alpha: Fraction
    fault: str

    def promise(self, n_accepted: int, batch: bool) -> str:
        """Return how many are accepted, and what is proven about them."""
        level = f"at most {float(self.alpha):g}"
        counted = f"{n_accepted} of {self.n_new} objects accepted."
        conditions = (
            f"for exchangeable examples, {self.n_held_out} of them held out, {self.n_wrong} of these with {self.fault}"
            f" ({PROVED_BY})"
        )
        if batch and self.n_new > 1:
            return (
                f"{counted} The expected share of objects with {self.fault} among the accepted ones is {level},"
                f" {conditions}. It is an average over held-out examples and batches: one batch may have more."
            )
        return (
            f"{counted} The probability that an object has {self.fault} and is accepted is {level}, {conditions}."
            " That is a share of all objects: among the accepted ones it may be larger. To bound it there, select from"
            " a batch of objects at once."
        )

    def explain(self, numerators: IntArray, ranks: IntArray) -> str:
        """Return why nothing is accepted, and what it would take.

        Parameters
        ----------
        numerators : int array of shape (m,)
            Of the p-values, in ascending order.
        ranks : int array of shape (m,)
            p-value k may be alpha times rank k over m, for the k surest objects to be accepted.
        """
        n, alpha = self.n_held_out, float(self.alpha)
        intro = f"None of {self.n_new} objects can be accepted at alpha = {alpha:g}."
        least = math.ceil(1 / self.alpha) - 1
        if n < least:
            return (
                f"{intro} With {n} held-out examples no p-value is below 1/{n + 1}: at least {least} are needed, and"
                " more where some of the surest are wrong."
            )
        allowed, share = alpha * ranks / self.n_new, (numerators - 1) / n
        enough = allowed > share
        needed = (1 - allowed[enough]) / (allowed[enough] - share[enough])
        advice = (
            f"With about {math.ceil(needed.min())} held-out examples, and the same share of wrong ones among the"
            " surest, some could be."
            if enough.any()
            else "More held-out examples would not change that; a better model or measure of sureness may."
        )
        reached = float(np.min(numerators * self.n_new / ranks)) / (n + 1)
        return (
            f"{intro} {self.n_wrong} of {n} held-out examples have {self.fault}, too many of them where the model is as"
            f" sure as it is of the new objects: the lowest level at which any is accepted is {reached:.3g}. {advice}"
        )

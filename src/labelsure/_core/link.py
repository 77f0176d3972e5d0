"""Monotone maps between the additive part of an energy and the score, on integers."""

from dataclasses import dataclass

import numpy as np

from labelsure._core.types import IntArray


@dataclass(frozen=True)
class SquareRoot:
    """The square root of the additive part, rounded down to an integer: floor(sqrt(a 2^shift)).

    With a in units of 2^-e the result is in units of 2^-(e + shift)/2. Negative a count as 0.

    Attributes
    ----------
    shift : int
        From 0 to 12, so that a < 2^50 leaves room for it.

    Examples
    --------
    >>> import numpy as np
    >>> SquareRoot(shift=2)(np.array([-1, 4, 5])).tolist()
    [0, 4, 4]
    """

    shift: int

    def __post_init__(self) -> None:
        if not 0 <= self.shift <= 12:
            raise ValueError(f"shift must lie between 0 and 12, got {self.shift!r}.")

    def __call__(self, additive: IntArray) -> IntArray:
        """Return the integer square roots."""
        square = np.maximum(additive, 0) << self.shift
        root: IntArray = np.sqrt(square.astype(np.float64)).astype(np.int64)
        root -= root * root > square
        root += (root + 1) * (root + 1) <= square
        return root

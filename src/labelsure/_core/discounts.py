"""Labelsets that cost less than the energy's general form says, whatever the object."""

from dataclasses import dataclass

import numpy as np

from labelsure._core.labelset_keys import find_keys, labelset_keys
from labelsure._core.types import IntArray, LabelMatrix


@dataclass(frozen=True, eq=False)
class Discounts:
    """Some labelsets, and what each is spared of the general score: the same for all objects of a fold.

    A penalty on every labelset that was not seen in training is a constant for all and a discount for the seen ones.

    Attributes
    ----------
    labelsets : int8 array of shape (S, q)
        None twice.
    amounts : int64 array of shape (S,)
        Not negative.

    Examples
    --------
    >>> import numpy as np
    >>> discounts = Discounts(np.array([[1, 1]], dtype=np.int8), np.array([3]))
    >>> discounts.of(np.array([[1, 1], [0, 1]])).tolist()
    [3, 0]
    """

    labelsets: LabelMatrix
    amounts: IntArray

    def __post_init__(self) -> None:
        if (self.amounts < 0).any():
            raise ValueError("amounts must not be negative: a discount only makes labelsets less strange.")

    def of(self, Y: LabelMatrix | IntArray) -> IntArray:
        """Return the discount of each row of ``Y``."""
        places = find_keys(labelset_keys(Y), labelset_keys(self.labelsets))
        return np.where(places >= 0, np.append(self.amounts, 0)[places], 0)

    def __add__(self, other: "Discounts") -> "Discounts":
        """Return the discounts of both together."""
        labelsets = np.unique(np.concatenate([self.labelsets, other.labelsets]), axis=0)
        return Discounts(labelsets, self.of(labelsets) + other.of(labelsets))

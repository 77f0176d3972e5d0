"""Arrays that stay on a GPU: outputs of a model there, and the whole numbers that costs of labels are.

What stands here is written once for arrays of numpy and of CuPy, which answer to numpy's own functions. Sums,
differences, products and quotients of floats are the same to the last bit on both, for every one of them is rounded as
IEEE 754 says; nothing else is used.
"""

from collections.abc import Iterator
from functools import cached_property
from numbers import Integral
from typing import Any, Protocol

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from labelsure._core.dlpack import read_array
from labelsure._core.types import FloatArray, IntArray

SMALLEST_NORMAL = int(np.finfo(np.float32).smallest_normal.view(np.int32))
"""The bits of the float of 32 bits below which all are zeros for CuPy, and numbers in memory."""


class Card(Protocol):
    """Where arrays are.

    Attributes
    ----------
    arrays : module
        CuPy, or what stands in for it.
    """

    arrays: Any

    @property
    def number(self) -> int:
        """Which of several it is."""
        ...

    def to_host(self, array: Any) -> Any:
        """Return an array of the card as one of numpy."""
        ...


class CardOutputs:
    """The outputs of n objects for q labels, on a card.

    Parameters
    ----------
    card : Card
        Where they are.
    there : float64 array of shape (n, q)
        Between 0 and 1.
    """

    def __init__(self, card: Card, there: Any) -> None:
        self.card, self.there = card, there
        self.shape: tuple[int, int] = there.shape

    @classmethod
    def read(cls, values: Any, card: Card, n_labels: int) -> "CardOutputs | None":
        """Return an array of any library that is on the card, without a copy; None where something is odd about it."""
        there = read_array(values, card.arrays.from_dlpack)
        if there.ndim != 2 or there.shape[1] != n_labels or there.dtype.kind not in "biuf":
            return None
        if there.dtype == np.float32:
            magnitudes = there.view(np.int32) & 0x7FFFFFFF
            if bool(((magnitudes != 0) & (magnitudes < SMALLEST_NORMAL)).any()):
                return None
        there = there.astype(np.float64, copy=False)
        return cls(card, there) if bool(((there >= 0) & (there <= 1)).all()) else None

    def __len__(self) -> int:
        return self.shape[0]

    def take(self, rows: Any) -> "CardOutputs":
        """Return the outputs of some of the objects."""
        return CardOutputs(self.card, self.there[self.card.arrays.asarray(rows)])

    def to_host(self) -> FloatArray:
        """Return a copy in memory."""
        outputs: FloatArray = self.card.to_host(self.there)
        return outputs

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle a copy in memory, which gives the same answers."""
        return np.asarray, (self.to_host(),)


class CardArray(NDArrayOperatorsMixin):
    """Whole numbers on a card, for all that takes an array of numpy: a copy is made when these are looked at in memory.

    Rows are taken, and numbers added, on the card.

    Parameters
    ----------
    card : Card
        Where they are.
    there : int64 array
        One row per object.
    """

    def __init__(self, card: Card, there: Any) -> None:
        self.card, self.there = card, there

    @cached_property
    def here(self) -> IntArray:
        """A copy in memory."""
        copy: IntArray = self.card.to_host(self.there)
        copy.flags.writeable = False
        return copy

    @property
    def shape(self) -> tuple[int, ...]:
        """As of any array."""
        shape: tuple[int, ...] = self.there.shape
        return shape

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Any:
        if isinstance(rows, slice):
            return CardArray(self.card, self.there[rows])
        if isinstance(rows, np.ndarray) and rows.ndim == 1:
            return CardArray(self.card, self.there[self.card.arrays.asarray(rows)])
        return self.here[rows]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.here)

    def __bool__(self) -> bool:
        return bool(self.here)

    def sum_where(self, on: IntArray) -> IntArray:
        """Return for each row of zeros and ones the sum of the numbers where there are ones, worked out on the card."""
        sums: IntArray = self.card.to_host((self.there * self.card.arrays.asarray(on)).sum(axis=1))
        return sums

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> IntArray:  # never what is remembered
        return np.array(self.here, dtype=dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if "out" in options:
            return NotImplemented
        others = [one for one in inputs if one is not self]
        if method == "__call__" and not options and all(isinstance(one, Integral) for one in others):
            there = (one.there if one is self else int(one) for one in inputs)
            return CardArray(self.card, ufunc(*there))
        here = (one.here if isinstance(one, CardArray) else one for one in inputs)
        return getattr(ufunc, method)(*here, **options)

    def __getattr__(self, name: str) -> Any:
        """Return what the copy in memory has of this name."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.here, name)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the copy in memory: whoever reads it may have no card."""
        return np.asarray, (self.here,)

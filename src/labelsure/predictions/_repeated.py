"""Columns in which few values come again and again: a million objects have few different labelsets."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from labelsure._checks import BoolArray, IntArray


class RepeatedValues(NamedTuple):
    """A column by its different values, and which of them each row has.

    Attributes
    ----------
    values : list
        Each value once.
    places : int array of shape (n,)
        Where among them the value of each row is; -1 where a row has none.

    Examples
    --------
    >>> RepeatedValues([("sea",), ("sea", "city")], np.array([0, 1, 0, -1])).to_list()
    [('sea',), ('sea', 'city'), ('sea',), None]
    """

    values: list[Any]
    places: IntArray

    def to_list(self) -> list[Any]:
        """Return the value of each row, None where it has none."""
        values = [*self.values, None]  # -1 is the last
        return [values[place] for place in self.places.tolist()]


def repeat_labels(label_names: Sequence[str], chosen: BoolArray) -> RepeatedValues:
    """Return the names of the labels that are chosen for each object, (n, q) -> n tuples.

    Examples
    --------
    >>> repeat_labels(["sea", "city"], np.array([[True, False], [True, True], [True, False]])).values
    [('sea',), ('sea', 'city')]
    """
    packed = np.packbits(chosen, axis=1)
    known: dict[bytes, int] = {}
    keys = packed.view(f"V{packed.shape[1]}")[:, 0].tolist()
    places = np.array([known.setdefault(key, len(known)) for key in keys], dtype=np.int64)
    first = np.zeros(len(known), dtype=np.int64)
    first[places[::-1]] = np.arange(len(keys))[::-1]
    names = np.array(label_names, dtype=object)
    return RepeatedValues([tuple(names[chosen[i]].tolist()) for i in first], places)

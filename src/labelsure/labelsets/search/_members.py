"""A region's members as one sorted list: searched for best first where few are asked for, else listed and sorted."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np

from labelsure._core.labelset_bits import pack
from labelsure._core.types import IntArray, LabelMatrix
from labelsure.labelsets.arrays import EngineOptions, FoldArrays

Members: TypeAlias = tuple[LabelMatrix, IntArray]
"""Labelsets and their numerators."""


def sorted_members(
    arrays: FoldArrays,
    i: int,
    limit: int | None,
    options: EngineOptions,
    *,
    best: Callable[[int], Members],
    everything: Callable[[], Iterator[Members]],
) -> Members:
    """Return the most plausible members of object ``i``'s region.

    Parameters
    ----------
    arrays : FoldArrays
        Gives total scores.
    i : int
        The object.
    limit : int or None
        At most this many; None: all.
    options : EngineOptions
        How many are few, and how many too many.
    best : callable
        Returns this many members, the best, in order.
    everything : callable
        Iterates over all of them.
    """
    most = options.list_bytes // (arrays.n_labels + 24)
    if limit is not None and limit <= options.few_members:
        return best(limit)
    listed = _list_all(everything(), arrays.n_labels, most if limit is None else min(limit, most))
    if listed is None and limit is not None and limit <= most:
        return best(limit)
    if listed is None:
        raise ValueError(
            f"This region has more than {most} labelsets, too many for a list of them all."
            " Pass limit= for the most plausible ones, or iterate over the region."
        )
    labelsets, numerators = listed
    totals = arrays.total_scores(labelsets, np.full(len(labelsets), i))
    order = np.lexsort((*pack(labelsets).T, totals, -numerators))
    return labelsets[order], numerators[order]


def _list_all(parts: Iterator[Members], n_labels: int, most: int) -> Members | None:
    """Return all members; None where there are more than ``most``."""
    found = [(np.empty((0, n_labels), dtype=np.int8), np.empty(0, dtype=np.int64))]
    n_found = 0
    for part in parts:
        found.append(part)
        n_found += len(part[1])
        if n_found > most:
            return None
    return np.concatenate([part for part, _ in found]), np.concatenate([part for _, part in found])

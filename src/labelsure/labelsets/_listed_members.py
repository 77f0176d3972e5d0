"""A region's members as one sorted list: searched for best first where few are asked for, else listed and sorted."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from labelsure._core.types import IntArray, LabelMatrix
from labelsure.labelsets._words import pack

if TYPE_CHECKING:
    from labelsure.labelsets._engine import LabelsetEngine

Members: TypeAlias = tuple[LabelMatrix, IntArray]
"""Labelsets and their numerators."""

FEW = 4096
"""Up to so many members are searched for best first."""

LIST_BYTES = 2**30
"""A list of a region's members may take so much memory; larger ones are iterated."""


def sorted_members(
    engine: "LabelsetEngine", i: int, smallest: int, limit: int | None, best: Callable[[int], Members]
) -> Members:
    """Return the most plausible labelsets of object ``i`` with a numerator of at least ``smallest``.

    Parameters
    ----------
    engine : LabelsetEngine
        That iterates over them.
    limit : int or None
        At most so many; None: all.
    best : callable
        Returns so many of them, the best, in order.
    """
    most = LIST_BYTES // (engine.n_labels + 24)
    if limit is not None and limit <= FEW:
        return best(limit)
    listed = _list_all(engine, i, smallest, most if limit is None else min(limit, most))
    if listed is None and limit is not None and limit <= most:
        return best(limit)
    if listed is None:
        raise ValueError(
            f"This region has more than {most} labelsets, too many for a list of them all."
            " Pass limit= for the most plausible ones, or iterate over the region."
        )
    labelsets, numerators = listed
    totals = engine.total_scores(labelsets, np.full(len(labelsets), i))
    order = np.lexsort((*pack(labelsets).T, totals, -numerators))
    return labelsets[order], numerators[order]


def _list_all(engine: "LabelsetEngine", i: int, smallest: int, most: int) -> Members | None:
    """Return all labelsets with a numerator of at least ``smallest``; None where there are more than ``most``."""
    found = [(np.empty((0, engine.n_labels), dtype=np.int8), np.empty(0, dtype=np.int64))]
    n_found = 0
    for part in engine.iterate_members(i, smallest):
        found.append(part)
        n_found += len(part[1])
        if n_found > most:
            return None
    return np.concatenate([part for part, _ in found]), np.concatenate([part for _, part in found])

"""Loops that do nothing but what a p-value table cannot do without."""

from typing import Any

import numpy as np

from labelsure._compile import kernel

Array = np.ndarray[Any, Any]


@kernel
def look_up(positions: Array, buckets: Array, repeats: int) -> int:
    """Add up ``buckets[positions]``: nothing but loads."""
    total = np.int64(0)
    for _ in range(repeats):
        for code in range(np.uint64(positions.shape[0])):
            total += buckets[positions[code]]
    return total


@kernel
def add_and_look_up(
    sums: Array, offset: int, shift: int, buckets: Array, row: Array, repeats: int
) -> None:
    """Add to ``row`` what ``buckets`` holds for each score: add, shift, look up, add.

    Scores must fall into the buckets: the table's own loop tests for that, and for buckets with
    calibration scores.
    """
    bits = np.uint64(shift)
    for _ in range(repeats):
        for code in range(np.uint64(sums.shape[0])):
            row[code] += buckets[np.uint64(offset + sums[code]) >> bits]

"""The calibration scores of folds on another device."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from labelsure._core.types import IntArray
from labelsure.labelsets.arrays._fold_arrays import ScoreTables
from labelsure.labelsets.table._device import Device

FEWEST_BITS = 9
"""Fewer buckets of a fold than two to the power of this are not worth fast memory."""

LARGEST = np.iinfo(np.int64).max

# Columns of DeviceScores.layout
ORIGIN, SHIFT = 4, 5


class DeviceScores(NamedTuple):
    """The calibration scores on a device, as ``Tables`` in the source, and where those of each fold lie there.

    Values with their counts, and buckets, are in fast memory where they are shared.
    """

    buckets: Any
    counts: Any
    values: Any
    layout: Any
    shared_values: bool
    shared_buckets: bool

    @classmethod
    def of(cls, calibrations: Sequence[IntArray], links: Sequence[int], device: Device, taken: int) -> "DeviceScores":
        """Return those of some folds, with as many buckets as fast memory has room for beside what is taken."""
        n_folds, n_values = len(calibrations), sum(map(len, calibrations)) + len(calibrations)
        kind = np.dtype(np.int16 if max(map(len, calibrations)) < 2**15 else np.int32)
        room, n_bytes = device.shared_bytes - taken, (8 + kind.itemsize) * n_values
        shared_values = 2 * n_bytes <= room
        room = (room - n_bytes * shared_values) // kind.itemsize
        bits = (room // n_folds).bit_length()
        tables = ScoreTables.of(calibrations, links, bits=bits if bits >= FEWEST_BITS else None)
        if tables.buckets.size > room and bits > FEWEST_BITS:
            tables = ScoreTables.of(calibrations, links, bits=bits - 1)
        bucket_begin, bucket_last, begin, end, _, origin, shift, link = tables.layout.T
        distances = tables.values - np.repeat(origin, end - begin)
        more = np.arange(n_folds)  # after the values of each fold one that is never reached
        layout = (bucket_begin, bucket_last - bucket_begin, begin + more, end + more, origin, shift, link)
        return cls(
            device.arrays.asarray(tables.buckets, dtype=kind),
            device.arrays.asarray(tables.counts, dtype=kind),
            device.arrays.asarray(np.insert(distances, end, LARGEST)),
            device.arrays.asarray(np.ascontiguousarray(np.stack(layout, axis=1))),
            shared_values,
            tables.buckets.size <= room,
        )

    @property
    def n_bytes(self) -> int:
        """The fast memory that these take."""
        values = int(self.values.nbytes + self.counts.nbytes) * self.shared_values
        return values + int(self.buckets.nbytes) * self.shared_buckets

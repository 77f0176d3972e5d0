"""A table in front of the calibration scores, so that a count is one look-up instead of a binary search.

The range of a fold's calibration scores is cut into equal buckets. A bucket without a calibration score inside has
one count for every score that falls into it; only scores that share a bucket with a calibration score are compared,
exactly, with the few values there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from labelsure._core.calibration import Calibration
from labelsure._core.types import IntArray

BUCKET_BITS = 13
"""2^13 four-byte buckets are 32 KiB: the first-level cache of today's processors, so look-ups do not wait."""

MAX_BUCKET_BITS = 17
"""Many calibration scores would share so few buckets; up to 2^17 of them still are in the second-level cache."""


@dataclass(frozen=True, eq=False)
class ScoreIndex:
    """The indices of K folds, concatenated.

    Attributes
    ----------
    buckets : int32 array
        Fold k's are ``buckets[bucket_start[k]:bucket_start[k + 1]]``: the number of calibration scores at least as
        large as any score in the bucket or, where that differs within the bucket, ``~p`` with p the position in
        ``values`` of the first calibration score there.
    values : int64 array
        The distinct calibration scores, ascending; fold k's from ``value_start[k]`` on.
    counts : int64 array
        ``counts[v]``: how many calibration scores are >= ``values[v]``; one zero more than values per fold, so fold
        k's start at ``value_start[k] + k``.
    origin, shift : int64 arrays of shape (K,)
        Score s falls into bucket ``(s - origin) >> shift``; larger scores than all go to the last one.
    """

    buckets: np.ndarray[tuple[int], np.dtype[np.int32]]
    bucket_start: IntArray
    values: IntArray
    counts: IntArray
    value_start: IntArray
    origin: IntArray
    shift: IntArray


def index_calibrations(calibrations: Sequence[Calibration], lowest_scores: Sequence[int]) -> ScoreIndex:
    """Return the index of several folds.

    Parameters
    ----------
    calibrations : sequence of Calibration
        One per fold, none empty.
    lowest_scores : sequence of int
        Per fold, a lower bound of every score that will be looked up.
    """
    parts = [_index_one(calibration, low) for calibration, low in zip(calibrations, lowest_scores, strict=True)]
    buckets, values, counts, origins, shifts = zip(*parts, strict=True)
    return ScoreIndex(
        buckets=np.concatenate(buckets),
        bucket_start=_starts(buckets),
        values=np.concatenate(values),
        counts=np.concatenate(counts),
        value_start=_starts(values),
        origin=np.array(origins, dtype=np.int64),
        shift=np.array(shifts, dtype=np.int64),
    )


def _index_one(
    calibration: Calibration, lowest_score: int
) -> tuple[np.ndarray[tuple[int], np.dtype[np.int32]], IntArray, IntArray, int, int]:
    values, counts = calibration.distinct
    origin = min(int(values[0]), lowest_score)
    span = int(values[-1]) - origin
    bits = min(max(BUCKET_BITS, (16 * len(values)).bit_length()), MAX_BUCKET_BITS)
    shift = max(0, span.bit_length() - bits)
    n_buckets = (span >> shift) + 2  # the last one: above every calibration score
    occupied = (values - origin) >> shift
    first_value = np.searchsorted(occupied, np.arange(n_buckets))
    buckets = counts[first_value].astype(np.int32)
    buckets[occupied] = ~first_value[occupied].astype(np.int32)
    return buckets, values, counts, origin, shift


def _starts(parts: Sequence[np.ndarray[tuple[int], np.dtype[np.generic]]]) -> IntArray:
    return np.cumsum([0, *(len(part) for part in parts)], dtype=np.int64)

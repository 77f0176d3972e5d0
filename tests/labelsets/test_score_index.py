"""The index: what a look-up promises, and that it stays small."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from labelsure.labelsets._index import BUCKET_BITS, index_calibrations

from fold_strategies import COSTS
from labelsure._core.calibration import Calibration


@st.composite
def calibrations_with_bounds(draw):
    """Between 1 and 4 calibrations, each with a lower bound of the scores to be looked up."""
    scores = arrays(np.int64, st.integers(1, 20), elements=draw(COSTS))
    parts = [Calibration.of(draw(scores)) for _ in range(draw(st.integers(1, 4)))]
    return parts, [draw(draw(COSTS)) for _ in parts]


def look_up(index, k, score):
    """Return the count of fold k as ScoreIndex describes it, in plain Python."""
    buckets = index.buckets[index.bucket_start[k] : index.bucket_start[k + 1]]
    values = index.values[index.value_start[k] : index.value_start[k + 1]]
    counts = index.counts[index.value_start[k] + k : index.value_start[k + 1] + k + 1]
    entry = int(buckets[min((score - int(index.origin[k])) >> int(index.shift[k]), len(buckets) - 1)])
    if entry >= 0:
        return entry
    position = ~entry
    assert all(value < score for value in values[:position])
    while position < len(values) and values[position] < score:
        position += 1
    return int(counts[position])


@given(calibrations_with_bounds(), st.data())
def test_look_up_equals_count(parts, data):
    calibrations, lowest = parts
    index = index_calibrations(calibrations, lowest)
    for k, (calibration, bound) in enumerate(zip(calibrations, lowest, strict=True)):
        smallest = min(bound, int(calibration.scores[0]))
        near = [int(value) + beside for value in calibration.scores for beside in (-1, 0, 1)]
        far = [smallest, bound, 2**50, data.draw(st.integers(smallest, 2**50))]
        scores = np.array([score for score in near + far if score >= smallest])
        assert [look_up(index, k, int(score)) for score in scores] == calibration.count_at_least(scores).tolist()


@given(calibrations_with_bounds())
def test_index_is_small_and_covers_every_score(parts):
    calibrations, lowest = parts
    index = index_calibrations(calibrations, lowest)
    assert index.buckets.dtype == np.int32
    assert np.diff(index.bucket_start).max() <= 2**BUCKET_BITS + 1
    assert index.bucket_start[-1] == len(index.buckets)
    assert len(index.counts) == len(index.values) + len(calibrations)
    for k, (calibration, bound) in enumerate(zip(calibrations, lowest, strict=True)):
        assert index.origin[k] <= min(bound, calibration.scores[0])
        values = index.values[index.value_start[k] : index.value_start[k + 1]]
        assert values.tolist() == sorted(set(calibration.scores.tolist()))
        assert index.buckets[index.bucket_start[k + 1] - 1] == 0  # above every calibration score


def test_index_keeps_unit_buckets_for_a_short_range():
    index = index_calibrations([Calibration.of(np.array([3, 3, 5]))], [2])
    assert index.shift.tolist() == [0]
    assert index.origin.tolist() == [2]
    assert index.buckets.tolist() == [3, ~0, 1, ~1, 0]
    assert index.values.tolist() == [3, 5]
    assert index.counts.tolist() == [3, 1, 0]

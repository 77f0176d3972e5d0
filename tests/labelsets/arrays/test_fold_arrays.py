"""Tables of calibration scores: what a look-up promises, and that they stay small."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fold_strategies import COSTS
from labelsure._core.p_values import count_at_least
from labelsure.labelsets.arrays._fold_arrays import (
    BUCKET_BEGIN,
    BUCKET_BITS,
    BUCKET_LAST,
    COUNT_SHIFT,
    ORIGIN,
    SHIFT,
    VALUE_BEGIN,
    VALUE_END,
    ScoreTables,
)


@st.composite
def calibrations_with_bounds(draw):
    """Between 1 and 4 calibrations, each with a lower bound of the scores to be looked up."""
    scores = arrays(np.int64, st.integers(1, 20), elements=draw(COSTS))
    parts = [np.sort(draw(scores)) for _ in range(draw(st.integers(1, 4)))]
    return parts, [draw(draw(COSTS)) for _ in parts]


def tables_of(calibrations, lowest):
    return ScoreTables.of(calibrations, lowest, [-1] * len(calibrations))


def look_up(index, k, score):
    """Return the count of fold k as ScoreTables describe it, in plain Python."""
    layout = index.layout[k]
    buckets = index.buckets[layout[BUCKET_BEGIN] : layout[BUCKET_LAST] + 1]
    values = index.values[layout[VALUE_BEGIN] : layout[VALUE_END]]
    counts = index.counts[layout[VALUE_BEGIN] + layout[COUNT_SHIFT] : layout[VALUE_END] + layout[COUNT_SHIFT] + 1]
    entry = int(buckets[min((score - int(layout[ORIGIN])) >> int(layout[SHIFT]), len(buckets) - 1)])
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
    index = tables_of(calibrations, lowest)
    for k, (calibration, bound) in enumerate(zip(calibrations, lowest, strict=True)):
        smallest = min(bound, int(calibration[0]))
        near = [int(value) + beside for value in calibration for beside in (-1, 0, 1)]
        far = [smallest, bound, 2**50, data.draw(st.integers(smallest, 2**50))]
        scores = np.array([score for score in near + far if score >= smallest])
        assert [look_up(index, k, int(score)) for score in scores] == count_at_least(calibration, scores).tolist()


@given(calibrations_with_bounds())
def test_index_is_small_and_covers_every_score(parts):
    calibrations, lowest = parts
    index = tables_of(calibrations, lowest)
    assert index.buckets.dtype == np.int32
    assert (index.layout[:, BUCKET_LAST] - index.layout[:, BUCKET_BEGIN]).max() <= 2**BUCKET_BITS
    assert index.layout[-1, BUCKET_LAST] == len(index.buckets) - 1
    assert len(index.counts) == len(index.values) + len(calibrations)
    for k, (calibration, bound) in enumerate(zip(calibrations, lowest, strict=True)):
        assert index.layout[k, ORIGIN] <= min(bound, calibration[0])
        values = index.values[index.layout[k, VALUE_BEGIN] : index.layout[k, VALUE_END]]
        assert values.tolist() == sorted(set(calibration.tolist()))
        assert index.buckets[index.layout[k, BUCKET_LAST]] == 0  # above every calibration score


def test_index_keeps_unit_buckets_for_a_short_range():
    index = tables_of([np.sort(np.array([3, 3, 5]))], [2])
    assert index.layout[:, SHIFT].tolist() == [0]
    assert index.layout[:, ORIGIN].tolist() == [2]
    assert index.buckets.tolist() == [3, ~0, 1, ~1, 0]
    assert index.values.tolist() == [3, 5]
    assert index.counts.tolist() == [3, 1, 0]

"""Tables of calibration scores: what a look-up promises, and that they stay small."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fold_strategies import COSTS
from labelsure.engine._fold_arrays import (
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
from labelsure.engine._p_values import count_at_least

CALIBRATIONS = COSTS.flatmap(
    lambda costs: st.lists(
        arrays(np.int64, st.integers(1, 20), elements=costs).map(np.sort), min_size=1, max_size=4
    )
)


def tables_of(calibrations):
    return ScoreTables.of(calibrations, [-1] * len(calibrations))


def look_up(index, k, score):
    """Return the count of fold k as ScoreTables describe it, in plain Python."""
    layout = index.layout[k]
    buckets = index.buckets[layout[BUCKET_BEGIN] : layout[BUCKET_LAST] + 1]
    values = index.values[layout[VALUE_BEGIN] : layout[VALUE_END]]
    counts = index.counts[
        layout[VALUE_BEGIN] + layout[COUNT_SHIFT] : layout[VALUE_END] + layout[COUNT_SHIFT] + 1
    ]
    entry = int(
        buckets[min(max(score - int(layout[ORIGIN]), 0) >> int(layout[SHIFT]), len(buckets) - 1)]
    )
    if entry >= 0:
        return entry
    position = ~entry
    assert all(value < score for value in values[:position])
    while position < len(values) and values[position] < score:
        position += 1
    return int(counts[position])


@given(CALIBRATIONS, st.data())
def test_look_up_equals_count(calibrations, data):
    index = tables_of(calibrations)
    for k, calibration in enumerate(calibrations):
        near = [int(value) + beside for value in calibration for beside in (-1, 0, 1)]
        scores = np.array([*near, -(2**50), 2**50, data.draw(st.integers(-(2**50), 2**50))])
        assert [look_up(index, k, int(score)) for score in scores] == count_at_least(
            calibration, scores
        ).tolist()


@given(CALIBRATIONS)
def test_index_is_small_and_covers_every_score(calibrations):
    index = tables_of(calibrations)
    assert index.buckets.dtype == np.int32
    assert (
        index.layout[:, BUCKET_LAST] - index.layout[:, BUCKET_BEGIN]
    ).max() <= 2**BUCKET_BITS + 1
    assert index.layout[-1, BUCKET_LAST] == len(index.buckets) - 1
    assert len(index.counts) == len(index.values) + len(calibrations)
    assert index.merged.tolist() == sorted(np.concatenate(calibrations).tolist())
    for k, calibration in enumerate(calibrations):
        values = index.values[index.layout[k, VALUE_BEGIN] : index.layout[k, VALUE_END]]
        assert values.tolist() == sorted(set(calibration.tolist()))
        assert index.buckets[index.layout[k, BUCKET_BEGIN]] == len(
            calibration
        )  # below every calibration score
        assert index.buckets[index.layout[k, BUCKET_LAST]] == 0  # above every calibration score


def test_index_keeps_unit_buckets_for_a_short_range():
    index = tables_of([np.sort(np.array([3, 3, 5]))])
    assert index.layout[:, SHIFT].tolist() == [0]
    assert index.layout[:, ORIGIN].tolist() == [2]
    assert index.buckets.tolist() == [3, ~0, 1, ~1, 0]
    assert index.values.tolist() == [3, 5]
    assert index.counts.tolist() == [3, 1, 0]

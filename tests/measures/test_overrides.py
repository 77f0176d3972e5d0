"""Labelsets with scores of their own."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fold_strategies import overrides
from labelsure.measures._energy import Overrides
from labelsure.measures._labelset_bits import decode, labelset_keys

SHAPES = st.tuples(st.integers(1, 4), st.integers(1, 5))
CASES = SHAPES.flatmap(lambda shape: st.tuples(st.just(shape), overrides(*shape)))


def transcription(listed, i, labelset, score):
    for e in range(listed.begin[i], listed.begin[i + 1]):
        if listed.labelsets[e].tolist() == list(labelset):
            return int(listed.scores[e])
    return score


@given(CASES, st.data())
def test_override_replaces_exactly_the_exceptions(case, data):
    (n_objects, n_labels), listed = case
    rows = data.draw(
        st.lists(
            st.tuples(st.integers(0, n_objects - 1), st.integers(0, 2**n_labels - 1)),
            min_size=1,
            max_size=20,
        )
    )
    objects, codes = (np.array(part) for part in zip(*rows, strict=True))
    labelsets = decode(codes, n_labels)
    scores = np.arange(len(rows)) - 100
    expected = [transcription(listed, i, labelsets[r], r - 100) for r, i in enumerate(objects)]
    for kind in (np.int8, np.int64, bool):
        assert listed.override(scores, labelsets.astype(kind), objects).tolist() == expected
    assert scores.tolist() == list(range(-100, len(rows) - 100))


@given(CASES, st.data())
def test_take_keeps_the_exceptions_of_the_objects(case, data):
    (n_objects, n_labels), listed = case
    chosen = np.array(
        data.draw(st.lists(st.integers(0, n_objects - 1), max_size=5)), dtype=np.int64
    )
    taken = listed.take(chosen)
    assert len(taken.begin) == len(chosen) + 1
    assert taken.begin[-1] == len(taken.scores) == len(taken.labelsets)
    for code in range(2**n_labels):
        labelset = decode(np.array([code]), n_labels)[0]
        for place, i in enumerate(chosen):
            assert transcription(taken, place, labelset, None) == transcription(
                listed, i, labelset, None
            )


def test_override_takes_thousands_of_exceptions_and_labelsets():
    """Comparing each with each would take 4 GB here."""
    rng = np.random.default_rng(0)
    labelsets = np.unique(rng.integers(0, 2, size=(5000, 160)), axis=0).astype(np.int8)
    listed = Overrides(np.array([0, len(labelsets)]), labelsets, np.arange(len(labelsets)))
    asked = np.vstack([labelsets[::-1], 1 - labelsets[:100]])
    scores = listed.override(np.full(len(asked), -1), asked, np.zeros(len(asked), dtype=np.int64))
    assert scores.tolist() == [*range(len(labelsets) - 1, -1, -1)] + [-1] * 100


@pytest.mark.parametrize("n_labels", [3, 64, 65, 130])
@pytest.mark.parametrize("seed", range(5))
def test_override_equals_a_dictionary(n_labels, seed):
    """The slow version: one look-up per row by (object, labelset)."""
    rng = np.random.default_rng(seed)
    few = np.unique(rng.integers(0, 2, size=(6, n_labels)), axis=0).astype(np.int8)
    chosen = [np.flatnonzero(rng.random(len(few)) < 0.5) for _ in range(5)]
    begin = np.cumsum([0, *map(len, chosen)])
    listed = Overrides(begin, few[np.concatenate(chosen)], rng.integers(-9, 9, begin[-1]))
    rows = zip(listed.owners().tolist(), listed.labelsets, listed.scores.tolist(), strict=True)
    scores = {(owner, labelset.tobytes()): score for owner, labelset, score in rows}
    assert len(scores) == len(listed.scores)
    for n_asked in (5, 1, 0):
        objects = rng.permutation(5)[rng.integers(0, max(n_asked, 1), size=30 if n_asked else 0)]
        asked = few[rng.integers(len(few), size=len(objects))]
        general = rng.integers(100, 200, size=len(objects))
        expected = [
            scores.get((i, labelset.tobytes()), score)
            for i, labelset, score in zip(objects.tolist(), asked, general.tolist(), strict=True)
        ]
        assert listed.override(general, asked, objects).tolist() == expected
    assert listed.owners().tolist() == [i for i in range(5) for _ in chosen[i]]


def test_override_looks_only_at_the_exceptions_of_the_objects_asked_for():
    """A search asks about one object at a time; sorting all objects' overrides each time would square the cost."""
    labelsets = np.zeros((1000, 8), dtype=np.int8)
    listed = Overrides(np.arange(1001), labelsets, np.arange(1000))
    with mock.patch("labelsure.measures._energy.labelset_keys", side_effect=labelset_keys) as keys:
        assert listed.override(np.array([-1]), labelsets[:1], np.array([700])).tolist() == [700]
    assert sum(len(call.args[0]) for call in keys.call_args_list) == 2

"""Labelsets with scores of their own."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fold_strategies import exceptions
from labelsure._core.exceptions import Exceptions
from labelsure.labelsets import decode

SHAPES = st.tuples(st.integers(1, 4), st.integers(1, 5))
CASES = SHAPES.flatmap(lambda shape: st.tuples(st.just(shape), exceptions(*shape)))


def transcription(listed, i, labelset, score):
    for e in range(listed.begin[i], listed.begin[i + 1]):
        if listed.labelsets[e].tolist() == list(labelset):
            return int(listed.scores[e])
    return score


@given(CASES, st.data())
def test_override_replaces_exactly_the_exceptions(case, data):
    (n_objects, n_labels), listed = case
    rows = data.draw(
        st.lists(st.tuples(st.integers(0, n_objects - 1), st.integers(0, 2**n_labels - 1)), min_size=1, max_size=20)
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
    chosen = np.array(data.draw(st.lists(st.integers(0, n_objects - 1), max_size=5)), dtype=np.int64)
    taken = listed.take(chosen)
    assert len(taken.begin) == len(chosen) + 1
    assert taken.begin[-1] == len(taken.scores) == len(taken.labelsets)
    for code in range(2**n_labels):
        labelset = decode(np.array([code]), n_labels)[0]
        for place, i in enumerate(chosen):
            assert transcription(taken, place, labelset, None) == transcription(listed, i, labelset, None)


def test_override_takes_thousands_of_exceptions_and_labelsets():
    """Comparing each with each would take 4 GB here."""
    rng = np.random.default_rng(0)
    labelsets = np.unique(rng.integers(0, 2, size=(5000, 160)), axis=0).astype(np.int8)
    listed = Exceptions(np.array([0, len(labelsets)]), labelsets, np.arange(len(labelsets)))
    asked = np.vstack([labelsets[::-1], 1 - labelsets[:100]])
    scores = listed.override(np.full(len(asked), -1), asked, np.zeros(len(asked), dtype=np.int64))
    assert scores.tolist() == [*range(len(labelsets) - 1, -1, -1)] + [-1] * 100

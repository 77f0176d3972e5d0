"""Labelsets that are spared a part of the score."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from labelsure.measures._energy import Discounts
from labelsure.measures._labelset_bits import decode

AMOUNTS = st.sampled_from([0, 1, 2, 2**49]) | st.integers(0, 9)


@st.composite
def discounts(draw, n_labels):
    codes = draw(st.lists(st.integers(0, 2**n_labels - 1), max_size=6, unique=True))
    amounts = draw(arrays(np.int64, len(codes), elements=AMOUNTS))
    return Discounts(decode(np.array(codes, dtype=np.int64), n_labels), amounts)


def transcription(listed, labelset):
    """The amount of the labelset, 0 where it is not listed."""
    amounts = {
        tuple(row): amount
        for row, amount in zip(listed.labelsets.tolist(), listed.amounts, strict=True)
    }
    return int(amounts.get(tuple(labelset), 0))


PAIRS = st.integers(1, 5).flatmap(lambda q: st.tuples(discounts(q), discounts(q)))


@given(PAIRS)
def test_each_labelset_has_its_own_amount(pair):
    listed, _ = pair
    labelsets = decode(np.arange(2 ** listed.labelsets.shape[1]), listed.labelsets.shape[1])
    expected = [transcription(listed, labelset) for labelset in labelsets.tolist()]
    for kind in (np.int8, np.int64, bool):
        of_all = listed.of(labelsets.astype(kind))
        assert of_all.dtype == np.int64
        assert of_all.tolist() == expected
    assert listed.of(labelsets[::-1]).tolist() == expected[::-1]


@given(PAIRS)
def test_sums_spare_what_both_spare(pair):
    first, second = pair
    labelsets = decode(np.arange(2 ** first.labelsets.shape[1]), first.labelsets.shape[1])
    both = first + second
    assert both.of(labelsets).tolist() == (first.of(labelsets) + second.of(labelsets)).tolist()
    listed = both.labelsets.tolist()
    assert len({tuple(row) for row in listed}) == len(listed)
    assert both.labelsets.dtype == np.int8


def test_more_labels_than_bits_in_a_word():
    labelsets = np.zeros((3, 150), dtype=np.int8)
    labelsets[1, 149] = labelsets[2, 64] = 1
    listed = Discounts(labelsets, np.array([5, 6, 7]))
    other = np.zeros((1, 150), dtype=np.int8)
    other[0, 148] = 1
    assert listed.of(np.vstack([labelsets[::-1], other])).tolist() == [7, 6, 5, 0]
    assert (listed + listed).of(labelsets).tolist() == [10, 12, 14]


def test_no_discounts_spare_nothing():
    nothing = Discounts(np.empty((0, 3), dtype=np.int8), np.empty(0, dtype=np.int64))
    assert nothing.of(np.eye(3, dtype=np.int8)).tolist() == [0, 0, 0]
    assert nothing.of(np.empty((0, 3), dtype=np.int8)).tolist() == []

"""Labelsets as codes, words and single items."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from labelsure.measures._labelset_bits import (
    decode,
    encode,
    find_keys,
    labelset_keys,
    pack,
    unpack,
)

WIDTHS = st.sampled_from([1, 2, 7, 8, 9, 63, 64, 65, 128, 129, 200]) | st.integers(1, 140)


@st.composite
def two_lists(draw):
    """Two lists of labelsets over equally many labels, sparse at random, with some in common."""
    n_labels = draw(WIDTHS)
    few = [np.zeros(n_labels, dtype=np.int8) for _ in range(draw(st.integers(1, 6)))]
    for labelset in few:
        for j in draw(
            st.lists(
                st.sampled_from([0, n_labels - 1, n_labels // 2, min(63, n_labels - 1)]), max_size=3
            )
        ):
            labelset[j] = 1
    pick = st.lists(st.sampled_from(range(len(few))), max_size=8)
    return [
        np.array([few[i] for i in draw(pick)], dtype=np.int8).reshape(-1, n_labels)
        for _ in range(2)
    ]


@given(two_lists())
def test_keys_are_equal_for_equal_labelsets_only(lists):
    a, b = lists
    equal = labelset_keys(a)[:, None] == labelset_keys(b)[None, :]
    assert equal.shape == (len(a), len(b))
    assert equal.tolist() == [[row.tolist() == other.tolist() for other in b] for row in a]


@given(two_lists())
def test_keys_are_found_where_the_labelset_is(lists):
    wanted, known = lists
    known = np.unique(known, axis=0)[::-1]
    places = {row.tobytes(): place for place, row in enumerate(known)}
    found = find_keys(labelset_keys(wanted), labelset_keys(known))
    assert found.tolist() == [places.get(row.tobytes(), -1) for row in wanted]


@pytest.mark.parametrize("n_labels", [3, 100])
def test_no_labelsets_have_no_keys(n_labels):
    nothing = np.empty((0, n_labels), dtype=np.int8)
    assert len(labelset_keys(nothing)) == 0
    assert find_keys(labelset_keys(nothing), labelset_keys(nothing)).tolist() == []
    one = labelset_keys(np.ones((1, n_labels), dtype=np.int8))
    assert find_keys(one, labelset_keys(nothing)).tolist() == [-1]
    assert find_keys(labelset_keys(nothing), one).tolist() == []


@given(
    st.tuples(st.integers(0, 4), WIDTHS).flatmap(
        lambda shape: arrays(np.int8, shape, elements=st.integers(0, 1))
    )
)
def test_bits_of_words_are_labels(labelsets):
    n_rows, n_labels = labelsets.shape
    words = pack(labelsets)
    assert words.dtype == np.uint64
    assert words.shape == (n_rows, -(-n_labels // 64))
    for row, labelset in zip(words.tolist(), labelsets.tolist(), strict=True):
        number = sum(word << 64 * w for w, word in enumerate(row))
        assert number == sum(on << j for j, on in enumerate(labelset))
    assert unpack(words, n_labels).dtype == np.int8
    assert np.array_equal(unpack(words, n_labels), labelsets)


@given(
    st.integers(1, 62).flatmap(
        lambda q: st.tuples(st.just(q), st.lists(st.integers(0, 2**q - 1), max_size=5))
    )
)
def test_encode_undoes_decode(labels_and_codes):
    n_labels, codes = labels_and_codes
    labelsets = decode(np.array(codes, dtype=np.int64), n_labels)
    assert labelsets.shape == (len(codes), n_labels)
    assert labelsets.dtype == np.int8
    assert encode(labelsets).tolist() == codes

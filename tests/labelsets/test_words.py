"""Labelsets as bits of 64-bit words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from labelsure.labelsets._words import pack, unpack

WIDTHS = st.integers(1, 200) | st.sampled_from([63, 64, 65, 127, 128, 129, 192])


@given(st.tuples(st.integers(0, 4), WIDTHS).flatmap(lambda shape: arrays(np.int8, shape, elements=st.integers(0, 1))))
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


@pytest.mark.parametrize("kind", [bool, np.int64, np.float64])
def test_pack_takes_zeros_and_ones_of_any_type_and_layout(kind):
    labelsets = np.random.default_rng(0).integers(0, 2, size=(130, 5))
    assert np.array_equal(pack(labelsets.T.astype(kind)), pack(np.ascontiguousarray(labelsets.T).astype(np.int8)))


def test_unpack_takes_slices_of_words():
    words = pack(np.eye(130, dtype=np.int8)[[0, 64, 129, 63]])
    assert unpack(words[::2], 130).nonzero()[1].tolist() == [0, 129]

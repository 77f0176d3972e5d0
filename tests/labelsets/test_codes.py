"""Labelsets as whole numbers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from labelsure.labelsets import decode, encode


@given(st.integers(1, 62).flatmap(lambda q: st.tuples(st.just(q), st.lists(st.integers(0, 2**q - 1), max_size=5))))
def test_encode_undoes_decode(labels_and_codes):
    n_labels, codes = labels_and_codes
    labelsets = decode(np.array(codes, dtype=np.int64), n_labels)
    assert labelsets.shape == (len(codes), n_labels)
    assert labelsets.dtype == np.int8
    assert encode(labelsets).tolist() == codes


def test_decode_counts_in_binary_with_the_first_label_lowest():
    assert decode(np.arange(4), 2).tolist() == [[0, 0], [1, 0], [0, 1], [1, 1]]

"""Labelsets that a measure may have seen, and the paths of a trie."""

import numpy as np
from hypothesis import strategies as st


@st.composite
def labelset_lists(draw):
    """Up to forty distinct labelsets, of few labels or more than fit a word, sparse and dense."""
    n_labels = draw(st.integers(1, 70))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    share = draw(st.sampled_from([0.02, 0.3, 0.9]))
    return np.unique(
        (rng.random((draw(st.integers(1, 40)), n_labels)) < share).astype(np.int8), axis=0
    )


def paths_of(trie):
    """The labels of each labelset, in the order of the trie."""
    paths = [()]
    for shared, begin, end in zip(trie.shared, trie.begin, trie.begin[1:], strict=False):
        paths.append((*paths[-1][:shared], *trie.label[begin:end].tolist()))
    return paths[1:]

"""Penalties of labelsets as bits, and lower bounds of them."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fold_strategies import penalties as penalties_of
from labelsure._core.energy_parts import Penalty
from labelsure._core.labelset_bits import pack, unpack
from labelsure.labelsets import decode
from labelsure.labelsets.arrays._fold_arrays import Penalties
from labelsure.labelsets.search import _word_kernels


@given(st.integers(0, 2**64 - 1))
@example(2**64 - 1)
@example(2**63)
def test_count_bits_equals_python(word):
    assert _word_kernels.count_bits(np.uint64(word)) == word.bit_count()


@given(st.sets(st.integers(0, 129)), st.integers(0, 129), st.booleans())
def test_flips_and_candidates_equal_sets_of_labels(labels, j, allow_empty):
    labelset = np.zeros((1, 130), dtype=np.int8)
    labelset[0, sorted(labels)] = 1
    words = pack(labelset)[0]
    assert _word_kernels.is_candidate(words, allow_empty) == (bool(labels) or allow_empty)
    flipped, off = words.copy(), words.copy()
    _word_kernels.flip(flipped, j)
    _word_kernels.switch_off(off, j)
    assert set(np.flatnonzero(unpack(flipped[None], 130)[0]).tolist()) == labels ^ {j}
    assert set(np.flatnonzero(unpack(off[None], 130)[0]).tolist()) == labels - {j}


def kernel_penalties(parts, labelset, order, begin):
    written = np.full(len(parts.per_distance), -7)
    _word_kernels.penalise(pack(labelset[None])[0], order, begin, parts, written, pack(labelset[None])[0])
    return written


@settings(max_examples=60)
@given(st.data(), st.integers(1, 6))
def test_penalties_are_exact_once_decided_and_bounds_before(data, n_labels):
    penalties = [data.draw(st.none() | penalties_of(n_labels)) for _ in range(data.draw(st.integers(1, 3)))]
    parts = Penalties.of(penalties, n_labels)
    order = np.array(data.draw(st.permutations(range(n_labels))))
    labelset = decode(np.array([data.draw(st.integers(0, 2**n_labels - 1))]), n_labels)[0]
    for begin in range(n_labels + 1):
        completions = decode(np.arange(2 ** (n_labels - begin)), n_labels - begin)
        labelsets = np.tile(labelset, (len(completions), 1))
        labelsets[:, order[begin:]] = completions
        bounds = kernel_penalties(parts, labelset, order, begin)
        for bound, penalty in zip(bounds, penalties, strict=True):
            costs = np.zeros(1) if penalty is None else penalty.costs(labelsets)
            assert bound <= costs.min()
            if penalty is None or begin == n_labels or penalty.per_distance == 0:
                assert bound == costs.min()


@pytest.mark.parametrize("n_labels", [63, 64, 65, 128, 130])
def test_penalties_work_across_words(n_labels):
    rng = np.random.default_rng(n_labels)
    anchors = rng.integers(0, 2, size=(3, n_labels)).astype(np.int8)
    penalties = [Penalty(rng.integers(0, 99, size=n_labels + 1), anchors, 1000), Penalty(np.arange(n_labels + 1))]
    parts = Penalties.of(penalties, n_labels)
    order = rng.permutation(n_labels)
    for labelset in rng.integers(0, 2, size=(5, n_labels)).astype(np.int8):
        expected = [int(penalty.costs(labelset[None])[0]) for penalty in penalties]
        assert kernel_penalties(parts, labelset, order, n_labels).tolist() == expected
        begin = int(rng.integers(n_labels))
        known = order[:begin]
        distances = np.count_nonzero(anchors[:, known] != labelset[known], axis=1)
        n_on = int(labelset[known].sum())
        reachable = penalties[0].by_cardinality[n_on : n_on + n_labels - begin + 1]
        bounds = kernel_penalties(parts, labelset, order, begin)
        assert bounds.tolist() == [reachable.min() + 1000 * distances.min(), n_on]

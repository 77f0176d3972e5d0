"""Penalties of labelsets as bits, and lower bounds of them."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from labelsure.labelsets._fold_arrays import FoldParts
from labelsure.labelsets._words import pack

from fold_strategies import penalties as penalties_of
from labelsure._core.calibration import Calibration
from labelsure._core.energy import Energy
from labelsure._core.energy_parts import Penalty
from labelsure.labelsets import Fold, _penalty_kernels, decode


@given(st.integers(0, 2**64 - 1))
@example(2**64 - 1)
@example(2**63)
def test_count_bits_equals_python(word):
    assert _penalty_kernels.count_bits(np.uint64(word)) == word.bit_count()


def parts_of(penalties, n_labels):
    constant, unary = np.zeros(1, dtype=np.int64), np.zeros((1, n_labels), dtype=np.int64)
    return FoldParts(
        [Fold(Calibration.of(np.array([0])), Energy(constant, unary, penalty=penalty)) for penalty in penalties]
    )


def kernel_penalties(parts, labelset, order, begin):
    written = np.full(len(parts.per_distance), -7)
    shared = (parts.by_cardinality, parts.anchors, parts.anchor_begin, parts.per_distance)
    _penalty_kernels.penalties(pack(labelset[None])[0], order, begin, *shared, written)
    return written


@settings(max_examples=60)
@given(st.data(), st.integers(1, 6))
def test_penalties_are_exact_once_decided_and_bounds_before(data, n_labels):
    penalties = [data.draw(st.none() | penalties_of(n_labels)) for _ in range(data.draw(st.integers(1, 3)))]
    parts = parts_of(penalties, n_labels)
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
    parts = parts_of(penalties, n_labels)
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

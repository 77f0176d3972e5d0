"""Flips, candidates, penalties, and keys equal their slow twins."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fold_strategies import penalties as penalties_of
from labelsure.engine import _labelset_kernels
from labelsure.engine._fold_arrays import Penalties
from labelsure.engine._labelset_kernels import precedes, write_key
from labelsure.engine._rules import NO_RULES, Inequality, Rules
from labelsure.measures._energy import Penalty
from labelsure.measures._labelset_bits import decode, pack, unpack


@given(st.integers(0, 2**64 - 1))
@example(2**64 - 1)
@example(2**63)
def test_count_bits_equals_python(word):
    assert _labelset_kernels.count_bits(np.uint64(word)) == word.bit_count()


@given(st.sets(st.integers(0, 129)), st.integers(0, 129), st.booleans())
def test_flips_and_candidates_equal_sets_of_labels(labels, j, allow_empty):
    labelset = np.zeros((1, 130), dtype=np.int8)
    labelset[0, sorted(labels)] = 1
    words = pack(labelset)[0]
    assert _labelset_kernels.is_candidate(words, allow_empty, NO_RULES) == (
        bool(labels) or allow_empty
    )
    even = frozenset(range(0, 130, 2))
    rules = Rules.of(
        [Inequality(even, frozenset(), 3), Inequality(frozenset([1]), frozenset([129]), 0)], 130
    )
    allowed = len(labels & even) <= 3 and (1 not in labels or 129 in labels)
    assert _labelset_kernels.is_candidate(words, True, rules) == allowed
    flipped, off = words.copy(), words.copy()
    _labelset_kernels.flip(flipped, j)
    _labelset_kernels.switch_off(off, j)
    assert set(np.flatnonzero(unpack(flipped[None], 130)[0]).tolist()) == labels ^ {j}
    assert set(np.flatnonzero(unpack(off[None], 130)[0]).tolist()) == labels - {j}


def kernel_penalties(parts, labelset, order, begin):
    written = np.full(len(parts.per_distance), -7)
    _labelset_kernels.penalise(
        pack(labelset[None])[0], order, begin, parts, written, pack(labelset[None])[0]
    )
    return written


@settings(max_examples=60)
@given(st.data(), st.integers(1, 6))
def test_penalties_are_exact_once_decided_and_bounds_before(data, n_labels):
    penalties = [
        data.draw(st.none() | penalties_of(n_labels)) for _ in range(data.draw(st.integers(1, 3)))
    ]
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


@pytest.mark.parametrize("n_labels", [64, 128])
def test_labelsets_that_differ_in_every_label_pay_for_them_all(n_labels):
    parts = Penalties.of([Penalty(None, np.zeros((1, n_labels), dtype=np.int8), 5)], n_labels)
    everything = np.ones(n_labels, dtype=np.int8)
    assert kernel_penalties(parts, everything, np.arange(n_labels), n_labels).tolist() == [
        5 * n_labels
    ]


@pytest.mark.parametrize("n_labels", [63, 64, 65, 128, 130])
def test_penalties_work_across_words(n_labels):
    rng = np.random.default_rng(n_labels)
    anchors = rng.integers(0, 2, size=(3, n_labels)).astype(np.int8)
    penalties = [
        Penalty(rng.integers(0, 99, size=n_labels + 1), anchors, 1000),
        Penalty(np.arange(n_labels + 1)),
    ]
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


ROWS = st.integers(1, 20).flatmap(
    lambda n: st.tuples(
        arrays(np.int64, (n, 2), elements=st.integers(0, 2)),
        arrays(np.uint64, (n, 2), elements=st.sampled_from([0, 1, 2**63, 2**64 - 1])),
    )
)


def tuples_of(rank, words):
    """Return what _reference.ranked sorts by."""
    codes = [sum(int(word) << 64 * w for w, word in enumerate(row)) for row in words]
    return [
        (-value, total, code) for (value, total), code in zip(rank.tolist(), codes, strict=True)
    ]


def keys_of(rank, words, *, by_total=True):
    """Return the keys of labelsets."""
    keys = np.zeros((len(rank), 4), dtype=np.int64)
    for row, (value, total) in enumerate(rank):
        write_key(value, total, words[row], by_total, row, keys)
    return keys


@given(ROWS, st.booleans())
def test_keys_come_in_the_order_of_tuples(rows, best_first):
    tuples, keys = tuples_of(*rows), keys_of(*rows)
    for a in range(len(keys)):
        for b in range(len(keys)):
            expected = tuples[a] < tuples[b] if best_first else tuples[b] < tuples[a]
            assert precedes(a, b, keys, best_first) == expected


@given(ROWS)
def test_keys_of_numerators_alone_tie_wherever_numerators_do(rows):
    rank, words = rows
    keys = keys_of(rank, words, by_total=False)
    for a in range(len(keys)):
        for b in range(len(keys)):
            assert precedes(a, b, keys, True) == (rank[a, 0] > rank[b, 0])


@given(st.lists(st.integers(0, 4), max_size=9), st.integers(0, 4), st.integers(1, 2))
def test_known_labelsets_are_found_by_bisection(codes, code, n_words):
    """Each among its object's, the first of which has none."""
    spread = np.array([[0, 0], [0, 7], [7, 0], [7, 7], [9, 1]], dtype=np.uint64)[:, :n_words]
    known = np.unique(spread[codes], axis=0) if codes else spread[:0]
    begin = np.array([0, 0, len(known)])
    expected = spread[code].tolist() in known.tolist()
    assert _labelset_kernels.is_known(spread[code], 1, begin, known) == expected
    assert not _labelset_kernels.is_known(spread[code], 0, begin, known)

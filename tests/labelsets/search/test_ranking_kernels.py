"""Ranking: keys and heaps against tuples and sorting."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from labelsure.labelsets.search._labelset_kernels import offer, precedes, read_keys, read_sorted, sift, write_key
from labelsure.labelsets.search._states import Ranked

ROWS = st.integers(1, 20).flatmap(
    lambda n: st.tuples(
        arrays(np.int64, (n, 2), elements=st.integers(0, 2)),
        arrays(np.uint64, (n, 2), elements=st.sampled_from([0, 1, 2**63, 2**64 - 1])),
    )
)


def tuples_of(rank, words):
    """Return what _reference.ranked sorts by."""
    codes = [sum(int(word) << 64 * w for w, word in enumerate(row)) for row in words]
    return [(-value, total, code) for (value, total), code in zip(rank.tolist(), codes, strict=True)]


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
def test_keys_are_read_as_they_were_written(rows):
    rank, words = rows
    read_words, read_rank = read_keys(keys_of(rank, words))
    assert np.array_equal(read_words, words)
    assert np.array_equal(read_rank, rank)
    sorted_words, sorted_rank = read_sorted(keys_of(rank, words))
    assert tuples_of(sorted_rank, sorted_words) == sorted(tuples_of(rank, words))


@given(ROWS)
def test_keys_of_numerators_alone_tie_wherever_numerators_do(rows):
    rank, words = rows
    keys = keys_of(rank, words, by_total=False)
    for a in range(len(keys)):
        for b in range(len(keys)):
            assert precedes(a, b, keys, True) == (rank[a, 0] > rank[b, 0])


@given(ROWS, st.booleans())
def test_sift_makes_a_heap_of_entries_pushed_and_popped(rows, best_on_top):
    tuples, keys = tuples_of(*rows), keys_of(*rows)
    heap = np.arange(len(keys))
    for size in range(1, len(keys) + 1):
        sift(heap, size, size - 1, best_on_top, keys)
    popped = []
    for size in range(len(keys) - 1, -1, -1):
        popped.append(tuples[heap[0]])
        heap[0] = heap[size]
        sift(heap, size, 0, best_on_top, keys)
    assert popped == sorted(tuples, reverse=not best_on_top)


@given(ROWS, st.integers(1, 8))
def test_offers_leave_the_best_with_the_worst_of_them_on_top(rows, n_best):
    rank, words = rows
    found, keys = np.arange(n_best + 1), np.zeros((n_best + 1, 4), dtype=np.int64)
    n_found = 0
    for (value, total), row in zip(rank, words, strict=True):
        n_found = offer(value, total, row, True, n_found, Ranked(found, keys))
    best = sorted(tuples_of(rank, words))[:n_best]
    kept_words, kept_rank = read_keys(keys[found[:n_found]])
    assert sorted(tuples_of(kept_rank, kept_words)) == best
    assert tuples_of(kept_rank, kept_words)[0] == best[-1]

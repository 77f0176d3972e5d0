"""Sums over all labelsets: the trie and its kernel against their definitions, and by object."""

import warnings

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from labelsure.measures._log_partition import LARGEST_LOG, CountedPrior, Trie
from measure_cases import labelset_lists, paths_of

SIZES = st.sampled_from([0.0, 1e-3, 1.0, 30.0, 700.0])


@given(labelset_lists())
def test_trie_has_each_labelset_once_and_nothing_twice(seen):
    trie = Trie.of(seen)
    paths = paths_of(trie)
    assert paths == [tuple(np.flatnonzero(row)) for row in seen[trie.order]]
    assert sorted(trie.order.tolist()) == list(range(len(seen)))
    assert paths == sorted(paths)
    for one, other, shared in zip(paths, paths[1:], trie.shared[1:], strict=False):
        assert one[:shared] == other[:shared]
        assert one[: shared + 1] != other[: shared + 1]


@settings(max_examples=50)
@given(labelset_lists(), SIZES, st.sampled_from([0.0, 0.5, 1.0]), st.integers(0, 2**32))
def test_log_sums_equal_the_formula_and_those_of_single_objects(seen, size, beta, seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 5, size=len(seen))
    counted = CountedPrior(seen, counts, rng.uniform(0.01, 0.99, seen.shape[1]), 1.0)
    values = size * rng.normal(size=(70, seen.shape[1]))
    product, terms = counted._log_terms(values, beta)
    found = counted.log_sums(values, beta)
    np.testing.assert_allclose(
        found, logsumexp(np.column_stack([product, terms]), axis=1), rtol=1e-12, atol=1e-12
    )
    small = np.flatnonzero(np.maximum(values, 0).sum(axis=1) <= LARGEST_LOG)
    np.testing.assert_array_equal(
        found[small], [counted.log_sums(values[[i]], beta)[0] for i in small]
    )


def test_log_sums_hold_where_a_labelset_is_seen_that_its_labels_alone_make_out_of_reach():
    """300 labels, all on in 1 % of examples: e^1300 times as likely as by their frequencies."""
    seen = np.zeros((2, 300), dtype=np.int8)
    seen[1] = 1
    counted = CountedPrior(seen, np.array([99, 1]), np.full(300, 0.01), 1.0)
    values = np.array([np.full(300, 4.0), np.full(300, 3.0), np.full(300, -4.0)])
    product, terms = counted._log_terms(values, 1.0)
    assert terms[0].max() > product[0] + 1000 > LARGEST_LOG
    expected = logsumexp(np.column_stack([product, terms]), axis=1)
    np.testing.assert_allclose(counted.log_sums(values, 1.0), expected, rtol=1e-12)


def test_moments_of_objects_far_apart_are_those_of_each_alone():
    """Objects are scaled independently; a labelset that was seen once raises no warning."""
    seen = np.array([[1, 0, 0], [0, 1, 1], [1, 1, 0]], dtype=np.int8)
    counted = CountedPrior(seen, np.array([1, 3, 2]), np.array([0.5, 0.3, 0.2]), 1.0)
    values, own = (
        np.array([[800.0, -800.0, 0.0], [-900.0, -900.0, -900.0], [0.1, 0.2, -0.3]]),
        np.array([0, 1, 2]),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        together = counted.moments(values, 0.7, own)
    alone = [counted.moments(values[[i]], 0.7, own[[i]]) for i in range(3)]
    for found, parts in zip(together, zip(*alone, strict=True), strict=True):
        assert np.isfinite(found).all()
        np.testing.assert_allclose(found, np.concatenate(parts), rtol=1e-12)

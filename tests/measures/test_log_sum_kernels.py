"""Sums over labelsets in a trie equal the sums of products exactly, compiled and in numpy."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from labelsure.measures._log_partition import CountedPrior, Trie
from labelsure.measures._log_sum_kernels import sum_products
from measure_cases import labelset_lists, paths_of


def summed_slowly(paths, weight, factors):
    """The twin: every product by itself."""
    total = 0.0
    for path, own in zip(paths, weight, strict=True):
        product = 1.0
        for label in path:
            product *= factors[label]
        total += own * product
    return total


@given(labelset_lists(), st.integers(1, 6), st.integers(0, 2**32))
def test_sum_products_equals_its_twin_to_the_last_bit(seen, n_objects, seed):
    trie, rng = Trie.of(seen), np.random.default_rng(seed)
    weight = rng.choice([0.0, 1e-300, 0.5, 1.0], size=len(seen))
    factors = rng.choice([0.0, 1e-200, 0.25, 1.0, 3.0], size=(2, seen.shape[1], n_objects))
    sums = np.zeros((2, n_objects))
    sum_products(trie, weight, factors, np.ones((seen.shape[1] + 1, n_objects)), sums)
    expected = [
        [summed_slowly(paths_of(trie), weight, own) for own in block.T] for block in factors
    ]
    np.testing.assert_array_equal(sums, expected)
    if n_objects > 1:  # a single one has company, because numpy would add it up in another order
        prior = CountedPrior(
            seen, np.ones(len(seen), dtype=np.int64), np.full(seen.shape[1], 0.5), 1.0
        )
        np.testing.assert_array_equal(
            [prior._sum_products(weight, block) for block in factors], expected
        )

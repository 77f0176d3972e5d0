"""Sums over all labelsets: the trie and its kernel against their definitions, and one object at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from labelsure.measures import LabelsetPrior, UnseenPenalty
from labelsure.measures._log_partition import LARGEST_LOG, CountedPrior, Trie
from labelsure.measures._log_sum_kernels import sum_products

SIZES = st.sampled_from([0.0, 1e-3, 1.0, 30.0, 700.0])


@st.composite
def labelsets(draw):
    n_labels = draw(st.integers(1, 70))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    share = draw(st.sampled_from([0.02, 0.3, 0.9]))
    return np.unique((rng.random((draw(st.integers(1, 40)), n_labels)) < share).astype(np.int8), axis=0)


def paths_of(trie):
    """The labels of each node's path, one by one."""
    paths, path = [()], []
    for depth, label in zip(trie.depth, trie.label, strict=True):
        path[depth - 1 :] = [label]
        paths.append(tuple(path))
    return paths


@given(labelsets())
def test_trie_has_each_labelset_at_its_end(seen):
    trie = Trie.of(seen)
    paths = paths_of(trie)
    assert len(set(paths)) == len(paths)  # what begins alike is shared
    assert [paths[end] for end in trie.ends] == [tuple(np.flatnonzero(row)) for row in seen]


def summed_slowly(trie, weight, factors):
    """The twin: every product by itself."""
    total = 0.0
    for path, own in zip(paths_of(trie)[1:], weight, strict=True):
        product = 1.0
        for label in path:
            product *= factors[label]
        total += own * product
    return total


@given(labelsets(), st.integers(0, 2**32))
def test_sum_products_equals_its_twin_to_the_last_bit(seen, seed):
    trie, rng = Trie.of(seen), np.random.default_rng(seed)
    weight = rng.choice([0.0, 1e-300, 0.5, 1.0], size=len(trie.depth))
    factors = rng.choice([0.0, 1e-200, 0.25, 1.0, 3.0], size=(2, seen.shape[1], 3))
    sums = np.zeros((2, 3))
    sum_products(*trie[:2], weight, factors, np.ones((seen.shape[1] + 1, 3)), sums)
    expected = [[summed_slowly(trie, weight, own) for own in block.T] for block in factors]
    np.testing.assert_array_equal(sums, expected)


@settings(max_examples=50)
@given(labelsets(), SIZES, st.sampled_from([0.0, 0.5, 1.0]), st.integers(0, 2**32))
def test_log_sums_equal_the_formula_and_those_of_single_objects(seen, size, beta, seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 5, size=len(seen))
    counted = CountedPrior(seen, counts, rng.uniform(0.01, 0.99, seen.shape[1]), 1.0)
    values = size * rng.normal(size=(70, seen.shape[1]))
    product, terms = counted._log_terms(values, beta)
    found = counted.log_sums(values, beta)
    np.testing.assert_allclose(found, logsumexp(np.column_stack([product, terms]), axis=1), rtol=1e-12, atol=1e-12)
    small = np.flatnonzero(np.maximum(values, 0).sum(axis=1) <= LARGEST_LOG)
    np.testing.assert_array_equal(found[small], [counted.log_sums(values[[i]], beta)[0] for i in small])


@pytest.mark.parametrize("measure", [LabelsetPrior(), UnseenPenalty(2.0)])
def test_costs_of_all_objects_are_worked_out_once_per_fit(measure):
    Y = np.array([[1, 0, 1], [0, 1, 0]])
    outputs = np.full((2, 3), 0.5)
    first, second = (measure.fit(Y).energy(outputs[:n]) for n in (1, 2))
    again = measure.energy(outputs)
    assert again.discounts is second.discounts
    assert first.discounts is not second.discounts
    coarse = measure.energy(outputs, exponent=20).scores(Y)
    np.testing.assert_allclose(np.ldexp(coarse, -20), measure.scores(outputs, Y), atol=1e-5)

"""Penalties on labelsets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fold_strategies import penalties
from labelsure._core.penalty import Penalty
from labelsure.labelsets import _reference, decode


@given(st.integers(1, 6).flatmap(lambda q: st.tuples(st.just(q), penalties(q))))
def test_costs_equal_reference(labels_and_penalty):
    n_labels, penalty = labels_and_penalty
    labelsets = decode(np.arange(2**n_labels), n_labels)
    costs = penalty.costs(labelsets)
    assert costs.dtype == np.int64
    assert costs.tolist() == [_reference.penalty_cost(penalty, labelset) for labelset in labelsets.tolist()]
    assert (costs >= 0).all()


def test_costs_of_no_labelsets_and_of_many_labels():
    penalty = Penalty(np.arange(201), np.ones((1, 200), dtype=np.int8), per_distance=1000)
    assert penalty.costs(np.empty((0, 200))).shape == (0,)
    assert penalty.costs(np.array([[1] * 199 + [0], [0] * 200])).tolist() == [199 + 1000, 200_000]


def test_an_empty_penalty_costs_nothing():
    assert Penalty().costs(np.array([[0, 1]])).tolist() == [0]
    assert Penalty(anchors=np.array([[1, 1]], dtype=np.int8)).costs(np.array([[0, 1]])).tolist() == [0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by_cardinality": np.array([0, -1])}, "by_cardinality must not be negative"),
        ({"per_distance": -1}, "per_distance must not be negative, got -1"),
        ({"per_distance": 1}, "per_distance needs at least one labelset in anchors"),
        ({"per_distance": 1, "anchors": np.empty((0, 2), dtype=np.int8)}, "per_distance needs at least one labelset"),
    ],
)
def test_penalty_refuses(options, message):
    with pytest.raises(ValueError, match=message):
        Penalty(**options)

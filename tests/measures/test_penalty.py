"""Penalties on labelsets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import labelset_reference
from fold_strategies import penalties
from labelsure.measures._energy import Penalty
from labelsure.measures._labelset_bits import decode


@given(st.integers(1, 6).flatmap(lambda q: st.tuples(st.just(q), penalties(q))))
def test_costs_equal_reference(labels_and_penalty):
    n_labels, penalty = labels_and_penalty
    labelsets = decode(np.arange(2**n_labels), n_labels)
    costs = penalty.costs(labelsets)
    assert costs.dtype == np.int64
    assert costs.tolist() == [
        labelset_reference.penalty_cost(penalty, labelset) for labelset in labelsets.tolist()
    ]
    assert (costs >= 0).all()


def test_costs_of_no_labelsets_and_of_many_labels():
    penalty = Penalty(np.arange(201), np.ones((1, 200), dtype=np.int8), per_distance=1000)
    assert penalty.costs(np.empty((0, 200))).shape == (0,)
    assert penalty.costs(np.array([[1] * 199 + [0], [0] * 200])).tolist() == [199 + 1000, 200_000]


def test_an_empty_penalty_costs_nothing():
    assert Penalty().costs(np.array([[0, 1]])).tolist() == [0]
    assert Penalty(anchors=np.array([[1, 1]], dtype=np.int8)).costs(
        np.array([[0, 1]])
    ).tolist() == [0]


@st.composite
def penalty_pairs(draw):
    """Two penalties by distance from the same labelsets, in another order and with repetitions, or without one."""
    n_labels = draw(st.integers(1, 6))
    first, second = draw(penalties(n_labels)), draw(penalties(n_labels))
    if first.anchors is not None and second.anchors is not None:
        again = draw(st.permutations([*first.anchors, first.anchors[0]]))
        second = Penalty(second.by_cardinality, np.array(again), second.per_distance)
    return n_labels, first, second


@given(penalty_pairs())
def test_sum_costs_what_both_cost(case):
    n_labels, first, second = case
    labelsets = decode(np.arange(2**n_labels), n_labels)
    expected = first.costs(labelsets) + second.costs(labelsets)
    assert (first + second).costs(labelsets).tolist() == expected.tolist()
    assert (second + first).costs(labelsets).tolist() == expected.tolist()


def test_distances_to_different_labelsets_cannot_be_added():
    near_one = Penalty(anchors=np.array([[1, 0]], dtype=np.int8), per_distance=1)
    near_both = Penalty(anchors=np.array([[1, 0], [0, 1]], dtype=np.int8), per_distance=1)
    with pytest.raises(
        ValueError, match="can only be added where they measure it to the same labelsets"
    ):
        near_one + near_both
    unused = Penalty(
        np.array([1, 2, 3]), anchors=near_both.anchors
    )  # a distance that costs nothing
    assert (near_one + unused).costs(np.array([[0, 0], [0, 1]])).tolist() == [1 + 1, 2 + 2]
    assert (unused + near_one).costs(np.array([[0, 0], [0, 1]])).tolist() == [1 + 1, 2 + 2]


@given(st.integers(1, 6).flatmap(lambda q: st.tuples(st.just(q), penalties(q))))
def test_flat_cost_is_what_all_pay_alike(labels_and_penalty):
    n_labels, penalty = labels_and_penalty
    costs = penalty.costs(decode(np.arange(2**n_labels), n_labels))
    if penalty.flat_cost() is not None:
        assert (costs == penalty.flat_cost()).all()
    elif penalty.per_distance == 0:
        assert len(set(costs.tolist())) > 1


def test_distances_of_many_labelsets_are_worked_out_in_blocks(monkeypatch):
    rng = np.random.default_rng(0)
    anchors = (rng.random((7, 130)) < 0.3).astype(np.int8)
    labelsets = np.repeat((rng.random((20, 130)) < 0.3).astype(np.int8), 3, axis=0)
    distances = (labelsets[:, None, :] != anchors).sum(axis=2).min(axis=1)
    for block in (1, 7, 30, 2**21):
        monkeypatch.setattr("labelsure.measures._energy.BLOCK_DISTANCES", block)
        assert (
            Penalty(anchors=anchors, per_distance=3).costs(labelsets).tolist()
            == (3 * distances).tolist()
        )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by_cardinality": np.array([0, -1])}, "by_cardinality must not be negative"),
        ({"per_distance": -1}, "per_distance must not be negative, got -1"),
        ({"per_distance": 1}, "per_distance needs at least one labelset in anchors"),
        (
            {"per_distance": 1, "anchors": np.empty((0, 2), dtype=np.int8)},
            "per_distance needs at least one labelset",
        ),
    ],
)
def test_penalty_refuses(options, message):
    with pytest.raises(ValueError, match=message):
        Penalty(**options)

"""Energies with a maximum over labels: scores, bounds, sums, lists."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from labelsure._core.energy import Energy
from labelsure._core.energy_parts import Penalty, SquareRoot
from labelsure.labelsets import decode
from max_cases import max_energy

COSTS = arrays(np.int64, (2, 3, 4), elements=st.integers(-5, 5) | st.integers(-(2**45), 2**45))
ALL = decode(np.arange(16), 4)


def direct(costs, i, labelset):
    """max_j of what label j costs."""
    return max(int(costs[on, i, j]) for j, on in enumerate(labelset))


@given(COSTS, arrays(np.int64, 6, elements=st.integers(0, 2)), arrays(np.int8, (6, 4), elements=st.integers(0, 1)))
def test_scores_are_the_largest_costs(costs, objects, labelsets):
    energy = max_energy(*costs)
    expected = [direct(costs, i, t) for i, t in zip(objects, labelsets, strict=True)]
    assert energy.scores(labelsets, objects=objects).tolist() == expected
    assert energy.scores(labelsets[:3]).tolist() == [direct(costs, i, t) for i, t in enumerate(labelsets[:3])]
    alone = energy.take(objects[:1])
    assert alone.scores(labelsets, objects=np.zeros(6, dtype=np.int64)).tolist() == [
        direct(costs, objects[0], t) for t in labelsets
    ]


@given(COSTS)
def test_bounds_hold_and_are_reached(costs):
    energy = max_energy(*costs)
    scores = [direct(costs, i, t) for i in range(3) for t in ALL]
    assert (energy.lower_bound(), energy.upper_bound()) == (min(scores), max(scores))
    more = replace(energy, constant=np.full(3, 7), penalty=Penalty(np.array([0, 1, 0, 0, 2])))
    assert more.lower_bound() == min(scores) + 7
    assert more.upper_bound() == max(scores) + 9
    assert max_energy(*costs[:, :0]).lower_bound() == max_energy(*costs[:, :0]).upper_bound() == 0


@given(COSTS, st.integers(0, 3), st.booleans(), st.integers(0, 9))
def test_forbidden_labels_cost_more_than_everything(costs, label, on, cost):
    before = max_energy(*costs)
    after = replace(before, maximum=before.maximum.forbid(label, on=on, cost=cost))
    for i in range(3):
        objects = np.full(16, i)
        forbidden = ALL[:, label] == on
        scores, changed = (energy.scores(ALL, objects=objects) for energy in (before, after))
        assert (changed[forbidden] >= scores[forbidden] + cost).all()
        assert (changed[~forbidden] == scores[~forbidden]).all()
    assert before.maximum.off.tolist() == costs[0].tolist()
    assert before.maximum.on.tolist() == costs[1].tolist()


@given(COSTS, COSTS)
def test_sums_and_lists_have_the_same_scores(costs, others):
    penalty = replace(max_energy(*costs), maximum=None, penalty=Penalty(np.array([4, 0, 1, 2, 9])))
    additive = Energy(others[0, :, 0], others[1])
    root = Energy(np.abs(others[0, :, 0]), np.abs(others[1]), link=SquareRoot(0))
    for other in (penalty, additive, root, max_energy(*others)):
        for both in (max_energy(*costs) + other, other + max_energy(*costs)):
            for i in range(3):
                objects = np.full(16, i)
                expected = max_energy(*costs).scores(ALL, objects=objects) + other.scores(ALL, objects=objects)
                assert both.scores(ALL, objects=objects).tolist() == expected.tolist()
                assert both.listed().scores(ALL, objects=objects).tolist() == expected.tolist()
            assert both.listed().maximum is None
            assert both.listed().lower_bound() == both.lower_bound()


def test_a_maximum_is_one_only_if_nothing_else_counts():
    alone = max_energy(*np.ones((2, 1, 3), dtype=np.int64))
    assert alone.is_maximum
    assert (alone + replace(alone, maximum=None)).is_maximum
    assert not replace(alone, maximum=None).is_maximum
    assert not replace(alone, constant=np.array([1])).is_maximum
    assert not replace(alone, unary=np.array([[0, 0, 1]])).is_maximum
    assert not replace(alone, penalty=Penalty(np.zeros(4, dtype=np.int64))).is_maximum
    assert not (alone + alone).is_maximum


def test_sums_with_many_labels_are_refused():
    one, other = (max_energy(*np.zeros((2, 1, 13), dtype=np.int64)) for _ in range(2))
    additive = replace(other, maximum=None, unary=other.unary + 1)
    for pair in ((one, additive), (additive, one), (one, other)):
        with pytest.raises(ValueError, match=r"A maximum over labels, .* up to 12 labels .* got 13 labels"):
            pair[0] + pair[1]
    with pytest.raises(ValueError, match="up to 12 labels"):
        one.listed()


def test_a_maximum_has_no_additive_form():
    with pytest.raises(ValueError, match="no additive form"):
        max_energy(*np.zeros((2, 1, 3), dtype=np.int64)).general_form()

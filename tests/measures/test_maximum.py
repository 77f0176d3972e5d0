"""Energies with a maximum over labels: scores, rows of them, bounds, sums."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from labelsure.engine._numpy_rows import subset_maxima
from labelsure.measures._energy import Energy, Penalty, SquareRoot
from labelsure.measures._labelset_bits import decode
from max_cases import max_energy

COSTS = arrays(np.int64, (2, 3, 4), elements=st.integers(-5, 5) | st.integers(-(2**45), 2**45))
ALL = decode(np.arange(16), 4)


def direct(costs, i, labelset):
    """max_j of what label j costs."""
    return max(int(costs[on, i, j]) for j, on in enumerate(labelset))


@given(
    COSTS,
    arrays(np.int64, 6, elements=st.integers(0, 2)),
    arrays(np.int8, (6, 4), elements=st.integers(0, 1)),
)
def test_scores_are_the_largest_costs(costs, objects, labelsets):
    energy = max_energy(*costs)
    expected = [direct(costs, i, t) for i, t in zip(objects, labelsets, strict=True)]
    assert energy.scores(labelsets, objects=objects).tolist() == expected
    assert energy.scores(labelsets[:3]).tolist() == [
        direct(costs, i, t) for i, t in enumerate(labelsets[:3])
    ]
    for i, maximum in enumerate(3 * energy.maxima):
        assert subset_maxima(maximum.off, maximum.on)[i].tolist() == [
            direct(costs, i, t) for t in ALL
        ]
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


@given(COSTS, COSTS)
def test_sums_have_the_sums_of_scores(costs, others):
    penalty = replace(max_energy(*costs), maxima=(), penalty=Penalty(np.array([4, 0, 1, 2, 9])))
    additive = Energy(others[0, :, 0], others[1])
    root = Energy(np.abs(others[0, :, 0]), np.abs(others[1]), link=SquareRoot(0))
    for other in (penalty, additive, root, max_energy(*others)):
        for both in (max_energy(*costs) + other, other + max_energy(*costs)):
            for i in range(3):
                objects = np.full(16, i)
                expected = max_energy(*costs).scores(ALL, objects=objects) + other.scores(
                    ALL, objects=objects
                )
                assert both.scores(ALL, objects=objects).tolist() == expected.tolist()
                assert both.lower_bound() <= expected.min() <= expected.max() <= both.upper_bound()

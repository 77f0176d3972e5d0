"""P-values of single labels for additive scores, against the reference."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from labelsure.labelsets.search._label_kernels import Way, label_numerators
from labelsure.labelsets.search._problems import pose_problems

import labelset_reference
from fold_strategies import COSTS, fold_lists, plain_weighing
from labelsure._core.energy import Energy
from labelsure._core.energy_parts import SquareRoot
from labelsure.labelsets import DRAW_UNIT
from labelsure.labelsets.arrays._fold_arrays import FoldArrays, Lookup


@st.composite
def additive_energies(draw, n_objects, n_labels):
    """An energy without pairs, penalty and overrides."""
    constant = draw(arrays(np.int64, n_objects, elements=draw(COSTS)))
    unary = draw(arrays(np.int64, (n_objects, n_labels), elements=draw(COSTS)))
    return Energy(constant, unary, link=draw(st.none() | st.integers(0, 12).map(SquareRoot)))


@settings(max_examples=80)
@given(
    fold_lists(labels=(1, 5), folds=(1, 4), objects=(1, 1), kind=additive_energies),
    st.sampled_from([None, 1, DRAW_UNIT // 3, DRAW_UNIT]),
)
def test_label_numerators_equal_reference(folds, draw):
    n_labels = folds[0].energy.n_labels
    weights = (1, 0) if draw is None else (draw, DRAW_UNIT - draw)
    fold_arrays = FoldArrays(folds)
    problems = pose_problems(fold_arrays, np.arange(1))
    lookup = Lookup(fold_arrays.tables, fold_arrays.penalties, plain_weighing(*weights), True)
    by_flip, bounds = np.full((2, n_labels, 2), -1)
    flips = problems.flips(0)
    way = Way.of(flips.n_hard, len(folds))
    assert label_numerators(flips, lookup, 10**9, way, by_flip)
    for budget in (0, 1, 40):
        finished = label_numerators(flips, lookup, budget, way, bounds)
        assert (bounds >= by_flip).all()
        assert not finished or np.array_equal(bounds, by_flip)
    from_nothing = lookup._replace(weighing=lookup.weighing._replace(start=0))  # as with a new object of weight 0
    assert label_numerators(flips, from_nothing, 10**9, way, bounds)
    np.testing.assert_array_equal(bounds, by_flip - weights[0])
    ranked = labelset_reference.ranked(folds, 0, allow_empty=True, at_least=weights[0], above=weights[1])
    expected = labelset_reference.label_numerators(ranked, n_labels)
    for t, j in enumerate(problems.label[0]):
        is_on = int(problems.sign[0, t] < 0)
        assert by_flip[t].tolist() == [expected[j][is_on], expected[j][1 - is_on]]

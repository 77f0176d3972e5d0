"""Tables: what is worked out fold by fold, and what is not worked out at all."""

import numpy as np
import pytest

from labelsure.engine._fold_arrays import Fold
from labelsure.engine._fold_engine import FoldEngine
from labelsure.measures._energy import Discounts, Energy
from quadratic_forms import form_engine
from search_cases import random_rule


@pytest.mark.parametrize("own", [False, True])
def test_folds_are_counted_apart_where_a_rule_weighs_their_counts(own):
    """Also where each object has pairs of its own, which are looked at fold by fold."""
    rng = np.random.default_rng(0)
    folds = form_engine(0, n_labels=6, n_folds=3, n_objects=2, own=own).folds
    for _ in range(4):
        rule = random_rule(rng, folds, 2)
        engine = FoldEngine(folds, allow_empty=True, weighing=rule)
        labelsets = rng.integers(0, 2, size=(2 * 20, 6)).astype(np.int8)
        objects = np.repeat([0, 1], 20)
        table = engine.table.backend.numerators(np.arange(2))
        found = table[objects, labelsets @ (1 << np.arange(6))]
        assert found.tolist() == engine.numerators_of(labelsets, objects).tolist()


def test_rows_of_codes_are_made_where_codes_cost_something_only():
    energy = Energy(np.array([0]), np.array([[1, 2, 3]]))
    spared = Energy(
        energy.constant,
        energy.unary,
        discounts=Discounts(np.array([[1, 0, 1]], dtype=np.int8), np.array([2])),
    )
    sizes = []
    for one in (energy, spared):
        engine = FoldEngine([Fold(np.array([4]), one)], allow_empty=True)
        sizes.append(engine.table.backend.shared_rows.shape)
    assert sizes == [(1, 0), (1, 8)]

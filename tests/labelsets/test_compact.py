"""Engines of the few labels that matter equal those of all labels, whatever default outputs cost."""

import numpy as np
import pytest
from scipy import sparse

from labelsure._core.energy import Energy
from labelsure._core.sparse_energy import SparseEnergy
from labelsure._core.sparse_outputs import SparseOutputs
from labelsure.labelsets import CompactEngine, CompactFolds, Fold, FoldEngine, Weighing
from search_cases import values_of

CALIBRATION = np.arange(-12, 12)


def both_engines(unary, pairs, *, allow_empty):
    """Return the compact engine of an object with an output of its own for the first label, and that of all labels."""

    def energy_of(_, labels):
        pairwise = None if pairs is None else pairs[np.ix_(labels, labels)]
        return Energy(np.array([0]), unary[None, labels], pairwise)

    outputs = SparseOutputs(sparse.csr_array(([0.75], ([0], [0])), shape=(1, len(unary))), 0.25, n_labels=len(unary))
    folds = CompactFolds([CALIBRATION], [SparseEnergy(unary, None, energy_of)], [outputs])
    weighing = Weighing.plain(len(CALIBRATION), 1)
    whole = Fold(CALIBRATION, energy_of(0, np.arange(len(unary))))
    compact = CompactEngine(folds, np.arange(1), weighing, allow_empty=allow_empty)
    return compact, FoldEngine([whole], allow_empty=allow_empty)


PAIRS = np.zeros((6, 6), dtype=np.int64)
PAIRS[0, 5], PAIRS[1, 2] = 4, 3


@pytest.mark.parametrize("allow_empty", [False, True])
@pytest.mark.parametrize("cost", [-2, -1, 0, 1, 3])
@pytest.mark.parametrize("pairs", [None, PAIRS], ids=["alone", "pairs"])
def test_labels_of_one_kind_stand_for_each_other_only_where_they_may(cost, pairs, allow_empty):
    """Not where it pays to have many of them on, nor where pairs tell them apart."""
    unary = np.array([-5, *[cost] * 5])
    compact, whole = both_engines(unary, pairs, allow_empty=allow_empty)
    assert compact.label_numerators().tolist() == whole.table.label_numerators().tolist()
    assert compact.top(40).numerators.tolist() == whole.table.top(40).numerators.tolist()
    for smallest in (2, 15, 19):
        assert values_of(compact.region_sizes(smallest)) == values_of(whole.table.region_sizes(np.array([smallest])))

"""Every kernel of tables equals its slow twin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import labelset_reference
from fold_strategies import (
    COSTS,
    LARGEST_COST,
    calibrations,
    energies,
    fold_lists,
    full_energies,
    weighing_of,
)
from labelsure.engine import _table_kernels
from labelsure.engine._fold_arrays import Fold, FoldArrays, ScoreTables
from labelsure.engine._p_values import count_at_least
from labelsure.engine._rows import FoldRows
from labelsure.engine._weighing import Weighing
from labelsure.measures._energy import Energy


def table_of(folds, weighing):
    return FoldRows(FoldArrays(folds), weighing, 0, None, compiled=True)


def count_rows(folds, *, strict=False):
    """Return what the table counts, over all folds and fold by fold added up."""
    everyone = np.arange(folds[0].energy.n_objects)
    weights = np.zeros(
        (len(folds), 1 + max(len(fold.calibration) for fold in folds)), dtype=np.int64
    )
    table, by_fold = (
        table_of(folds, weighing)
        for weighing in (weighing_of(folds), Weighing.ruled(weights, everyone, 1))
    )
    rows = table.count(everyone, strict=strict)
    assert rows.shape[0] == 1
    assert np.array_equal(by_fold.count(everyone, strict=strict).sum(axis=0), rows[0])
    return rows[0]


def costs(shape):
    return COSTS.flatmap(lambda elements: arrays(np.int64, shape, elements=elements))


@given(st.integers(-LARGEST_COST, LARGEST_COST), st.integers(0, 8).flatmap(costs))
def test_subset_sums_equal_reference(start, values):
    sums = np.full(2 ** len(values), 99, dtype=np.int64)
    _table_kernels.subset_sums(start, values, sums)
    assert sums.tolist() == labelset_reference.subset_sums(start, values.tolist())


@given(st.data())
def test_add_counts_equal_calibration(data):
    n_labels = data.draw(st.integers(1, 6))
    drawn = [data.draw(energies(1, n_labels)) for _ in range(data.draw(st.integers(1, 3)))]
    folds = [Fold(data.draw(calibrations(energy, max_size=30)), energy) for energy in drawn]
    tables = FoldArrays(folds).tables
    for k, fold in enumerate(folds):
        base = int(fold.energy.constant[0]) + data.draw(
            st.integers(0, LARGEST_COST) | st.integers(0, 3)
        )
        low_sums = np.array(labelset_reference.subset_sums(0, fold.energy.unary[0].tolist()))
        row = np.arange(len(low_sums), dtype=np.int32)
        notes = _table_kernels.Notes(*np.empty((2, len(row)), dtype=np.uint32))
        _table_kernels.add_counts(base, low_sums, k, tables, notes, row)
        expected = count_at_least(fold.calibration, base + low_sums) + np.arange(len(low_sums))
        assert row.tolist() == expected.tolist()


@given(fold_lists() | fold_lists(kind=full_energies), st.booleans())
def test_count_rows_equal_reference(folds, strict):
    rows = count_rows(folds, strict=strict)
    assert rows.dtype == np.int32
    assert rows.tolist() == labelset_reference.count_table(folds, strict=strict).tolist()


@settings(max_examples=40)
@given(
    fold_lists(labels=(6, 10), folds=(1, 3), objects=(1, 1))
    | fold_lists(labels=(2, 4), folds=(6, 15)),
    st.booleans(),
)
def test_count_rows_equal_reference_with_many_labels_or_folds(folds, strict):
    rows = count_rows(folds, strict=strict)
    assert rows.tolist() == labelset_reference.count_table(folds, strict=strict).tolist()


@pytest.mark.parametrize("outlier", [2**49, -(2**49)])
def test_count_rows_equal_reference_where_all_values_but_one_share_a_bucket(outlier):
    energy = Energy(np.array([100]), np.array([[7, -11, 23, -40, 64, 3]]))
    scores = np.append(np.arange(0, 400, 3).repeat(2), outlier)
    fold = Fold(np.sort(scores), energy)
    index = ScoreTables.of([fold.calibration], [-1])
    assert (index.buckets < 0).sum() == 2
    rows = count_rows([fold])
    assert rows.tolist() == labelset_reference.count_table([fold]).tolist()

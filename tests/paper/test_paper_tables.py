"""The paper's figures in the package, and means over seeds in their layout."""

import math

import pytest

from labelsure.paper._tables import (
    DATASETS,
    PENALTIES,
    SIGNIFICANCES,
    means,
    paper_tables,
    standard_deviations,
)


@pytest.mark.parametrize("name", DATASETS)
def test_paper_tables_hold_all_rows_and_sizes_add_up(name):
    tables = paper_tables()
    assert len(tables["single_predictions"][name]) == 6
    assert {len(row) for row in tables["single_predictions"][name].values()} == {4}
    assert set(tables["regions"][name]) == set(PENALTIES)
    for penalty in PENALTIES:
        assert set(tables["regions"][name][penalty]) == set(SIGNIFICANCES)
        for figures in tables["regions"][name][penalty].values():
            sizes = [value for key, value in figures.items() if key != "errors"]
            assert sum(sizes) == pytest.approx(100, abs=0.03)  # the paper rounds to two decimals


def test_means_and_standard_deviations_keep_the_layout():
    runs = [
        {"a": {"x": [1.0, 5.0]}, "b": 2.0},
        {"a": {"x": [2.0, 5.0]}, "b": 4.0},
        {"a": {"x": [6.0, 5.0]}, "b": 3.0},
    ]
    assert means(runs) == {"a": {"x": [3.0, 5.0]}, "b": 3.0}
    assert standard_deviations(runs) == {"a": {"x": [math.sqrt(7), 0.0]}, "b": 1.0}

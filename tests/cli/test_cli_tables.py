"""The printed tables, from made-up figures."""

import copy

import pytest

from labelsure.cli._reproduce import ROWS
from labelsure.metrics import size_histogram
from labelsure.paper._tables import (
    paper_tables,
    region_table,
    single_prediction_table,
    standard_deviations,
)


def made_up_tables():
    """The paper's figures as if they were ours: every bin, empty regions and the extra row."""
    tables = {key: copy.deepcopy(paper_tables()[key]) for key in ("single_predictions", "regions")}
    for name, n_labels in (("scene", 6), ("yeast", 14)):
        single = tables["single_predictions"][name] | {"BP-MLL shuffled": [0.15, 0.36, 0.65, 0.63]}
        tables["single_predictions"][name] = {row: single[row] for row in ROWS}
        every_bin = dict.fromkeys(size_histogram([1], max_size=2**n_labels).to_dict(), 0.0)
        for levels in tables["regions"][name].values():
            levels.update({level: every_bin | figures for level, figures in levels.items()})
    return tables


def words(text, row):
    (line,) = (line for line in text.splitlines() if line.startswith(f"{row}  "))
    return line.removeprefix(row).split()


@pytest.mark.parametrize("n_seeds", [1, 2])
@pytest.mark.parametrize("name", ["scene", "yeast"])
@pytest.mark.parametrize("table", [single_prediction_table, region_table])
def test_tables_are_plain_fit_100_columns_and_are_aligned(table, name, n_seeds):
    ours = made_up_tables()
    text = table(name, ours, standard_deviations([ours] * n_seeds))
    assert text.isascii()
    assert max(map(len, text.splitlines())) <= 100
    _, *lines = text.splitlines()
    widths = {len(line) for line in lines if line and not line.startswith(" ")}
    assert len(widths) == 1


def test_single_prediction_table_shows_paper_ours_and_deviation():
    ours, other = made_up_tables(), made_up_tables()
    other["single_predictions"]["scene"]["ML-RBF"] = [0.1959, 0.5468, 0.6922, 0.6890]
    text = single_prediction_table("scene", ours, standard_deviations([ours, other]))
    assert words(text, "ML-RBF") == [
        ".0959",
        ".0959",
        ".0707",
        *(x for v in (".5468", ".6922", ".6890") for x in (v, v, ".0000")),
    ]
    assert words(text, "BP-MLL shuffled")[:3] == ["-", ".1500", ".0000"]
    assert [line.split("  ")[0] for line in text.splitlines()[3:]] == list(ROWS)


def test_region_table_shows_the_papers_bins_empty_regions_and_errors():
    ours = made_up_tables()
    ours["regions"]["scene"]["lambda=0"]["0.20"]["empty"] = 1.25
    text = region_table("scene", ours, standard_deviations([ours] * 2))
    first, second = text.split("\n\n")
    assert words(first, "empty") == ["-", "0.00", "0.00", "-", "0.00", "0.00", "-", "1.25", "0.00"]
    assert words(first, "errors") == [
        "3.76",
        "3.76",
        "0.00",
        "9.28",
        "9.28",
        "0.00",
        "21.07",
        "21.07",
        "0.00",
    ]
    assert words(second, "5-8") == [
        "40.05",
        "40.05",
        "0.00",
        "4.01",
        "4.01",
        "0.00",
        "0.00",
        "0.00",
        "0.00",
    ]
    rows = [line.split()[0] for line in first.splitlines()[3:]]
    assert rows == ["empty", "1", "2", "3-4", "5-8", "9-16", "errors"]

"""The tables of ``labelsure compare``, from made-up results."""

import pytest

from labelsure.cli._compare_results import Results, Row
from labelsure.cli._compare_tables import comparison, markdown_table, three_digits

LEVELS = ["90", "95"]


def made_up(*, many=False, n_resplits=2, n_sized=30):
    terms = {
        "settings": {"folds": 12, "confidence": LEVELS},
        "datasets": {
            "one": {
                "n_objects": 100, "n_features": 7, "n_labels": 30 if many else 3, "labels_per_object": 1.25,
                "n_train": 60, "n_test": 30, "n_sized": n_sized,
            },
        },
        "learners": {"one": {"ml-knn": ""}},
        "measures": {"power": "", "log-loss": "", "max-norm": ""},
        "guarantees": {"cross": "", "exact": ""},
    }  # fmt: skip
    results = Results(terms)
    for number in range(n_resplits):
        figures = {
            "errors": {"90": 9.0 + 2 * number, "95": 5.0},
            ("log2_sizes" if many else "sizes"): {"90": 2.5 + number, "95": 1234.5},
            **({"log2_low": {"90": 2.4, "95": 1234.5}, "log2_high": {"90": 3.1, "95": 1234.9}} if many else {}),
            "subset_accuracy": 0.6,
            "macro_f": 0.4,
            "learner": {"subset_accuracy": 0.5},
            "seconds": {"fit": 12.34, "answer": 0.5},
        }
        results.add(Row("one", "ml-knn", "log-loss", "exact"), number, {"figures": figures})
        sums = {} if many else {"S": 3.0, "OF": 2.5}
        results.add(Row("one", "ml-knn", "power", "cross"), number, {"figures": figures | sums})
    results.add(Row("one", "ml-knn", "max-norm", "cross"), 0, {"refused": "Only up to 12 labels."})
    return results


def cells_of(text):
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]


def test_table_shows_means_and_deviations_in_the_order_of_the_terms():
    head, _, power, log_loss = cells_of(comparison(made_up()))
    assert head == [
        "learner", "measure", "guarantee", "error 90 %", "error 95 %", "N 90 %", "N 95 %", "S", "OF", "acc.", "F",
        "learner's acc.", "learner's F", "fit s", "answer s",
    ]  # fmt: skip
    assert power == [
        "ml-knn", "power", "cross", "10.00 (1.41)", "5.00 (0.00)", "3.00 (0.71)", "1234 (0)", "3.00 (0.00)",
        "2.50 (0.00)", "0.600 (0.000)", "0.400 (0.000)", "0.500 (0.000)", "-", "12.3 (0.0)", "0.50 (0.00)",
    ]  # fmt: skip
    assert log_loss[1:3] == ["log-loss", "exact"]
    assert log_loss[7:9] == ["-", "-"]


def test_one_resplit_shows_no_deviations():
    *_, power, _ = cells_of(comparison(made_up(n_resplits=1)))
    assert power[3:6] == ["9.00", "5.00", "2.50"]


def test_many_labels_are_compared_by_logarithms_or_intervals_and_have_no_sums():
    text = comparison(made_up(many=True))
    head, _, power, _ = cells_of(text)
    assert head[5:8] == ["log2 N 90 %", "log2 N 95 %", "acc."]
    assert power[5:7] == ["2.4 to 3.1", "1234 (0)"]


def test_sizes_folds_and_subsets_are_stated():
    text = comparison(made_up())
    assert "## one" in text
    for words in ("100 objects, 7 features, 3 labels, 1.25", "2 random resplits", "60 training and 30 test objects"):
        assert words in text
    assert "(10 left out); 12 folds" in text
    assert "1 random resplit into" in comparison(made_up(n_resplits=1))


def test_what_was_refused_is_told_why():
    assert "- ml-knn, max-norm, cross: not measured. Only up to 12 labels." in comparison(made_up()).splitlines()


def test_a_data_set_with_refusals_only_has_no_table():
    results = Results(made_up().terms)
    results.add(Row("one", "ml-knn", "max-norm", "cross"), 0, {"refused": "Only up to 12 labels."})
    text = comparison(results)
    assert cells_of(text) == []
    assert "Only up to 12 labels." in text


@pytest.mark.parametrize("many", [False, True])
def test_tables_are_plain_and_aligned(many):
    text = comparison(made_up(many=many))
    assert text.isascii()
    assert text.endswith("\n")
    assert len({len(line) for line in text.splitlines() if line.startswith("|")}) == 1


def test_markdown_table_has_names_flush_left_and_figures_flush_right():
    lines = markdown_table([["a", "b", "n"], ["xx", "y", "100"]], n_names=2).splitlines()
    assert lines == ["| a  | b |   n |", "|:---|:--|----:|", "| xx | y | 100 |"]


@pytest.mark.parametrize(("value", "shown"), [(0.0, "0.00"), (9.994, "9.99"), (10.0, "10.0"), (100.0, "100")])
def test_numbers_show_three_digits(value, shown):
    assert f"{value:.{three_digits(value)}f}" == shown


def test_description_says_how_many_objects_were_sized():
    assert "30 test objects (10 left out); 12 folds." in comparison(made_up())
    sized = "30 test objects (10 left out), regions sized for 20 of these; 12 folds."
    assert sized in comparison(made_up(n_sized=20))

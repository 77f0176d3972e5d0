"""The results file of ``labelsure compare``: whole at all times, gone on from, never mixed with other results."""

import copy
import json
import statistics

import pytest

from labelsure.cli import _compare_results
from labelsure.cli._compare_results import Results, Row, open_results, read_results
from labelsure.cli._errors import CommandError

TERMS = {
    "settings": {"folds": 10, "confidence": ["80", "95"]},
    "datasets": {"tiny": {"n_train": 50, "sha256": "ab"}},
    "learners": {"tiny": {"ml-knn": "MLkNN()", "logistic": "Logistic()"}},
    "measures": {"power": "PowerMeasure()", "log-loss": "LogLossMeasure()"},
    "guarantees": {"cross": "the paper's"},
}
ROW = Row("tiny", "ml-knn", "power", "cross")


def figures(error, size):
    return {"errors": {"80": error, "95": error / 4}, "sizes": {"80": size, "95": 3 * size}, "subset_accuracy": 0.5}


@pytest.fixture
def results(tmp_path):
    results = open_results(tmp_path / "out.json", copy.deepcopy(TERMS))
    results.add(ROW, 1, {"figures": figures(21.0, 3.0)})
    results.add(ROW, 0, {"figures": figures(18.0, 4.0)})
    results.add(ROW._replace(measure="log-loss"), 0, {"refused": "too many labels"})
    return results


def test_file_holds_terms_cells_rows_and_versions(results):
    document = json.loads(results.path.read_text())
    assert {name: document[name] for name in TERMS} == TERMS
    assert [(cell["measure"], cell["resplit"]) for cell in document["cells"]] == [
        ("power", 1),
        ("power", 0),
        ("log-loss", 0),
    ]
    assert document["cells"][0]["figures"] == figures(21.0, 3.0)
    assert document["cells"][2]["refused"] == "too many labels"
    assert {"labelsure", "numpy", "scikit-learn"} <= set(document["versions"])
    assert document["rows"][0]["resplits"] == [0, 1]
    assert document["rows"][0]["means"]["errors"]["80"] == 19.5
    assert document["rows"][0]["sds"]["sizes"]["80"] == statistics.stdev([3.0, 4.0])
    assert document["rows"][1] == {
        **ROW._replace(measure="log-loss")._asdict(), "resplits": [], "means": {}, "sds": {},
        "refused": "too many labels",
    }  # fmt: skip
    assert list(results.path.parent.iterdir()) == [results.path]


def test_every_cell_and_row_has_a_line(results):
    lines = results.path.read_text().splitlines()
    assert sum('"resplit": ' in line for line in lines) == 3
    assert sum('"resplits": ' in line for line in lines) == 2


def test_summaries_follow_the_cells(results):
    before = results.summaries()[ROW]
    results.add(ROW, 2, {"figures": figures(24.0, 5.0)})
    after = results.summaries()[ROW]
    assert (before.resplits, after.resplits) == ([0, 1], [0, 1, 2])
    assert (before.means["errors"]["80"], after.means["errors"]["80"]) == (19.5, 21.0)
    assert after.sds["errors"]["80"] == 3.0


def test_one_resplit_has_no_deviation():
    results = Results(TERMS)
    results.add(ROW, 0, {"figures": figures(20.0, 2.0)})
    assert results.summaries()[ROW].sds == {
        "errors": {"80": None, "95": None},
        "sizes": {"80": None, "95": None},
        "subset_accuracy": None,
    }


def test_rows_are_in_the_order_of_the_terms():
    results = Results(TERMS)
    for learner, measure in [("logistic", "power"), ("ml-knn", "log-loss"), ("ml-knn", "power")]:
        results.add(Row("tiny", learner, measure, "cross"), 0, {"figures": figures(20.0, 2.0)})
    assert [(row.learner, row.measure) for row in results.summaries()] == [
        ("ml-knn", "power"),
        ("ml-knn", "log-loss"),
        ("logistic", "power"),
    ]


def test_a_later_run_goes_on_and_may_add_words(results):
    more = copy.deepcopy(TERMS)
    more["measures"] = {"power:2": "PowerMeasure(d=2)", "power": "PowerMeasure()"}
    more["datasets"]["other"] = {"n_train": 9, "sha256": "cd"}
    more["learners"]["other"] = {"ml-knn": "MLkNN()"}
    again = open_results(results.path, more)
    assert again.cells == results.cells
    assert list(again.terms["measures"]) == ["power", "log-loss", "power:2"]
    assert list(again.terms["datasets"]) == ["tiny", "other"]
    again.add(Row("other", "ml-knn", "power:2", "cross"), 0, {"figures": figures(1.0, 1.0)})
    assert len(read_results(results.path).cells) == 4


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("settings", "folds"), 12, "another settings folds: 10 there, 12 in this run"),
        (("settings", "confidence"), ["95", "80"], "another settings confidence"),
        (("datasets", "tiny", "n_train"), 20, "another datasets tiny n_train: 50 there, 20"),
        (("datasets", "tiny", "sha256"), "ff", "another datasets tiny sha256"),
        (("learners", "tiny", "ml-knn"), "MLkNN(k=3)", "another learners tiny ml-knn"),
        (("measures", "power"), "PowerMeasure(d=2)", "another measures power"),
    ],
)
def test_results_with_other_terms_are_refused_and_left_alone(results, place, value, message):
    other = copy.deepcopy(TERMS)
    inner = other
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    before = results.path.read_bytes()
    with pytest.raises(CommandError, match=message):
        open_results(results.path, other)
    assert results.path.read_bytes() == before


OTHER = {
    "empty": "",
    "cut off": "{",
    "a list": "[]",
    "null": "null",
    "nothing in it": "{}",
    "no cells": '{"layout": 1}',
    "an empty cell": '{"layout": 1, "cells": [{}]}',
    "no text": "\xff",
    "too deep": "[" * 100_000,
    "too long a number": '{"layout": ' + "1" * 10_000 + "}",
}


@pytest.mark.parametrize("text", OTHER.values(), ids=OTHER)
def test_other_files_are_refused_and_left_alone(tmp_path, text):
    path = tmp_path / "other.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(CommandError, match=r"other\.json is no results file of labelsure compare"):
        open_results(path, TERMS)
    assert path.read_bytes() == text.encode("latin-1")


def test_another_layout_is_refused(results):
    path = results.path
    path.write_text(path.read_text().replace('"layout": 1', '"layout": 99'))
    with pytest.raises(CommandError, match="another layout"):
        read_results(path)


def test_a_failed_write_keeps_the_old_file(results, monkeypatch):
    before = results.path.read_bytes()

    def fail(*arguments):
        raise CommandError("no space")

    monkeypatch.setattr(_compare_results, "write_whole", fail)
    with pytest.raises(CommandError, match="no space"):
        results.add(ROW, 5, {"figures": figures(1.0, 1.0)})
    assert results.path.read_bytes() == before


def test_without_a_path_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    results = open_results(None, TERMS)
    results.add(ROW, 0, {"figures": figures(1.0, 1.0)})
    assert list(tmp_path.iterdir()) == []

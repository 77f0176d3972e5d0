"""The benchmarks measure what they say: their small parts work on small inputs. Nothing here is timed."""

import json

import pytest
from benchmarks import __main__ as command
from benchmarks import limit, paths, rivals
from benchmarks._answers import NotMeasuredError, Picture, Table
from benchmarks._figures import Figure
from benchmarks._page import write_page

PICTURE = Picture("growth", "More", "labels", "ms", [1, 10, 100], {"best": [2.0, 3.0, 6.0]})


@pytest.mark.parametrize("name", command.QUESTIONS)
def test_question_says_what_it_asks(name):
    question = command.QUESTIONS[name]
    assert question.__doc__ and question.TITLE and question.METHOD
    assert callable(question.measure)


def test_question_that_cannot_be_asked_keeps_the_results(tmp_path, monkeypatch, capsys):
    def refuse():
        raise NotMeasuredError("no such data")

    monkeypatch.setattr(command, "HERE", tmp_path)
    monkeypatch.setattr(rivals, "measure", refuse)
    (tmp_path / "results").mkdir()
    kept = tmp_path / "results" / "rivals.json"
    kept.write_text("kept")
    command._measure(["rivals"])
    assert kept.read_text() == "kept"
    assert "no such data" in capsys.readouterr().out


def test_answers_are_kept_and_shown(tmp_path, monkeypatch):
    monkeypatch.setattr(command, "HERE", tmp_path)
    table = Table("By set", ["set", "ns"], [["yeast", 1234.5]])
    monkeypatch.setattr(
        limit, "measure", lambda: [Figure("time", 1.5, "ms", at_most=1), table, PICTURE]
    )
    (tmp_path / "results").mkdir()
    command._measure(["limit"])
    kept = json.loads((tmp_path / "results" / "limit.json").read_text())
    page = write_page([kept])
    assert "| time | 1.50 ms |" in page
    assert "| yeast | 1 234 |" in page
    assert "(figures/growth.png)" in page
    assert Picture(**kept["pictures"][0]) == PICTURE


@pytest.mark.parametrize("n_labels", [3, 10])
def test_paths_measure_every_column(monkeypatch, n_labels):
    monkeypatch.setattr(paths, "REPEATS", 1)
    row = paths.row_of(n_labels, n_examples=60, n_objects=4)
    assert len(row) == len(paths.COLUMNS)
    assert row[0] == n_labels
    assert 1 <= row[1] <= 2**n_labels
    assert all(value >= 0 for value in row)


def test_parts_of_a_question_are_kept_and_shown_one_by_one(tmp_path, monkeypatch):
    def measure(part):
        if part == "birds":
            raise NotMeasuredError("no birds")
        return [Table("By set", ["set", "ns"], [[part, 1.0]])]

    monkeypatch.setattr(command, "HERE", tmp_path)
    monkeypatch.setattr(paths, "measure", measure)
    (tmp_path / "results").mkdir()
    command._measure(["paths"], ["yeast"])
    command._measure(["paths"], ["birds", "scene"])
    assert sorted(path.name for path in (tmp_path / "results" / "paths").iterdir()) == [
        "scene.json",
        "yeast.json",
    ]
    page = command.page()
    assert page.index("| scene | 1.00 |") < page.index("| yeast | 1.00 |")
    assert page.count("By set") == 1
    kept = json.loads((tmp_path / "results" / "paths" / "yeast.json").read_text())
    joined = command.join(
        [kept, kept | {"date": "2020-01-01", "machine": kept["machine"] | {"cores": "many"}}]
    )
    assert joined["date"] == f"{kept['date']} and 2020-01-01"
    assert joined["machine"]["cores"] == f"{kept['machine']['cores']} and many"
    assert joined["machine"]["python"] == kept["machine"]["python"]

"""``labelsure check``: doubtful labels of a table, alone and beside trusted rows."""

import csv

import pytest

pytest.importorskip("pyarrow", reason="CSV is read by pyarrow")

from made_up_tables import LABELS, make_tickets, write_csv

from labelsure.cli import main

WORDS = ("--labels", ",".join(LABELS), "--learner", "logistic", "--jobs", "1")


@pytest.fixture
def tables(tmp_path):
    """Two tables, and the rows of the second whose first label is wrong."""
    write_csv(tmp_path / "good.csv", make_tickets(200))
    tickets = make_tickets(60, seed=1)
    wrong = list(range(0, 60, 3))
    for row in wrong:
        tickets[LABELS[0]][row] = str(1 - int(tickets[LABELS[0]][row]))
    write_csv(tmp_path / "doubtful.csv", tickets)
    return tmp_path


def check(folder, *words):
    assert (
        main(["check", str(folder / "doubtful.csv"), *WORDS, "-o", str(folder / "out.csv"), *words])
        == 0
    )
    return list(csv.DictReader((folder / "out.csv").open(encoding="utf-8")))


def test_a_table_is_not_trusted_to_judge_itself(tables, capsys):
    words = ["check", str(tables / "good.csv"), *WORDS, "-o", str(tables / "out.csv")]
    assert main([*words, "--trusted", str(tables / "cli" / ".." / "good.csv")]) == 1
    error = capsys.readouterr().err
    assert "must not be the trusted ones" in error and error.count("\n") == 1


def test_check_writes_doubtful_labels_in_order(tables, capsys):
    rows = check(tables)
    gains = [float(row["gain"]) for row in rows]
    assert gains == sorted(gains, reverse=True) and gains[-1] > 0
    assert list(rows[0]) == ["row", "label", "given", "gain", "better"]
    assert all((row["label"] in row["better"].split(";")) == (row["given"] == "0") for row in rows)
    said = capsys.readouterr().out
    assert "without a level" in said and "add --trusted FILE" in said


def test_check_with_trusted_rows_flags_rows_and_says_beforehand_what_it_takes(tables, capsys):
    rows = check(tables, "--trusted", str(tables / "good.csv"), "--level", "0.3")
    flagged = {int(row["row"]) for row in rows if row["flagged"] == "1"}
    assert flagged and sum((row - 1) % 3 == 0 for row in flagged) > len(flagged) / 2
    first, *_, last = capsys.readouterr().out.splitlines()
    assert first.startswith("200 trusted rows, 100 of them calibrate: at level 0.3")
    assert "at most 0.3" in last


def test_too_few_trusted_rows_are_refused_before_anything_is_fitted(tables, capsys):
    words = [
        "check",
        str(tables / "good.csv"),
        *WORDS,
        "-o",
        str(tables / "out.csv"),
        "--level",
        "0.01",
    ]
    assert main([*words, "--trusted", str(tables / "doubtful.csv")]) == 1
    error = capsys.readouterr().err
    assert "60 trusted rows" in error and "Bring 198 or more" in error and error.count("\n") == 1
    assert not (tables / "out.csv").exists()


@pytest.mark.parametrize("level", ["0", "1", "ten"])
def test_a_level_that_is_no_share_is_refused(tables, capsys, level):
    with pytest.raises(SystemExit):
        check(tables, "--level", level)
    assert f"such as 0.1, got '{level}'" in capsys.readouterr().err

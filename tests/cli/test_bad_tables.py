"""Invalid arguments, tables and models: one clear line, the right exit code, nothing lost."""

import os
import subprocess
from pathlib import Path
from unittest.mock import patch

import pytest
from commands import FAST, LABELS_OPTION, call
from made_up_tables import LABELS, make_tickets, write_csv

from labelsure.model_file import open_model, save_model

pytest.importorskip("pyarrow", reason="tables are read by pyarrow")

OLD = "what was here before"
OPTIONS = f"--model new.labelsure {FAST}"
FIT = f"fit train.csv {LABELS_OPTION} {OPTIONS}"
PREDICT = "predict m.labelsure test.csv -o out.csv"
REPORT = "report m.labelsure test.csv -o r.html"


@pytest.fixture(autouse=True)
def old_outputs(here):
    for name in ("out.csv", "new.labelsure"):
        (here / name).write_text(OLD)


def change(name, **columns):
    """Return what rewrites a table with other columns, or other cells in them."""

    def write(folder):
        table = make_tickets(120 if name == "train.csv" else 50, seed=int(name == "test.csv"))
        changed = table | {
            column: cells(table[column]) if callable(cells) else cells
            for column, cells in columns.items()
        }
        write_csv(folder / name, {column: cells for column, cells in changed.items() if cells})

    return write


def cell(row, content):
    return lambda cells: [*cells[: row - 1], content, *cells[row:]]


def text(name, content, encoding="utf-8"):
    return lambda folder: (folder / name).write_bytes(content.encode(encoding))


def half(name):
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:1000])


def link_to_itself(name):
    def link(folder):
        (folder / name).unlink()
        (folder / name).symlink_to(folder / name)

    return link


def folder_called(name):
    return lambda folder: (folder / name).mkdir()


def save_by_a_later_version(folder):
    opened = open_model(folder / "m.labelsure")
    with patch("labelsure.model_file.FORMAT", 99):
        save_model(opened.model, folder / "m.labelsure", table=opened.table)


def save_without_table(folder):
    save_model(open_model(folder / "m.labelsure").model, folder / "m.labelsure")


def save_with_another_table(folder):
    opened = open_model(folder / "m.labelsure")
    table = {**opened.table, "label_names": opened.table["label_names"][::-1]}
    save_model(opened.model, folder / "m.labelsure", table=table)


def nothing(folder):
    pass


FILES = [
    (f"fit no.csv {OPTIONS}", nothing, "no.csv does not exist. Check the path."),
    (f"fit d.csv {OPTIONS}", folder_called("d.csv"), "d.csv is a folder"),
    (f"fit t.xlsx {OPTIONS}", text("t.xlsx", ""), "t.xlsx must end in .csv"),
    (f"{FIT} --labels bug,bills", nothing, "no column 'bills', which labels names"),
    (f"fit train.csv {OPTIONS}", nothing, "Name their columns with --labels"),
    (FIT, change("train.csv", age=cell(7, "old")), "row 7, column 'age': expected a number"),
    (FIT, change("train.csv", size=cell(9, "1e999")), "row 9, column 'size'"),
    (FIT, change("train.csv", who=[f"p {i}" for i in range(120)]), "120 different values"),
    (FIT, text("train.csv", "age,bug,billing,urgent\n1,1,0,1\n"), "1 row for 3 folds"),
    (FIT, text("train.csv", "age,bug,billing,urgent\n"), "no rows"),
    (FIT, text("train.csv", ""), "train.csv is empty"),
    (FIT, change("train.csv", **dict.fromkeys(LABELS, ["0"] * 120)), "is the same in all rows"),
    (f"{FIT} --labels bug", change("train.csv", bug=["red; old"] * 120), "--separator ';'"),
    (FIT, change("train.csv", bug=cell(5, "2")), "row 5, column 'bug': a label must be 0 or 1"),
    (FIT, change("train.csv", bug=cell(5, "")), "row 5, column 'bug': a label must be 0 or 1"),
    (FIT, text("train.csv", "age,bug,billing,urgent\n1,0,1,1\n2,1,0\n"), "row 2: expected 4 cells"),
    (FIT, text("train.csv", "age,age,bug\n1,2,0\n"), "two columns are called 'age'"),
    (FIT, text("train.csv", "\nage,bug\n1,0\n"), "begins with a blank line"),
    (f"fit t.svm {LABELS_OPTION} {OPTIONS}", text("t.svm", "1 1:2\n"), "before the features"),
    (FIT, text("train.csv", "plan,bug\ncafé,1\n", "latin-1"), "not in UTF-8"),
    (FIT, text("train.csv", "plan,bug\nx,1\n", "utf-16"), "example: iconv -f utf-16 -t utf-8"),
    (FIT, text("train.csv", "plan,bug\nx,1\n", "utf-16-le"), "iconv -f utf-16le -t utf-8"),
    (
        f"fit t.arff {OPTIONS}",
        text("t.arff", "@attribute", "utf-16"),
        "t.arff: the file is in UTF-16",
    ),
    (FIT, change("train.csv", age=cell(7, "1e308")), "expected a finite number, up to 3.4e+38"),
    (FIT, change("train.csv", plan=cell(2, "x" * 20_000_000)), "line 3: a row is longer than 1 MB"),
    (FIT, link_to_itself("train.csv"), "train.csv is a link that leads to no file"),
    (f"{FIT} --text title", nothing, "no column 'title', which text names"),
    (f"fit train.csv --labels-from no.txt {OPTIONS}", nothing, "no.txt cannot be read"),
    (f"fit train.csv --labels-from no.txt {OPTIONS}", text("no.txt", "\n"), "names no labels"),
    (f"{FIT} --labels *", nothing, "no features are left"),
    (f"{FIT} --folds 1", nothing, "at least 2 folds"),
    (f"{FIT} --folds 100", nothing, "120 rows for 100 folds"),
    (PREDICT, change("test.csv", age=cell(3, "1e300")), "row 3, column 'age': expected a finite"),
    (PREDICT, link_to_itself("test.csv"), "test.csv is a link that leads to no file"),
    (PREDICT, change("test.csv", plan=None), "test.csv lacks the column 'plan'"),
    (PREDICT, change("test.csv", age=cell(3, "x")), "row 3, column 'age'"),
    (f"{PREDICT} --batch 10", change("test.csv", age=cell(33, "x")), "row 33, column 'age'"),
    (PREDICT, text("test.csv", "age,plan,size\n"), "test.csv has no rows to predict"),
    ("predict m.labelsure test.csv", text("test.csv", "age,plan,size\n"), "has no rows to predict"),
    (PREDICT, text("test.csv", ""), "test.csv is empty"),
    ("predict m.labelsure t.parquet", text("t.parquet", "PAR1"), "not a whole Parquet file"),
    (f"{PREDICT} --keep id", nothing, "lacks the column 'id'"),
    (f"{PREDICT} --keep note", change("test.csv", note=["x"] * 50), "a column 'note' of its own"),
    (f"{PREDICT} -o test.csv", nothing, "test.csv is what is read"),
    ("predict no.labelsure test.csv", nothing, "no.labelsure does not exist. Check the path."),
    (PREDICT, text("m.labelsure", "not a model"), "m.labelsure"),
    (PREDICT, half("m.labelsure"), "m.labelsure"),
    (PREDICT, save_by_a_later_version, "99"),
    (PREDICT, save_with_another_table, "the description of another table"),
    (PREDICT, save_without_table, "without a description of its table"),
    ("evaluate m.labelsure test.csv", change("test.csv", bug=None), "lacks the column 'bug'"),
    ("evaluate m.labelsure test.csv --json test.csv", nothing, "test.csv is what is read"),
    ("explain m.labelsure test.csv --row 51", nothing, "has 50 rows"),
    (f"{REPORT} --group sex", nothing, "column 'sex'"),
    ("datasets yest", nothing, "Did you mean 'yeast'"),
    ("datasets -o out.csv", nothing, "name the data set"),
]
WORDS = {
    f"{FIT} --learner forrest": "did you mean 'random-forest'",
    f"{FIT} --measure powr": "powr",
    f"{FIT} --guarantee exakt": "the guarantees are cross, exact, inductive, got 'exakt'; did you",
    f"{FIT} --seed -1": "expected a whole number from 0",
    f"{FIT} --jobs 0": "-1 for all of them, got 0",
    f"{FIT} --model m.pkl": "ends in .labelsure",
    f"{FIT} --model no/m.labelsure": "there is no folder",
    f"{FIT} --labels-from no.txt": "not allowed with argument",
    f"{FIT} --drop age,,size": "expected names of columns",
    f"{PREDICT} --confidence 0": "between 0 and 100",
    f"{PREDICT} --confidence 0.95": "write 95 for 0.95",
    f"{PREDICT} --confidence 100": "between 0 and 100",
    f"{PREDICT} --top 0": "at least 1",
    f"{PREDICT} -o out.xlsx": "ends in .csv or .jsonl",
    f"{PREDICT} -o no/out.csv": "there is no folder",
    f"{PREDICT} -o .": "expected a file",
    "evaluate m.labelsure test.csv --json no/x.json": "there is no folder",
    "explain m.labelsure test.csv --row 0": "at least 1",
    f"{REPORT} -o r.pdf": "ends in .html",
    "check test.csv -o out.csv --level ten": "such as 0.1, got 'ten'",
    "check test.csv -o out.csv --level 1": "such as 0.1, got '1'",
    "reproduce emotions": "the paper's data sets are scene and yeast, got 'emotions'",
    "reproduce --seeds many": "--seeds: expected a whole number, got 'many'",
    "reproduces": "invalid choice",
    "": "required",
}
BAD = [(*case, 1) for case in FILES]
BAD += [(words, nothing, message, 2) for words, message in WORDS.items()]


def snapshot(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize(
    ("words", "prepare", "message", "code"), BAD, ids=[f"{words} {m}" for words, _, m, _ in BAD]
)
def test_bad_input_gives_one_line_and_changes_nothing(here, words, prepare, message, code, capsys):
    prepare(here)
    before = snapshot(here)
    assert call(words) == code
    captured = capsys.readouterr()
    (line,) = captured.err.splitlines()
    assert "error: " in line
    assert message in line
    assert captured.out == ""
    assert snapshot(here) == before
    assert not list(here.glob(".*"))


def test_the_installed_command_says_the_same(here, run):
    half("m.labelsure")(here)
    result = run(*PREDICT.split())
    assert (result.returncode, result.stdout, len(result.stderr.splitlines())) == (1, "", 1)
    assert result.stderr.startswith("labelsure: error: m.labelsure ")


@pytest.mark.parametrize("words", [FIT, PREDICT])
def test_an_output_that_may_not_be_written_is_refused_before_the_work(here, words, capsys):
    forbidden = here / ("new.labelsure" if words is FIT else "out.csv")
    allowed = os.access

    def access(path, mode):
        return path != forbidden and allowed(path, mode)

    with patch("os.access", access):
        assert call(words) == 2
    assert "may not be written" in capsys.readouterr().err
    assert forbidden.read_text() == OLD


def test_a_pipe_that_closes_ends_it_quietly(here, command, offline):
    words = f'"{command}" predict m.labelsure test.csv --batch 5 | head -1'
    piped = {"capture_output": True, "text": True, "env": offline}
    result = subprocess.run(["bash", "-c", words], check=False, **piped)
    assert result.stdout.startswith("row,labels,confidence")
    assert result.stderr == ""


def test_dev_full_is_an_error_and_no_traceback(here, command, offline):
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    words = f'"{command}" predict m.labelsure test.csv > /dev/full'
    piped = {"capture_output": True, "text": True, "env": offline}
    result = subprocess.run(["bash", "-c", words], check=False, **piped)
    assert result.returncode == 1
    said = "labelsure: error: output could not be written: No space left on device."
    assert result.stderr.splitlines() == [said]

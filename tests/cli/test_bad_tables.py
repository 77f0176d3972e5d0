"""What can go wrong with tables and models on the command line: one clear line, the right exit code, nothing lost."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest
from killing import run_counted
from made_up_tables import LABELS, make_tickets, read_csv, write_csv

from labelsure.cli import main
from labelsure.model_file import open_model, save_model

pytest.importorskip("pyarrow", reason="tables are read by pyarrow")

OLD = "what was here before"
FAST = ["--learner", "logistic", "--measure", "log-loss", "--folds", "3", "--jobs", "1"]
TRAIN, TEST, MODEL, OUT = "train.csv", "test.csv", "m.labelsure", "out.csv"
LABELS_WORD = ",".join(LABELS)


@pytest.fixture
def here(tickets, tmp_path, monkeypatch):
    """A folder with the tables, a model, and an output that must survive, to stand in."""
    for name in (TRAIN, TEST, MODEL):
        shutil.copy(tickets / name, tmp_path / name)
    (tmp_path / OUT).write_text(OLD)
    (tmp_path / "new.labelsure").write_text(OLD)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def change(name, **columns):
    """Return what rewrites a table with other columns."""

    def write(folder):
        found = make_tickets(120 if name == TRAIN else 50, seed=int(name == TEST))
        changed = {
            column: cells(found[column]) if callable(cells) else cells
            for column, cells in (found | columns).items()
        }
        write_csv(
            folder / name, {column: cells for column, cells in changed.items() if cells is not None}
        )

    return write


def cell(row, text):
    return lambda cells: [*cells[: row - 1], text, *cells[row:]]


def text(name, content):
    return lambda folder: (folder / name).write_text(content, encoding="utf-8")


def save_by_a_later_version(folder):
    opened = open_model(folder / MODEL)
    with patch("labelsure.model_file.FORMAT", 99):
        save_model(opened.model, folder / MODEL, table=opened.table)


def save_without_table(folder):
    save_model(open_model(folder / MODEL).model, folder / MODEL)


def save_with_another_table(folder):
    opened = open_model(folder / MODEL)
    labels = {**opened.table["labels"], "names": opened.table["labels"]["names"][::-1]}
    save_model(opened.model, folder / MODEL, table={**opened.table, "labels": labels})


def nothing(folder):
    pass


def link_to_itself(folder, name=TRAIN):
    (folder / name).unlink()
    (folder / name).symlink_to(folder / name)


FIT = ["fit", TRAIN, "--labels", LABELS_WORD, "--model", "new.labelsure", *FAST]
PREDICT = ["predict", MODEL, TEST, "-o", OUT]

BAD = {
    # the data of fit
    "fit: a missing file": (nothing, ["fit", "no.csv", *FIT[2:]], 1, "no.csv does not exist"),
    "fit: a folder": (lambda folder: (folder / "d.csv").mkdir(), ["fit", "d.csv", *FIT[2:]], 1, "is a folder"),
    "fit: an unknown ending": (nothing, ["fit", "t.xlsx", *FIT[2:]], 1, "t.xlsx must end in .csv"),
    "fit: an absent label": (nothing, [*FIT[:3], "bug,bills", *FIT[4:]], 1, "no column 'bills',"
                                                                            " which labels names"),
    "fit: no labels": (nothing, ["fit", TRAIN, *FIT[4:]], 1, "Name their columns with --labels"),
    "fit: text among numbers": (change(TRAIN, age=cell(7, "old")), FIT, 1, "row 7, column 'age':"
                                                                           " expected a number"),
    "fit: an infinite number": (change(TRAIN, size=cell(9, "1e999")), FIT, 1, "row 9, column 'size'"),
    "fit: names": (change(TRAIN, who=[f"p {i}" for i in range(120)]), FIT, 1, "120 different values"),
    "fit: one row": (text(TRAIN, "age,plan,size,bug,billing,urgent\n1,free,2,1,0,1\n"), FIT, 1, "1 row for 3 folds"),
    "fit: only a header": (text(TRAIN, "age,plan,size,bug,billing,urgent\n"), FIT, 1, "no rows"),
    "fit: an empty file": (text(TRAIN, ""), FIT, 1, "train.csv is empty"),
    "fit: labels with one value": (
        change(TRAIN, **dict.fromkeys(LABELS, ["0"] * 120)), FIT, 1, "every label is the same in"
                                                                     " all rows"
    ),
    "fit: no separator": (
        change(TRAIN, bug=["red; old"] * 120), [*FIT[:3], "bug", *FIT[4:]], 1, "--separator ';'"
    ),
    "fit: a label that is 2": (change(TRAIN, bug=cell(5, "2")), FIT, 1, "row 5, column 'bug': a"
                                                                        " label must be 0 or 1"),
    "fit: a missing label": (change(TRAIN, bug=cell(5, "")), FIT, 1, "row 5, column 'bug': a"
                                                                     " label must be 0 or 1"),
    "fit: a row too short": (
        text(TRAIN, "age,bug,billing,urgent\n1,0,1,1\n2,1,0\n"), FIT, 1, "row 2: expected 4 cells"
    ),
    "fit: a name twice": (text(TRAIN, "age,age,bug\n1,2,0\n"), FIT, 1, "two columns are called"
                                                                       " 'age'"),
    "fit: a blank line first": (text(TRAIN, "\nage,bug\n1,0\n"), FIT, 1, "begins with a blank line"),
    "fit: labels of libsvm": (
        text("t.libsvm", "1 1:2\n"), ["fit", "t.libsvm", *FIT[2:]], 1, "the numbers before the"
                                                                       " features"
    ),
    "fit: another encoding": (
        lambda folder: (folder / TRAIN).write_bytes("plan,bug\ncafé,1\n".encode("latin-1")), FIT, 1, "not in UTF-8"
    ),
    "fit: UTF-16": (
        lambda folder: (folder / TRAIN).write_bytes("plan,bug\nx,1\n".encode("utf-16")),
        FIT, 1, "train.csv: the file is in UTF-16. Save it in UTF-8, for example: iconv -f utf-16"
                " -t utf-8",
    ),
    "fit: UTF-16 without a mark": (
        lambda folder: (folder / TRAIN).write_bytes("plan,bug\nx,1\n".encode("utf-16-le")),
        FIT, 1, "iconv -f utf-16le -t utf-8",
    ),
    "fit: ARFF in UTF-16": (
        lambda folder: (folder / "t.arff").write_bytes("@attribute a numeric\n".encode("utf-16")),
        ["fit", "t.arff", *FIT[2:]], 1, "t.arff: the file is in UTF-16",
    ),
    "fit: a number too large": (
        change(TRAIN, age=cell(7, "1e308")), FIT, 1, "row 7, column 'age': expected a finite"
                                                     " number, up to 3.4e+38"
    ),
    "fit: a cell of 20 MB": (
        change(TRAIN, plan=cell(2, "x" * 20_000_000)), FIT, 1, "line 3: a row is longer than 1 MB"
    ),
    "fit: a link to itself": (link_to_itself, FIT, 1, "train.csv is a link that leads to no file"),
    "fit: no such text column": (nothing, [*FIT, "--text", "title"], 1, "no column 'title', which"
                                                                        " text names"),
    "fit: no such list of labels": (
        nothing, ["fit", TRAIN, "--labels-from", "no.txt", *FIT[4:]], 1, "no.txt cannot be read"
    ),
    "fit: an empty list of labels": (
        text("no.txt", "\n"), ["fit", TRAIN, "--labels-from", "no.txt", *FIT[4:]], 1, "no.txt names no labels"
    ),
    "fit: all columns are labels": (nothing, [*FIT[:3], "*", *FIT[4:]], 1, "no features are left"),
    # its words
    "fit: an unknown learner": (nothing, [*FIT, "--learner", "forrest"], 2, "did you mean 'random-forest'"),
    "fit: an unknown measure": (nothing, [*FIT, "--measure", "powr"], 2, "powr"),
    "fit: an unknown guarantee": (nothing, [*FIT, "--guarantee", "exakt"], 2, "did you mean 'exact'"),
    "fit: one fold": (nothing, [*FIT, "--folds", "1"], 1, "at least 2 folds"),
    "fit: more folds than rows": (nothing, [*FIT, "--folds", "100"], 1, "120 rows for 100 folds"),
    "fit: a negative seed": (nothing, [*FIT, "--seed", "-1"], 2, "expected a whole number from 0"),
    "fit: a model without its ending": (nothing, [*FIT, "--model", "m.pkl"], 2, "ends in .labelsure"),
    "fit: nowhere to save": (nothing, [*FIT, "--model", "no/m.labelsure"], 2, "there is no folder"),
    "fit: labels twice": (nothing, [*FIT, "--labels-from", "no.txt"], 2, "not allowed with"
                                                                         " argument"),
    "fit: an empty name": (nothing, [*FIT, "--drop", "age,,size"], 2, "expected names of columns"),
    # the data of predict
    "predict: a number too large": (
        change(TEST, age=cell(3, "1e300")), PREDICT, 1, "row 3, column 'age': expected a finite"
                                                        " number, up to 3.4e+38"
    ),
    "predict: a link to itself": (
        lambda folder: link_to_itself(folder, TEST), PREDICT, 1, "test.csv is a link that leads"
                                                                 " to no file"
    ),
    "predict: a missing column": (change(TEST, plan=None), PREDICT, 1, "test.csv lacks the column"
                                                                       " 'plan'"),
    "predict: text among numbers": (change(TEST, age=cell(3, "x")), PREDICT, 1, "row 3, column 'age'"),
    "predict: text among numbers half-way": (
        change(TEST, age=cell(33, "x")), [*PREDICT, "--batch", "10"], 1, "row 33, column 'age'"
    ),
    "predict: no rows": (text(TEST, "age,plan,size\n"), PREDICT, 1, "test.csv has no rows to"
                                                                    " predict"),
    "predict: no rows to print": (text(TEST, "age,plan,size\n"), PREDICT[:3], 1, "test.csv has no rows to predict"),
    "predict: an empty file": (text(TEST, ""), PREDICT, 1, "test.csv is empty"),
    "predict: a broken Parquet file": (
        text("t.parquet", "PAR1"), ["predict", MODEL, "t.parquet", "-o", OUT], 1, "not a whole Parquet file"
    ),
    "predict: no such column to keep": (nothing, [*PREDICT, "--keep", "id"], 1, "lacks the column"
                                                                                " 'id'"),
    "predict: a kept column like ours": (
        change(TEST, note=["x"] * 50), [*PREDICT, "--keep", "note"], 1, "has a column 'note' of"
                                                                        " its own"
    ),
    # its words
    "predict: 0 %": (nothing, [*PREDICT, "--confidence", "0"], 2, "between 0 and 100"),
    "predict: 0.95 %": (nothing, [*PREDICT, "--confidence", "0.95"], 2, "write 95 for 0.95"),
    "predict: 100 %": (nothing, [*PREDICT, "--confidence", "100"], 2, "between 0 and 100"),
    "predict: no labelsets listed": (nothing, [*PREDICT, "--top", "0"], 2, "at least 1"),
    "predict: an unknown format": (nothing, [*PREDICT[:3], "-o", "out.xlsx"], 2, "ends in .csv or .jsonl"),
    "predict: nowhere to write": (nothing, [*PREDICT[:3], "-o", "no/out.csv"], 2, "there is no folder"),
    "predict: a folder to write": (
        lambda folder: (folder / "d.csv").mkdir(), [*PREDICT[:3], "-o", "d.csv"], 2, "expected a file to write"
    ),
    "predict: the data as output": (nothing, [*PREDICT[:3], "-o", TEST], 1, "test.csv is what is"
                                                                            " read"),
    # the model
    "predict: no model": (nothing, ["predict", "no.labelsure", *PREDICT[2:]], 1, "no.labelsure"),
    "predict: no model file": (text(MODEL, "not a model"), PREDICT, 1, MODEL),
    "predict: half a model": (
        lambda folder: (folder / MODEL).write_bytes((folder / MODEL).read_bytes()[:1000]), PREDICT, 1, MODEL
    ),
    "predict: a model of a newer format": (save_by_a_later_version, PREDICT, 1, "99"),
    "predict: a model with another table": (save_with_another_table, PREDICT, 1, "the description of another table"),
    "predict: a model without its table": (save_without_table, PREDICT, 1, "without a description"
                                                                           " of its table"),
    # the others
    "evaluate: a missing label": (change(TEST, bug=None), ["evaluate", MODEL, TEST], 1, "lacks the column 'bug'"),
    "evaluate: the data as output": (nothing, ["evaluate", MODEL, TEST, "--json", TEST], 1, "test.csv is what is read"),
    "evaluate: nowhere to write": (nothing, ["evaluate", MODEL, TEST, "--json", "no/x.json"], 2, "there is no folder"),
    "explain: row 0": (nothing, ["explain", MODEL, TEST, "--row", "0"], 2, "at least 1"),
    "explain: a row beyond the last": (nothing, ["explain", MODEL, TEST, "--row", "51"], 1, "has 50 rows"),
    "report: no page": (nothing, ["report", MODEL, TEST, "-o", "r.pdf"], 2, "ends in .html"),
    "report: no such group": (nothing, ["report", MODEL, TEST, "-o", "r.html", "--group", "sex"], 1, "column 'sex'"),
    "datasets: an unknown set": (nothing, ["datasets", "yest"], 1, "Did you mean 'yeast'"),
    "datasets: no name": (nothing, ["datasets", "-o", OUT], 1, "name the data set"),
}  # fmt: skip


def snapshot(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gives_one_line_and_changes_nothing(here, name, capsys):
    prepare, words, code, message = BAD[name]
    prepare(here)
    before = snapshot(here)
    try:
        found = main(words)
    except SystemExit as error:  # argparse
        found = error.code
    captured = capsys.readouterr()
    lines = [line for line in captured.err.splitlines() if "error: " in line]
    assert (found, len(lines)) == (code, 1), captured.err
    assert message in lines[0]
    assert "Traceback" not in captured.err
    assert captured.err.splitlines() == lines
    assert snapshot(here) == before
    assert not [path for path in here.iterdir() if path.name.startswith(".")]


def test_the_installed_command_says_the_same(here, run):
    prepare, words, code, message = BAD["predict: half a model"]
    prepare(here)
    result = run(*words)
    assert (result.returncode, result.stdout, len(result.stderr.splitlines())) == (code, "", 1)
    assert result.stderr.startswith("labelsure: error: ")
    assert message in result.stderr


@pytest.mark.skipif(
    os.name == "nt" or os.geteuid() == 0, reason="nobody may forbid the superuser to write"
)
@pytest.mark.parametrize("words", [FIT, PREDICT])
def test_an_output_that_may_not_be_written_is_refused_before_the_work(here, words, capsys):
    output = here / ("new.labelsure" if words is FIT else OUT)
    output.chmod(0o400)
    with pytest.raises(SystemExit) as error:
        main(words)
    assert error.value.code == 2
    assert "may not be written" in capsys.readouterr().err
    assert output.read_text() == OLD


@pytest.mark.skipif(sys.platform == "win32", reason="files have no limits there")
@pytest.mark.parametrize(("limit", "words"), [(4000, FIT), (2000, PREDICT)])
def test_a_full_disk_leaves_the_old_file(here, limit, words):
    """Files may not grow beyond a limit: writing fails as it does on a full disk, see test_full_disk."""
    code, _ = run_counted(words, here, most_bytes=limit)
    said = (here / "said.txt").read_text().splitlines()
    assert code == 1, said
    assert said[-1].startswith("labelsure: error: ")
    assert "could not be written" in said[-1] or "was not written" in said[-1]
    assert [(here / name).read_text() for name in (OUT, "new.labelsure")] == [OLD, OLD]


STOPPED = """
import os, signal, sys
from labelsure.cli import main
from labelsure.cli._predict_parts import PartMaker
made = PartMaker.__call__
def stop_at_third(maker, numbered):
    if numbered.batch.start == 20:
        os.kill(os.getpid(), getattr(signal, sys.argv[1]))
    return made(maker, numbered)
PartMaker.__call__ = stop_at_third
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent otherwise on Windows")
@pytest.mark.parametrize(
    ("name", "code", "ending"), [("SIGINT", 130, "parquet")]
)  # SIGKILL: test_killed_commands
def test_an_interrupted_run_goes_on_where_it_stopped(
    here, offline, name, code, ending, monkeypatch, capsys
):
    from labelsure.cli._predict_parts import PartMaker

    out, whole = here / f"o.{ending}", here / f"whole.{ending}"
    words = ["predict", MODEL, TEST, "--batch", "10", "--jobs", "1", "-o"]
    assert main([*words, str(whole)]) == 0
    out.write_text(OLD)
    stopped = subprocess.run(
        [sys.executable, "-c", STOPPED, name, *words, str(out)],
        env=offline,
        capture_output=True,
        text=True,
        check=False,
    )
    assert stopped.returncode == code, stopped.stderr
    assert "Traceback" not in stopped.stderr
    if name == "SIGINT":
        assert "20 finished rows are kept" in stopped.stderr
        assert "give the same command again" in stopped.stderr
    assert out.read_text() == OLD
    made, asked = PartMaker.__call__, []

    def count(maker, numbered):
        asked.append(numbered.batch.start)
        return made(maker, numbered)

    monkeypatch.setattr(PartMaker, "__call__", count)
    assert main([*words, str(out)]) == 0
    assert asked == [20, 30, 40]
    assert out.read_bytes() == whole.read_bytes()
    assert not [path for path in here.iterdir() if path.name.startswith(".")]
    assert capsys.readouterr().err == ""


def flip_a_bit(content):
    return content[:-1] + bytes([content[-1] ^ 1])


@pytest.mark.parametrize("damage", [lambda _: b"", flip_a_bit], ids=["cut", "one bit"])
@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_unfinished_parts_that_were_damaged_are_made_again(
    here, ending, damage, monkeypatch, capsys
):
    from labelsure.cli._predict_parts import PartMaker

    made, asked = PartMaker.__call__, []

    def stop_at_fourth(maker, numbered):
        asked.append(numbered.batch.start)
        if len(asked) == 4:
            raise KeyboardInterrupt
        return made(maker, numbered)

    out, whole = here / f"o.{ending}", here / f"whole.{ending}"
    words = ["predict", MODEL, TEST, "--batch", "10", "--jobs", "1", "-o"]
    assert main([*words, str(whole)]) == 0
    monkeypatch.setattr(PartMaker, "__call__", stop_at_fourth)
    assert main([*words, str(out)]) == 130
    first, _, third = sorted(
        (here / f".o.{ending}.parts").rglob("output.pkl"), key=lambda path: path.stat().st_mtime_ns
    )
    content = first.read_bytes()
    middle = len(content) // 2
    first.write_bytes(damage(content[:middle]) + content[middle:])
    third.write_bytes(content[:middle])
    assert main([*words, str(out)]) == 0
    assert asked == [0, 10, 20, 30, 0, 20, 30, 40]
    assert out.read_bytes() == whole.read_bytes()
    assert [path.name for path in here.iterdir() if path.name.startswith(".")] == []


def test_parts_of_other_data_or_options_are_not_used(here, monkeypatch, capsys):
    from labelsure.cli._predict_parts import PartMaker

    made = PartMaker.__call__

    def stop(maker, numbered):
        if numbered.batch.start == 20:
            raise KeyboardInterrupt
        return made(maker, numbered)

    words = ["predict", MODEL, TEST, "--batch", "10", "-o", OUT]
    monkeypatch.setattr(PartMaker, "__call__", stop)
    assert main(words) == 130
    monkeypatch.setattr(PartMaker, "__call__", made)
    capsys.readouterr()
    assert main([*words, "--confidence", "80"]) == 0
    (here / "again.csv").write_text("")
    assert main([*words[:-1], "again.csv", "--confidence", "80"]) == 0
    assert (here / OUT).read_text() == (here / "again.csv").read_text()


def test_what_is_written_after_an_error_half_way_goes_on_too(here, monkeypatch, capsys):
    """A disk that is full for a while: what is finished is kept, and told."""
    from labelsure.conformal._memory import KeptResults

    written = KeptResults.write

    def fail(kept, key, content):
        if key.endswith(" 3"):
            raise OSError(28, "No space left on device", str(kept.folder))
        written(kept, key, content)

    monkeypatch.setattr(KeptResults, "write", fail)
    assert main([*PREDICT, "--batch", "10"]) == 1
    assert "No space left on device. 30 finished rows are kept in" in capsys.readouterr().err
    assert (here / OUT).read_text() == OLD
    monkeypatch.setattr(KeptResults, "write", written)
    assert main([*PREDICT, "--batch", "10"]) == 0
    assert len(read_csv(here / OUT)) == 50


def test_a_pipe_that_closes_ends_it_quietly(here, command, offline):
    words = f'"{command}" predict {MODEL} {TEST} --batch 5 | head -1'
    result = subprocess.run(
        ["bash", "-c", words], env=offline, capture_output=True, text=True, check=False
    )
    assert result.stdout.startswith("row,labels,confidence")
    assert result.stderr == ""


def test_dev_full_is_an_error_and_no_traceback(here, command, offline):
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    words = f'"{command}" predict {MODEL} {TEST} > /dev/full'
    result = subprocess.run(
        ["bash", "-c", words], env=offline, capture_output=True, text=True, check=False
    )
    assert result.returncode == 1
    assert result.stderr.splitlines() == [
        "labelsure: error: output could not be written: No space left on device."
    ]

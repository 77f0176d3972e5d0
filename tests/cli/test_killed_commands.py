"""Commands that are killed at any moment: what is on disk is whole, and the same command goes on."""

import pickle
import random
import sys
from pathlib import Path

import joblib
import pytest
from killing import run_counted, run_killed_at, run_killed_when, run_with_a_worker_killed
from made_up_tables import LABELS, make_tickets, write_csv

from labelsure import batches
from labelsure._files import unseal
from labelsure.cli import main

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="processes are killed otherwise on Windows"
)

OLD = "an older file"
QUICK = [
    "--learner",
    "logistic",
    "--measure",
    "log-loss",
    "--jobs",
    "1",
    "--labels",
    ",".join(LABELS),
]
COMMANDS = {
    "fit": (["fit", "train.csv", *QUICK, "--folds", "30", "--model", "out.labelsure"], "out.labelsure"),
    "predict": (["predict", "m.labelsure", "test.csv", "--batch", "5", "--jobs", "1", "-o", "out.csv"], "out.csv"),
}  # fmt: skip
N_KILLS, USUAL = 20, (3, 10, 17)
KILLS = [
    number if number in USUAL else pytest.param(number, marks=pytest.mark.validity)
    for number in range(N_KILLS)
]


@pytest.fixture
def here(tickets, tmp_path, monkeypatch):
    """A folder of one's own with data, a model, and an older file where fit and predict will write."""
    for name in ("test.csv", "m.labelsure"):
        (tmp_path / name).write_bytes((tickets / name).read_bytes())
    write_csv(tmp_path / "train.csv", make_tickets(120))
    monkeypatch.chdir(tmp_path)
    for name in ("out.labelsure", "out.csv"):
        (tmp_path / name).write_text(OLD)
    return tmp_path


@pytest.fixture(scope="module")
def undisturbed(tickets, tmp_path_factory):
    """By command, what it writes when nobody disturbs it, and how many operations on files that takes."""
    folder, found = tmp_path_factory.mktemp("undisturbed"), {}
    for name in ("test.csv", "m.labelsure"):
        (folder / name).write_bytes((tickets / name).read_bytes())
    write_csv(folder / "train.csv", make_tickets(120))
    for name, (words, output) in COMMANDS.items():
        code, n_operations = run_counted(words, folder)
        assert code == 0, (folder / "said.txt").read_text()
        found[name] = (folder / output).read_bytes(), n_operations
    assert not list(folder.glob(".*"))
    return found


def finished(here, name):
    """The files of fits or batches that are finished on disk."""
    return [*(here / f".{COMMANDS[name][1]}.parts").rglob("output.pkl")]


def progress(here, name):
    """How many fits or batches are finished on disk."""
    return len(finished(here, name))


def check_disk(here, name, whole):
    """The output is the old file or the new one, and what is finished is whole."""
    output = here / COMMANDS[name][1]
    content = output.read_bytes() if output.exists() else b""
    assert content in (OLD.encode(), whole)
    for path in finished(here, name):
        content = unseal(joblib.load(path))
        assert content is not None
        if name == "predict":
            assert pickle.loads(content) in whole
            assert pickle.loads(content).count(b"\n") == 5


def check_going_on(here, name, whole, capsys):
    words, output = COMMANDS[name]
    capsys.readouterr()
    n_finished, was_whole = progress(here, name), (here / output).read_bytes() == whole
    assert main(words) == 0
    errors = capsys.readouterr().err
    assert (here / output).read_bytes() == whole
    assert not list(here.glob(".*"))
    if was_whole:  # it was killed while it removed what it had kept
        return
    told = f"labelsure: note: {n_finished} of 30 fits were finished already, by a run that was interrupted.\n"
    assert errors == (told if name == "fit" and n_finished else "")


@pytest.mark.parametrize("kill", KILLS)
@pytest.mark.parametrize("name", COMMANDS)
def test_killed_at_an_operation_on_a_file_it_goes_on(here, undisturbed, name, kill, capsys):
    """The moments at which something could be half done: before a file is made, renamed or removed."""
    whole, n_operations = undisturbed[name]
    # from begin to end, one moment in each part
    number = int((kill + random.Random(f"{name} {kill}").random()) * n_operations / N_KILLS) + 1
    assert run_killed_at(COMMANDS[name][0], here, number) == -9
    check_disk(here, name, whole)
    check_going_on(here, name, whole, capsys)


@pytest.mark.parametrize("name", COMMANDS)
def test_killed_from_outside_in_the_middle_it_goes_on(here, undisturbed, name, capsys):
    whole, _ = undisturbed[name]
    n_finished = random.Random(name).randint(2, 6)
    assert (
        run_killed_when(COMMANDS[name][0], here, lambda: progress(here, name) >= n_finished) == -9
    )
    assert progress(here, name) >= n_finished
    check_disk(here, name, whole)
    check_going_on(here, name, whole, capsys)


@pytest.mark.skipif(
    not Path("/proc/self/task").exists(), reason="a process's workers are found in /proc"
)
def test_a_killed_worker_is_an_error_of_one_line_and_finished_fits_are_kept(here, capsys):
    words = ["fit", "train.csv", "--labels", ",".join(LABELS), "--learner", "random-forest", "--measure", "log-loss",
             "--folds", "8", "--model", "out.labelsure", "--jobs"]  # fmt: skip
    code = run_with_a_worker_killed([*words, "2"], here, lambda: progress(here, "fit") >= 2)
    said, n_finished = (here / "said.txt").read_text().splitlines(), progress(here, "fit")
    assert code == 1
    assert [line for line in said if "error" in line] == [
        "labelsure: error: a process that fitted models was killed, by somebody or because memory"
        " ran out; --jobs 1"
        f" takes the least. {n_finished} finished fits are kept in {here}/.out.labelsure.parts:"
        f" give the same command"
        " again to go on."
    ]
    assert not any("Traceback" in line for line in said)
    assert 2 <= n_finished < 8
    check_disk(here, "fit", b"")
    assert main([*words, "1"]) == 0
    assert f"{n_finished} of 8 fits were finished already" in capsys.readouterr().err
    assert not list(here.glob(".*"))


def test_a_batch_that_cannot_be_predicted_is_named_and_rows_before_it_are_kept(
    here, capsys, monkeypatch, undisturbed
):
    answer, calls = batches.answer_batch, iter(range(100))

    def fail_at_seventh(model, X):
        if next(calls) == 6:
            raise MemoryError("no room for 5 rows")
        return answer(model, X)

    monkeypatch.setattr(batches, "answer_batch", fail_at_seventh)
    assert main(COMMANDS["predict"][0]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(
        "labelsure: error: rows 31 to 35 cannot be predicted: MemoryError: no room for 5 rows"
    )
    assert line.endswith(
        f" 30 finished rows are kept in {here}/.out.csv.parts: give the same command again to go"
        f" on."
    )
    assert progress(here, "predict") == 6
    assert (here / "out.csv").read_text() == OLD
    check_going_on(here, "predict", undisturbed["predict"][0], capsys)


def test_fits_that_others_could_have_put_there_are_not_read(here, capsys):
    parts = here / ".out.labelsure.parts"
    parts.mkdir()
    parts.chmod(0o777)
    (parts / "output.pkl").write_text("of somebody else")
    assert main(COMMANDS["fit"][0]) == 1
    assert capsys.readouterr().err == (
        f"labelsure: error: {parts} must be a folder that is yours, and that nobody else can"
        f" write to: what is kept"
        " there is trusted, and could run any code. Delete it, `chmod go-w` it, or name another"
        " one.\n"
    )
    assert (parts / "output.pkl").read_text() == "of somebody else"

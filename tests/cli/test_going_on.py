"""Commands that are killed, interrupted or run out of disk: files stay whole, and reruns resume."""

import os
import random
import subprocess
import sys
from pathlib import Path

import joblib
import pytest
from commands import FAST, LABELS_OPTION, call
from killing import run_counted, run_killed_at, run_killed_when, run_with_a_worker_killed

from labelsure import batches, calibrate_outputs, load_model, save_model
from labelsure._files import unseal
from labelsure.cli import _predict
from labelsure.model_file import ModelFileError
from labelsure.report import write_report

posix = pytest.mark.skipif(os.name != "posix", reason="signals, owners and limits of POSIX")
OLD = "an older file"
FIT = f"fit train.csv {LABELS_OPTION} {FAST} --folds 30 --model"
PREDICT = "predict m.labelsure test.csv --batch 5 --jobs 1 -o"
COMMANDS = {"fit": (FIT, "out.labelsure"), "predict": (PREDICT, "out.csv")}
N_KILLS, USUAL = 20, (3, 10, 17)
KILLS = [
    number if number in USUAL else pytest.param(number, marks=pytest.mark.validity)
    for number in range(N_KILLS)
]


def words_of(name):
    words, output = COMMANDS[name]
    return [*words.split(), output]


@pytest.fixture(autouse=True)
def old_outputs(here):
    for name in ("out.labelsure", "out.csv"):
        (here / name).write_text(OLD)


@pytest.fixture(scope="module")
def undisturbed(tickets, tmp_path_factory):
    """For each command: its undisturbed output, and how many file operations it takes."""
    folder, found = tmp_path_factory.mktemp("undisturbed"), {}
    for name in ("train.csv", "test.csv", "m.labelsure"):
        (folder / name).write_bytes((tickets / name).read_bytes())
    for name, (_, output) in COMMANDS.items():
        code, n_operations = run_counted(words_of(name), folder)
        assert code == 0, (folder / "said.txt").read_text()
        found[name] = (folder / output).read_bytes(), n_operations
    assert not list(folder.glob(".*"))
    return found


def finished(here, name):
    """The files of fits or batches that are finished on disk."""
    folder = here / f".{COMMANDS[name][1]}.parts"
    return [*folder.rglob("output.pkl" if name == "fit" else "[0-9a-f]*-*")]


def check_disk(here, name, whole):
    """The output is the old file or the new one, and what is finished is whole."""
    assert (here / COMMANDS[name][1]).read_bytes() in (OLD.encode(), whole)
    for path in finished(here, name):
        content = unseal(joblib.load(path) if name == "fit" else path.read_bytes())
        assert content is not None
        if name == "predict":
            assert content in whole
            assert content.count(b"\n") == 5


def check_going_on(here, name, whole, capsys):
    capsys.readouterr()
    output = here / COMMANDS[name][1]
    n_finished, was_whole = len(finished(here, name)), output.read_bytes() == whole
    assert call(" ".join(words_of(name))) == 0
    errors = capsys.readouterr().err
    assert output.read_bytes() == whole
    assert not list(here.glob(".*"))
    if was_whole:  # it was killed while it removed what it had kept
        return
    told = f"{n_finished} of 30 fits were finished already, by a run that was interrupted."
    expected = f"labelsure: note: {told}\n" if name == "fit" and n_finished else ""
    assert errors == expected


@posix
@pytest.mark.parametrize("kill", KILLS)
@pytest.mark.parametrize("name", COMMANDS)
def test_killed_at_an_operation_on_a_file_it_goes_on(here, undisturbed, name, kill, capsys):
    """The moments of possible partial states: before a file is created, renamed or removed."""
    whole, n_operations = undisturbed[name]
    # from begin to end, one moment in each of N_KILLS intervals
    moment = kill + random.Random(f"{name} {kill}").random()
    assert run_killed_at(words_of(name), here, int(moment * n_operations / N_KILLS) + 1) == -9
    check_disk(here, name, whole)
    check_going_on(here, name, whole, capsys)


@posix
@pytest.mark.parametrize("name", COMMANDS)
def test_killed_from_outside_in_the_middle_it_goes_on(here, undisturbed, name, capsys):
    whole, _ = undisturbed[name]
    reached = random.Random(name).randint(2, 6)
    assert run_killed_when(words_of(name), here, lambda: len(finished(here, name)) >= reached) == -9
    assert len(finished(here, name)) >= reached
    check_disk(here, name, whole)
    check_going_on(here, name, whole, capsys)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="workers are found in /proc")
def test_a_killed_worker_is_an_error_of_one_line_and_finished_fits_are_kept(here, capsys):
    forest = FIT.replace("logistic", "random-forest").replace("30", "8").replace("--jobs 1", "")
    words = [*forest.split(), "out.labelsure", "--jobs"]
    code = run_with_a_worker_killed([*words, "2"], here, lambda: len(finished(here, "fit")) >= 2)
    said, n_finished = (here / "said.txt").read_text().splitlines(), len(finished(here, "fit"))
    assert code == 1
    (line,) = [line for line in said if "error" in line]
    assert line.startswith("labelsure: error: a process that fitted models was killed")
    assert f"--jobs 1 takes the least. {n_finished} finished fits are kept in {here}/.out" in line
    assert not any("Traceback" in line for line in said)
    assert 2 <= n_finished < 8
    assert call(" ".join([*words, "1"])) == 0
    assert f"{n_finished} of 8 fits were finished already" in capsys.readouterr().err
    assert not list(here.glob(".*"))


def fail_at(monkeypatch, number, error):
    """Make the answers of this batch fail, and return the list of batches that are computed."""
    answer, rows = batches.answer_batch, []

    def failing(model, X):
        rows.append(len(X))
        if len(rows) == number:
            raise error
        return answer(model, X)

    monkeypatch.setattr(batches, "answer_batch", failing)
    return rows


def test_a_batch_that_cannot_be_predicted_is_named_and_rows_before_it_are_kept(
    here, capsys, monkeypatch, undisturbed
):
    fail_at(monkeypatch, 7, MemoryError("no room for 5 rows"))
    assert call(f"{PREDICT} out.csv") == 1
    (line,) = capsys.readouterr().err.splitlines()
    said = "rows 31 to 35 cannot be predicted: MemoryError: no room for 5 rows"
    assert line.startswith(f"labelsure: error: {said}")
    kept = f"30 finished rows are kept in {here}/.out.csv.parts"
    assert line.endswith(f" {kept}: give the same command again to go on.")
    assert len(finished(here, "predict")) == 6
    assert (here / "out.csv").read_text() == OLD
    check_going_on(here, "predict", undisturbed["predict"][0], capsys)


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_an_interrupted_run_goes_on_and_makes_damaged_parts_again(
    here, ending, monkeypatch, capsys
):
    words = "predict m.labelsure test.csv --batch 10 --jobs 1 -o"
    out, whole = here / f"o.{ending}", here / f"whole.{ending}"
    assert call(f"{words} whole.{ending}") == 0
    out.write_text(OLD)
    rows = fail_at(monkeypatch, 4, KeyboardInterrupt())
    assert call(f"{words} o.{ending}") == 130
    folder = here / f".o.{ending}.parts"
    said = f"interrupted. 30 finished rows are kept in {folder}: give the same command again"
    assert said in capsys.readouterr().err
    assert out.read_text() == OLD
    parts = sorted(folder.iterdir())
    assert {part.stat().st_mode & 0o777 for part in [folder, *parts]} <= {0o700, 0o600}
    flipped = parts[0].read_bytes()
    parts[0].write_bytes(flipped[:-9] + bytes([flipped[-9] ^ 1]) + flipped[-8:])
    parts[2].write_bytes(parts[2].read_bytes()[:-5])
    rows.clear()
    monkeypatch.undo()
    monkeypatch.chdir(here)
    rows = fail_at(monkeypatch, 0, None)
    assert call(f"{words} o.{ending}") == 0
    assert len(rows) == 4  # two that were missing and two that were damaged
    assert out.read_bytes() == whole.read_bytes()
    assert not list(here.glob(".*"))


def test_parts_of_other_data_or_options_are_not_used(here, monkeypatch):
    fail_at(monkeypatch, 4, KeyboardInterrupt())
    assert call(f"{PREDICT} out.csv") == 130
    assert call(f"{PREDICT} out.csv --confidence 80") == 0
    assert call(f"{PREDICT} again.csv --confidence 80") == 0
    assert (here / "out.csv").read_bytes() == (here / "again.csv").read_bytes()


@posix
def test_ctrl_c_ends_the_installed_command_with_130(here, command, offline):
    stopping = (
        "import os, signal, sys; from labelsure import batches; from labelsure.cli import main;"
        "batches.answer_batch = lambda *_: os.kill(os.getpid(), signal.SIGINT);"
        "sys.exit(main(sys.argv[1:]))"
    )
    program = [sys.executable, "-c", stopping, *PREDICT.split(), "out.csv"]
    piped = {"capture_output": True, "text": True, "env": offline}
    result = subprocess.run(program, check=False, **piped)
    assert (result.returncode, result.stderr) == (130, "")
    assert not list(here.glob(".*"))


@posix
@pytest.mark.parametrize("mode", [0o770, 0o707, "link"])
@pytest.mark.parametrize("name", COMMANDS)
def test_folders_that_others_could_have_written_to_are_refused(here, name, mode, capsys):
    parts = here / f".{COMMANDS[name][1]}.parts"
    parts.mkdir(mode=0o700)
    (parts / "output.pkl").write_text("of somebody else")
    if mode == "link":
        parts.rename(here / "elsewhere")
        parts.symlink_to(here / "elsewhere")
    else:
        parts.chmod(mode)
    assert call(" ".join(words_of(name))) == 1
    assert (
        capsys.readouterr()
        .err.splitlines()[-1]
        .startswith(
            f"labelsure: error: {parts} must be a folder that is yours,"
            " and that nobody else can write"
        )
    )
    assert (parts / "output.pkl").read_text() == "of somebody else"


@pytest.mark.parametrize("error", [ZeroDivisionError, MemoryError])
def test_an_unexpected_error_leaves_no_empty_folder(here, error, monkeypatch):
    monkeypatch.setattr(_predict.Parts, "read", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        call(f"{PREDICT} out.csv")
    assert not list(here.glob(".*"))


# ---- a full disk: a real one of 600 kB if tests may mount it, else a limit on file sizes ----

SIZE, PAGE = 600_000, 4096


@posix
@pytest.mark.parametrize(("limit", "name"), [(4000, "fit"), (2000, "predict")])
def test_files_that_may_not_grow_leave_the_old_file(here, limit, name):
    code, _ = run_counted(words_of(name), here, most_bytes=limit)
    said = (here / "said.txt").read_text().splitlines()
    assert code == 1, said
    assert said[-1].startswith("labelsure: error: ")
    assert "could not be written" in said[-1] or "was not written" in said[-1]
    assert (here / COMMANDS[name][1]).read_text() == OLD


@pytest.fixture(scope="module")
def mounted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("disk")
    words = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)]
    try:
        succeeded = subprocess.run(words, capture_output=True, check=False).returncode == 0
    except OSError:
        succeeded = False
    if not succeeded:
        pytest.skip("no disk may be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture
def disk(mounted):
    """A small disk with nothing on it."""
    for path in sorted(mounted.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    return mounted


def leave(disk, n_bytes):
    """Leave so many bytes on the disk."""
    (disk / "filler").unlink(missing_ok=True)
    free = os.statvfs(disk)
    n_filled = free.f_bavail * free.f_frsize - n_bytes
    if n_filled > 0:
        (disk / "filler").write_bytes(bytes(n_filled))


def on_disk(disk):
    return sorted(path.name for path in disk.iterdir() if path.name != "filler")


@pytest.mark.parametrize(("name", "room"), [("fit", 10 * PAGE), ("predict", 8 * PAGE)])
def test_what_is_finished_is_kept_and_goes_on(disk, here, name, room, capsys):
    words, output = COMMANDS[name]
    parts = f".{output}.parts"
    for n_bytes, left in ((0, []), (room, [parts])):
        leave(disk, n_bytes)
        assert call(f"{words} {disk}/{output}") == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert "could not be written: No space left on device" in line
        assert on_disk(disk) == left
    n_kept = len(finished(disk, name))
    assert n_kept > 0
    kept = f"{n_kept} finished fit" if name == "fit" else f"{5 * n_kept} finished rows are"
    assert kept in line and "give the same command again to go on." in line
    leave(disk, SIZE)
    assert call(f"{words} {disk}/{output}") == 0
    assert (f"{n_kept} of 30 fits" in capsys.readouterr().err) == (name == "fit")
    assert call(f"{words} {output}") == 0
    assert (disk / output).read_bytes() == (here / output).read_bytes()
    assert on_disk(disk) == [output]


def test_fits_are_kept_if_there_is_no_room_for_the_model(disk, capsys, monkeypatch):
    def save(*args, **kwargs):  # the disk fills up meanwhile
        leave(disk, 0)
        save_model(*args, **kwargs)

    monkeypatch.setattr("labelsure.model_file.save_model", save)
    (disk / "m.labelsure").write_text(OLD)
    assert call(f"{FIT} {disk}/m.labelsure --folds 3") == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{disk}/m.labelsure was not written: No space left on device. 3 finished fits" in line
    assert (disk / "m.labelsure").read_text() == OLD
    assert on_disk(disk) == [".m.labelsure.parts", "m.labelsure"]


def test_models_and_reports_are_written_as_a_whole_or_not_at_all(disk):
    outputs, Y = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]]
    predictor = calibrate_outputs(outputs, Y)
    leave(disk, SIZE)
    save_model(predictor, disk / "m.labelsure")
    (disk / "r.html").write_text(OLD)
    before = (disk / "m.labelsure").read_bytes()
    leave(disk, 0)
    with pytest.raises(ModelFileError, match=r"labelsure was not written: No space left on"):
        save_model(predictor, disk / "m.labelsure")
    with pytest.raises(OSError, match=r"No space left on device: .*r\.html"):
        write_report(disk / "r.html", predictor.predict_labelsets(outputs), Y)
    assert on_disk(disk) == ["m.labelsure", "r.html"]
    assert (disk / "m.labelsure").read_bytes() == before
    assert load_model(disk / "m.labelsure").n_labels == 2
    assert (disk / "r.html").read_text() == OLD

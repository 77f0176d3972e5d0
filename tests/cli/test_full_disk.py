"""A disk that is full: one line that names the file, nothing half written, what is finished kept, and going on later.

The disk is a real one of 300 kB where the tests may mount it. Where they may not, files must not
grow beyond a limit, which the system enforces too; ``/dev/full`` is in test_bad_tables.
"""

import os
import subprocess

import pytest
from made_up_tables import LABELS, make_tickets, write_csv

from labelsure import calibrate_outputs, load_model, save_model
from labelsure.cli import main
from labelsure.model_file import ModelFileError
from labelsure.report import write_report

SIZE = 300_000
PAGE = 4096


@pytest.fixture(scope="module")
def disk(tmp_path_factory):
    """A small disk."""
    folder = tmp_path_factory.mktemp("disk")
    words = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(words, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        pytest.skip("no disk may be mounted here; test_bad_tables has files that may not grow")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture
def fill(disk, tickets, tmp_path, monkeypatch):
    """Leave so many bytes on the disk, which is empty but for what the test has put there."""
    for path in sorted(disk.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    for name in ("test.csv", "m.labelsure"):
        (tmp_path / name).write_bytes((tickets / name).read_bytes())
    write_csv(tmp_path / "train.csv", make_tickets(120))
    monkeypatch.chdir(tmp_path)

    def leave(n_bytes):
        (disk / "filler").unlink(missing_ok=True)
        free = os.statvfs(disk)
        n_filled = free.f_bavail * free.f_frsize - n_bytes
        if n_filled > 0:
            (disk / "filler").write_bytes(bytes(n_filled))

    return leave


def names(disk):
    return sorted(path.name for path in disk.iterdir() if path.name != "filler")


def one_line(capsys, *parts):
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 1
    assert errors[0].startswith("labelsure: error: ")
    for part in ("could not be written: No space left on device", *parts):
        assert part in errors[0]


FIT = ["fit", "train.csv", "--labels", ",".join(LABELS), "--learner", "logistic", "--measure", "log-loss", "--folds",
       "12", "--jobs", "1", "--model"]  # fmt: skip


def test_fit_keeps_what_is_finished_and_goes_on(disk, fill, capsys, tmp_path):
    fill(10 * PAGE)
    assert main([*FIT, str(disk / "m.labelsure")]) == 1
    kept = disk / ".m.labelsure.parts"
    n_kept = len(list(kept.rglob("output.pkl")))
    assert n_kept > 0
    one_line(capsys, str(kept), f"{n_kept} finished fit", "give the same command again to go on.")
    assert names(disk) == [kept.name]
    fill(SIZE)
    assert main([*FIT, str(disk / "m.labelsure")]) == 0
    assert f"{n_kept} of 12 fits were finished already" in capsys.readouterr().err
    assert main([*FIT, str(tmp_path / "m.labelsure")]) == 0
    assert (disk / "m.labelsure").read_bytes() == (tmp_path / "m.labelsure").read_bytes()
    assert names(disk) == ["m.labelsure"]


def test_fit_with_room_for_fits_but_not_for_the_model_keeps_the_fits(
    disk, fill, capsys, monkeypatch
):
    from labelsure import model_file

    def save(*args, **kwargs):  # the disk fills up meanwhile
        fill(0)
        save_model(*args, **kwargs)

    monkeypatch.setattr(model_file, "save_model", save)
    fill(SIZE)
    (disk / "m.labelsure").write_text("an older model")
    assert main([*FIT, str(disk / "m.labelsure")]) == 1
    errors = capsys.readouterr().err
    assert errors.startswith(
        f"labelsure: error: {disk}/m.labelsure was not written: No space left on device."
    )
    assert errors.endswith(" 12 finished fits are kept in .m.labelsure.parts: give the same"
                           " command again to go on.\n"
                           .replace(".m", f"{disk}/.m"))  # fmt: skip
    assert (disk / "m.labelsure").read_text() == "an older model"
    assert names(disk) == [".m.labelsure.parts", "m.labelsure"]


def test_a_disk_without_any_room_is_told_before_the_work(disk, fill, capsys):
    fill(0)
    assert main([*FIT, str(disk / "m.labelsure")]) == 1
    one_line(capsys, ".m.labelsure.parts")
    assert main(["predict", "m.labelsure", "test.csv", "-o", str(disk / "out.csv")]) == 1
    one_line(capsys, ".out.csv.parts")
    assert names(disk) == []


def test_predict_keeps_finished_rows_and_goes_on(disk, fill, capsys, tmp_path):
    words = ["predict", "m.labelsure", "test.csv", "--batch", "5", "--jobs", "1", "-o"]
    fill(8 * PAGE)
    assert main([*words, str(disk / "out.csv")]) == 1
    n_kept = len(list(disk.rglob("output.pkl")))
    one_line(
        capsys,
        ".out.csv.parts",
        f"{5 * n_kept} finished rows are kept",
        "give the same command again to go on.",
    )
    assert 0 < n_kept < 10
    assert names(disk) == [".out.csv.parts"]
    fill(SIZE)
    assert main([*words, str(disk / "out.csv")]) == 0
    assert main([*words, str(tmp_path / "out.csv")]) == 0
    assert (disk / "out.csv").read_bytes() == (tmp_path / "out.csv").read_bytes()
    assert names(disk) == ["out.csv"]


def test_models_and_reports_are_written_as_a_whole_or_not_at_all(disk, fill):
    outputs, Y = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]]
    predictor = calibrate_outputs(outputs, Y)
    fill(SIZE)
    save_model(predictor, disk / "m.labelsure")
    (disk / "r.html").write_text("an older report")
    before = (disk / "m.labelsure").read_bytes()
    fill(0)
    with pytest.raises(
        ModelFileError, match=r"m\.labelsure was not written: No space left on device\.$"
    ):
        save_model(predictor, disk / "m.labelsure")
    with pytest.raises(OSError, match=r"No space left on device: .*r\.html"):
        write_report(disk / "r.html", predictor.predict_labelsets(outputs), Y)
    assert names(disk) == ["m.labelsure", "r.html"]
    assert (disk / "m.labelsure").read_bytes() == before
    assert load_model(disk / "m.labelsure").n_labels == 2
    assert (disk / "r.html").read_text() == "an older report"

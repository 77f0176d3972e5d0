"""The installed command: what it prints where, and its exit codes."""

import io
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import labelsure
from labelsure import CrossConformalClassifier
from labelsure._errors import CommandError
from labelsure.cli import _reproduce, main


def test_version_is_printed(run):
    result = run("--version")
    assert (result.returncode, result.stdout, result.stderr) == (
        0,
        f"labelsure {labelsure.__version__}\n",
        "",
    )


def test_help_names_the_command_and_its_options(run):
    assert "reproduce" in run("--help").stdout
    shown = run("reproduce", "--help").stdout
    for word in ("scene", "yeast", "--seeds", "--jobs", "--json", "LABELSURE_DATA"):
        assert word in shown


def test_version_imports_nothing_heavy(command, offline):
    script = f"import sys; from labelsure.cli import main\ntry: main(['--version'])\nexcept SystemExit: pass\n{_HEAVY}"
    result = subprocess.run(
        [sys.executable, "-c", script], env=offline, capture_output=True, text=True, check=True
    )
    assert result.stdout.splitlines()[-1] == "[]"


EVIL = "s\x1b[31mea\x1b]0;PWN\x07\u202e"


def test_control_characters_in_names_reach_no_terminal(tmp_path, capsys):
    """Of labels, columns and files, in tables, notes and errors: a terminal would change its colour and its title."""
    pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    rows = [f"{x:.3f},{y:.3f},{int(x > 0)},{int(y > 0)}" for x, y in rng.normal(size=(60, 2))]
    data, model = tmp_path / f"{EVIL}.csv", str(tmp_path / "m.labelsure")
    data.write_text("\n".join([f"a{EVIL},b,{EVIL},t", *rows]), encoding="utf-8")
    fast = ["--learner", "logistic", "--folds", "3", "--jobs", "1"]
    commands = [
        ["fit", str(data), "--labels", f"{EVIL},t", "--model", model, *fast],
        ["evaluate", model, str(data)],
        ["explain", model, str(data), "--row", "1"],
        ["check", str(data), "--labels", "t", "-o", str(tmp_path / "found.csv"), *fast],
        ["report", model, str(data), "-o", str(tmp_path / f"{EVIL}.html")],
        ["predict", model, str(data), "-o", str(tmp_path / f"{EVIL}.csv2.csv")],
        ["predict", model, str(data), "--keep", EVIL + "x"],
        ["evaluate", str(data), str(data)],
    ]
    found = [main(words) for words in commands]
    assert found == [0, 0, 0, 0, 0, 0, 1, 1]
    with pytest.raises(SystemExit):
        main(["fit", str(data), "--labels", "t", "--model", str(tmp_path / EVIL), *fast])
    captured = capsys.readouterr()
    for text in (captured.out, captured.err):
        assert "s\\x1b[31mea\\x1b]0;PWN\\x07\\u202e" in text
        assert not {c for c in text if not c.isprintable()} - {"\n", "\r"}


def test_rows_printed_on_a_terminal_hold_no_control_characters_and_in_a_pipe_they_do(
    tickets, monkeypatch
):
    header, *rows = (tickets / "test.csv").read_text(encoding="utf-8").splitlines()
    data = tickets / "evil.csv"
    data.write_text(
        "\n".join([f"{header},id", *(f"{row},{EVIL}" for row in rows)]), encoding="utf-8"
    )
    words = ["predict", str(tickets / "m.labelsure"), str(data), "--keep", "id", "--jobs", "1"]
    for is_terminal in (True, False):
        screen = io.StringIO()
        screen.isatty = lambda value=is_terminal: value
        with monkeypatch.context() as patched:
            patched.setattr(sys, "stdout", screen)
            assert main(words) == 0
        assert screen.getvalue().count("\x1b") == (0 if is_terminal else 2 * len(rows))


NEEDING_ARROW = (
    "fit no/such.csv --model m.labelsure",
    "predict no/such.labelsure no/such.tsv",
    "predict no/such.labelsure no/such.arff -o out.parquet",
    "evaluate no/such.labelsure no/such.csv",
    "report no/such.labelsure no/such.csv -o page.html",
    "explain no/such.labelsure no/such.parquet --row 1",
    "check no/such.csv -o found.csv",
    "check no/such.arff --trusted no/such.csv -o found.csv",
    "datasets no-such -o out.parquet",
)


def test_without_pyarrow_every_command_that_needs_it_says_so_before_any_work(offline, tmp_path):
    """None of the files is there: whoever opened one first would complain about that."""
    script = f"""
import sys
from labelsure.cli import main
sys.modules["pyarrow"] = None
print([main(words.split()) for words in {NEEDING_ARROW}])
"""
    words = [sys.executable, "-c", script]
    result = subprocess.run(
        words, env=offline, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert result.stdout == f"{[1] * len(NEEDING_ARROW)}\n"
    said = 'this needs the package pyarrow, not installed here. Install with: pip install "labelsure[cli]"'
    assert result.stderr.splitlines() == [f"labelsure: error: {said}"] * len(NEEDING_ARROW)
    assert not list(tmp_path.iterdir())


def test_no_more_jobs_are_started_than_there_are_cores(tickets, tmp_path, monkeypatch):
    asked = []
    fit = CrossConformalClassifier.fit

    def watched(model, *arguments, **options):
        asked.append(model.n_jobs)
        return fit(model.set_params(n_jobs=1), *arguments, **options)

    monkeypatch.setattr(CrossConformalClassifier, "fit", watched)
    words = [
        "fit",
        str(tickets / "train.csv"),
        "--labels",
        "bug,billing,urgent",
        "--learner",
        "logistic",
    ]
    assert (
        main([*words, "--folds", "3", "--jobs", "99999", "--model", str(tmp_path / "m.labelsure")])
        == 0
    )
    assert asked == [os.cpu_count()]


def test_warnings_are_notes_of_one_line(offline):
    warn = "_datasets.run = lambda options: warnings.warn('much\\nado')"
    script = (
        f"import warnings; from labelsure.cli import _datasets, main; {warn}; main(['datasets'])"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], env=offline, capture_output=True, text=True, check=True
    )
    assert result.stderr == "labelsure: note: much ado\n"


_HEAVY = "print([name for name in ('numpy', 'sklearn', 'scipy', 'numba') if name in sys.modules])"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "required"),
        (["reproduces"], "invalid choice"),
        (["reproduce", "emotions"], "the paper's data sets are scene and yeast, got 'emotions'"),
        (["reproduce", "--seeds", "many"], "--seeds: expected a whole number, got 'many'"),
        (["reproduce", "--jobs", "0"], "-1 for all of them, got 0"),
        (["reproduce", "--json", "."], "expected a file"),
    ],
)
def test_a_wrong_command_line_exits_with_2_before_any_work(run, words, message):
    result = run(*words)
    assert result.returncode == 2
    assert message in result.stderr
    assert result.stdout == ""


def test_a_data_set_out_of_reach_exits_with_1_and_a_line_saying_what_to_do(run, tmp_path):
    result = run("reproduce", "scene", "--json", str(tmp_path / "out.json"))
    assert (result.returncode, result.stdout) == (1, "")
    assert "Traceback" not in result.stderr
    message = result.stderr.splitlines()[-1]  # pooch tells before it what it tries to download
    assert message.startswith("labelsure: error: ")
    for words in ("scene-train.arff", "LABELSURE_DATA", "labelsure reproduce yeast"):
        assert words in message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent otherwise on Windows")
def test_ctrl_c_ends_quietly_with_130(command, offline):
    words = [command, "reproduce", "yeast", "--seeds", "100", "--jobs", "2"]
    with subprocess.Popen(
        words, env=offline, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert "Papadopoulos" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
    assert (process.returncode, errors) == (130, "")


@pytest.mark.skipif(sys.platform == "win32", reason="a closed pipe is another error on Windows")
def test_a_reader_that_has_seen_enough_ends_it_quietly(offline):
    script = (
        "import sys; from labelsure.cli import _reproduce, main;"
        "_reproduce.run = lambda options: print('a table'); sys.exit(main(['reproduce']))"
    )
    reader, writer = os.pipe()
    os.close(reader)
    try:
        result = subprocess.run(
            [sys.executable, "-c", script],
            env=offline,
            stdout=writer,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    finally:
        os.close(writer)
    assert (result.returncode, result.stderr) == (1, "")


MEMORY = (
    "this takes more memory than there is (Unable to allocate 4 TiB)."
    " Try a smaller --batch, fewer --jobs or fewer rows."
)


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (CommandError("no such thing"), 1, "labelsure: error: no such thing\n"),
        (MemoryError("Unable to\nallocate 4 TiB"), 1, f"labelsure: error: {MEMORY}\n"),
        (KeyboardInterrupt(), 130, ""),
    ],
    ids=["an error", "no memory", "an interrupt"],
)
def test_what_goes_wrong_becomes_an_exit_code(monkeypatch, capsys, error, code, message):
    def fail(options):
        raise error

    monkeypatch.setattr(_reproduce, "run", fail)
    assert main(["reproduce"]) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == message


def test_a_bug_keeps_its_traceback(monkeypatch):
    monkeypatch.setattr(_reproduce, "run", lambda _: np.zeros(2)[3])
    with pytest.raises(IndexError):
        main(["reproduce"])

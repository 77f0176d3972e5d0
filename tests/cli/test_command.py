"""The installed command: what it prints where, its exit codes, and how soon."""

import io
import os
import resource
import subprocess
import sys
import warnings

import numpy as np
import pytest
from commands import FAST, LABELS_OPTION, call

import labelsure
from labelsure import CrossConformalClassifier, conformal
from labelsure._errors import CommandError
from labelsure.cli import _reproduce, main
from labelsure.cli._arguments import GUARANTEES, INDUCTIVE, confidence_option, significance_of

HEAVY = "print([name for name in ('numpy', 'sklearn', 'scipy', 'numba') if name in sys.modules])"
EVIL = "s\x1b[31mea\x1b]0;PWN\x07\u202e"


def test_version_and_help_are_printed(run):
    result = run("--version")
    printed = f"labelsure {labelsure.__version__}\n"
    assert (result.returncode, result.stdout, result.stderr) == (0, printed, "")
    program = [sys.executable, "-m", "labelsure", "--version"]
    assert subprocess.run(program, capture_output=True, check=True).stdout.decode() == printed
    assert "reproduce" in run("--help").stdout
    shown = run("reproduce", "--help").stdout
    for word in ("scene", "yeast", "--seeds", "--jobs", "--json", "LABELSURE_DATA"):
        assert word in shown


@pytest.mark.parametrize("words", ["--version", "fi", "fit no.csv --model m.labelsure"])
def test_version_wrong_words_and_missing_files_import_nothing_heavy(offline, tmp_path, words):
    script = (
        f"import sys; from labelsure.cli import main\ntry: main({words.split()})\n"
        f"except SystemExit: pass\n{HEAVY}"
    )
    piped = {"env": offline, "capture_output": True, "text": True, "cwd": tmp_path}
    result = subprocess.run([sys.executable, "-c", script], check=True, **piped)
    assert result.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("words", "seconds"), [("fi", 0.2), ("fit no.csv --model m.labelsure", 0.5)]
)
def test_errors_come_soon(run, tmp_path, words, seconds):
    """The processor's time, the least of three: others may be at work."""
    taken = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert run(*words.split(), cwd=tmp_path).returncode > 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(taken) < seconds


def test_control_characters_in_names_reach_no_terminal(tmp_path, monkeypatch, capsys):
    """Names of labels, columns and files, in all output: they could change the terminal's state."""
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = [f"{x:.3f},{y:.3f},{int(x > 0)},{int(y > 0)}" for x, y in rng.normal(size=(60, 2))]
    data, model = f"{EVIL}.csv", "m.labelsure"
    (tmp_path / data).write_text("\n".join([f"a{EVIL},b,{EVIL},t", *rows]), encoding="utf-8")
    fast = ["--learner", "logistic", "--folds", "3", "--jobs", "1"]
    codes = {
        0: [
            ["fit", data, "--labels", f"{EVIL},t", "--model", model, *fast],
            ["evaluate", model, data],
            ["explain", model, data, "--row", "1"],
            ["check", data, "--labels", "t", "-o", "found.csv", *fast],
            ["report", model, data, "-o", f"{EVIL}.html"],
            ["predict", model, data, "-o", f"{EVIL}2.csv"],
        ],
        1: [["predict", model, data, "--keep", EVIL + "x"], ["evaluate", data, data]],
        2: [["fit", data, "--labels", "t", "--model", EVIL, *fast]],
    }
    for code, commands in codes.items():
        assert {call("", *words) for words in commands} == {code}
    captured = capsys.readouterr()
    for text in (captured.out, captured.err):
        assert "s\\x1b[31mea\\x1b]0;PWN\\x07\\u202e" in text
        assert not {c for c in text if not c.isprintable()} - {"\n", "\r"}


@pytest.mark.parametrize("is_terminal", [True, False])
def test_rows_printed_on_a_terminal_hold_no_control_characters_and_in_a_pipe_they_do(
    here, monkeypatch, is_terminal
):
    header, *rows = (here / "test.csv").read_text(encoding="utf-8").splitlines()
    evil = [f"{header},id", *(f"{row},{EVIL}" for row in rows)]
    (here / "test.csv").write_text("\n".join(evil), encoding="utf-8")
    screen = io.StringIO()
    screen.isatty = lambda: is_terminal
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", screen)
        assert call("predict m.labelsure test.csv --keep id --jobs 1") == 0
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


def test_without_pyarrow_every_command_that_needs_it_says_so_before_any_work(
    monkeypatch, tmp_path, capsys
):
    """None of the files is there: whoever opened one first would complain about that."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setattr("labelsure.cli._common.find_spec", lambda _: None)
    assert [call(words) for words in NEEDING_ARROW] == [1] * len(NEEDING_ARROW)
    said = (
        "this needs the package pyarrow, not installed here."
        ' Install with: pip install "labelsure[cli]"'
    )
    lines = capsys.readouterr().err.splitlines()
    assert lines == [f"labelsure: error: {said}"] * len(NEEDING_ARROW)
    assert not list(tmp_path.iterdir())


def test_no_more_jobs_are_started_than_there_are_cores(here, monkeypatch):
    n_jobs, fit = [], CrossConformalClassifier.fit

    def watched(model, *arguments, **options):
        n_jobs.append(model.n_jobs)
        return fit(model.set_params(n_jobs=1), *arguments, **options)

    monkeypatch.setattr(CrossConformalClassifier, "fit", watched)
    assert call(f"fit train.csv {LABELS_OPTION} {FAST} --jobs 99999 --model m.labelsure") == 0
    assert call(f"fit train.csv {LABELS_OPTION} {FAST} --jobs -2 --model m.labelsure") == 0
    assert n_jobs == [os.cpu_count(), -2]


@pytest.mark.parametrize(
    ("text", "level", "significance"),
    [("80", "80", 0.2), ("95%", "95", 0.05), ("99.90", "99.9", 0.001), ("1e1", "10", 0.9)],
)
def test_confidence_level_has_one_spelling_and_an_exact_significance(text, level, significance):
    assert confidence_option(text) == level
    assert significance_of(level) == significance


def test_guarantees_are_those_of_the_predictors():
    assert {*GUARANTEES} == {*conformal.GUARANTEES, INDUCTIVE}


def test_a_data_set_out_of_reach_exits_with_1_and_a_line_saying_what_to_do(run, tmp_path):
    result = run("reproduce", "scene", "--json", "out.json", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (1, "")
    assert "Traceback" not in result.stderr
    message = result.stderr.splitlines()[-1]  # pooch tells before it what it tries to download
    assert message.startswith("labelsure: error: ")
    for words in ("scene-train.arff", "LABELSURE_DATA", "labelsure reproduce yeast"):
        assert words in message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="a closed pipe is another error on Windows")
def test_a_reader_that_has_seen_enough_ends_it_quietly(offline):
    script = (
        "import sys; from labelsure.cli import _reproduce, main;"
        "_reproduce.run = lambda options: print('a table'); sys.exit(main(['reproduce']))"
    )
    reader, writer = os.pipe()
    os.close(reader)
    piped = {"env": offline, "stdout": writer, "stderr": subprocess.PIPE, "text": True}
    result = subprocess.run([sys.executable, "-c", script], check=False, **piped)
    os.close(writer)
    assert (result.returncode, result.stderr) == (1, "")


MEMORY = "this takes more memory than there is (Unable to allocate 4 TiB)."


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (CommandError("no such thing"), 1, "labelsure: error: no such thing\n"),
        (MemoryError("Unable to\nallocate 4 TiB"), 1, f"labelsure: error: {MEMORY} Try a smaller"),
        (KeyboardInterrupt(), 130, ""),
        (UserWarning("much\nado"), 0, "labelsure: note: much ado\n"),
        (IndexError("a bug"), None, ""),
    ],
    ids=["an error", "no memory", "an interrupt", "a warning", "a bug"],
)
def test_what_goes_wrong_becomes_an_exit_code(monkeypatch, capsys, error, code, message):
    def fail(options):
        if isinstance(error, Warning):
            sys.stderr.write(warnings.formatwarning(error, UserWarning, "", 1))
        else:
            raise error

    monkeypatch.setattr(_reproduce, "run", fail)
    if code is None:  # which keeps its traceback
        with pytest.raises(IndexError):
            main(["reproduce"])
    else:
        assert main(["reproduce"]) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(message)


def test_compile_says_where_code_is_cached_or_that_it_cannot_be(monkeypatch, capsys):
    monkeypatch.setattr(conformal, "compile_kernels", lambda: ["/one", "/two"])
    assert call("compile") == 0
    assert capsys.readouterr().out == "Compiled code is kept in\n  /one\n  /two\n"
    monkeypatch.setattr(conformal, "compile_kernels", list)
    assert call("compile") == 1
    assert "Set the environment variable NUMBA_CACHE_DIR" in capsys.readouterr().err

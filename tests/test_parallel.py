"""Progress bars, threads, compilation, optional packages."""

import io
import sys
import threading
import time

import numba
import numpy as np
import pytest

from labelsure import _parallel
from labelsure._compile import kernel
from labelsure._errors import import_optional
from labelsure._parallel import map_in_threads, progress_bar


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def at_once(monkeypatch):
    """Show bars without their delay."""
    monkeypatch.setattr(_parallel, "SECONDS_BEFORE_SHOWN", 0)


def test_progress_bar_is_silent_where_there_is_no_terminal(at_once, capfd):
    assert list(progress_bar(range(3), description="counting")) == [0, 1, 2]
    with progress_bar(description="counting", total=2) as bar:
        bar.update(2)
    captured = capfd.readouterr()
    assert captured.out == captured.err == ""


def test_progress_bar_shows_on_a_terminal(at_once, monkeypatch, capfd):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert list(progress_bar(iter(range(3)), description="counting", total=3)) == [0, 1, 2]
    assert "counting" in terminal.getvalue()
    assert "/3" in terminal.getvalue()
    assert capfd.readouterr().out == ""


def test_progress_bar_shows_before_the_first_step_is_finished_and_is_taken_away(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(_parallel, "SECONDS_BEFORE_SHOWN", 0.01)
    monkeypatch.setattr(_parallel, "SECONDS_BETWEEN", 0.01)
    with progress_bar(description="counting", total=2):
        deadline = time.monotonic() + 30
        while terminal.getvalue().count("counting") < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
    shown = terminal.getvalue()
    assert shown.count("counting:   0%") >= 2
    assert "0/2" in shown
    assert shown.endswith("\r")  # the line is empty again
    time.sleep(0.05)
    assert terminal.getvalue() == shown


def test_progress_bar_waits_before_it_shows(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert list(progress_bar(range(3), description="counting")) == [0, 1, 2]
    assert "counting" not in terminal.getvalue()


def test_progress_bar_works_without_a_console(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert list(progress_bar(range(3), description="counting")) == [0, 1, 2]


@pytest.mark.parametrize("n_jobs", [None, 1, 2, -1])
def test_map_in_threads_keeps_the_order(n_jobs):
    items = list(range(50))
    assert list(map_in_threads(lambda i: i * i, items, n_jobs=n_jobs, description="x")) == [
        i * i for i in items
    ]
    assert list(map_in_threads(abs, [], n_jobs=n_jobs, description="x")) == []


def test_map_in_threads_works_at_the_same_time():
    """Each call waits for the other; one after the other they would never meet."""
    meeting = threading.Barrier(2, timeout=60)
    arrivals = map_in_threads(lambda _: meeting.wait(), [0, 1], n_jobs=2, description="x")
    assert sorted(arrivals) == [0, 1]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_map_in_threads_raises_what_the_function_raises(n_jobs):
    def fail_at_three(i):
        if i == 3:
            raise KeyError("three")
        return i

    done = []
    with pytest.raises(KeyError, match="three"):
        done.extend(map_in_threads(fail_at_three, range(9), n_jobs=n_jobs, description="x"))


def test_map_in_threads_refuses_no_threads():
    with pytest.raises(ValueError, match="n_jobs"):
        list(map_in_threads(abs, [1], n_jobs=0, description="x"))


def test_kernel_compiles_and_releases_the_lock():
    @kernel
    def double(x):
        return 2 * x

    assert double(np.int64(21)) == 42
    assert double.targetoptions["nogil"]
    assert not double.targetoptions.get("fastmath")


def test_kernel_works_for_a_function_that_no_cache_can_hold():
    """numba has nowhere to put the machine code of a function without a file."""
    namespace = {}
    exec("def triple(x):\n    return 3 * x", namespace)
    with pytest.raises(RuntimeError, match="cannot cache"):
        numba.njit(cache=True)(namespace["triple"])
    assert kernel(namespace["triple"])(np.int64(14)) == 42


def test_import_optional_returns_the_module():
    assert import_optional("os.path", extra="x", purpose="x").join is not None


def test_import_optional_names_purpose_package_and_extra():
    message = (
        r"to_frame needs the package 'no_such_package', which is not installed\."
        r' Install it with: pip install "labelsure\[pandas\]"'
    )
    with pytest.raises(ImportError, match=message) as caught:
        import_optional("no_such_package.inner", extra="pandas", purpose="to_frame")
    assert isinstance(caught.value.__cause__, ModuleNotFoundError)


def test_import_optional_does_not_hide_a_broken_package(tmp_path, monkeypatch):
    (tmp_path / "broken_package.py").write_text("raise ImportError('wrong version of a library')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError, match="wrong version of a library"):
        import_optional("broken_package", extra="x", purpose="x")

"""Jobs, threads, warnings, progress bars and optional packages, as every room uses them."""

import io
import os
import sys
import threading
import time
import warnings
from concurrent.futures import CancelledError

import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.parallel import delayed
from threadpoolctl import ThreadpoolController

from labelsure import _parallel
from labelsure._errors import import_optional
from labelsure._parallel import (
    map_in_threads,
    one_thread,
    progress_bar,
    run_jobs,
    stop_if_asked,
)

PATIENCE = 30
"""Seconds after which a thread is given up; one that is told to stop takes milliseconds."""


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


def test_import_optional_names_purpose_package_and_extra():
    message = (
        r"to_frame needs the package 'no_such_package', which is not installed\."
        r' Install it with: pip install "labelsure\[pandas\]"'
    )
    with pytest.raises(ImportError, match=message) as caught:
        import_optional("no_such_package.inner", extra="pandas", purpose="to_frame")
    assert isinstance(caught.value.__cause__, ModuleNotFoundError)


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 5])
def test_answers_come_in_the_items_order(n_jobs):
    def slowly(number):
        stop_if_asked()
        time.sleep(0.01 * (number % 3))
        return number

    assert list(map_in_threads(slowly, range(12), n_jobs=n_jobs, description="")) == list(range(12))


@pytest.mark.parametrize("reason", ["interrupt", "enough", "failure"])
def test_threads_stop_when_nobody_waits_for_them(reason):
    begun, ended, outcomes = threading.Event(), threading.Event(), []

    def work(number):
        if number == 0:
            begun.wait(PATIENCE)
            if reason == "failure":
                raise ZeroDivisionError
            return number
        begun.set()
        deadline = time.monotonic() + PATIENCE
        try:
            while time.monotonic() < deadline:
                stop_if_asked()
                time.sleep(0.001)
            outcomes.append("given up")
        except CancelledError:
            outcomes.append("stopped")
            raise
        finally:
            ended.set()

    answers = map_in_threads(work, range(8), n_jobs=2, description="")
    if reason == "interrupt":
        next(answers)
        with pytest.raises(KeyboardInterrupt):
            answers.throw(KeyboardInterrupt)
    elif reason == "enough":
        next(answers)
        answers.close()
    else:
        with pytest.raises(ZeroDivisionError):
            next(answers)
    assert ended.wait(PATIENCE + 1)
    assert outcomes[0] == "stopped"


def threads_of(api):
    return {
        library["num_threads"]
        for library in ThreadpoolController().info()
        if library["user_api"] == api
    }


@pytest.fixture
def two_threads():
    """BLAS with two threads, on whatever machine."""
    with ThreadpoolController().limit(limits=2, user_api="blas"):
        if threads_of("blas") != {2}:
            pytest.skip("this BLAS does not have two threads")
        yield


class Inside(threading.Thread):
    """A thread that is in the context from ``start`` to ``leave``."""

    def __init__(self):
        super().__init__()
        self.entered, self.may_leave = threading.Event(), threading.Event()

    def run(self):
        with one_thread():
            self.entered.set()
            self.may_leave.wait(PATIENCE)

    def start(self):
        super().start()
        assert self.entered.wait(PATIENCE)

    def leave(self):
        self.may_leave.set()
        self.join(PATIENCE)


@pytest.mark.parametrize("first", [0, 1], ids=["first in, first out", "last in, first out"])
def test_who_leaves_first_takes_nothing_from_the_others_and_the_last_puts_back(two_threads, first):
    threads = [Inside(), Inside()]
    for thread in threads:
        thread.start()
    assert threads_of("blas") == {1}
    threads.pop(first).leave()
    assert threads_of("blas") == {1}
    threads.pop().leave()
    assert threads_of("blas") == {2}


def test_an_error_inside_puts_back(two_threads):
    with pytest.raises(ZeroDivisionError), one_thread(), one_thread():
        raise ZeroDivisionError
    assert threads_of("blas") == {2}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # that it has threads
def test_a_lock_held_in_another_thread_does_not_stop_a_forked_child():
    with _parallel._shared.lock:  # as another thread may hold it at any moment
        child = os.fork()
        if child == 0:
            with one_thread():
                os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def warn_about(number):
    warnings.warn(f"Label {number} is rare", stacklevel=2)
    if number % 2:
        warnings.warn("no convergence", ConvergenceWarning, stacklevel=2)
    return number


def fail_after_a_warning(number):
    warnings.warn(f"Label {number} is rare", stacklevel=2)
    raise ZeroDivisionError


def run(function=warn_about, numbers=range(4), **options):
    jobs = [delayed(function)(number) for number in numbers]
    return run_jobs(jobs, description="fitting folds", total=len(jobs), **{"n_jobs": 1, **options})


def texts_of(given):
    return {warning.category: str(warning.message) for warning in given}


EXPECTED = {
    UserWarning: "4 warnings while fitting folds, 4 different ones; the first: Label 0 is rare",
    ConvergenceWarning: "2 warnings while fitting folds, all the same: no convergence",
}


@pytest.mark.parametrize(
    "options",
    [{"n_jobs": 1}, {"n_jobs": 2}, {"n_jobs": 1, "require": "sharedmem"}],
    ids=["one", "processes", "shared"],
)
def test_warnings_of_jobs_are_given_once_for_each_category(options):
    with warnings.catch_warnings(record=True) as given:
        assert run(**options) == [0, 1, 2, 3]
    assert len(given) == 2
    assert texts_of(given) == EXPECTED


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_warnings_that_are_ignored_stay_so(n_jobs):
    with warnings.catch_warnings(record=True) as given:
        warnings.filterwarnings("ignore", message="Label .* is rare")
        run(n_jobs=n_jobs)
    assert texts_of(given) == {ConvergenceWarning: EXPECTED[ConvergenceWarning]}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_warnings_that_are_errors_stay_so(n_jobs):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        with (
            pytest.raises(ConvergenceWarning, match=r"^no convergence$"),
            warnings.catch_warnings(record=True),
        ):
            run(n_jobs=n_jobs)


def test_errors_stay_errors_and_warnings_before_them_are_given():
    with warnings.catch_warnings(record=True) as given, pytest.raises(ZeroDivisionError):
        run(fail_after_a_warning)
    assert texts_of(given) == {UserWarning: "Label 0 is rare"}

"""Mapping in threads: order, and ending what nobody waits for."""

import threading
import time
from concurrent.futures import CancelledError

import pytest

from labelsure._parallel import map_in_threads, stop_if_asked

PATIENCE = 30
"""Seconds after which a thread is given up; one that is asked to stop takes milliseconds."""


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 5])
def test_answers_come_in_the_items_order(n_jobs):
    def slowly(number):
        stop_if_asked()
        time.sleep(0.01 * (number % 3))
        return number

    assert list(map_in_threads(slowly, range(12), n_jobs=n_jobs, description="")) == list(range(12))


def test_nobody_is_stopped_outside_threads():
    stop_if_asked()


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


def test_threads_of_one_call_are_not_stopped_by_another():
    def twice(number):
        stop_if_asked()
        return 2 * number

    first = map_in_threads(twice, range(4), n_jobs=2, description="")
    next(first)
    first.close()
    assert list(map_in_threads(twice, range(4), n_jobs=2, description="")) == [0, 2, 4, 6]

"""One thread for numerical libraries, wanted by several threads at once."""

import os
import threading

import numpy as np  # noqa: F401 - brings a BLAS
import pytest
from threadpoolctl import ThreadpoolController

from labelsure import _parallel
from labelsure._parallel import one_thread

PATIENCE = 60


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


def test_nested_contexts_put_back_once(two_threads):
    with one_thread():
        with one_thread():
            pass
        assert threads_of("blas") == {1}
    assert threads_of("blas") == {2}


def test_openmp_of_every_thread_is_limited():
    pytest.importorskip("sklearn.utils._openmp_helpers")  # brings an OpenMP
    if not threads_of("openmp"):
        pytest.skip("no OpenMP here")
    seen = []
    other = Inside()
    other.start()

    def look():
        with one_thread():
            seen.append(threads_of("openmp"))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join(PATIENCE)
    other.leave()
    assert seen == [{1}]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # that it has threads
def test_a_lock_held_in_another_thread_does_not_stop_a_forked_child():
    with _parallel._shared.lock:  # as another thread may hold it at any moment
        child = os.fork()
        if child == 0:
            with one_thread():
                os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7

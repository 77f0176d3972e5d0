"""One thread for numerical libraries, whoever else in this process wants it too."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import threadpoolctl
from threadpoolctl import ThreadpoolController


def find_libraries() -> ThreadpoolController:
    """Return what controls the numerical libraries that are loaded.

    Without /proc threadpoolctl may be called back from C while it looks for them. An interrupt in there would
    be printed and forgotten, and the user's Ctrl-C be lost; so it waits until they are found.

    Examples
    --------
    >>> isinstance(find_libraries(), ThreadpoolController)
    True
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        return ThreadpoolController()  # other threads are not interrupted
    interrupts: list[Any] = []
    signal.signal(signal.SIGINT, lambda *interrupt: interrupts.append(interrupt))
    try:
        return ThreadpoolController()
    finally:
        signal.signal(signal.SIGINT, handler)
        if interrupts:
            signal.raise_signal(signal.SIGINT)


class _Shared:
    """Who wants BLAS in one thread, and how many it had.

    BLAS has one number of threads for the whole process. If each user of it put back what he found, the first to leave
    would give threads to the others, whose sums would come out differently, and the last might leave one thread for
    ever. So the first sets it and the last puts it back.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.n_inside = 0
        self.limited: ThreadpoolController | None = None
        self.before: list[tuple[Any, int]] = []

    def enter(self, libraries: ThreadpoolController) -> None:
        with self.lock:
            self.n_inside += 1
            if self.limited is libraries:
                return
            self.limited = libraries  # the first inside, or libraries have been loaded meanwhile
            _take_control()
            for library in libraries.lib_controllers:
                if library.user_api == "blas":
                    self.before.append((library, library.get_num_threads()))
                    library.set_num_threads(1)

    def leave(self) -> None:
        with self.lock:
            self.n_inside -= 1
            if self.n_inside:
                return
            self.limited = None
            _take_control()
            while self.before:
                library, n_threads = self.before.pop()
                library.set_num_threads(n_threads)
            _take_control()


def _take_control() -> None:
    """Have the next thread that sets numbers be heard: newer versions of threadpoolctl listen to one thread only."""
    take = getattr(threadpoolctl.OpenBLASController, "clear_controlling_thread", None)
    if take is not None:
        take(force=True)


_shared = _Shared()


def _renew_lock() -> None:
    _shared.lock = threading.Lock()


if hasattr(os, "register_at_fork"):  # another thread, which the child does not have, may hold it
    os.register_at_fork(after_in_child=_renew_lock)


@contextmanager
def limit_to_one_thread(libraries: ThreadpoolController) -> Iterator[None]:
    """Have BLAS and OpenMP use one thread inside; threads of this process may do so at the same time.

    Examples
    --------
    >>> with limit_to_one_thread(ThreadpoolController()):
    ...     {library["num_threads"] for library in ThreadpoolController().info()} <= {1}
    True
    """
    _shared.enter(libraries)
    try:
        with libraries.limit(limits=1, user_api="openmp"):  # OpenMP has a number for each thread
            yield
    finally:
        _shared.leave()

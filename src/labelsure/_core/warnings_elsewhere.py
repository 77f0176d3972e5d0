"""Warnings in a worker of a cluster: by the filters of the process that asked, each thread's by themselves."""

import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

_lock = threading.Lock()
_this_thread = threading.local()
_before: list[Any] = []
"""What there was before the first of the threads that are inside came; empty where none is."""

_n_inside = 0


@contextmanager
def recorded_warnings(filters: Sequence[tuple[Any, ...]]) -> Iterator[list[warnings.WarningMessage]]:
    """Yield a list to which the warnings that this thread gives inside are added.

    ``warnings.catch_warnings`` is for one thread: where two are inside, the second one out leaves behind what the first
    one had set. Here the first one in makes the change, and the last one out takes it back.

    Parameters
    ----------
    filters : sequence
        Those of ``warnings.filters`` where the work was asked for.

    Examples
    --------
    >>> with recorded_warnings([]) as caught:
    ...     warnings.warn("Label 38 is rare")
    >>> [str(warning.message) for warning in caught]
    ['Label 38 is rare']
    """
    global _n_inside  # noqa: PLW0603 - one for the process, as the module warnings is
    caught: list[warnings.WarningMessage] = []
    with _lock:
        if _n_inside == 0:
            _change(filters)
        _n_inside += 1
    _this_thread.caught = caught
    try:
        yield caught
    finally:
        del _this_thread.caught
        with _lock:
            _n_inside -= 1
            if _n_inside == 0:
                _before.pop().__exit__(None, None, None)


def _change(filters: Sequence[tuple[Any, ...]]) -> None:
    original = warnings.showwarning
    before = warnings.catch_warnings()
    before.__enter__()
    _before.append(before)
    warnings.resetwarnings()
    for action, message, category, module, line in filters:
        texts = [getattr(pattern, "pattern", pattern) or "" for pattern in (message, module)]
        warnings.filterwarnings(action, texts[0], category, texts[1], line, append=True)

    def show(message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None) -> None:
        caught = getattr(_this_thread, "caught", None)
        if caught is None:
            original(message, category, filename, lineno, file, line)
        else:
            caught.append(warnings.WarningMessage(message, category, filename, lineno, file, line))

    warnings.showwarning = show

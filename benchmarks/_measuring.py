"""Clocks and memory: seconds of functions in turn, bytes of a function in a new process."""

import contextlib
import ctypes
import gc
import multiprocessing
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def fastest(
    functions: Mapping[str, Callable[[], Any]],
    *,
    repeats: int,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Return each function's least seconds, called in turn so that a slow minute slows all of them.

    With ``time.process_time`` for a clock these are seconds of the processor, which others' work
    disturbs less.
    """
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(repeats):
        for name, function in functions.items():
            start = clock()
            function()
            seconds[name].append(clock() - start)
    return {name: min(times) for name, times in seconds.items()}


def in_new_process(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what the function returns in a fresh interpreter; it and its arguments are pickled."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def peak_growth(function: Callable[[], Any]) -> tuple[Any, int]:
    """Return the function's result, and the peak growth of resident memory in bytes.

    Linux tells the peak since it was last reset; other systems only tell the peak since the process
    began.
    """
    if not CLEAR.exists():
        raise RuntimeError(
            "Peak memory is measured with /proc/self/clear_refs, which only Linux has."
        )
    _give_back()
    CLEAR.write_text("5")
    before = _status("VmRSS")
    result = function()
    return result, _status("VmHWM") - before


def _give_back() -> None:
    """Return freed memory to the system if the C library can: reuse of it would not be seen."""
    gc.collect()
    with contextlib.suppress(AttributeError):  # only glibc has it
        ctypes.CDLL(None).malloc_trim(0)


def _status(field: str) -> int:
    lines = STATUS.read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))

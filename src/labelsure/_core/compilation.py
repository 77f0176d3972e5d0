"""How kernels are compiled: numba, without the interpreter lock, cached on disk where that is possible."""

from collections.abc import Callable
from typing import Any, cast


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile ``function`` with numba at its first call; it runs without the interpreter lock.

    The machine code is kept beside the module or, where that folder is read-only, in the user's cache; numba writes
    it by renaming a finished file, so processes may share it. Where neither place can be written nothing is kept.
    """
    import numba

    try:
        return cast(Callable[..., Any], numba.njit(nogil=True, cache=True)(function))
    except RuntimeError:  # "cannot cache function: no locator available"
        return cast(Callable[..., Any], numba.njit(nogil=True)(function))

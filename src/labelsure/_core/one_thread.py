"""The numerical libraries held to one thread: sums in them depend on the number of threads, and results must not."""

import sys
from contextlib import AbstractContextManager
from functools import lru_cache

from threadpoolctl import ThreadpoolController


def one_thread() -> AbstractContextManager[object]:
    """Return a context in which BLAS and OpenMP use one thread.

    Examples
    --------
    >>> with one_thread():
    ...     sum([1, 2])
    3
    """
    # Finding the libraries takes milliseconds, longer than many a fit; new ones can only have come with new modules.
    limit: AbstractContextManager[object] = _libraries(len(sys.modules)).limit(limits=1)
    return limit


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> ThreadpoolController:  # noqa: ARG001
    return ThreadpoolController()

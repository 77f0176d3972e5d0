"""Numpy or kernels: which of them answers first in a process."""

START_SECONDS = 0.4
"""About what it takes to import numba and read kernels from disk; compiling takes much longer."""


class StartUp:
    """What numpy may still answer in this process, so that small questions wait for no kernel.

    numba is imported, and kernels are compiled or read from disk, when numpy would have to work
    longer than ``START_SECONDS`` in all. So no process loses more than that by work that kernels do
    faster, however many questions follow. Each way to answer has its own budget, because it
    waits for other kernels.

    Examples
    --------
    >>> start_up = StartUp()
    >>> [start_up.spend("table", seconds) for seconds in (0.3, 0.2, 0.1)]
    [True, False, False]
    """

    def __init__(self) -> None:
        self.left: dict[str, float] = {}
        self.seconds = START_SECONDS

    def spend(self, way: str, seconds: float) -> bool:
        """Whether numpy may do work of this duration; if so, it is spent, else none is left."""
        left = self.left.get(way, self.seconds) - seconds
        self.left[way] = max(left, 0.0)
        return left >= 0

    def end(self) -> None:
        """Leave all further work to kernels."""
        self.left, self.seconds = {}, 0.0


START_UP = StartUp()

"""One kind of progress bar for everything that may take longer than two seconds."""

import sys
from collections.abc import Iterable
from multiprocessing import parent_process
from typing import Any

from tqdm import tqdm

SECONDS_BEFORE_SHOWN = 2.0


def _has_terminal() -> bool:
    """Tell whether somebody may be watching; worker processes and programs without a console have nobody."""
    return parent_process() is None and sys.stderr is not None and sys.stderr.isatty()


def progress_bar(iterable: Iterable[Any] | None = None, *, description: str, total: int | None = None) -> Any:
    """Return a bar that appears after two seconds, and only on a terminal.

    Parameters
    ----------
    iterable : iterable or None
        What to walk through; without it call ``update`` on the bar, which is a context manager.
    description : str
        What is being done.
    total : int or None
        The number of steps, where the iterable does not tell.

    Examples
    --------
    >>> [step for step in progress_bar(range(3), description="counting")]
    [0, 1, 2]
    """
    return tqdm(
        iterable,
        desc=description,
        total=total,
        delay=SECONDS_BEFORE_SHOWN,
        leave=False,
        dynamic_ncols=True,
        disable=not _has_terminal(),
    )

"""One kind of progress bar for everything that may take longer than two seconds."""

import sys
from collections.abc import Iterable
from typing import Any

from tqdm import tqdm

SECONDS_BEFORE_SHOWN = 2.0


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
        disable=sys.stderr is None or not sys.stderr.isatty(),  # None: a program without a console
    )

"""What can go wrong with a data set, told so that the reader can mend it."""

from collections.abc import Iterable
from difflib import get_close_matches


class DatasetError(ValueError):
    """A data set cannot be found, fetched or read.

    The message names the file, where there is one its line, what was expected, what was there and what to do.

    Examples
    --------
    >>> from labelsure.datasets import load_dataset
    >>> load_dataset("scenes", download=False)
    Traceback (most recent call last):
    ...
    labelsure.datasets._errors.DatasetError: 'scenes' is not a data set labelsure knows. Did you mean 'scene'? ...
    """


class LineError(Exception):
    """What is wrong with a part of a file, raised by code that sees only that; the file's reader adds where it is."""


def shown(text: str, *, limit: int = 60) -> str:
    """Return ``text`` quoted for a message, cut where it is long.

    Examples
    --------
    >>> shown("abc"), shown("x" * 9, limit=5)
    ("'abc'", "'xxxxx...'")
    """
    return repr(text if len(text) <= limit else text[:limit] + "...")


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return a hint at the name that is most like one that is not known, if any is."""
    near = get_close_matches(name, names, n=1) if len(name) < 100 else []  # its cost grows with the square
    return f" Did you mean {shown(near[0])}?" if near else ""

"""Words of the command line that are more than text; each function is an argparse ``type``."""

import os
from argparse import ArgumentTypeError
from pathlib import Path


def count(text: str) -> int:
    """Return a whole number of at least 1.

    Examples
    --------
    >>> count("3")
    3
    """
    number = _whole_number(text)
    if number < 1:
        raise ArgumentTypeError(f"expected at least 1, got {text}")
    return number


def jobs(text: str) -> int:
    """Return a number of jobs as joblib reads it: -1 for all cores, -2 for all but one.

    Examples
    --------
    >>> jobs("-1")
    -1
    """
    number = _whole_number(text)
    if number == 0:
        raise ArgumentTypeError("expected the number of cores to use, or -1 for all of them, got 0")
    return number


def output_file(text: str) -> Path:
    """Return the path of a file that can be written, so that a long run does not end with nowhere to write to."""
    path = Path(text).expanduser().resolve()
    if path.exists() and not path.is_file():
        raise ArgumentTypeError(f"expected a file to write, but {text} is none. Name a file in an existing folder")
    if not path.parent.is_dir():
        raise ArgumentTypeError(f"there is no folder {path.parent} to write {path.name} to. Create it first")
    if not os.access(path.parent, os.W_OK):
        raise ArgumentTypeError(f"the folder {path.parent} may not be written to. Choose another one")
    return path


def _whole_number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ArgumentTypeError(f"expected a whole number, got {text!r}") from None

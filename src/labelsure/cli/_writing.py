"""Results on disk, a whole file or none, and words on the terminal."""

import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import BinaryIO, TextIO

from labelsure import _files
from labelsure._errors import CommandError
from labelsure._version import __version__


def versions() -> dict[str, str]:
    """Return the versions of everything that numbers may depend on."""
    packages = {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "numba")}
    return {"labelsure": __version__, "python": platform.python_version(), **packages}


def printable(text: str) -> str:
    r"""Return a text without control characters, which names of columns may hold: a terminal would obey them.

    Examples
    --------
    >>> print(printable("red \x1b[31m, sea\u202e"))
    red \x1b[31m, sea\u202e
    """
    return "".join(
        c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text
    )


def say(text: str, file: TextIO | None = None) -> None:
    """Print a text, see :func:`printable`."""
    print(printable(text), file=file or sys.stdout, flush=True)


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file to be written as a whole or not at all, see :func:`labelsure._files.whole_file`.

    Raises
    ------
    CommandError
        If it cannot be written; nothing is left behind.
    """
    try:
        with _files.whole_file(path) as file:
            yield file
    except OSError as error:
        raise CommandError(f"{path} could not be written: {error.strerror or error}.") from error


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file as a whole or not at all, see :func:`whole_file`."""
    with whole_file(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def readable_size(path: Path) -> str:
    """Return how long a file is, for people.

    Examples
    --------
    >>> from tempfile import NamedTemporaryFile
    >>> with NamedTemporaryFile() as file:
    ...     readable_size(Path(file.name))
    '0 kB'
    """
    n_bytes = path.stat().st_size
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 1e6 else f"{n_bytes / 1e3:.0f} kB"

"""Results on disk: a whole file or none."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from labelsure._core import files
from labelsure.cli._errors import CommandError


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file to be written as a whole or not at all, see :func:`labelsure._core.files.whole_file`.

    Raises
    ------
    CommandError
        If it cannot be written; nothing is left behind.
    """
    try:
        with files.whole_file(path) as file:
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

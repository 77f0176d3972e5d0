"""Results on disk: a whole file or none."""

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import BinaryIO

from labelsure._version import __version__
from labelsure.cli._errors import CommandError


def versions() -> dict[str, str]:
    """Return what results are kept with: the versions of everything that numbers may depend on."""
    packages = {package: version(package) for package in ("numpy", "scipy", "scikit-learn", "numba")}
    return {"labelsure": __version__, "python": platform.python_version(), **packages}


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file beside ``path`` and rename it in the end, so that ``path`` is at all times the old file or the new.

    Raises
    ------
    CommandError
        If it cannot be written; nothing is left behind.
    """
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        try:
            with unfinished.open("wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
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

"""Results on disk: a whole file or none."""

import os
import platform
from importlib.metadata import version
from pathlib import Path

from labelsure._version import __version__
from labelsure.cli._errors import CommandError


def versions() -> dict[str, str]:
    """Return what results are kept with: the versions of everything that numbers may depend on."""
    packages = {package: version(package) for package in ("numpy", "scipy", "scikit-learn", "numba")}
    return {"labelsure": __version__, "python": platform.python_version(), **packages}


def write_whole(path: Path, text: str) -> None:
    """Write ``text`` beside ``path`` and rename it, so that ``path`` is at all times the old file or the new one.

    Raises
    ------
    CommandError
        If it cannot be written; nothing is left behind.
    """
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        try:
            with unfinished.open("w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as error:
        raise CommandError(f"{path} could not be written: {error.strerror or error}.") from error

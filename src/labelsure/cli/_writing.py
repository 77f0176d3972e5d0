"""Results on disk: a whole file or none."""

import os
from pathlib import Path

from labelsure.cli._errors import CommandError


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

"""Files as bytes and as lines."""

from pathlib import Path

from labelsure.datasets._errors import DatasetError


def read_bytes(path: Path) -> bytes:
    """Return what is in a file; that it cannot be read is a DatasetError."""
    try:
        return path.expanduser().read_bytes()
    except (OSError, ValueError, RuntimeError) as error:  # ValueError: a null in the path; RuntimeError: no home folder
        raise DatasetError(f"{path} cannot be read: {error}. Check the path and that you may read the file.") from error


def read_lines(path: Path) -> list[str]:
    r"""Return the lines of a text file in UTF-8, with or without a byte order mark, or else in Latin-1.

    Lines end with ``\n``, ``\r\n`` or ``\r``; other characters that Unicode counts as line ends may be part of names.
    """
    content = read_bytes(path)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

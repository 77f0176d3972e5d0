"""Files as bytes and as lines."""

import codecs
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from labelsure._errors import DatasetError

BLANKS = "".join(map(chr, range(33)))
"""What separates words; Python's isspace would split names at non-breaking spaces."""


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what goes wrong while a file is read into a DatasetError."""
    try:
        yield
    except DatasetError:
        raise
    except (
        OSError,
        ValueError,
        RuntimeError,
    ) as error:  # ValueError: a null in the path; RuntimeError: no home folder
        raise DatasetError(
            f"{path} cannot be read: {error}. Check the path and that you may read the file."
        ) from error


def read_bytes(path: Path) -> bytes:
    """Return what is in a file; that it cannot be read is a DatasetError."""
    with reading(path):
        return path.expanduser().read_bytes()


def filled_lines(path: Path) -> Iterator[tuple[int, str]]:
    r"""Yield the non-empty lines of an ARFF file with their numbers, stripped, without comments.

    A line is in UTF-8, or else in Latin-1. Lines end with ``\n``, ``\r\n`` or ``\r``; other
    characters that Unicode counts as line ends may be part of names.
    """
    check_encoding(path)
    with reading(path), path.expanduser().open(encoding="latin-1") as file:
        for number, line in enumerate(file, start=1):
            text = (line if line.isascii() else _decode(line)).strip(BLANKS)
            if text and not text.startswith("%"):
                yield number, text


def _decode(line: str) -> str:
    try:
        return line.encode("latin-1").decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        return line


def check_encoding(path: Path) -> None:
    """Raise DatasetError if a text file is in UTF-16."""
    with reading(path), path.expanduser().open("rb") as file:
        head = file.read(2)
    marked = head in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    if marked or b"\0" in head:
        name = "utf-16" if marked else "utf-16be" if head[:1] == b"\0" else "utf-16le"
        raise DatasetError(
            f"{path}: the file is in UTF-16. Save it in UTF-8, for example: iconv -f {name} -t"
            " utf-8"
        )

"""Files as bytes and as lines."""

import codecs
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from labelsure.datasets._errors import DatasetError


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what goes wrong while a file is read into a DatasetError."""
    try:
        yield
    except DatasetError:
        raise
    except (OSError, ValueError, RuntimeError) as error:  # ValueError: a null in the path; RuntimeError: no home folder
        raise DatasetError(f"{path} cannot be read: {error}. Check the path and that you may read the file.") from error


def read_bytes(path: Path) -> bytes:
    """Return what is in a file; that it cannot be read is a DatasetError."""
    with reading(path):
        return path.expanduser().read_bytes()


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


def stream_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text file with their numbers, from 1, without holding more than one of them.

    The encoding is found out beforehand, as in :func:`read_lines`.
    """
    check_encoding(path)
    with reading(path):
        encoding = _encoding_of(path)
        with path.expanduser().open(encoding=encoding) as file:
            for number, line in enumerate(file, start=1):
                yield number, line.rstrip("\n")


def check_encoding(path: Path) -> None:
    """Raise DatasetError where a text file is in UTF-16, which other encodings read as letters with zeros between."""
    with reading(path), path.expanduser().open("rb") as file:
        head = file.read(2)
    marked = head in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    if marked or b"\0" in head:
        name = "utf-16" if marked else "utf-16be" if head[:1] == b"\0" else "utf-16le"
        raise DatasetError(f"{path} is in UTF-16. Save it in UTF-8, for example with: iconv -f {name} -t utf-8")


def _encoding_of(path: Path) -> str:
    decoder = codecs.getincrementaldecoder("utf-8")()
    with path.expanduser().open("rb") as file:
        try:
            while block := file.read(2**20):
                decoder.decode(block)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return "latin-1"
    return "utf-8-sig"

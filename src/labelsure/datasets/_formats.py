"""File formats: which reader a file's ending stands for. A new format is a reader of its own and a line here."""

from collections.abc import Callable, Iterable
from os import PathLike
from pathlib import Path
from typing import Any

from labelsure.datasets._dataset import Dataset
from labelsure.datasets._errors import DatasetError
from labelsure.datasets._mulan import read_mulan

Labels = str | PathLike[str] | Iterable[str]
"""The names of the labels, or the file that holds them."""

READERS: dict[str, Callable[[Path, Any], Dataset]] = {".arff": read_mulan}
"""From a file's ending to what reads it, given the labels."""


def read_file(path: Path, labels: Labels) -> Dataset:
    """Read one file by the reader for its ending.

    Raises
    ------
    DatasetError
        If there is no such reader, or the file cannot be read.
    """
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise DatasetError(f"{path} must end in {', '.join(READERS)}, got {path.suffix or 'no ending'!r}.")
    return reader(path, labels)

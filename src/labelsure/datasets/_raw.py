"""A file's rows in batches, before anybody has said what its columns mean."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from labelsure.datasets._cells import Cells


class RawBatch(ABC):
    """Some rows that follow each other.

    Attributes
    ----------
    start : int
        How many rows come before them.
    n_rows : int
        How many there are.
    """

    start: int
    n_rows: int

    @abstractmethod
    def column(self, name: str) -> Cells:
        """Return the cells of one column."""


@dataclass(eq=False)
class ArrowBatch(RawBatch):
    """Rows of a table of pyarrow."""

    start: int
    table: Any

    def __post_init__(self) -> None:
        self.n_rows = self.table.num_rows

    def column(self, name: str) -> Cells:
        """Return the cells of one column as an array of pyarrow."""
        return self.table.column(name).combine_chunks()


@dataclass(eq=False)
class MatrixBatch(RawBatch):
    """Rows of numbers, an array or a csr matrix, which stand for words in some columns.

    Attributes
    ----------
    places : mapping
        The column of the matrix that has each name; names beyond its width are columns of zeros.
    words : mapping
        From numbers to words, for the columns that hold words.
    others : mapping
        Columns that are not in the matrix.
    """

    start: int
    matrix: Any
    places: Mapping[str, int]
    words: Mapping[str, Mapping[float, str]] = field(default_factory=dict)
    others: Mapping[str, Cells] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.n_rows = self.matrix.shape[0]

    def column(self, name: str) -> Cells:
        """Return the cells of one column as numbers or words."""
        if name in self.others:
            return self.others[name]
        place = self.places[name]
        if place >= self.matrix.shape[1]:
            return np.zeros(self.n_rows)
        cells = self.matrix[:, [place]]
        values = (cells.toarray() if sparse.issparse(cells) else cells).ravel()
        if name not in self.words:
            return values
        return np.array([self.words[name].get(value) for value in values.tolist()], dtype=object)


class TableFile(ABC):
    """A file that holds a table.

    Attributes
    ----------
    path : Path
        Where it is.
    names : tuple of str
        Its columns.
    kinds : mapping
        What the file itself says of columns: a kind of column, or why it cannot be read. Others have to be looked at.
    n_rows : int or None
        How many rows there are, where that is known beforehand.
    sparse : bool
        Whether its rows are kept sparse.
    """

    endings: ClassVar[tuple[str, ...]]
    path: Path
    names: tuple[str, ...]
    kinds: Mapping[str, str]
    n_rows: int | None = None
    sparse: bool = False

    @abstractmethod
    def batches(self, names: Collection[str], size: int) -> Iterator[RawBatch]:
        """Yield all rows, ``size`` at a time and then the rest, with at least the columns named."""

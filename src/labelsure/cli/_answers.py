"""Predictions as rows of CSV, JSON lines or Parquet: a file is joined from parts that are written one by one."""

import csv
import io
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from math import isnan
from typing import Any, BinaryIO, TypeAlias

from labelsure._errors import import_optional
from labelsure.batches import arrow_table
from labelsure.predictions._frames import RepeatedValues

Cells: TypeAlias = dict[str, Any]
"""From columns to their cells: arrays of numbers, RepeatedValues, or arrays of texts."""


@dataclass(frozen=True)
class Layout:
    """The schema of pyarrow of a file of answers, and what stands between labels in a cell of CSV."""

    schema: Any
    separator: str


class AnswerFormat(ABC):
    """How answers are written; it is sent to the workers of a cluster.

    Attributes
    ----------
    layout : Layout
        The columns.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout

    @abstractmethod
    def part(self, cells: Cells) -> bytes:
        """Return some rows as they are kept until the file is whole."""

    def join(self, parts: Iterable[bytes], file: BinaryIO) -> None:
        """Write the whole file from its parts."""
        file.write(self.head())
        file.writelines(parts)

    def head(self) -> bytes:
        """Return what comes before all rows."""
        return b""


class CsvAnswers(AnswerFormat):
    """A line of names and a line per row; labels of one cell have the separator between them."""

    def head(self) -> bytes:
        """Return the line of names."""
        return self._lines([self.layout.schema.names])

    def part(self, cells: Cells) -> bytes:
        """Return one line per row."""
        columns = [
            _in_rows(cells[name], self._labels, self._number) for name in self.layout.schema.names
        ]
        return self._lines(zip(*columns, strict=True))

    def _labels(self, value: Any) -> str:
        return value if isinstance(value, str) else self.layout.separator.join(value)

    @staticmethod
    def _number(value: float) -> str | None:
        return None if isnan(value) else f"{value:.6g}"

    @staticmethod
    def _lines(rows: Iterable[Sequence[Any]]) -> bytes:
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\n").writerows(rows)
        return text.getvalue().encode()


class JsonAnswers(AnswerFormat):
    """A JSON object on each line."""

    def part(self, cells: Cells) -> bytes:
        """Return one line per row."""
        write = partial(json.dumps, ensure_ascii=False)
        names = self.layout.schema.names
        columns = [
            _in_rows(cells[name], write, lambda value: None if isnan(value) else write(value))
            for name in names
        ]
        template = (
            "{" + ", ".join(write(name).replace("%", "%%") + ": %s" for name in names) + "}\n"
        )
        texts = [["null" if cell is None else cell for cell in column] for column in columns]
        return "".join([template % row for row in zip(*texts, strict=True)]).encode()


class ParquetAnswers(AnswerFormat):
    """A Parquet file; labels of one cell are a list of texts."""

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        _import_parquet()  # or say how to install it, before there is anything to write

    def part(self, cells: Cells) -> bytes:
        """Return a small Parquet file."""
        buffer = io.BytesIO()
        _import_parquet().write_table(arrow_table(cells, self.layout.schema), buffer)
        return buffer.getvalue()

    def join(self, parts: Iterable[bytes], file: BinaryIO) -> None:
        """Write one row group per part."""
        parquet = _import_parquet()
        with parquet.ParquetWriter(file, self.layout.schema) as writer:
            for content in parts:
                writer.write_table(parquet.read_table(io.BytesIO(content)))


def _import_parquet() -> Any:
    return import_optional("pyarrow.parquet", extra="cli", purpose="Writing Parquet")


def _in_rows(
    cells: Any, write: Callable[[Any], Any], write_float: Callable[[float], Any]
) -> list[Any]:
    """Return a column as a list of cells, None where there is nothing; what comes again is written once."""
    if isinstance(cells, RepeatedValues):
        return RepeatedValues([write(value) for value in cells.values], cells.places).to_list()
    if cells.dtype == object:
        return [None if cell is None else write(cell) for cell in cells.tolist()]
    return [write_float(cell) if isinstance(cell, float) else cell for cell in cells.tolist()]


FORMATS: dict[str, type[AnswerFormat]] = {
    ".csv": CsvAnswers,
    ".jsonl": JsonAnswers,
    ".parquet": ParquetAnswers,
}
"""From the ending of the output to how it is written."""

"""Predictions as rows of CSV, JSON lines or Parquet: a file is joined from parts that are written one by one."""

import csv
import io
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from labelsure._core.optional import import_optional

Row: TypeAlias = dict[str, Any]

OWN = ("row", "labels", "confidence", "credibility", "sure", "possible", "ruled_out", "n_labelsets", "note")
LISTS = ("labels", "sure", "possible", "ruled_out")
WHOLE_NUMBERS_UP_TO = 62
"""Labels beyond which the number of labelsets may not fit into 64 bits."""


@dataclass(frozen=True)
class Columns:
    """What a table of predictions has: columns taken over from the data, and how many labelsets are listed."""

    kept: tuple[str, ...]
    n_top: int
    n_labels: int
    separator: str

    @property
    def names(self) -> list[str]:
        """All columns, in order."""
        top = [name for k in range(1, self.n_top + 1) for name in (f"top{k}", f"top{k}_p")]
        return ["row", *self.kept, *OWN[1:-1], *top, "note"]

    def rows(self, summaries: Iterable[Any], start: int, kept: dict[str, Any]) -> list[Row]:
        """Return what there is to say of some objects, the first of them being row ``start + 1``."""
        rows = []
        for i, summary in enumerate(summaries):
            row: Row = {"row": start + i + 1}
            row |= {name: kept[name][i] for name in self.kept}
            row |= {name: list(getattr(summary, name)) for name in LISTS}
            size = summary.n_labelsets.value
            row["confidence"], row["credibility"] = summary.confidence, summary.credibility
            row["n_labelsets"] = size if self.n_labels <= WHOLE_NUMBERS_UP_TO else _as_float(size)
            for k in range(self.n_top):
                known = k < len(summary.top)
                row[f"top{k + 1}"] = list(summary.top[k].labels) if known else None
                row[f"top{k + 1}_p"] = summary.top[k].p_value if known else None
            rows.append({**row, "note": summary.note or None})
        return rows


def _as_float(number: int) -> float:
    try:
        return float(number)
    except OverflowError:
        return float("inf")


class AnswerFormat(ABC):
    """How predictions are written.

    Attributes
    ----------
    columns : Columns
        What they hold.
    """

    def __init__(self, columns: Columns) -> None:
        self.columns = columns

    @abstractmethod
    def part(self, rows: Sequence[Row]) -> bytes:
        """Return some rows as they are kept until the file is whole."""

    def join(self, parts: Iterable[Path], file: BinaryIO) -> None:
        """Write the whole file from its parts."""
        file.write(self.head())
        for path in parts:
            file.write(path.read_bytes())

    def head(self) -> bytes:
        """Return what comes before all rows."""
        return b""


class CsvAnswers(AnswerFormat):
    """A line of names and a line per row; labels of one cell have the separator between them."""

    def head(self) -> bytes:
        """Return the line of names."""
        return self._lines([self.columns.names])

    def part(self, rows: Sequence[Row]) -> bytes:
        """Return one line per row."""
        return self._lines([[self._cell(row[name]) for name in self.columns.names] for row in rows])

    def _cell(self, value: Any) -> Any:
        if isinstance(value, list):
            return self.columns.separator.join(value)
        return f"{value:.6g}" if isinstance(value, float) else value

    @staticmethod
    def _lines(rows: Sequence[Sequence[Any]]) -> bytes:
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\n").writerows(rows)
        return text.getvalue().encode()


class JsonAnswers(AnswerFormat):
    """A JSON object on each line."""

    def part(self, rows: Sequence[Row]) -> bytes:
        """Return one line per row."""
        names = self.columns.names
        lines = (json.dumps({name: row[name] for name in names}, ensure_ascii=False) for row in rows)
        return "".join(f"{line}\n" for line in lines).encode()


class ParquetAnswers(AnswerFormat):
    """A Parquet file; labels of one cell are a list of texts."""

    def __init__(self, columns: Columns) -> None:
        super().__init__(columns)
        self._pa, self._parquet = (
            import_optional(module, extra="tables", purpose="Writing Parquet")
            for module in ("pyarrow", "pyarrow.parquet")
        )

    def part(self, rows: Sequence[Row]) -> bytes:
        """Return a small Parquet file."""
        schema = self._schema()
        columns = {name: [row[name] for row in rows] for name in schema.names}
        buffer = io.BytesIO()
        self._parquet.write_table(self._pa.table(columns, schema=schema), buffer)
        return buffer.getvalue()

    def join(self, parts: Iterable[Path], file: BinaryIO) -> None:
        """Write one row group per part."""
        with self._parquet.ParquetWriter(file, self._schema()) as writer:
            for path in parts:
                writer.write_table(self._parquet.read_table(path))

    def _schema(self) -> Any:
        pa = self._pa
        count = pa.int64() if self.columns.n_labels <= WHOLE_NUMBERS_UP_TO else pa.float64()
        types = {"row": pa.int64(), "confidence": pa.float64(), "credibility": pa.float64(), "n_labelsets": count}
        types |= dict.fromkeys(LISTS, pa.list_(pa.string()))
        for k in range(1, self.columns.n_top + 1):
            types |= {f"top{k}": pa.list_(pa.string()), f"top{k}_p": pa.float64()}
        return pa.schema([(name, types.get(name, pa.string())) for name in self.columns.names])


FORMATS: dict[str, type[AnswerFormat]] = {".csv": CsvAnswers, ".jsonl": JsonAnswers, ".parquet": ParquetAnswers}
"""From the ending of the output to how it is written."""

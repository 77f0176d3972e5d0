"""Answers of a question besides figures: tables and pictures; the error if it is unsupported."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

Cell = str | int | float


class NotMeasuredError(Exception):
    """Raised by a question that is unsupported here, with the reason; its saved results stay."""


@dataclass(frozen=True)
class Table:
    """Measured numbers in rows and columns.

    Parameters
    ----------
    caption : str
        What the table shows.
    columns : sequence of str
        The heads of the columns.
    rows : sequence of sequences of str, int or float
        As many cells each as there are columns.
    """

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]

    def to_dict(self) -> dict[str, Any]:
        """Return what goes into the results file."""
        return asdict(self)


@dataclass(frozen=True)
class Picture:
    """Curves over one axis.

    Parameters
    ----------
    name : str
        The picture is kept in docs/figures/<name>.png.
    title : str
        What it shows.
    x_label, y_label : str
        What the axes are.
    x : sequence of float
        Where the curves were measured.
    curves : mapping of str to sequences of float
        The curves by name, as long as ``x``.
    scale : {"log", "linear"}, default="log"
        Of both axes.
    """

    name: str
    title: str
    x_label: str
    y_label: str
    x: Sequence[float]
    curves: Mapping[str, Sequence[float]]
    scale: str = "log"

    def to_dict(self) -> dict[str, Any]:
        """Return what goes into the results file."""
        return asdict(self)


def shown(cell: Cell) -> str:
    """Return a cell as it is printed: numbers to three digits, with spaces between thousands.

    Examples
    --------
    >>> shown(0.1234), shown(12.34), shown(1234.5), shown("yeast")
    ('0.12', '12.3', '1 234', 'yeast')
    """
    if isinstance(cell, str):
        return cell
    digits = 0 if isinstance(cell, int) or abs(cell) >= 100 else 1 if abs(cell) >= 10 else 2
    return f"{cell:,.{digits}f}".replace(",", " ")


def table_lines(table: Table) -> list[str]:
    """Return a table as lines of Markdown; columns of numbers flush right."""
    aligned = [
        "---" if all(isinstance(row[c], str) for row in table.rows) else "---:"
        for c in range(len(table.columns))
    ]
    rows = [table.columns, aligned, *([shown(cell) for cell in row] for row in table.rows)]
    return [f"| {' | '.join(row)} |" for row in rows]

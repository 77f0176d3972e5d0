"""Tables as HTML; whatever comes from outside is escaped here, and nowhere else."""

from collections.abc import Iterable, Sequence
from html import escape

Cell = str | int | float
WORDS = ' class="words"'


def text(value: Cell) -> str:
    """Return a value as text of a page.

    Examples
    --------
    >>> text("<b>"), text(12345)
    ('&lt;b&gt;', '12,345')
    """
    return escape(f"{value:,}" if isinstance(value, int) else str(value))


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    *,
    name: str,
    caption: str,
    sortable: bool = False,
    n_words: int = 1,
) -> str:
    """Return a table, its first column the heads of rows, in a frame that scrolls by itself where it is too wide.

    Parameters
    ----------
    columns : sequence of str
        Their heads.
    rows : iterable of sequences
        What stands in them.
    name : str
        The table's id.
    caption : str
        What it shows.
    sortable : bool
        Whether heads are buttons that sort by their column.
    n_words : int
        The first columns, which hold words and stand at the left; the others hold numbers.
    """
    heads = "".join(
        _head(column, place < n_words, sortable) for place, column in enumerate(columns)
    )
    body = "".join(_row(row, n_words) for row in rows)
    return (
        f'<div class="scroll" role="region" aria-label="{text(caption)}">'
        f'<table id="{text(name)}"><caption>{text(caption)}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _head(column: str, is_words: bool, sortable: bool) -> str:
    inner = (
        f'<button type="button" class="sort">{text(column)}</button>' if sortable else text(column)
    )
    return f'<th scope="col"{WORDS if is_words else ""}>{inner}</th>'


def _row(cells: Sequence[Cell], n_words: int) -> str:
    first, *others = cells
    filled = (
        f"<td{WORDS if place < n_words else ''}>{text(cell)}</td>"
        for place, cell in enumerate(others, start=1)
    )
    return f'<tr><th scope="row">{text(first)}</th>{"".join(filled)}</tr>\n'


def behind(table_of_figure: str) -> str:
    """Return the table behind a figure, folded away.

    Examples
    --------
    >>> behind("<table></table>")
    '<details class="behind"><summary>Table behind the figure</summary><table></table></details>'
    """
    return f'<details class="behind"><summary>Table behind the figure</summary>{table_of_figure}</details>'

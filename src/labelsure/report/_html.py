"""Tables as HTML; whatever comes from outside is escaped here, and nowhere else."""

from collections.abc import Iterable, Sequence
from html import escape

Cell = str | int | float


def text(value: Cell) -> str:
    """Return a value as text of a page.

    Examples
    --------
    >>> text("<b>"), text(12345)
    ('&lt;b&gt;', '12,345')
    """
    return escape(f"{value:,}" if isinstance(value, int) else str(value))


def table(
    columns: Sequence[str], rows: Iterable[Sequence[Cell]], *, name: str, caption: str, sortable: bool = False
) -> str:
    """Return a table, its first column the heads of rows, in a frame that scrolls by itself where it is too wide.

    Parameters
    ----------
    columns : sequence of str
        Their heads.
    rows : iterable of sequences
        Texts stand at the left, numbers at the right.
    name : str
        The table's id.
    caption : str
        What it shows.
    sortable : bool
        Whether heads are buttons that sort by their column.
    """
    heads = "".join(_head(column, place, sortable) for place, column in enumerate(columns))
    body = "".join(_row(row) for row in rows)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{text(caption)}">'
        f'<table id="{text(name)}"><caption>{text(caption)}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _head(column: str, place: int, sortable: bool) -> str:
    inner = f'<button type="button" class="sort">{text(column)}</button>' if sortable else text(column)
    return f'<th scope="col"{" class=number" if place else ""}>{inner}</th>'


def _row(cells: Sequence[Cell]) -> str:
    first, *others = cells
    return f'<tr><th scope="row">{text(first)}</th>{"".join(f"<td>{text(cell)}</td>" for cell in others)}</tr>\n'


def behind(table_of_figure: str) -> str:
    """Return the table behind a figure, folded away.

    Examples
    --------
    >>> behind("<table></table>")
    '<details class="behind"><summary>Table behind the figure</summary><table></table></details>'
    """
    return f'<details class="behind"><summary>Table behind the figure</summary>{table_of_figure}</details>'

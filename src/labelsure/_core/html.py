"""Small tables for notebooks: escaped, without scripts, in the notebook's own colours, light or dark."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

ROWS_SHOWN = 10
"""Objects that a notebook shows of a batch."""

NAMES_SHOWN = 12
"""Names of labels that a sentence lists."""

STYLE = (
    "<style>.labelsure{max-width:70em}.labelsure table{border-collapse:collapse;margin:.4em 0}"
    ".labelsure th,.labelsure td{text-align:left;vertical-align:top;padding:.2em .8em;white-space:normal;"
    "border-bottom:1px solid rgba(128,128,128,.35)}.labelsure p{margin:.2em 0}"
    ".labelsure td:first-child{white-space:nowrap}"
    ".labelsure .number{text-align:right;font-variant-numeric:tabular-nums}"
    ".labelsure .aside{opacity:.8;font-size:.92em}</style>"
)


def html_page(title: str, *parts: str) -> str:
    """Return a piece of HTML with a heading; the parts are HTML already.

    Examples
    --------
    >>> html_page("2 < 3", html_note("so they say")).removeprefix(STYLE)
    '<div class="labelsure"><p><strong>2 &lt; 3</strong></p><p class="aside">so they say</p></div>'
    """
    return f'{STYLE}<div class="labelsure"><p><strong>{escape(title)}</strong></p>{"".join(parts)}</div>'


def html_note(text: str) -> str:
    """Return a sentence of its own, or nothing."""
    return f'<p class="aside">{escape(text)}</p>' if text else ""


def html_table(columns: Mapping[str, Iterable[Any]], *, n_more: int = 0, numbers: Sequence[str] = ()) -> str:
    """Return a table of texts and numbers, and how many more rows there would be.

    Parameters
    ----------
    columns : mapping of headings to entries
        Floats are shown in three digits.
    n_more : int
        The number of objects left out.
    numbers : sequence of str
        The columns that are numbers.

    Examples
    --------
    >>> html_table({"a<b": [0.12345]}, numbers=["a<b"])
    '<table><thead><tr><th class="number">a&lt;b</th></tr></thead><tbody><tr><td class="number">0.123</td></tr>...'
    """
    kinds = [' class="number"' if name in numbers else "" for name in columns]
    heads = "".join(f"<th{kind}>{escape(name)}</th>" for kind, name in zip(kinds, columns, strict=True))
    rows = "".join(
        f"<tr>{''.join(f'<td{kind}>{_cell(value)}</td>' for kind, value in zip(kinds, row, strict=True))}</tr>"
        for row in zip(*columns.values(), strict=True)
    )
    more = html_note(f"... and {n_more} more.") if n_more else ""
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>{more}"


def _cell(value: Any) -> str:
    return escape(f"{value:.3g}" if isinstance(value, float) else str(value))


def shorten(names: Sequence[str], n_shown: int = NAMES_SHOWN) -> str:
    """Return the names in one line, of many only the first and how many more there are.

    Examples
    --------
    >>> shorten(["sea", "city", "night"], 1), shorten(["sea", "city"], 1)
    ('sea and 2 more', 'sea, city')
    """
    if len(names) <= n_shown + 1:  # "and 1 more" would save nothing
        return ", ".join(names)
    return f"{', '.join(names[:n_shown])} and {len(names) - n_shown} more"

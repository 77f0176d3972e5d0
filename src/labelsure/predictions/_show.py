"""Predictions, regions and summaries as HTML for notebooks: a few objects, labels by name."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from labelsure._checks import check_significance
from labelsure.engine import RegionSize
from labelsure.predictions._frames import name_labels

ROWS_SHOWN = 10
"""Objects that a notebook shows of a batch."""

NAMES_SHOWN = 12
"""Names of labels that a sentence lists."""

STYLE = (
    "<style>.labelsure{max-width:70em}.labelsure table{border-collapse:collapse;margin:.4em"
    " 0}.labelsure th,.labelsure td{text-align:left;vertical-align:top;padding:.2em"
    " .8em;white-space:normal;border-bottom:1px solid rgba(128,128,128,.35)}.labelsure"
    " p{margin:.2em 0}.labelsure td:first-child{white-space:nowrap}.labelsure"
    " .number{text-align:right;font-variant-numeric:tabular-nums}.labelsure"
    " .aside{opacity:.8;font-size:.92em}</style>"
)


def html_page(title: str, *parts: str) -> str:
    """Return a piece of HTML with a heading; the parts are HTML already.

    Examples
    --------
    >>> html_page("2 < 3", html_note("so they say")).removeprefix(STYLE)
    '<div class="labelsure"><p><strong>2 &lt; 3</strong></p><p class="aside">so they say</p></div>'
    """
    heading = f"<p><strong>{escape(title)}</strong></p>"
    return f'{STYLE}<div class="labelsure">{heading}{"".join(parts)}</div>'


def html_note(text: str) -> str:
    """Return a sentence as a paragraph, or nothing."""
    return f'<p class="aside">{escape(text)}</p>' if text else ""


def html_table(
    columns: Mapping[str, Iterable[Any]], *, n_more: int = 0, numbers: Sequence[str] = ()
) -> str:
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
    '<table><thead><tr><th class="number">a&lt;b</th></tr></thead><tbody><tr><td
    class="number">0.123</td></tr>...'
    """
    kinds = [' class="number"' if name in numbers else "" for name in columns]
    heads = "".join(
        f"<th{kind}>{escape(name)}</th>" for kind, name in zip(kinds, columns, strict=True)
    )
    rows = ""
    for row in zip(*columns.values(), strict=True):
        cells = zip(kinds, row, strict=True)
        rows += f"<tr>{''.join(f'<td{kind}>{_cell(value)}</td>' for kind, value in cells)}</tr>"
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


LOW_CREDIBILITY = 0.05
"""A credibility of at most this is called low: no labelset fits the object well."""


def in_words(labels: Sequence[str]) -> str:
    """Return the labels of a labelset, "no label" for the empty one."""
    return shorten(labels) or "no label"


def confidence_level(significance: float) -> str:
    """Return the level as a percentage.

    Examples
    --------
    >>> confidence_level(0.05)
    '95 %'
    """
    return f"{float(100 * (1 - check_significance(significance))):g} %"


def count_objects(n: int) -> str:
    """Return how many objects there are, in words."""
    return "1 object" if n == 1 else f"{n} objects"


def name_objects(index: Any, n_objects: int) -> list[Any]:
    """Return what the objects are called: as in their index, else 0, 1, ..."""
    return list(range(n_objects)) if index is None else list(index)


def _page(
    title: str,
    columns: Mapping[str, Iterable[Any]],
    numbers: Sequence[str],
    n_more: int,
    *notes: str,
) -> str:
    table = html_table(columns, n_more=max(n_more, 0), numbers=numbers)
    return html_page(title, table, *map(html_note, notes))


def show_predictions(predictions: Any) -> str:
    """Return the first objects' best labelsets with confidence and credibility, as HTML."""
    some = predictions[:ROWS_SHOWN]
    low = some.credibility <= LOW_CREDIBILITY
    figures = zip(some.credibility.tolist(), low.tolist(), strict=True)
    columns = {
        "object": name_objects(some.index, len(some)),
        "most plausible labelset": map(
            in_words, name_labels(some.label_names, some.labelsets.astype(bool))
        ),
        "confidence": some.confidence.tolist(),
        "credibility": [f"{value:.3g} (low)" if is_low else value for value, is_low in figures],
    }
    why = "Low credibility: no labelset fits the object well." if low.any() else ""
    n_more = len(predictions) - ROWS_SHOWN
    return _page(repr(predictions), columns, ["confidence", "credibility"], n_more, why)


def show_region(region: Any, what_empty_means: str) -> str:
    """Return which labels of the first objects are sure, possible and ruled out, as HTML."""
    some = region[:ROWS_SHOWN]
    columns = {
        "object": name_objects(some.index, len(some)),
        "sure": map(shorten, some.sure),
        "possible": map(shorten, some.possible),
        "ruled out": map(shorten, some.ruled_out),
        "labelsets": map(_shown, some.size_estimates),
    }
    neither = ~some.possible_values.any(axis=2)
    if neither.any() and not (neither.all(axis=1) == neither.any(axis=1)).all():
        columns["neither on nor off"] = map(shorten, name_labels(some.label_names, neither))
    note = what_empty_means if any(size.at_most == 0 for size in some.size_estimates) else ""
    title = f"{region!r}: {confidence_level(region.significance)} confidence"
    n_more = len(region) - ROWS_SHOWN
    return _page(title, columns, ["labelsets"], n_more, note, region.statement)


def _shown(size: RegionSize) -> str:
    return "none" if size.at_most == 0 else str(size)


def show_labels(predictions: Any) -> str:
    """Return the more plausible value of each label of the first objects, as HTML."""
    some = predictions[:ROWS_SHOWN]
    p_values = some.p_values
    close = np.argmax(p_values.min(axis=2), axis=1)
    of_close = p_values[np.arange(len(some)), close]
    columns = {
        "object": name_objects(some.index, len(some)),
        "labels more plausible on than off": map(
            in_words, name_labels(some.label_names, some.labels.astype(bool))
        ),
        "least sure": [some.label_names[j] for j in close.tolist()],
        "p-value off": of_close[:, 0].tolist(),
        "p-value on": of_close[:, 1].tolist(),
    }
    numbers, n_more = ["p-value off", "p-value on"], len(predictions) - ROWS_SHOWN
    return _page(repr(predictions), columns, numbers, n_more)


def show_ranked(ranked: Any) -> str:
    """Return the first objects' labelsets in order, as HTML."""
    shape = (len(ranked.objects), ranked.p_values.shape[-1])
    p_values = ranked.p_values.reshape(shape)
    n_ranks = min(shape[1], 2 * ROWS_SHOWN)
    n_shown = min(shape[0], max(1, 2 * ROWS_SHOWN // max(n_ranks, 1)))
    rows, ranks = np.nonzero(p_values[:n_shown, :n_ranks] > 0)
    labelsets = ranked.labelsets.reshape(*shape, len(ranked.label_names))[rows, ranks].astype(bool)
    names = list(ranked.objects[:n_shown])
    columns = {
        "object": [names[i] for i in rows],
        "rank": (ranks + 1).tolist(),
        "labelset": map(in_words, name_labels(ranked.label_names, labelsets)),
        "p-value": p_values[rows, ranks].tolist(),
    }
    title = f"The {shape[1]} most plausible labelsets of {count_objects(shape[0])}"
    return _page(title, columns, ["rank", "p-value"], shape[0] - n_shown)


def show_summaries(summaries: Any) -> str:
    """Return the first summaries, as HTML."""
    some = list(summaries[:ROWS_SHOWN])
    columns = {
        "object": [one.name for one in some],
        "prediction": [in_words(one.labels) for one in some],
        "confidence": [one.confidence for one in some],
        "credibility": [one.credibility for one in some],
        "sure": [shorten(one.sure) for one in some],
        "possible": [shorten(one.possible) for one in some],
        "ruled out": [shorten(one.ruled_out) for one in some],
        "labelsets": [_shown(one.n_labelsets) for one in some],
    }
    if any(one.note for one in some):
        columns["note"] = [one.note for one in some]
    title = f"{summaries!r}: {confidence_level(summaries.region.significance)} confidence"
    numbers, n_more = ["confidence", "credibility", "labelsets"], len(summaries) - ROWS_SHOWN
    return _page(title, columns, numbers, n_more)

"""The six figures that people ask for, as a block of docs/reproduction.md."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks._figures import Figure

PAGE = Path(__file__).parents[1] / "docs" / "reproduction.md"
SHOWN = (
    (
        "best labelset, confidence and credibility of an object; 14 labels, ten folds",
        "paths",
        "14 labels: best, confidence, credibility",
    ),
    ("size of a region too large to be counted; 100 labels", "paths", "100 labels: sizes"),
    ("one object in a call of its own, beyond the learner", "paths", "14 labels: one row"),
    (
        "all 16 384 p-values of 917 objects, inductive: speed against mulaconf at its best",
        "rivals",
        "against mulaconf, 2 objects at a time",
    ),
    (
        "first question in a new environment, 30 labels, compiling included",
        "compilation",
        "30 labels: best labelset, confidence",
    ),
    (
        "`labelsure predict` in a second, ten folds of gradient boosting, 8 labels",
        "stream",
        "rows in a second",
    ),
)
"""What the page says, the question that measured it, and the name of its figure."""


def speed_block(results: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the table of figures, from results by question."""
    rows = []
    for words, question, name in SHOWN:
        result = results[question]
        figure = next(Figure(**one) for one in result["figures"] if one["what"] == name)
        rows.append(f"| {words} | {figure.shown} | {result['date']} |")
    return "\n".join(["| what | measured | on |", "|---|---:|---|", *rows])


def write_block(page: str, name: str, block: str) -> str:
    """Return a page with what stands between the comments of a block's name replaced.

    Examples
    --------
    >>> print(write_block("<!-- a: begin -->\\nold\\n<!-- a: end -->", "a", "new"))
    <!-- a: begin -->
    <BLANKLINE>
    new
    <BLANKLINE>
    <!-- a: end -->
    """
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, _, rest = page.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise ValueError(f"the page must have the lines {begin} and {end}")
    return f"{before}{begin}\n\n{block}\n\n{end}{after}"

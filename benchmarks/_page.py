"""The results as a page of the documentation."""

from collections.abc import Sequence
from typing import Any

from benchmarks._answers import Picture, Table, table_lines
from benchmarks._figures import Figure

HEAD = """\
# Benchmarks

Written by `make bench` (`.venv/bin/python -m benchmarks`) from the files in
[benchmarks/results](../benchmarks/results); do not edit by hand. Ratios (x) compare two things measured in the same run
on the same machine; absolute times are only there to give an idea.
"""


def write_page(results: Sequence[dict[str, Any]]) -> str:
    """Return the page in Markdown for results as they are in the files, in this order."""
    return "\n".join([HEAD, *(_section(result) for result in results)])


def _section(result: dict[str, Any]) -> str:
    figures = [Figure(**figure) for figure in result["figures"]]
    rows = [f"| {figure.what} | {figure.shown} |" for figure in figures]
    shown = ["| what | measured |", "|---|---:|", *rows, ""] if rows else []
    machine = ", ".join(f"{name} {value}" for name, value in result["machine"].items())
    return "\n".join(
        [
            f"## {result['title']}",
            "",
            result["method"],
            "",
            *shown,
            *(line for table in result["tables"] for line in _table(Table(**table))),
            *(line for picture in result["pictures"] for line in _picture(Picture(**picture))),
            f"Measured on {result['date']} with: {machine}.",
            "",
        ]
    )


def _table(table: Table) -> list[str]:
    return [f"{table.caption}:", "", *table_lines(table), ""]


def _picture(picture: Picture) -> list[str]:
    return [f"![{picture.title}: {picture.y_label} by {picture.x_label}](figures/{picture.name}.png)", ""]

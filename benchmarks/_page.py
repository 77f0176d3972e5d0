"""The results as a page of the documentation."""

from collections.abc import Sequence
from typing import Any

from benchmarks._answers import Picture, Table, table_lines
from benchmarks._figures import Figure

HEAD = """\
<!-- written by `make bench` from benchmarks/results -->

# Benchmarks

How long do you wait for an answer? See [What people wait for](#what-people-wait-for), [Compiling](#compiling) for the
first answer in a new environment, and [Growth](#growth) for more labels, folds and examples. How does it compare? See
[Other packages](#other-packages). The other sections are for those who want to know where the time goes.

Ratios (x) compare two things measured in the same run on the same machine. Absolute times give an idea; what they
were measured on is [at the end](#the-machine).
"""


def write_page(results: Sequence[dict[str, Any]]) -> str:
    """Return the page in Markdown for results as they are in the files, in this order."""
    return "\n".join([HEAD, *(_section(result) for result in results), _machines(results)])


def _machines(results: Sequence[dict[str, Any]]) -> str:
    """Return what was measured with, once for all sections that share it."""
    titles: dict[str, list[str]] = {}
    for result in results:
        machine = ", ".join(f"{name} {value}" for name, value in result["machine"].items())
        titles.setdefault(machine, []).append(result["title"])
    usual = max(titles, key=lambda machine: len(titles[machine]), default="")
    lines = [
        f"- {'; '.join(titles[machine])}: {machine}." for machine in titles if machine != usual
    ]
    return "\n".join(
        ["## The machine", "", f"{usual}.", "", *(["But for:", "", *lines, ""] if lines else [])]
    )


def _section(result: dict[str, Any]) -> str:
    figures = [Figure(**figure) for figure in result["figures"]]
    rows = [f"| {figure.what} | {figure.shown} |" for figure in figures]
    shown = ["| what | measured |", "|---|---:|", *rows, ""] if rows else []
    return "\n".join(
        [
            f"## {result['title']}",
            "",
            result["method"],
            "",
            *shown,
            *(line for table in result["tables"] for line in _table(Table(**table))),
            *(line for picture in result["pictures"] for line in _picture(Picture(**picture))),
            f"Measured on {result['date']}.",
            "",
        ]
    )


def _table(table: Table) -> list[str]:
    return [f"{table.caption}:", "", *table_lines(table), ""]


def _picture(picture: Picture) -> list[str]:
    return [
        f"![{picture.title}: {picture.y_label} by {picture.x_label}](figures/{picture.name}.png)",
        "",
    ]

"""The paper's tables beside the measured ones, as plain text of at most 100 columns."""

from collections.abc import Sequence
from typing import TypeAlias

from labelsure.cli._paper import PENALTIES, SIGNIFICANCES, Tables, paper_tables

GAP = "   "
MEASURE_NAMES = ("Hamming loss", "subset accuracy", "F macro", "F micro")
KINDS = ("paper", "ours", "sd")

Cells: TypeAlias = tuple[str, ...]
"""One figure as text: the paper's, the mean of ours, and its standard deviation."""


def single_prediction_table(name: str, means: Tables, deviations: Tables) -> str:
    """Return the table of single predictions of the data set ``name``."""
    paper, ours, sds = (tables["single_predictions"][name] for tables in (paper_tables(), means, deviations))
    rows = []
    for row in ours:
        figures = zip(paper.get(row, [None] * len(MEASURE_NAMES)), ours[row], sds[row], strict=True)
        rows.append((row, [tuple(map(_measure, figure)) for figure in figures]))
    return f"{name}: single predictions\n{_grid(MEASURE_NAMES, rows)}"


def region_table(name: str, means: Tables, deviations: Tables) -> str:
    """Return the table of region sizes and errors of the data set ``name``, in percent of the test objects."""
    groups = [f"{100 - 100 * significance:.0f} %" for significance in SIGNIFICANCES.values()]
    caption = f"{name}: number of labelsets in the prediction regions, and errors, in % of the test objects"
    blocks = []
    for penalty in PENALTIES:
        paper, ours, sds = (tables["regions"][name][penalty] for tables in (paper_tables(), means, deviations))
        rows = [
            (key, [tuple(_percentage(part[level].get(key)) for part in (paper, ours, sds)) for level in paper])
            for key in _keys_shown(paper, ours)
        ]
        blocks.append(_grid(groups, rows, corner=penalty))
    return caption + "\n" + "\n\n".join(blocks)


def _keys_shown(paper: Tables, ours: Tables) -> list[str]:
    """Return "empty", the paper's bins with those that only we have used, and "errors", in ascending order."""
    some_level = next(iter(ours))
    return [
        key
        for key in ours[some_level]
        if key == "empty" or key in paper[some_level] or any(figures[key] > 0 for figures in ours.values())
    ]


def _measure(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}".removeprefix("0")


def _percentage(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _grid(groups: Sequence[str], rows: Sequence[tuple[str, Sequence[Cells]]], *, corner: str = "") -> str:
    """Return rows under two lines of headings: the groups, and under each of them paper, ours and sd."""
    names = ["", corner, *(name for name, _ in rows)]
    blocks = [[name.ljust(max(map(len, names))) for name in names]]
    blocks += [_block(heading, [cells[i] for _, cells in rows]) for i, heading in enumerate(groups)]
    return "\n".join(GAP.join(parts).rstrip() for parts in zip(*blocks, strict=True))


def _block(heading: str, cells: Sequence[Cells]) -> list[str]:
    """Return the lines of one group, all of the same length."""
    triples = [KINDS, *cells]
    widths = [max(map(len, column)) for column in zip(*triples, strict=True)]
    lines = [" ".join(text.rjust(width) for text, width in zip(triple, widths, strict=True)) for triple in triples]
    width = max(len(heading), len(lines[0]))
    return [heading.center(width), *(line.rjust(width) for line in lines)]

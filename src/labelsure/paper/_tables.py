"""The paper's figures and settings, and its tables beside measured ones, as plain text."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from statistics import mean, stdev
from typing import Any, TypeAlias

Tables: TypeAlias = dict[str, Any]
"""Figures in the layout of paper_tables.json.

``["single_predictions"][data set][row]`` is the list of the four measures, and
``["regions"][data set]["lambda=0"]["0.05"]`` maps size bins, "empty" and "errors" to percentages.
"""


@dataclass(frozen=True)
class PaperDataset:
    """How the paper used a data set: its number of folds, and the files it must have had."""

    n_folds: int
    n_train: int
    n_test: int
    n_features: int
    n_labels: int


DATASETS = {
    "scene": PaperDataset(n_folds=12, n_train=1211, n_test=1196, n_features=294, n_labels=6),
    "yeast": PaperDataset(n_folds=15, n_train=1500, n_test=917, n_features=103, n_labels=14),
}
SIGNIFICANCES = {"0.05": 0.05, "0.10": 0.10, "0.20": 0.20}
PENALTIES = {"lambda=0": 0.0, "lambda=1": 1.0}

GAP = "   "
MEASURE_NAMES = ("Hamming loss", "subset accuracy", "F macro", "F micro")
KINDS = ("paper", "ours", "sd")

Cells: TypeAlias = tuple[str, ...]
"""One figure as text: the paper's, the mean of ours, and its standard deviation."""


@cache
def paper_tables() -> Tables:
    """Return every figure of the paper's four tables.

    Examples
    --------
    >>> paper_tables()["single_predictions"]["yeast"]["ML-kNN"]
    [0.198, 0.1658, 0.3567, 0.636]
    """
    tables: Tables = json.loads(
        files("labelsure.paper").joinpath("paper_tables.json").read_text(encoding="utf-8")
    )
    return tables


def means(tables: Sequence[Tables]) -> Tables:
    """Return the mean over several runs of every figure.

    Examples
    --------
    >>> means([{"a": [1.0, 2.0]}, {"a": [3.0, 2.0]}])
    {'a': [2.0, 2.0]}
    """
    combined: Tables = _combine(tables, mean)
    return combined


def standard_deviations(tables: Sequence[Tables]) -> Tables:
    """Return the standard deviation (n - 1) over runs of every figure; None for a single run.

    Examples
    --------
    >>> standard_deviations([{"a": [1.0, 2.0]}, {"a": [3.0, 2.0]}])
    {'a': [1.4142135623730951, 0.0]}
    >>> standard_deviations([{"a": [1.0]}])
    {'a': [None]}
    """
    combined: Tables = _combine(tables, lambda values: stdev(values) if len(values) > 1 else None)
    return combined


def _combine(parts: Sequence[Any], function: Callable[[list[float]], float | None]) -> Any:
    """Apply ``function`` to the figures at the same place of all ``parts`` that have them."""
    if isinstance(parts[0], dict):
        shared = [key for key in parts[0] if all(key in part for part in parts)]
        return {key: _combine([part[key] for part in parts], function) for key in shared}
    if isinstance(parts[0], list):
        return [_combine(values, function) for values in zip(*parts, strict=True)]
    return function(list(parts))


def single_prediction_table(name: str, means: Tables, deviations: Tables) -> str:
    """Return the table of single predictions of the data set ``name``."""
    paper, ours, sds = (
        tables["single_predictions"][name] for tables in (paper_tables(), means, deviations)
    )
    rows = []
    for row in ours:
        figures = zip(paper.get(row, [None] * len(MEASURE_NAMES)), ours[row], sds[row], strict=True)
        rows.append((row, [tuple(map(_measure, figure)) for figure in figures]))
    return f"{name}: single predictions\n{_grid(MEASURE_NAMES, rows)}"


def region_table(name: str, means: Tables, deviations: Tables) -> str:
    """Return the table of region sizes and errors of a data set, in percent of test objects."""
    groups = [f"{100 - 100 * significance:.0f} %" for significance in SIGNIFICANCES.values()]
    caption = (
        f"{name}: number of labelsets in the prediction regions, and errors,"
        " in % of the test objects"
    )
    blocks = []
    for penalty in PENALTIES:
        paper, ours, sds = (
            tables["regions"][name][penalty] for tables in (paper_tables(), means, deviations)
        )
        rows = [
            (
                key,
                [
                    tuple(_percentage(part[level].get(key)) for part in (paper, ours, sds))
                    for level in paper
                ],
            )
            for key in _keys_shown(paper, ours)
        ]
        blocks.append(_grid(groups, rows, corner=penalty))
    return caption + "\n" + "\n\n".join(blocks)


def _keys_shown(paper: Tables, ours: Tables) -> list[str]:
    """Return "empty", the paper's bins and those that only we have, and "errors"."""
    some_level = next(iter(ours))
    return [
        key
        for key in ours[some_level]
        if key == "empty"
        or key in paper[some_level]
        or any(figures[key] > 0 for figures in ours.values())
    ]


def _measure(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}".removeprefix("0")


def _percentage(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _grid(
    groups: Sequence[str], rows: Sequence[tuple[str, Sequence[Cells]]], *, corner: str = ""
) -> str:
    """Return rows under two lines of headings: the groups, and in each paper, ours and sd."""
    names = ["", corner, *(name for name, _ in rows)]
    blocks = [[name.ljust(max(map(len, names))) for name in names]]
    blocks += [_block(heading, [cells[i] for _, cells in rows]) for i, heading in enumerate(groups)]
    return "\n".join(GAP.join(parts).rstrip() for parts in zip(*blocks, strict=True))


def _block(heading: str, cells: Sequence[Cells]) -> list[str]:
    """Return the lines of one group, all of the same length."""
    triples = [KINDS, *cells]
    widths = [max(map(len, column)) for column in zip(*triples, strict=True)]
    lines = [
        " ".join(text.rjust(width) for text, width in zip(triple, widths, strict=True))
        for triple in triples
    ]
    width = max(len(heading), len(lines[0]))
    return [heading.center(width), *(line.rjust(width) for line in lines)]

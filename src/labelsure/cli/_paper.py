"""The paper's figures and settings, and what measured figures are compared with them."""

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


@cache
def paper_tables() -> Tables:
    """Return every figure of the paper's four tables.

    Examples
    --------
    >>> paper_tables()["single_predictions"]["yeast"]["ML-kNN"]
    [0.198, 0.1658, 0.3567, 0.636]
    """
    tables: Tables = json.loads(files("labelsure.cli").joinpath("paper_tables.json").read_text(encoding="utf-8"))
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
    """Return the standard deviation over several runs, with n - 1, of every figure; None where there is one run.

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
    """Apply ``function`` to the figures in the same place of all ``parts``, which are nested alike."""
    if isinstance(parts[0], dict):
        return {key: _combine([part[key] for part in parts], function) for key in parts[0]}
    if isinstance(parts[0], list):
        return [_combine(values, function) for values in zip(*parts, strict=True)]
    return function(list(parts))

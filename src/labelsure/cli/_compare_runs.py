"""The runs of ``labelsure compare``: whatever cells are missing, each kept as soon as it is finished."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from labelsure._core.running import progress_bar
from labelsure.cli._arguments import BASELINE, GUARANTEES, INDUCTIVE
from labelsure.cli._compare_cells import measure_cells
from labelsure.cli._compare_data import PooledData
from labelsure.cli._compare_models import learn
from labelsure.cli._compare_results import Results, Row
from labelsure.cli._learners import make_learner
from labelsure.measures import make_measure


@dataclass(frozen=True)
class Plan:
    """What is to be compared: every learner with every measure, and the baseline, which no learner changes.

    Attributes
    ----------
    datasets : sequence of PooledData
    learners, measures, guarantees : sequences of str
        By name.
    levels : sequence of str
        Confidence levels in percent.
    n_resplits, n_folds : int
        How many.
    """

    datasets: Sequence[PooledData]
    learners: Sequence[str]
    measures: Sequence[str]
    guarantees: Sequence[str]
    levels: Sequence[str]
    n_resplits: int
    n_folds: int

    def pairs(self) -> list[tuple[str, str]]:
        """Return learners with measures, the baseline once and last, asked for or not."""
        return [*(pair for pair in product(self.learners, self.measures) if pair[1] != BASELINE[1]), BASELINE]

    def terms(self) -> dict[str, Any]:
        """Return what results are kept with, see :class:`Results`."""
        learners, measures = (dict.fromkeys(names) for names in zip(*self.pairs(), strict=True))
        return {
            "settings": {"folds": self.n_folds, "confidence": list(self.levels)},
            "datasets": {data.name: data.describe() for data in self.datasets},
            "learners": {
                data.name: {name: _in_one_line(make_learner(name, data.X)) for name in learners}
                for data in self.datasets
            },
            "measures": {name: _in_one_line(make_measure(name)) for name in measures},
            "guarantees": {name: GUARANTEES[name] for name in self.guarantees},
        }


def measure_missing(plan: Plan, results: Results, *, n_jobs: int, client: Any = None) -> None:
    """Measure the cells that the results do not have yet, and add each to them as soon as it is finished.

    Cells of a learner on a resplit with as many folds share its models, which are fitted once for all; on a
    Dask cluster where there is a client of one.
    """
    cells = product(plan.datasets, range(plan.n_resplits), plan.pairs(), plan.guarantees)
    groups: dict[tuple[PooledData, int, str, int], dict[str, list[Row]]] = {}
    for data, number, (learner, measure), guarantee in cells:
        row = Row(data.name, learner, measure, guarantee)
        if (row, number) not in results.cells:
            n_folds = 1 if guarantee == INDUCTIVE else plan.n_folds
            groups.setdefault((data, number, learner, n_folds), {}).setdefault(measure, []).append(row)
    n_missing = sum(len(rows) for by_measure in groups.values() for rows in by_measure.values())
    with progress_bar(description="cells", total=n_missing) as bar:
        for (data, number, learner, n_folds), by_measure in groups.items():
            measures = [make_measure(name) for name in by_measure]
            needs = [each.needs for each in measures]
            learning: dict[str, Any] = {"needs": needs, "seed": number, "n_jobs": n_jobs, "client": client}
            models = learn(make_learner(learner, data.X), data.resplit(number), n_folds, **learning)
            for each, rows in zip(measures, by_measure.values(), strict=True):
                guarantees = [row.guarantee for row in rows]
                measured = measure_cells(
                    each, models, guarantees, levels=plan.levels, n_sized=data.n_sized, n_jobs=n_jobs
                )
                for row, cell in zip(rows, measured, strict=True):
                    results.add(row, number, cell)
                    bar.update()


def _in_one_line(estimator: Any) -> str:
    """Return what an estimator is, without the addresses of functions in it, which are others in every process."""
    return re.sub(" at 0x[0-9a-f]+", "", " ".join(repr(estimator).split()))

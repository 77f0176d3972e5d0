"""The runs of ``labelsure compare``: whatever cells are missing, each kept as soon as it is finished."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from labelsure._core.running import progress_bar
from labelsure.cli._arguments import GUARANTEES
from labelsure.cli._compare_cells import Splitting, learn, measure_cells, splitting_of
from labelsure.cli._compare_data import PooledData, Resplit
from labelsure.cli._compare_learners import make_learner
from labelsure.cli._compare_results import Results, Row
from labelsure.measures import make_measure


@dataclass(frozen=True)
class Plan:
    """What is to be compared.

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

    def terms(self) -> dict[str, Any]:
        """Return what results are kept with, see :class:`Results`."""
        return {
            "settings": {"folds": self.n_folds, "confidence": list(self.levels)},
            "datasets": {data.name: data.describe() for data in self.datasets},
            "learners": {
                data.name: {name: _in_one_line(make_learner(name, data.X)) for name in self.learners}
                for data in self.datasets
            },
            "measures": {name: _in_one_line(make_measure(name)) for name in self.measures},
            "guarantees": {name: GUARANTEES[name] for name in self.guarantees},
        }

    def missing(self, results: Results) -> int:
        """Return how many cells are still to be measured."""
        rows = product([data.name for data in self.datasets], self.learners, self.measures, self.guarantees)
        cells = product((Row(*row) for row in rows), range(self.n_resplits))
        return sum(cell not in results.cells for cell in cells)


def measure_missing(plan: Plan, results: Results, *, n_jobs: int) -> None:
    """Measure the cells that the results do not have yet, and add each to them as soon as it is finished."""
    with progress_bar(description="cells", total=plan.missing(results)) as bar:
        for data, number in product(plan.datasets, range(plan.n_resplits)):
            resplit = data.resplit(number)
            for learner in plan.learners:
                rows = (Row(data.name, learner, *names) for names in product(plan.measures, plan.guarantees))
                missing = [row for row in rows if (row, number) not in results.cells]
                for row, cell in _measure_rows(missing, plan, data, resplit, number, n_jobs):
                    results.add(row, number, cell)
                    bar.update()


def _measure_rows(
    rows: Sequence[Row], plan: Plan, data: PooledData, resplit: Resplit, seed: int, n_jobs: int
) -> Iterator[tuple[Row, dict[str, Any]]]:
    """Yield the cells of some rows of one learner, whose models are fitted once for all of them."""
    groups: dict[Splitting, dict[str, list[Row]]] = {}
    for row in rows:
        splitting = splitting_of(row.guarantee, n_folds=plan.n_folds, n_examples=data.n_train)
        groups.setdefault(splitting, {}).setdefault(row.measure, []).append(row)
    for splitting, by_measure in groups.items():
        measures = {name: make_measure(name) for name in by_measure}
        learner = make_learner(rows[0].learner, data.X)
        learned = learn(learner, resplit, splitting, measures=list(measures.values()), seed=seed, n_jobs=n_jobs)
        for name, of_measure in by_measure.items():
            guarantees = [row.guarantee for row in of_measure]
            cells = measure_cells(
                measures[name], learned, guarantees, levels=plan.levels, n_sized=data.n_sized, n_jobs=n_jobs
            )
            yield from zip(of_measure, cells, strict=True)


def _in_one_line(estimator: Any) -> str:
    """Return what an estimator is, without the addresses of functions in it, which are others in every process."""
    return re.sub(" at 0x[0-9a-f]+", "", " ".join(repr(estimator).split()))

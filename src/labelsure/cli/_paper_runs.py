"""The runs behind the paper's tables, every learner on every data set with every seed, and what is printed."""

import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from sklearn.preprocessing import MinMaxScaler

from labelsure._errors import CommandError
from labelsure._parallel import map_in_threads, one_thread
from labelsure._version import __version__
from labelsure.cli._writing import say, versions, write_whole
from labelsure.conformal import CrossConformalClassifier
from labelsure.datasets import Dataset, DatasetError, load_dataset
from labelsure.measures import PowerMeasure
from labelsure.metrics import error_rate, size_histogram
from labelsure.metrics._point import point_measures
from labelsure.paper import BPMLLClassifier, MLkNNClassifier, MLNBClassifier, MLRBFClassifier
from labelsure.paper._tables import (
    DATASETS,
    PENALTIES,
    SIGNIFICANCES,
    PaperDataset,
    Tables,
    means,
    paper_tables,
    region_table,
    single_prediction_table,
    standard_deviations,
)

MEASURES = ("hamming_loss", "subset_accuracy", "f1_macro", "f1_micro")
CONFORMAL_ROWS = {f"ML-RBF CCP {name}": name for name in PENALTIES}
ROWS = (*CONFORMAL_ROWS, "ML-RBF", "BP-MLL", "BP-MLL shuffled", "ML-kNN", "ML-NB")

NOTES = """\
ours and sd: mean and standard deviation over the seeds, which draw the folds, the centres of
  ML-RBF, the first weights of BP-MLL and the search of ML-NB. ML-kNN draws nothing.
BP-MLL: in file order, as the paper ran it. Scene's training file is sorted by class, and the
  network remembers the last. "BP-MLL shuffled", in a new order every epoch, is not in the paper.
empty: regions without any labelset. The paper has no row for them and its sizes add up to 100 %:
  it counted them as size 1, or put the best labelset in."""


class Run(NamedTuple):
    """One learner on one data set with one seed."""

    dataset: Dataset
    row: str
    seed: int


def reproduce(names: Sequence[str], n_seeds: int, n_jobs: int, json_file: Path | None) -> None:
    """Measure everything on the data sets of these names, write the JSON file if one is asked for, and print."""
    datasets = [load_paper_dataset(name) for name in names]
    say(_heading(datasets, n_seeds))
    tables = measure_tables(datasets, n_seeds=n_seeds, n_jobs=n_jobs)
    if json_file is not None:
        _write(json_file, tables)
    average, deviations = means(tables), standard_deviations(tables)
    for data in datasets:
        say(f"\n{single_prediction_table(data.name, average, deviations)}")
        say(f"\n{region_table(data.name, average, deviations)}")
    say(f"\n{NOTES}")


def load_paper_dataset(name: str) -> Dataset:
    """Return one of the paper's data sets, its features scaled to [0, 1] on the training file.

    The paper does not mention the scaling, but only with it does ML-kNN, which draws nothing, give
    the paper's figures.

    Raises
    ------
    CommandError
        If the data set cannot be had, or is not the one that the paper used.
    """
    others = [other for other in DATASETS if other != name]
    go_on = f" To go on without it: labelsure reproduce {' '.join(others)}"
    try:
        data = load_dataset(name)
    except DatasetError as error:
        raise CommandError(f"{error}{go_on}") from error
    expected = DATASETS[name]
    found = PaperDataset(
        expected.n_folds, data.n_train, len(data.Y_test), data.X.shape[1], data.Y.shape[1]
    )
    if found != expected:
        raise CommandError(
            f"{name} must be the paper's, in its standard split: {expected.n_train} training and"
            f" {expected.n_test} test"
            f" objects, {expected.n_features} features, {expected.n_labels} labels; got {data}"
            f" from {data.source}."
            f" Remove those files from LABELSURE_DATA, or replace them.{go_on}"
        )
    X = MinMaxScaler().fit(data.X_train).transform(data.X)
    return Dataset(
        name, X, data.Y, data.feature_names, data.label_names, data.n_train, source=data.source
    )


def measure_tables(datasets: Sequence[Dataset], *, n_seeds: int, n_jobs: int) -> list[Tables]:
    """Return the figures of every seed in the layout of the paper's tables.

    Parameters
    ----------
    datasets : sequence of Dataset
        From :func:`load_paper_dataset`.
    n_seeds : int
        How many seeds, counted from 0.
    n_jobs : int
        How many runs at a time; results do not depend on it.
    """
    runs = [Run(*run) for run in product(datasets, ROWS, range(n_seeds))]
    tables: list[Tables] = [
        {
            "single_predictions": {data.name: {} for data in datasets},
            "regions": {data.name: {} for data in datasets},
        }
        for _ in range(n_seeds)
    ]
    with one_thread():  # the runs are the threads
        figures = map_in_threads(
            measure_run, runs, n_jobs=n_jobs, description="learners, data sets and seeds"
        )
        for run, (measures, regions) in zip(runs, figures, strict=True):
            table = tables[run.seed]
            table["single_predictions"][run.dataset.name][run.row] = measures
            if regions:
                table["regions"][run.dataset.name][CONFORMAL_ROWS[run.row]] = regions
    return tables


def measure_run(run: Run) -> tuple[list[float], dict[str, dict[str, float]]]:
    """Fit the run's learner on the training part and compare what it says about the test part with the truth.

    Returns
    -------
    tuple
        The four measures and, of a conformal predictor, percentages by significance and bin.
    """
    data = run.dataset
    regions = {}
    # again in this thread: OpenMP counts per thread, and the last digits of sums depend on its
    # number of threads
    with one_thread():
        model = make_learner(run.row, n_folds=DATASETS[data.name].n_folds, seed=run.seed)
        model.fit(data.X_train, data.Y_train)
        if run.row in CONFORMAL_ROWS:
            predictions = model.predict_labelsets(data.X_test)
            predicted = predictions.labelsets
            for name, significance in SIGNIFICANCES.items():
                region = predictions.region(significance)
                sizes = size_histogram(region.sizes, max_size=2 ** data.Y.shape[1])
                shares = {**sizes.to_dict(), "errors": error_rate(region.contains(data.Y_test))}
                regions[name] = {what: 100 * share for what, share in shares.items()}
        else:
            predicted = model.predict(data.X_test)
        figures = point_measures(data.Y_test, predicted)
        return [figures[name] for name in MEASURES], regions


def make_learner(row: str, *, n_folds: int, seed: int) -> Any:
    """Return the unfitted classifier of a row, with the paper's settings."""
    if row in CONFORMAL_ROWS:
        measure = PowerMeasure(d=4, pair_penalty=PENALTIES[CONFORMAL_ROWS[row]])
        return CrossConformalClassifier(
            MLRBFClassifier(), measure=measure, cv=n_folds, empty="exclude", random_state=seed
        )
    learners = {
        "ML-RBF": MLRBFClassifier(random_state=seed),
        "BP-MLL": BPMLLClassifier(shuffle=False, random_state=seed),
        "BP-MLL shuffled": BPMLLClassifier(random_state=seed),
        "ML-kNN": MLkNNClassifier(),
        "ML-NB": MLNBClassifier(random_state=seed),
    }
    return learners[row]


def _heading(datasets: Sequence[Dataset], n_seeds: int) -> str:
    lines = [paper_tables()["source"], "seed 0" if n_seeds == 1 else f"seeds 0 to {n_seeds - 1}"]
    lines += [
        f"{data.name}: {data.n_train} training and {len(data.test)} test objects,"
        f" {len(data.feature_names)} features,"
        f" {len(data.label_names)} labels, {DATASETS[data.name].n_folds} folds"
        for data in datasets
    ]
    return "\n".join(lines)


def _write(path: Path, tables: Sequence[Tables]) -> None:
    """Write means in the layout of the paper's tables, then what they are the means of."""
    document = {
        "source": f"labelsure {__version__} reproduce",
        **means(tables),
        "columns_of_single_predictions": paper_tables()["columns_of_single_predictions"],
        "standard_deviations": standard_deviations(tables),
        "seeds": list(range(len(tables))),
        "by_seed": list(tables),
        "versions": versions(),
    }
    write_whole(path, json.dumps(document, indent=1) + "\n")

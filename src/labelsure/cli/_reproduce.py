"""``labelsure reproduce``: the paper's four tables beside those measured here and now."""

import json
from argparse import ArgumentTypeError, Namespace
from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from labelsure._errors import CommandError
from labelsure._version import __version__
from labelsure.cli import _arguments as arguments
from labelsure.cli._common import say, versions, write_whole

if TYPE_CHECKING:
    from labelsure.datasets import Dataset
    from labelsure.paper._tables import Tables

NAMES = ("scene", "yeast")
CONFORMAL_ROWS = {f"ML-RBF CCP {penalty}": penalty for penalty in ("lambda=0", "lambda=1")}
ROWS = (*CONFORMAL_ROWS, "ML-RBF", "BP-MLL", "BP-MLL shuffled", "ML-kNN", "ML-NB")

NOTES = """\
ours and sd: mean and standard deviation over the seeds, which draw the folds, the centres of
  ML-RBF, the first weights of BP-MLL and the search of ML-NB. ML-kNN draws nothing.
BP-MLL: in file order, as the paper ran it. Scene's training file is sorted by class, and the
  network remembers the last. "BP-MLL shuffled", in a new order every epoch, is not in the paper.
empty: regions without any labelset. The paper has no row for them and its sizes add up to 100 %:
  it counted them as size 1, or put the best labelset in."""


def add_parser(commands: Any) -> None:
    """Add the command to ``commands``, argparse's subparsers."""
    parser = commands.add_parser(
        "reproduce",
        help="print the tables of Papadopoulos (2014) beside measured ones",
        description="Run everything in Papadopoulos 2014, A Cross-Conformal Predictor for"
        " Multi-label Classification, and print its tables beside the measured ones. Data sets are"
        " looked for in the folder that the environment variable LABELSURE_DATA names, in the"
        " user's cache and, for yeast, in the package river, and else downloaded.",
    )
    option, about = arguments.option, "scene or yeast; without any name all of them"
    option(parser, "datasets", "dataset", about, _paper_name, nargs="*", default=list(NAMES))
    about = "runs to average over (default: 1)"
    option(parser, "--seeds", "N", about, arguments.count, default=1)
    about = "runs at a time (default: one per core)"
    option(parser, "--jobs", "N", about, arguments.jobs, default=-1)
    option(
        parser, "--json", "FILE", "also write the measured figures to FILE", arguments.output_file
    )
    parser.set_defaults(run=run)


def _paper_name(text: str) -> str:
    if text not in NAMES:
        raise ArgumentTypeError(f"the paper's data sets are {' and '.join(NAMES)}, got {text!r}")
    return text


def run(options: Namespace) -> None:
    """Measure, write the JSON file if there is to be one, and print."""
    from labelsure.paper import _tables as paper

    datasets = [load_paper_dataset(name) for name in dict.fromkeys(options.datasets)]
    n_seeds = options.seeds
    say(paper.paper_tables()["source"])
    say("seed 0" if n_seeds == 1 else f"seeds 0 to {n_seeds - 1}")
    for data in datasets:
        say(
            f"{data.name}: {data.n_train} training and {len(data.test)} test objects,"
            f" {len(data.feature_names)} features, {len(data.label_names)} labels,"
            f" {paper.DATASETS[data.name].n_folds} folds"
        )
    tables = measure_tables(datasets, n_seeds=n_seeds, n_jobs=options.jobs)
    average, deviations = paper.means(tables), paper.standard_deviations(tables)
    if options.json is not None:
        columns = "columns_of_single_predictions"
        document = {
            "source": f"labelsure {__version__} reproduce",
            **average,
            columns: paper.paper_tables()[columns],
            "standard_deviations": deviations,
            "seeds": list(range(n_seeds)),
            "by_seed": tables,
            "versions": versions(),
        }
        write_whole(options.json, json.dumps(document, indent=1) + "\n")
    for data in datasets:
        say(f"\n{paper.single_prediction_table(data.name, average, deviations)}")
        say(f"\n{paper.region_table(data.name, average, deviations)}")
    say(f"\n{NOTES}")


def load_paper_dataset(name: str) -> "Dataset":
    """Return one of the paper's data sets, its features scaled to [0, 1] on the training file.

    The paper does not mention the scaling, but only with it does ML-kNN, which draws nothing, give
    the paper's figures.

    Raises
    ------
    CommandError
        If the data set cannot be loaded, or is not the one that the paper used.
    """
    from sklearn.preprocessing import MinMaxScaler

    from labelsure.datasets import Dataset, DatasetError, load_dataset
    from labelsure.paper._tables import DATASETS, PaperDataset

    others = " ".join(other for other in NAMES if other != name)
    go_on = f" To go on without it: labelsure reproduce {others}"
    try:
        data = load_dataset(name)
    except DatasetError as error:
        raise CommandError(f"{error}{go_on}") from error
    expected, n_labels = DATASETS[name], data.Y.shape[1]
    shape = (data.n_train, len(data.Y_test), data.X.shape[1], n_labels)
    if PaperDataset(expected.n_folds, *shape) != expected:
        raise CommandError(
            f"{name} must be the paper's, in its standard split: {expected.n_train} training and"
            f" {expected.n_test} test objects, {expected.n_features} features, {expected.n_labels}"
            f" labels; got {data} from {data.source}. Remove those files from LABELSURE_DATA, or"
            f" replace them.{go_on}"
        )
    X = MinMaxScaler().fit(data.X_train).transform(data.X)
    about = data.feature_names, data.label_names, data.n_train
    return Dataset(name, X, data.Y, *about, source=data.source)


def measure_tables(datasets: Sequence["Dataset"], *, n_seeds: int, n_jobs: int) -> list["Tables"]:
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
    from labelsure._parallel import map_in_threads, one_thread

    runs = list(product(datasets, ROWS, range(n_seeds)))
    kinds = ("single_predictions", "regions")
    tables: list[Tables] = [
        {kind: {data.name: {} for data in datasets} for kind in kinds} for _ in range(n_seeds)
    ]
    with one_thread():  # the runs are the threads
        about = "learners, data sets and seeds"
        figures = map_in_threads(_measure, runs, n_jobs=n_jobs, description=about)
        for (data, row, seed), (measures, regions) in zip(runs, figures, strict=True):
            tables[seed]["single_predictions"][data.name][row] = measures
            if regions:
                tables[seed]["regions"][data.name][CONFORMAL_ROWS[row]] = regions
    return tables


def _measure(run: tuple["Dataset", str, int]) -> tuple[list[float], dict[str, dict[str, float]]]:
    """Fit a learner on the training part and compare its test predictions with the truth.

    Returns
    -------
    tuple
        The four measures and, of a conformal predictor, percentages by significance and bin.
    """
    from labelsure._parallel import one_thread
    from labelsure.metrics import error_rate, size_histogram
    from labelsure.metrics._point import point_measures
    from labelsure.paper._tables import DATASETS, SIGNIFICANCES

    data, row, seed = run
    regions = {}
    # again in this thread: OpenMP counts per thread, and the last digits of sums depend on its
    # number of threads
    with one_thread():
        model = make_learner(row, n_folds=DATASETS[data.name].n_folds, seed=seed)
        model.fit(data.X_train, data.Y_train)
        if row in CONFORMAL_ROWS:
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
    measures = ("hamming_loss", "subset_accuracy", "f1_macro", "f1_micro")
    return [figures[name] for name in measures], regions


def make_learner(row: str, *, n_folds: int, seed: int) -> Any:
    """Return the unfitted classifier of a row, with the paper's settings."""
    from labelsure import paper
    from labelsure.conformal import CrossConformalClassifier
    from labelsure.measures import PowerMeasure
    from labelsure.paper._tables import PENALTIES

    if row in CONFORMAL_ROWS:
        measure = PowerMeasure(d=4, pair_penalty=PENALTIES[CONFORMAL_ROWS[row]])
        return CrossConformalClassifier(
            paper.MLRBFClassifier(),
            measure=measure,
            cv=n_folds,
            empty_labelset="exclude",
            random_state=seed,
        )
    return {
        "ML-RBF": paper.MLRBFClassifier(random_state=seed),
        "BP-MLL": paper.BPMLLClassifier(shuffle=False, random_state=seed),
        "BP-MLL shuffled": paper.BPMLLClassifier(random_state=seed),
        "ML-kNN": paper.MLkNNClassifier(),
        "ML-NB": paper.MLNBClassifier(random_state=seed),
    }[row]

"""``labelsure reproduce``: the paper's four tables beside those measured here and now."""

import json
from argparse import ArgumentTypeError, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from labelsure._core.versions import versions
from labelsure._version import __version__
from labelsure.cli import _paper
from labelsure.cli._arguments import count, jobs, output_file
from labelsure.cli._writing import say, write_whole

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
        description=(
            f"Run everything in {_paper.paper_tables()['source']}, and print its tables beside the measured ones."
            " Data sets are looked for in the folder that the environment variable LABELSURE_DATA names, in the user's"
            " cache and, for yeast, in the package river, and else downloaded."
        ),
    )
    names = f"{' or '.join(_paper.DATASETS)}; without any name all of them"
    parser.add_argument(
        "datasets", nargs="*", type=_paper_dataset, default=list(_paper.DATASETS), metavar="dataset", help=names
    )
    parser.add_argument("--seeds", type=count, default=1, metavar="N", help="runs to average over (default: 1)")
    parser.add_argument("--jobs", type=jobs, default=-1, metavar="N", help="runs at a time (default: one per core)")
    parser.add_argument("--json", type=output_file, metavar="FILE", help="also write the measured figures to FILE")
    parser.set_defaults(run=run)


def run(options: Namespace) -> None:
    """Measure, write the JSON file if one is asked for, and print."""
    from labelsure.cli._paper_runs import load_paper_dataset, measure_tables

    datasets = [load_paper_dataset(name) for name in dict.fromkeys(options.datasets)]
    say(_heading(datasets, options.seeds))
    tables = measure_tables(datasets, n_seeds=options.seeds, n_jobs=options.jobs)
    if options.json is not None:
        _write(options.json, tables)
    average, deviations = _paper.means(tables), _paper.standard_deviations(tables)
    for data in datasets:
        say(f"\n{_paper.single_prediction_table(data.name, average, deviations)}")
        say(f"\n{_paper.region_table(data.name, average, deviations)}")
    say(f"\n{NOTES}")


def _paper_dataset(text: str) -> str:
    if text not in _paper.DATASETS:
        raise ArgumentTypeError(f"the paper's data sets are {' and '.join(_paper.DATASETS)}, got {text!r}")
    return text


def _heading(datasets: Sequence[Any], n_seeds: int) -> str:
    lines = [_paper.paper_tables()["source"], "seed 0" if n_seeds == 1 else f"seeds 0 to {n_seeds - 1}"]
    lines += [
        f"{data.name}: {data.n_train} training and {len(data.test)} test objects, {len(data.feature_names)} features,"
        f" {len(data.label_names)} labels, {_paper.DATASETS[data.name].n_folds} folds"
        for data in datasets
    ]
    return "\n".join(lines)


def _write(path: Path, tables: Sequence[_paper.Tables]) -> None:
    """Write means in the layout of the paper's tables, then what they are the means of."""
    document = {
        "source": f"labelsure {__version__} reproduce",
        **_paper.means(tables),
        "columns_of_single_predictions": _paper.paper_tables()["columns_of_single_predictions"],
        "standard_deviations": _paper.standard_deviations(tables),
        "seeds": list(range(len(tables))),
        "by_seed": list(tables),
        "versions": versions(),
    }
    write_whole(path, json.dumps(document, indent=1) + "\n")

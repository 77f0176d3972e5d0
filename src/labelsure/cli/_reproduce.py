"""``labelsure reproduce``: the paper's four tables beside those measured here and now."""

from argparse import ArgumentTypeError, Namespace
from typing import Any

from labelsure.cli._arguments import count, jobs, output_file

DATASETS = ("scene", "yeast")


def add_parser(commands: Any) -> None:
    """Add the command to ``commands``, argparse's subparsers."""
    parser = commands.add_parser(
        "reproduce",
        help="print the tables of Papadopoulos (2014) beside measured ones",
        description=(
            "Run everything in Papadopoulos 2014, A Cross-Conformal Predictor for Multi-label"
            " Classification, and print"
            " its tables beside the measured ones. Data sets are looked for in the folder that"
            " the environment variable"
            " LABELSURE_DATA names, in the user's cache and, for yeast, in the package river, and"
            " else downloaded."
        ),
    )
    names = f"{' or '.join(DATASETS)}; without any name all of them"
    parser.add_argument(
        "datasets",
        nargs="*",
        type=_paper_dataset,
        default=list(DATASETS),
        metavar="dataset",
        help=names,
    )
    parser.add_argument(
        "--seeds", type=count, default=1, metavar="N", help="runs to average over (default: 1)"
    )
    parser.add_argument(
        "--jobs", type=jobs, default=-1, metavar="N", help="runs at a time (default: one per core)"
    )
    parser.add_argument(
        "--json", type=output_file, metavar="FILE", help="also write the measured figures to FILE"
    )
    parser.set_defaults(run=run)


def run(options: Namespace) -> None:
    """Measure, write the JSON file if one is asked for, and print."""
    from labelsure.cli._paper_runs import reproduce

    reproduce(list(dict.fromkeys(options.datasets)), options.seeds, options.jobs, options.json)


def _paper_dataset(text: str) -> str:
    if text not in DATASETS:
        raise ArgumentTypeError(f"the paper's data sets are {' and '.join(DATASETS)}, got {text!r}")
    return text

"""``labelsure compare``: measures, learners and guarantees on any data set over random resplits."""

import warnings
from argparse import Namespace
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from labelsure.cli import _arguments as words
from labelsure.cli._errors import CommandError
from labelsure.cli._kept_fits import KILLED
from labelsure.cli._models import add_label_options, asked_labels, refuse_to_overwrite
from labelsure.cli._scheduler import add_scheduler, connected
from labelsure.cli._writing import say, write_whole
from labelsure.measures import MEASURES

FIRST = [name for name, word in MEASURES.items() if word.role in ("measure", "recipe")]
ADDED = [name for name in MEASURES if name not in FIRST]

EPILOG = f"""\
Learners: {", ".join(words.LEARNERS)}.

Measures: {", ".join(FIRST)}; with + between them, added up: {", ".join(ADDED)}. A colon comes before the power's d,
the least probability of log-loss and the weight of what is added: power:2+pairs, log-loss:0.01+unseen:3.

Guarantees: {", ".join(words.GUARANTEES)}."""


def add_parser(commands: Any) -> None:
    """Add the command to ``commands``, argparse's subparsers."""
    parser = commands.add_parser(
        "compare",
        help="compare measures, learners and guarantees on any data set",
        description=(
            "Compare nonconformity measures, learners and guarantees: errors, sizes of regions and more over random"
            " resplits of the pooled data, as a table in Markdown, beside the most frequent labelsets whatever the"
            " object. With --json every finished cell is kept, and a run goes on where an earlier one stopped."
        ),
        epilog=EPILOG,
    )
    parser.add_argument("datasets", nargs="+", metavar="dataset", help="a name such as yeast, or a file")
    add_label_options(parser)
    for name, read, default, metavar, what in (
        ("learners", words.learner_name, ["ml-rbf"], "NAME", ""),
        ("measures", words.measure_name, ["posterior", "log-loss", "power", "power+pairs"], "NAME", ""),
        ("guarantees", words.guarantee_name, ["cross"], "NAME", ""),
        ("confidence", words.confidence_level, ["80", "90", "95"], "C", "in percent "),
    ):
        shown = f"{what}(default: {' '.join(default)})"
        parser.add_argument(f"--{name}", nargs="+", type=read, default=default, metavar=metavar, help=shown)
    sized = "size the regions of at most N test objects; errors and accuracy come from all"
    share = "objects that train, where a set has no split to take the sizes from (default: 67)"
    parser.add_argument("--resplits", type=words.count, default=5, metavar="N", help="random resplits (default: 5)")
    parser.add_argument(
        "--folds", type=words.count, default=10, metavar="K", help="folds of the predictors (default: 10)"
    )
    parser.add_argument("--objects", type=words.count, metavar="N", help=sized)
    parser.add_argument("--train", type=words.count, metavar="N", help="at most N training objects")
    parser.add_argument("--train-share", type=words.percentage, default=67.0, metavar="PERCENT", help=share)
    parser.add_argument("--jobs", type=words.jobs, default=-1, metavar="N", help="cores to use (default: all)")
    add_scheduler(parser)
    parser.add_argument(
        "--json", type=words.output_file, metavar="FILE", help="keep the results in FILE, and go on from it"
    )
    parser.add_argument("--markdown", type=words.output_file, metavar="FILE", help="also write the tables to FILE")
    parser.set_defaults(run=run)


def run(options: Namespace) -> None:
    """Measure what is missing, with a cluster if there is one, and print the tables."""
    with connected(options.scheduler) as client:
        _run(options, client)


def _run(options: Namespace, client: Any) -> None:
    from labelsure.cli._compare_results import open_results
    from labelsure.cli._compare_runs import Plan, measure_missing
    from labelsure.cli._compare_tables import comparison

    for output in (options.json, options.markdown):
        refuse_to_overwrite(output, *map(Path, options.datasets))
    plan = Plan(
        _load_all(options),
        **{name: list(dict.fromkeys(getattr(options, name))) for name in ("learners", "measures", "guarantees")},
        levels=list(dict.fromkeys(options.confidence)),
        n_resplits=options.resplits,
        n_folds=options.folds,
    )
    results = open_results(options.json, plan.terms())
    with _kept_cells(options.json, client), warnings.catch_warnings():
        # a label that all or none of a fold's training objects have: common with many labels, and dealt with; other
        # processes give theirs summed up
        rare = "(.* the first: )?Label .* is present in all training examples"
        warnings.filterwarnings("ignore", message=rare, category=UserWarning)
        measure_missing(plan, results, n_jobs=options.jobs, client=client)
    tables = comparison(results)
    if options.markdown is not None:
        write_whole(options.markdown, tables)
    say(tables.removesuffix("\n"))


@contextmanager
def _kept_cells(path: Path | None, client: Any) -> Iterator[None]:
    """Say how to go on where a process was killed, or a cluster cannot go on."""
    go_on = "With --json FILE, finished cells would have been kept."
    if path is not None:
        go_on = f"Finished cells are kept in {path}: give the same command again to go on."
    try:
        yield
    except BrokenExecutor as error:
        raise CommandError(f"{KILLED} {go_on}") from error
    except CommandError as error:
        if client is None:
            raise
        raise CommandError(f"{error} {go_on}") from error


def _load_all(options: Namespace) -> list[Any]:
    from labelsure.cli._compare_data import load_pooled

    columns: dict[str, Any] = {"labels": asked_labels(options)}
    columns |= {name: getattr(options, name) for name in ("separator", "categorical", "drop")}
    sizes: dict[str, Any] = {
        "columns": columns,
        "train_share": options.train_share,
        "max_train": options.train,
        "max_sized": options.objects,
    }
    datasets = [load_pooled(word, **sizes) for word in dict.fromkeys(options.datasets)]
    names = [data.name for data in datasets]
    for data in datasets:
        if names.count(data.name) > 1:
            raise CommandError(f"the data sets must have different names, got {data.name} twice. Rename a file.")
        if not 2 <= options.folds <= data.n_train:
            raise CommandError(
                f"--folds must lie between 2 and the number of training objects, {data.n_train} of {data.name},"
                f" got {options.folds}."
            )
    return datasets

"""What the commands around a model share: its file, the table that it meets, and notes on stderr."""

import logging
import sys
import warnings
from argparse import ArgumentParser, Namespace
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from labelsure._errors import CommandError
from labelsure._files import full_path
from labelsure.cli import _arguments as words
from labelsure.cli._writing import say, versions

NAMES_SHOWN = 5
ARROW_ENDINGS = (".csv", ".tsv", ".parquet", ".pq")
SECONDS_TO_CONNECT = 10.0
SECONDS_FOR_WORKERS = 60.0
"""Long enough for clusters that start workers only when there is work."""

Item = TypeVar("Item")
Result = TypeVar("Result")


def add_model_and_data(parser: ArgumentParser) -> None:
    """Add the two arguments that most commands have."""
    parser.add_argument(
        "model", type=Path, metavar="MODEL", help="a file that `labelsure fit` wrote"
    )
    parser.add_argument(
        "data", type=Path, metavar="DATA", help="a CSV, Parquet, ARFF or libsvm file"
    )


def add_jobs(parser: ArgumentParser) -> None:
    """Add the number of cores."""
    parser.add_argument(
        "--jobs", type=words.jobs, default=-1, metavar="N", help="cores to use (default: all)"
    )


def add_scheduler(parser: ArgumentParser) -> None:
    """Add the address of a Dask scheduler."""
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="work on the Dask cluster of this scheduler, such as tcp://host:8786; --jobs is for"
        " what stays here",
    )


@contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """Yield a client of the Dask scheduler at an address, whose workers have our versions; None without an address.

    Inside, fits run on the cluster, and what Dask cannot do is a CommandError of one line.
    """
    if address is None:
        yield None
        return
    from labelsure._errors import import_optional

    with in_one_line():
        distributed = import_optional("distributed", extra="dask", purpose="--scheduler")
    import dask
    from joblib import parallel_config

    logging.getLogger("distributed").setLevel(
        logging.CRITICAL
    )  # what the user can mend comes in one line, from us
    try:
        client = distributed.Client(address, timeout=SECONDS_TO_CONNECT, set_as_default=False)
    except Exception as error:  # what is raised depends on the protocol
        raise CommandError(
            f"no Dask scheduler answers at {address} ({' '.join(str(error).split())}). Start one"
            f" with `dask scheduler`,"
            " which prints its address, and workers with `dask worker ADDRESS`."
        ) from error
    with client:
        try:
            _check_workers(client, address)
            # a batch may be large: it travels with its task, to be there when a worker is not
            quiet = {"distributed.admin.large-graph-warning-threshold": "1TB"}
            with dask.config.set(quiet), parallel_config("dask", client=client):
                yield client
        except Exception as error:
            if client.status == "running" and not type(error).__module__.startswith("distributed"):
                raise
            raise CommandError(
                f"the Dask cluster at {address} failed: {' '.join(str(error).split())} Repeat the"
                f" command when it works"
                " again: what was kept in files is still there."
            ) from error


def _check_workers(client: Any, address: str) -> None:
    """Raise CommandError where no worker comes, or results of one could differ."""
    try:
        client.submit(abs, -1, pure=False).result(
            timeout=SECONDS_FOR_WORKERS
        )  # has workers started where none are
    except TimeoutError as error:
        raise CommandError(
            f"the Dask scheduler at {address} has no free worker. Start some with `dask worker"
            f" {address}`."
        ) from error
    ours = versions()
    for worker, theirs in client.run(versions, on_error="return").items():
        for package in ours.keys() - {"python"}:
            there = theirs.get(package) if isinstance(theirs, dict) else None
            if there != ours[package]:
                raise CommandError(
                    f"worker {worker} has {package} {there}, and there is {ours[package]} here;"
                    f" results could differ."
                    " Install the same version."
                )


def map_in_order(
    function: Callable[[Item], Result], items: Iterable[Item], client: Any
) -> Iterator[Result]:
    """Yield ``function(item)`` for all items in order, here or on a cluster; few items are in memory at any time."""
    if client is None:
        yield from map(function, items)
        return
    there = client.scatter(function, broadcast=True, hash=False)
    waiting: deque[Any] = deque()
    for item in items:
        waiting.append(client.submit(_call, there, item, pure=False))
        if len(waiting) >= 2 * sum(client.nthreads().values()):
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def _call(function: Callable[[Item], Result], item: Item) -> Result:
    return function(item)


def add_predict_for(parser: ArgumentParser, default: str | None = None) -> None:
    """Add the metric that labels are to be good at."""
    parser.add_argument(
        "--predict-for",
        choices=words.PREDICT_FOR,
        default=default,
        help=f"the metric that labels are chosen for (default:"
        f" {default or 'as the model was saved'})",
    )


def metric_of(option: str) -> str:
    """Return what --predict-for is in Python.

    Examples
    --------
    >>> metric_of("exact-match")
    'exact match'
    """
    return option.replace("-", " ")


def labels_in_words(model: Any) -> str:
    """Return what the labels of a fitted model are, and what "auto" goes by."""
    from labelsure.conformal._calibrator import ANSWERS

    chosen = model.calibrator_.choose_answers(model.predict_for)
    why = {
        "exact match": "; training did not show the learner's own labels to be better",
        "learner alone": "; training showed them to be better than the most plausible labelset",
    }
    metric = model.predict_for.replace(" ", "-")
    return f"Labels (--predict-for {metric}): {ANSWERS[chosen]}{why[chosen] if metric == 'auto' else ''}."


def add_label_options(parser: ArgumentParser) -> None:
    """Add what says which columns are labels, and what the others are."""
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument(
        "--labels",
        type=words.names,
        metavar="A,B,C",
        help="the columns of 0 and 1 that are labels, or 'label_*'",
    )
    chosen.add_argument(
        "--labels-from", type=Path, metavar="FILE", help="a file that names them, one on each line"
    )
    parser.add_argument(
        "--separator",
        metavar="TEXT",
        help="the one column of --labels holds names of labels with this between them",
    )
    for option, what in (
        ("categorical", "columns that are categories although they look like numbers"),
        ("drop", "columns to leave out"),
    ):
        parser.add_argument(f"--{option}", type=words.names, default=[], metavar="A,B", help=what)


def asked_labels(options: Any) -> list[str] | None:
    """Return the names of the labels that were asked for, None where the file is to say."""
    if options.labels_from is None:
        named: list[str] | None = options.labels
        return named
    try:
        lines = options.labels_from.expanduser().read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise CommandError(
            f"{options.labels_from} cannot be read: {error}. It must name one label on each line."
        ) from None
    if not (names := [line.strip() for line in lines if line.strip()]):
        raise CommandError(f"{options.labels_from} names no labels. It must name one on each line.")
    return names


def check_installed(options: Namespace) -> None:
    """Raise CommandError, before any work, where tables are to be read or written without the package for them."""
    files = [getattr(options, name, None) for name in ("data", "trusted", "output")]
    if files[2] and files[2].suffix.lower() == ".csv":  # written without it
        files.pop()
    needed = any(file and file.suffix.lower() in ARROW_ENDINGS for file in files)
    if needed and find_spec("pyarrow") is None:
        raise CommandError(
            "this needs the package pyarrow, not installed here. Install with: pip install"
            ' "labelsure[cli]"'
        )


@contextmanager
def in_one_line() -> Iterator[None]:
    """Turn what the user can mend into a CommandError: data, model files, packages that are missing."""
    from labelsure.datasets import DatasetError
    from labelsure.model_file import ModelFileError

    try:
        yield
    except (DatasetError, ModelFileError, ImportError) as error:
        raise CommandError(" ".join(str(error).split())) from error


def open_trained(options: Namespace) -> Any:
    """Return a model from a file with the schema of its tables, set to the cores asked for, on a cluster to one."""
    from labelsure import batches

    path, elsewhere = options.model, getattr(options, "scheduler", None) is not None
    with in_one_line():
        trained = batches.open_trained(path)
    if trained.schema is None:
        raise CommandError(
            f"{path} was saved without a description of its table, so that columns cannot be"
            f" found. Save it with"
            " `labelsure fit`, or in Python with save_model(model, path, table=schema.to_json())."
        )
    if not hasattr(trained.model, "predict_labelsets") or not hasattr(trained.model, "calibrator_"):
        raise CommandError(
            f"{path} holds a {type(trained.model).__name__}; the command line takes"
            f" cross-conformal and inductive"
            " predictors. Use it in Python."
        )
    model = batches.limit_cores(trained.model, 1 if elsewhere else options.jobs)
    if options.predict_for is not None:
        model.predict_for = metric_of(options.predict_for)
    return trained._replace(model=model)


def answer_rows(model: Any, X: Any) -> Any:
    """Return what a model says of rows; numbers that its learner cannot take, say 1e300, are an error of one line."""
    from labelsure.conformal._base import answer_batch

    try:
        return answer_batch(model, X)
    except ValueError as error:
        raise CommandError(
            f"the model cannot predict these rows: {' '.join(str(error).split())}"
        ) from error


def open_data(path: Path, schema: Any, **options: Any) -> Any:
    """Open a table for a model, and say which of its columns are ignored."""
    from labelsure.datasets import open_table

    table = open_table(path, schema, **options)
    if table.ignored:
        note(f"{path}: {few(table.ignored, 'column')} not used by the model, ignored.")
    return table


def refuse_to_overwrite(output: Path | None, *read: Path) -> None:
    """Raise CommandError where the output is a file that is read: a slip of the hand must not cost the data."""
    if output is not None and output in map(full_path, read):
        raise CommandError(f"{output} is what is read: name another file to write to.")


def note_unseen(table: Any) -> None:
    """Say how many cells hold categories that the model does not know."""
    for name, count in sorted(table.unseen.items()):
        cells = "1 cell holds a value" if count == 1 else f"{count} cells hold values"
        note(
            f"{table.file.path}, column {name!r}: {cells} never seen in training, taken for rare"
            f" or for none."
        )


def note(text: str) -> None:
    """Print a line on stderr."""
    say(f"labelsure: note: {text}", file=sys.stderr)


@contextmanager
def noted_warnings(*, but: str | None = None) -> Iterator[None]:
    """Hold back the warnings given inside and print each once, in one line, except those that match ``but``."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if but is not None:
            warnings.filterwarnings("ignore", message=but)
        yield
    counts = Counter(" ".join(str(warning.message).split()) for warning in caught)
    for text, count in counts.items():
        note(f"{text}{f' ({count} times)' if count > 1 else ''}")


def counted(number: int, what: str) -> str:
    """Return a number of things in words.

    Examples
    --------
    >>> counted(1, "label"), counted(2, "label")
    ('1 label', '2 labels')
    """
    return f"{number} {what}{'' if number == 1 else 's'}"


def few(names: Sequence[str], what: str) -> str:
    """Return how many names there are, and the first of them.

    Examples
    --------
    >>> few(["id", "date"], "column")
    "2 columns ('id', 'date')"
    """
    more = ", ..." if len(names) > NAMES_SHOWN else ""
    return f"{counted(len(names), what)} ({', '.join(map(repr, names[:NAMES_SHOWN]))}{more})"

"""What commands share: printed lines, atomic files, models and tables, a cluster, resuming."""

import csv
import io
import logging
import platform
import shutil
import sys
import warnings
from argparse import Namespace
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO, TextIO, TypeVar

from labelsure import _files
from labelsure._errors import CommandError, import_optional
from labelsure._version import __version__

NAMES_SHOWN = 5
ARROW_ENDINGS = (".csv", ".tsv", ".parquet", ".pq")
SECONDS_TO_CONNECT = 10.0
SECONDS_FOR_WORKERS = 60.0  # enough for clusters that start workers only when there is work
KILLED = (
    "a process that fitted models was killed, by somebody or because memory ran out;"
    " --jobs 1 takes the least."
)

Item = TypeVar("Item")
Result = TypeVar("Result")


def printable(text: str) -> str:
    r"""Return a text without control characters, which a terminal would execute.

    Examples
    --------
    >>> print(printable("red \x1b[31m, sea\u202e"))
    red \x1b[31m, sea\u202e
    """
    return "".join(
        c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text
    )


def say(text: str, file: TextIO | None = None) -> None:
    """Print a text, see :func:`printable`."""
    print(printable(text), file=file or sys.stdout, flush=True)


def note(text: str) -> None:
    """Print a line on stderr."""
    say(f"labelsure: note: {text}", file=sys.stderr)


def one_line(error: object) -> str:
    """Return a message as one line."""
    return " ".join(str(error).split())


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


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table as lines, the first column aligned left and the others right.

    Examples
    --------
    >>> aligned([("label", "rows"), ("sea", "12")])
    ['label  rows', 'sea      12']
    """
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *cells]))
    return lines


def versions() -> dict[str, str]:
    """Return the versions of everything that numbers may depend on."""
    packages = {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "numba")}
    return {"labelsure": __version__, "python": platform.python_version(), **packages}


@contextmanager
def in_one_line() -> Iterator[None]:
    """Turn what the user can fix into a CommandError: data, model files, missing packages."""
    from labelsure.datasets import DatasetError
    from labelsure.model_file import ModelFileError

    try:
        yield
    except (DatasetError, ModelFileError, ImportError) as error:
        raise CommandError(one_line(error)) from error


@contextmanager
def noted_warnings(*, but: str | None = None) -> Iterator[None]:
    """Print each warning raised inside once, in one line, except those that match ``but``."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if but is not None:
            warnings.filterwarnings("ignore", message=but)
        yield
    counts = Counter(one_line(warning.message) for warning in caught)
    for text, count in counts.items():
        note(f"{text}{f' ({count} times)' if count > 1 else ''}")


# ---- files ----


@contextmanager
def output_stream(path: Path) -> Iterator[BinaryIO]:
    """Open a file to be written as a whole or not at all; CommandError if it cannot be written."""
    try:
        with _files.whole_file(path) as file:
            yield file
    except OSError as error:
        raise CommandError(f"{path} could not be written: {error.strerror or error}.") from error


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file as a whole or not at all, see :func:`output_stream`."""
    with output_stream(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def csv_text(rows: Iterable[Sequence[Any]]) -> str:
    r"""Return rows as CSV.

    Examples
    --------
    >>> csv_text([("label", "rows"), ("sea", 12)])
    'label,rows\nsea,12\n'
    """
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def readable_size(path: Path) -> str:
    """Return how long a file is, for people.

    Examples
    --------
    >>> from tempfile import NamedTemporaryFile
    >>> with NamedTemporaryFile() as file:
    ...     readable_size(Path(file.name))
    '0 kB'
    """
    n_bytes = path.stat().st_size
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 1e6 else f"{n_bytes / 1e3:.0f} kB"


def check_inputs(options: Namespace) -> None:
    """Raise CommandError, before any slow import, if a package or an input file is missing."""
    reads = {name: getattr(options, name, None) for name in ("data", "trusted", "model")}
    output = getattr(options, "output", None)
    tables = [reads["data"], reads["trusted"], output]
    endings = [path.suffix.lower() for path in tables if path]
    if output and endings[-1] == ".csv":  # which needs no package to be written
        endings.pop()
    if {*endings} & {*ARROW_ENDINGS} and find_spec("pyarrow") is None:
        raise CommandError(
            "this needs the package pyarrow, not installed here. Install with: pip install"
            ' "labelsure[cli]"'
        )
    for path in filter(None, reads.values()):
        place = path.expanduser()
        if not place.is_file():
            what = "is a folder, not a file" if place.is_dir() else "does not exist"
            what = "is a link that leads to no file" if place.is_symlink() else what
            raise CommandError(f"{path} {what}. Check the path.")
        if output is not None and output == _files.full_path(path):
            raise CommandError(f"{output} is what is read: name another file to write to.")


@contextmanager
def kept_beside(output: Path, what: str, count: Callable[[Path], int]) -> Iterator[Path]:
    """Yield a folder beside ``output`` for finished work, removed when all is done inside.

    If not, and ``count(folder)`` finished things of the kind ``what`` are in it, it stays, and
    errors, which are CommandErrors of one line, say how to go on.
    """
    folder = output.with_name(f".{output.name}.parts")

    def go_on() -> str:
        if not (n_kept := count(folder)):
            shutil.rmtree(folder, ignore_errors=True)
            return ""
        kept = f"{counted(n_kept, what)} {'is' if n_kept == 1 else 'are'} kept in {folder}"
        return f" {kept}: give the same command again to go on."

    try:
        _files.make_private(folder)
    except ValueError as error:
        raise CommandError(str(error)) from error
    except OSError as error:
        raise CommandError(f"{folder} could not be written: {error.strerror or error}.") from error
    try:
        yield folder
    except KeyboardInterrupt:
        if hint := go_on():
            say(f"\nlabelsure: interrupted.{hint}", file=sys.stderr)
        raise
    except CommandError as error:
        raise CommandError(f"{error}{go_on()}") from error
    except BrokenExecutor as error:
        raise CommandError(f"{KILLED}{go_on()}") from error
    except BaseException as error:
        hint = go_on()
        if isinstance(error, OSError) and error.strerror:  # and not a lost connection
            message = f"{error.filename or output} could not be written: {error.strerror}."
            raise CommandError(f"{message}{hint}") from error
        raise
    shutil.rmtree(folder, ignore_errors=True)


# ---- models and tables ----


def open_trained(options: Namespace) -> Any:
    """Return a saved model, set to the cores of ``--jobs`` or to a cluster, and its schema."""
    from labelsure import batches

    path, elsewhere = options.model, getattr(options, "scheduler", None) is not None
    with in_one_line():
        trained = batches.open_with_schema(path)
    if trained.schema is None:
        raise CommandError(
            f"{path} was saved without a description of its table, so that columns cannot be found."
            " Save it with `labelsure fit`, or in Python with save_model(model, path,"
            " table=schema.to_json())."
        )
    if not hasattr(trained.model, "predict_labelsets") or not hasattr(trained.model, "calibrator_"):
        raise CommandError(
            f"{path} holds a {type(trained.model).__name__}; the command line takes"
            " cross-conformal and inductive predictors. Use it in Python."
        )
    model = batches.limit_cores(trained.model, 1 if elsewhere else options.jobs)
    if options.predict_for is not None:
        model.predict_for = options.predict_for.replace("-", " ")
    return trained._replace(model=model)


def open_data(path: Path, schema: Any, **options: Any) -> Any:
    """Open a table for a model, and say which of its columns are ignored."""
    from labelsure.datasets import open_table

    table = open_table(path, schema, **options)
    if table.ignored:
        note(f"{path}: {few(table.ignored, 'column')} not used by the model, ignored.")
    return table


def note_unseen(table: Any) -> None:
    """Say how many cells hold categories that the model does not know."""
    for name, count in sorted(table.unseen.items()):
        cells = "1 cell holds a value" if count == 1 else f"{count} cells hold values"
        note(
            f"{table.file.path}, column {name!r}: {cells} never seen in training, treated as rare"
            " or as missing."
        )


def answer_rows(model: Any, X: Any) -> Any:
    """Return the answers for rows; values the learner cannot handle are a one-line error."""
    from labelsure.conformal._base import answer_batch

    try:
        return answer_batch(model, X)
    except ValueError as error:
        raise CommandError(f"the model cannot predict these rows: {one_line(error)}") from error


def labels_in_words(model: Any) -> str:
    """Return what the labels of a fitted model are, and how "auto" chose them."""
    from labelsure.conformal._calibrator import ANSWERS

    chosen = model.calibrator_.choose_answers(model.predict_for)
    why = {
        "exact match": "; training did not show the learner's own labels to be better",
        "learner alone": "; training showed them to be better than the most plausible labelset",
    }
    because = why[chosen] if model.predict_for == "auto" else ""
    metric = model.predict_for.replace(" ", "-")
    return f"Labels (--predict-for {metric}): {ANSWERS[chosen]}{because}."


# ---- a cluster ----


@contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """Yield a client of a Dask scheduler whose workers have our versions; None without an address.

    Inside, fits run on the cluster, and what Dask cannot do is a CommandError of one line.
    """
    if address is None:
        yield None
        return
    with in_one_line():
        distributed = import_optional("distributed", extra="dask", purpose="--scheduler")
    import dask
    from joblib import parallel_config

    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # we report errors, in one line
    try:
        client = distributed.Client(address, timeout=SECONDS_TO_CONNECT, set_as_default=False)
    except Exception as error:  # what is raised depends on the protocol
        raise CommandError(
            f"no Dask scheduler answers at {address} ({one_line(error)}). Start one with"
            " `dask scheduler`, which prints its address, and workers with `dask worker ADDRESS`."
        ) from error
    with client:
        try:
            _check_workers(client, address)
            # a batch may be large: it travels with its task, to be there if a worker is lost
            quiet = {"distributed.admin.large-graph-warning-threshold": "1TB"}
            with dask.config.set(quiet), parallel_config("dask", client=client):
                yield client
        except Exception as error:
            if client.status == "running" and not type(error).__module__.startswith("distributed"):
                raise
            raise CommandError(
                f"the Dask cluster at {address} failed: {one_line(error)} Repeat the command when"
                " it works again: what was kept in files is still there."
            ) from error


def _check_workers(client: Any, address: str) -> None:
    """Raise CommandError if no worker comes, or results of one could differ."""
    try:  # a task, because some clusters start workers only then
        client.submit(abs, -1, pure=False).result(timeout=SECONDS_FOR_WORKERS)
    except TimeoutError as error:
        raise CommandError(
            f"the Dask scheduler at {address} has no free worker. Start some with"
            f" `dask worker {address}`."
        ) from error
    ours = versions()
    for worker, theirs in client.run(versions, on_error="return").items():
        for package in ours.keys() - {"python"}:
            there = theirs.get(package) if isinstance(theirs, dict) else None
            if there != ours[package]:
                raise CommandError(
                    f"worker {worker} has {package} {there}, and there is {ours[package]} here;"
                    " results could differ. Install the same version."
                )


def map_in_order(
    function: Callable[[Item], Result], items: Iterable[Item], client: Any
) -> Iterator[Result]:
    """Yield ``function(item)`` in order, locally or on a cluster, with few items in memory."""
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

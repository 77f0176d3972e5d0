"""What ``labelsure predict`` does: answers in parts, made here or on a cluster, and one file of them in the end."""

import itertools
import json
import sys
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from labelsure._errors import BatchError, CommandError
from labelsure._parallel import progress_bar
from labelsure._version import __version__
from labelsure.batches import TablePredictor, import_arrow, naming
from labelsure.cli import _arguments as words
from labelsure.cli._answers import FORMATS, AnswerFormat, Layout
from labelsure.cli._kept import digest_of, kept_beside
from labelsure.cli._models import map_in_order
from labelsure.cli._writing import printable, say, whole_file
from labelsure.datasets import DatasetError

NO_ROWS = "{} has no rows to predict."
SEPARATORS = (";", "|", " & ", "\t")
"""What stands between labels in a cell of CSV: the first that is in none of their names."""


class Numbered(NamedTuple):
    """A batch of the table, and which one it is."""

    number: int
    batch: Any


class Part(NamedTuple):
    """The answers for a batch as they are written."""

    number: int
    n_rows: int
    content: bytes


@dataclass(frozen=True)
class PartMaker:
    """Makes answers of batches, here or on a worker."""

    predictor: TablePredictor
    answers: AnswerFormat

    def __call__(self, numbered: Numbered) -> Part:
        """Return the answers for a batch."""
        number, batch = numbered
        first, last = batch.start + 1, batch.start + batch.n_rows
        with naming(f"row {first}" if first == last else f"rows {first} to {last}"):
            cells = {
                "row": np.arange(first, last + 1),
                **batch.kept,
                **self.predictor.cells(batch.X),
            }
            return Part(number, batch.n_rows, self.answers.part(cells))


def _maker(trained: Any, options: Namespace) -> PartMaker:
    ending = ".csv" if options.output is None else options.output.suffix.lower()
    names = trained.schema.label_names
    marks = (trained.schema.separator, *SEPARATORS)
    separator = next((mark for mark in marks if not any(mark in name for name in names)), marks[0])
    given = {"significance": words.significance_of(options.confidence), "top": options.top}
    try:
        predictor = TablePredictor(trained.model, **given, n_jobs=trained.model.n_jobs)
    except ValueError as error:
        raise CommandError(str(error)) from error
    kept = dict.fromkeys(options.keep)
    if twice := [name for name in kept if name in {"row", *predictor.schema.names}]:
        raise CommandError(
            f"the output has a column {twice[0]!r} of its own. Rename that of {options.data}."
        )
    pa = import_arrow()
    columns = [("row", pa.int64()), *((name, pa.string()) for name in kept), *predictor.schema]
    return PartMaker(predictor, FORMATS[ending](Layout(pa.schema(columns), separator)))


def print_answers(trained: Any, table: Any, options: Namespace, client: Any) -> None:
    """Print CSV, batch by batch."""
    maker = _maker(trained, options)
    before = maker.answers.head().decode()
    with _watched(table) as bar:
        for part in _parts(maker, itertools.starmap(Numbered, enumerate(table)), client):
            text = before + part.content.decode()
            sys.stdout.write(printable(text) if sys.stdout.isatty() else text)
            sys.stdout.flush()
            before = ""
            bar.update(part.n_rows)
    if before:
        raise CommandError(NO_ROWS.format(options.data))


def write_answers(trained: Any, table: Any, options: Namespace, client: Any) -> None:
    """Write one part per batch, then the file; parts stay if this is interrupted."""
    maker = _maker(trained, options)
    done = Done()
    with kept_beside(options.output, "finished row", lambda: done.n_rows) as kept:
        key = _key(options)
        try:
            with _watched(table) as bar:
                for part in _parts(maker, _unfinished(table, kept, key, done, bar), client):
                    kept.write(f"{key} {part.number}", part.content)
                    done.add(part.n_rows, bar)
        except DatasetError:  # to be mended in the data, and parts of other data are of no use
            done.n_rows = 0
            raise
        if not done.n_rows:
            raise CommandError(NO_ROWS.format(options.data))
        with whole_file(options.output) as file:
            maker.answers.join(
                (_read(kept, f"{key} {number}") for number in range(done.n_parts)), file
            )
    say(f"{options.output.name}: {done.n_rows} rows, regions at {options.confidence} % confidence")


@dataclass
class Done:
    """How much is finished."""

    n_parts: int = 0
    n_rows: int = 0

    def add(self, n_rows: int, bar: Any) -> None:
        """Count a part."""
        self.n_parts, self.n_rows = self.n_parts + 1, self.n_rows + n_rows
        bar.update(n_rows)


def _parts(maker: PartMaker, batches: Iterator[Numbered], client: Any) -> Iterator[Part]:
    """Yield the answers for batches in order; rows that cannot be predicted are an error of one line."""
    try:
        yield from map_in_order(maker, batches, client)
    except BatchError as error:
        raise CommandError(str(error)) from error


def _read(kept: Any, key: str) -> bytes:
    content: bytes | None = kept.read(key)
    if content is None:
        raise CommandError(
            f"finished rows in {kept.folder} were removed or damaged before the output was whole."
        )
    return content


def _unfinished(table: Any, kept: Any, key: str, done: Done, bar: Any) -> Iterator[Numbered]:
    """Yield the batches whose parts are not there yet, or damaged."""
    for number, batch in enumerate(table):
        if kept.read(f"{key} {number}") is not None:
            done.add(batch.n_rows, bar)
        else:
            yield Numbered(number, batch)


def _key(options: Namespace) -> str:
    """Return everything that a part depends on."""
    given = {
        name: getattr(options, name)
        for name in ("confidence", "top", "keep", "batch", "predict_for")
    }
    digests = {name: digest_of(getattr(options, name)) for name in ("model", "data")}
    return json.dumps({**given, **digests, "labelsure": __version__}, sort_keys=True)


def _watched(table: Any) -> Any:
    """Return a progress bar of rows."""
    bar = progress_bar(description="predicting", total=table.n_rows)
    bar.unit = " rows"
    return bar

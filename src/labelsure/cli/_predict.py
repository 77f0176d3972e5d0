"""``labelsure predict``: answers for every row of a table, in batches, joined into one file."""

import hashlib
import io
import json
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from math import isnan
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from labelsure import _files
from labelsure._errors import BatchError, CommandError, import_optional
from labelsure._version import __version__
from labelsure.cli import _arguments as arguments
from labelsure.cli import _common as common

BATCH_ROWS = 10_000
# between labels in a cell of CSV is the first of these that is in none of their names
SEPARATORS = (";", "|", " & ", "\t")


def add_parser(commands: Any) -> None:
    """Add the command to ``commands``, argparse's subparsers."""
    parser = commands.add_parser(
        "predict",
        help="predict the labels of every row of a table",
        description="Predict: for each row its labels, those that are sure, possible and ruled out,"
        " the number of labelsets that are left, and the most plausible of them with their"
        " p-values, confidence and credibility. Rows are read in batches, so files may be of any"
        " length. An interrupted run goes on when the same command is given again.",
    )
    arguments.add_model_and_data(parser)
    about = f"where to write them ({', '.join(FORMATS)}); without it CSV is printed"
    arguments.add_output(parser, about, *FORMATS, required=False)
    arguments.add_confidence(parser)
    option = arguments.option
    about = "columns of the data to take over, such as an id"
    option(parser, "--keep", "A,B", about, arguments.names, default=[])
    about = f"rows at a time (default: {BATCH_ROWS})"
    option(parser, "--batch", "N", about, arguments.count, default=BATCH_ROWS)
    arguments.add_jobs(parser)
    arguments.add_predict_for(parser)
    arguments.add_scheduler(parser)
    parser.set_defaults(run=run)


def run(options: Namespace) -> None:
    """Predict batch by batch, and write the file when all are there."""
    trained = common.open_trained(options)
    with common.connected(options.scheduler) as client, common.in_one_line():
        table = common.open_data(
            options.data, trained.schema, keep=options.keep, batch_size=options.batch
        )
        answerer = _make_answerer(trained, options)
        use = _print_answers if options.output is None else _write_answers
        n_rows = use(answerer, table, options, client)
        if not n_rows:
            raise CommandError(f"{options.data} has no rows to predict.")
    common.note_unseen(table)


class Part(NamedTuple):
    """The answers for a batch as they are written."""

    start: int
    n_rows: int
    content: bytes


@dataclass(frozen=True)
class BatchAnswerer:
    """Answers batches, here or on a worker."""

    predictor: Any
    answers: "AnswerFormat"

    def __call__(self, batch: Any) -> Part:
        """Return the answers for a batch."""
        import numpy as np

        from labelsure.batches import naming

        first, last = batch.start + 1, batch.start + batch.n_rows
        with naming(f"row {first}" if first == last else f"rows {first} to {last}"):
            rows = {"row": np.arange(first, last + 1), **batch.kept}
            content = self.answers.part({**rows, **self.predictor.cells(batch.X)})
        return Part(batch.start, batch.n_rows, content)


def _make_answerer(trained: Any, options: Namespace) -> BatchAnswerer:
    from labelsure.batches import TablePredictor, import_arrow

    names = trained.schema.label_names
    marks = (trained.schema.separator, *SEPARATORS)
    separator = next((mark for mark in marks if not any(mark in name for name in names)), marks[0])
    given = {"significance": arguments.significance_of(options.confidence), "top": options.top}
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
    ending = ".csv" if options.output is None else options.output.suffix.lower()
    return BatchAnswerer(predictor, FORMATS[ending](pa.schema(columns), separator))


def _print_answers(answerer: BatchAnswerer, table: Any, _: Namespace, client: Any) -> int:
    """Print CSV, batch by batch, and return the number of rows."""
    n_rows = 0
    with _progress(table) as bar:
        for part in _answer(answerer, table, client):
            text = (b"" if n_rows else answerer.answers.head()) + part.content
            sys.stdout.write(
                common.printable(text.decode()) if sys.stdout.isatty() else text.decode()
            )
            sys.stdout.flush()
            n_rows += part.n_rows
            bar.update(part.n_rows)
    return n_rows


def _write_answers(answerer: BatchAnswerer, table: Any, options: Namespace, client: Any) -> int:
    """Write a part per batch, then the file; return the number of rows. A kill keeps the parts."""
    from labelsure.datasets import DatasetError

    finished: dict[int, int] = {}  # the number of rows of each part, by the first row
    with common.kept_beside(
        options.output, "finished row", lambda _: sum(finished.values())
    ) as folder:
        parts = Parts(folder, options)
        with _progress(table) as bar:

            def finish(start: int, n_rows: int) -> None:
                finished[start] = n_rows
                bar.update(n_rows)

            def unfinished() -> Iterator[Any]:
                for batch in table:
                    if parts.read(batch.start) is None:
                        yield batch
                    else:
                        finish(batch.start, batch.n_rows)

            try:
                for part in _answer(answerer, unfinished(), client):
                    parts.write(part.start, part.content)
                    finish(part.start, part.n_rows)
            except DatasetError:  # parts of other data are of no use
                finished.clear()
                raise
        if finished:
            with common.output_stream(options.output) as file:
                answerer.answers.join(map(parts.read_again, sorted(finished)), file)
    n_rows = sum(finished.values())
    if n_rows:
        level = f"regions at {options.confidence} % confidence"
        common.say(f"{options.output.name}: {n_rows} rows, {level}")
    return n_rows


def _answer(answerer: BatchAnswerer, batches: Iterable[Any], client: Any) -> Iterator[Part]:
    """Yield the answers for batches in order; unpredictable rows are a one-line error."""
    try:
        yield from common.map_in_order(answerer, batches, client)
    except BatchError as error:
        raise CommandError(str(error)) from error


def _progress(table: Any) -> Any:
    """Return a progress bar of rows."""
    from labelsure._parallel import progress_bar

    bar = progress_bar(description="predicting", total=table.n_rows)
    bar.unit = " rows"
    return bar


class Parts:
    """Finished batches in a folder, reused if nothing that they depend on has changed."""

    def __init__(self, folder: Path, options: Namespace) -> None:
        choices = ("confidence", "top", "keep", "batch", "predict_for")
        about = {name: getattr(options, name) for name in choices} | {"labelsure": __version__}
        for name in ("model", "data"):
            with getattr(options, name).expanduser().open("rb") as file:
                about[name] = hashlib.file_digest(file, "sha256").hexdigest()
        self.folder = folder
        self.key = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()

    def write(self, start: int, content: bytes) -> None:
        """Keep a part."""
        with _files.whole_file(self._path(start), mode=0o600) as file:
            file.write(_files.seal(content) + content)

    def read(self, start: int) -> bytes | None:
        """Return a part; None if it is missing, damaged, or could have been written by others."""
        try:
            with open(self._path(start), "rb", opener=_files.open_ours) as file:
                return _files.unseal(file.read())
        except OSError:
            return None

    def read_again(self, start: int) -> bytes:
        """Return a part that was there a moment ago."""
        if (content := self.read(start)) is None:
            gone = "were removed or damaged before the output was whole."
            raise CommandError(f"finished rows in {self.folder} {gone}")
        return content

    def _path(self, start: int) -> Path:
        return self.folder / f"{self.key[:16]}-{start}"


@dataclass(frozen=True)
class AnswerFormat:
    """How answers are written: a file is joined from parts.

    Cells are a dict from columns to arrays of numbers, RepeatedValues, or arrays of texts.

    Attributes
    ----------
    schema : pyarrow.Schema
        The columns.
    separator : str
        Between labels in a cell of CSV.
    """

    schema: Any
    separator: str

    def head(self) -> bytes:
        """Return what comes before all rows."""
        return b""

    def part(self, cells: dict[str, Any]) -> bytes:
        """Return some rows as they are kept until the file is whole."""
        raise NotImplementedError

    def join(self, parts: Iterable[bytes], file: BinaryIO) -> None:
        """Write the whole file from its parts."""
        file.write(self.head())
        file.writelines(parts)


class CsvAnswers(AnswerFormat):
    """A line of names and a line per row; labels of one cell have the separator between them."""

    def head(self) -> bytes:
        """Return the line of names."""
        return common.csv_text([self.schema.names]).encode()

    def part(self, cells: dict[str, Any]) -> bytes:
        """Return one line per row."""

        def write(value: Any) -> str:
            return value if isinstance(value, str) else self.separator.join(value)

        columns = [_column(cells[name], write, "{:.6g}".format) for name in self.schema.names]
        return common.csv_text(zip(*columns, strict=True)).encode()


class JsonAnswers(AnswerFormat):
    """A JSON object on each line."""

    def part(self, cells: dict[str, Any]) -> bytes:
        """Return one line per row."""
        write = partial(json.dumps, ensure_ascii=False)
        names = self.schema.names
        columns = [_column(cells[name], write, write) for name in names]
        fields = ", ".join(write(name).replace("%", "%%") + ": %s" for name in names)
        template = "{" + fields + "}\n"
        texts = [["null" if cell is None else cell for cell in column] for column in columns]
        return "".join([template % row for row in zip(*texts, strict=True)]).encode()


class ParquetAnswers(AnswerFormat):
    """A Parquet file; labels of one cell are a list of texts."""

    def part(self, cells: dict[str, Any]) -> bytes:
        """Return a small Parquet file."""
        from labelsure.batches import arrow_table

        buffer = io.BytesIO()
        _import_parquet().write_table(arrow_table(cells, self.schema), buffer)
        return buffer.getvalue()

    def join(self, parts: Iterable[bytes], file: BinaryIO) -> None:
        """Write one row group per part."""
        parquet = _import_parquet()
        with parquet.ParquetWriter(file, self.schema) as writer:
            for content in parts:
                writer.write_table(parquet.read_table(io.BytesIO(content)))


def _import_parquet() -> Any:
    return import_optional("pyarrow.parquet", extra="cli", purpose="Writing Parquet")


def _column(
    cells: Any, write: Callable[[Any], str], write_float: Callable[[float], str]
) -> list[Any]:
    """Return a column as a list of cells, None if missing; repeated values are formatted once."""
    from labelsure.predictions._frames import RepeatedValues

    if isinstance(cells, RepeatedValues):
        return RepeatedValues([write(value) for value in cells.values], cells.places).to_list()
    values = cells.tolist()
    if cells.dtype == object:
        return [None if cell is None else write(cell) for cell in values]
    if cells.dtype.kind != "f":
        return list(values)
    return [None if isnan(cell) else write_float(cell) for cell in values]


FORMATS: dict[str, type[AnswerFormat]] = {
    ".csv": CsvAnswers,
    ".jsonl": JsonAnswers,
    ".parquet": ParquetAnswers,
}

"""``labelsure predict``: a row of answers for every row of a table, however long."""

import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from labelsure._version import __version__
from labelsure.cli import _arguments as words
from labelsure.cli._answers import FORMATS, AnswerFormat, Columns, CsvAnswers
from labelsure.cli._errors import CommandError
from labelsure.cli._models import (
    add_jobs,
    add_model_and_data,
    in_one_line,
    note,
    note_unseen,
    open_data,
    open_trained,
    predict_rows,
    refuse_to_overwrite,
)
from labelsure.cli._parts import Parts, digest_of
from labelsure.cli._writing import whole_file

BATCH_ROWS = 10_000
NO_ROWS = "{} has no rows to predict."
SEPARATORS = (";", "|", " & ", "\t")
"""What stands between labels in a cell of CSV: the first that is in none of their names."""


def add_parser(commands: Any) -> None:
    """Add the command to ``commands``, argparse's subparsers."""
    parser = commands.add_parser(
        "predict",
        help="predict the labels of every row of a table",
        description=(
            "Predict: for each row the most plausible labels with confidence and credibility, the labels that are sure,"
            " possible and ruled out, the number of labelsets that are left, and the most plausible of them with their"
            " p-values. Rows are read in batches, so files may be of any length. An interrupted run goes on when the"
            " same command is given again."
        ),
    )
    add_model_and_data(parser)
    parser.add_argument(
        "-o",
        "--output",
        type=_answer_file,
        metavar="FILE",
        help=f"where to write them ({', '.join(FORMATS)}); without it CSV is printed",
    )
    parser.add_argument(
        "--confidence", type=words.confidence_level, default="95", metavar="C", help="in percent (default: 95)"
    )
    parser.add_argument("--top", type=words.count, default=5, metavar="K", help="labelsets listed (default: 5)")
    parser.add_argument(
        "--keep", type=words.names, default=[], metavar="A,B", help="columns of the data to take over, such as an id"
    )
    parser.add_argument(
        "--batch", type=words.count, default=BATCH_ROWS, metavar="N", help=f"rows at a time (default: {BATCH_ROWS})"
    )
    add_jobs(parser)
    parser.set_defaults(run=run)


def run(options: Namespace) -> None:
    """Predict batch by batch, and write the file when all are there."""
    refuse_to_overwrite(options.output, options.model, options.data)
    trained = open_trained(options.model, jobs=options.jobs)
    with in_one_line():
        table = open_data(options.data, trained.schema, keep=options.keep, batch_size=options.batch)
        columns = _columns(options, trained.schema)
        if options.output is None:
            _print(trained.model, table, CsvAnswers(columns), options)
        else:
            _write(trained.model, table, FORMATS[options.output.suffix.lower()](columns), options)
    note_unseen(table)


def _answer_file(text: str) -> Path:
    return words.output_file(text, *FORMATS)


def _columns(options: Namespace, schema: Any) -> Columns:
    marks = (schema.separator, *SEPARATORS)
    separator = next((mark for mark in marks if not any(mark in name for name in schema.label_names)), marks[0])
    kept = tuple(dict.fromkeys(options.keep))
    columns = Columns(kept, options.top, len(schema.label_names), separator)
    twice = [name for name in kept if columns.names.count(name) > 1]
    if twice:
        raise CommandError(f"the output has a column {twice[0]!r} of its own. Rename that of {options.data}.")
    return columns


def _print(model: Any, table: Any, answers: AnswerFormat, options: Namespace) -> None:
    before = answers.head().decode()
    for batch in _watched(table):
        sys.stdout.write(before + answers.part(_rows(model, batch, answers.columns, options)).decode())
        sys.stdout.flush()
        before = ""
    if before:
        raise CommandError(NO_ROWS.format(options.data))


def _write(model: Any, table: Any, answers: AnswerFormat, options: Namespace) -> None:
    """Write one part per batch, then the file; parts stay if this is interrupted."""
    from labelsure.datasets import DatasetError

    parts = Parts(options.output, _key(options))
    if parts.thrown_away:
        note(f"unfinished work on {options.output} was of another model, other data or options: begun anew.")
    try:
        n_parts = n_rows = 0
        for batch in _watched(table):
            if not parts.path(n_parts).exists():
                parts.write(n_parts, answers.part(_rows(model, batch, answers.columns, options)))
            n_parts, n_rows = n_parts + 1, n_rows + batch.n_rows
        if not n_rows:
            raise CommandError(NO_ROWS.format(options.data))
        with whole_file(options.output) as file:
            answers.join(map(parts.path, range(n_parts)), file)
    except DatasetError:  # to be mended in the data, and parts of other data are of no use
        parts.remove()
        raise
    except KeyboardInterrupt:
        print(f"\nlabelsure: interrupted. {_how_to_go_on(parts, n_rows)}", file=sys.stderr)
        raise
    except CommandError as error:
        if not n_rows:
            parts.remove()
            raise
        raise CommandError(f"{error} {_how_to_go_on(parts, n_rows)}") from error
    except BaseException:
        if not n_parts:
            parts.remove()
        raise
    parts.remove()
    print(f"{options.output.name}: {n_rows} rows, regions at {options.confidence} % confidence")


def _how_to_go_on(parts: Parts, n_rows: int) -> str:
    return f"{n_rows} finished rows are kept in {parts.folder}: give the same command again to go on."


def _key(options: Namespace) -> dict[str, Any]:
    """Return everything that a part depends on."""
    given = {name: getattr(options, name) for name in ("confidence", "top", "keep", "batch")}
    digests = {name: digest_of(getattr(options, name)) for name in ("model", "data")}
    return {**given, **digests, "labelsure": __version__}


def _watched(table: Any) -> Iterator[Any]:
    """Yield the batches with a progress bar of rows."""
    from labelsure._core.running import progress_bar

    with progress_bar(description="predicting", total=table.n_rows) as bar:
        bar.unit = " rows"
        for batch in table:
            yield batch
            bar.update(batch.n_rows)


def _rows(model: Any, batch: Any, columns: Columns, options: Namespace) -> list[dict[str, Any]]:
    significance = words.significance_of(options.confidence)
    summaries = predict_rows(model, batch.X).summary(significance, top=columns.n_top)
    return columns.rows(summaries, batch.start, batch.kept)

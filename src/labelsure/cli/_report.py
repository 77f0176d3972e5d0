"""``labelsure report``: one page that shows whether to trust the model, to be opened in a browser and handed on."""

from argparse import Namespace
from pathlib import Path
from typing import Any

from labelsure._errors import CommandError
from labelsure.cli import _arguments as words
from labelsure.cli._models import (
    add_jobs,
    add_model_and_data,
    add_predict_for,
    answer_rows,
    in_one_line,
    note,
    note_unseen,
    open_data,
    open_trained,
    refuse_to_overwrite,
)
from labelsure.cli._writing import readable_size, say


def add_parser(commands: Any) -> None:
    """Add the command to ``commands``, argparse's subparsers."""
    parser = commands.add_parser(
        "report",
        help="write a page with figures about a model and a table",
        description=(
            "Write one HTML file that needs no network: whether the model keeps its promise, how"
            " much it says, the"
            " hardest rows, and every row to look at. Where the labels of the table are not"
            " known, the page shows"
            " predictions alone."
        ),
    )
    add_model_and_data(parser)
    parser.add_argument(
        "-o", "--output", type=_page_file, required=True, metavar="FILE", help="where to write it"
    )
    parser.add_argument(
        "--group",
        type=words.names,
        default=[],
        metavar="A,B",
        help="columns to compare coverage by",
    )
    parser.add_argument(
        "--name", metavar="COLUMN", help="the column that names the rows (default: their numbers)"
    )
    parser.add_argument("--title", help="of the page")
    add_jobs(parser)
    add_predict_for(parser)
    parser.set_defaults(run=run)


def run(options: Namespace) -> None:
    """Predict all rows, and write the page."""
    from labelsure.report import write_report

    refuse_to_overwrite(options.output, options.model, options.data)
    trained = open_trained(options)
    name = [options.name] if options.name is not None else []
    with in_one_line():
        table = open_data(
            options.data,
            trained.schema,
            labels=None,
            keep=[*dict.fromkeys([*options.group, *name])],
        )
        if not table.labels:
            note(
                f"{options.data} does not have all labels: the page shows predictions, compared"
                f" with nothing."
            )
        batch = table.read()
    note_unseen(table)
    rows = batch.kept[options.name] if name else [str(row) for row in range(1, batch.n_rows + 1)]
    groups = {column: [cell or "(none)" for cell in batch.kept[column]] for column in options.group}
    answers = answer_rows(trained.model, batch.X)
    try:
        with in_one_line():
            write_report(
                options.output,
                answers.predictions,
                batch.Y,
                predicted=answers.labels,
                alone=sum(answers.outputs) / len(answers.outputs),
                objects=list(rows),
                groups=groups or None,
                title=options.title or f"{options.model.name} on {options.data.name}",
            )
    except OSError as error:
        raise CommandError(
            f"{options.output} could not be written: {error.strerror or error}."
        ) from error
    say(f"{options.output.name}: {batch.n_rows} rows, {readable_size(options.output)}")


def _page_file(text: str) -> Path:
    return words.output_file(text, ".html", ".htm")

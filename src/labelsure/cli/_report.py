"""``labelsure report``: one HTML page that shows whether to trust the model, to open and share."""

from argparse import Namespace
from typing import Any

from labelsure._errors import CommandError
from labelsure.cli import _arguments as arguments
from labelsure.cli import _common as common


def add_parser(commands: Any) -> None:
    """Add the command to ``commands``, argparse's subparsers."""
    parser = commands.add_parser(
        "report",
        help="write a page with figures about a model and a table",
        description="Write one HTML file that needs no network: whether the model keeps its"
        " promise, how much it says, the hardest rows, and every row to look at. Where the labels"
        " of the table are not known, the page shows predictions alone.",
    )
    arguments.add_model_and_data(parser)
    arguments.add_output(parser, "where to write it", ".html", ".htm")
    option, names = arguments.option, arguments.names
    option(parser, "--group", "A,B", "columns to compare coverage by", names, default=[])
    option(parser, "--name", "COLUMN", "the column that names the rows (default: their numbers)")
    option(parser, "--title", "TITLE", "of the page")
    arguments.add_jobs(parser)
    arguments.add_predict_for(parser)
    parser.set_defaults(run=run)


def run(options: Namespace) -> None:
    """Predict all rows, and write the page."""
    from labelsure.report import write_report

    trained = common.open_trained(options)
    named = [] if options.name is None else [options.name]
    keep = [*dict.fromkeys([*options.group, *named])]
    with common.in_one_line():
        table = common.open_data(options.data, trained.schema, labels=None, keep=keep)
        if not table.labels:
            common.note(
                f"{options.data} does not have all labels: the page shows predictions, compared"
                " with nothing."
            )
        rows = table.read()
    common.note_unseen(table)
    objects = rows.kept[options.name] if named else map(str, range(1, rows.n_rows + 1))
    groups = {column: [cell or "(none)" for cell in rows.kept[column]] for column in options.group}
    answers = common.answer_rows(trained.model, rows.X)
    try:
        with common.in_one_line():
            write_report(
                options.output,
                answers.predictions,
                rows.Y,
                predicted=answers.labels,
                alone=sum(answers.outputs) / len(answers.outputs),
                objects=list(objects),
                groups=groups or None,
                title=options.title or f"{options.model.name} on {options.data.name}",
            )
    except OSError as error:
        reason = error.strerror or error
        raise CommandError(f"{options.output} could not be written: {reason}.") from error
    common.say(f"{options.output.name}: {rows.n_rows} rows, {common.readable_size(options.output)}")

"""``labelsure predict``: a row of answers for every row of a table, however long."""

from argparse import Namespace
from pathlib import Path
from typing import Any

from labelsure.cli import _arguments as words
from labelsure.cli._models import (
    add_jobs,
    add_model_and_data,
    add_predict_for,
    add_scheduler,
    connected,
    in_one_line,
    note_unseen,
    open_data,
    open_trained,
    refuse_to_overwrite,
)

BATCH_ROWS = 10_000
ENDINGS = (".csv", ".jsonl", ".parquet")


def add_parser(commands: Any) -> None:
    """Add the command to ``commands``, argparse's subparsers."""
    parser = commands.add_parser(
        "predict",
        help="predict the labels of every row of a table",
        description=(
            "Predict: for each row its labels, those that are sure, possible and ruled out, the"
            " number of labelsets"
            " that are left, and the most plausible of them with their p-values, confidence and"
            " credibility. Rows are"
            " read in batches, so files may be of any length. An interrupted run goes on when the"
            " same command is given"
            " again."
        ),
    )
    add_model_and_data(parser)
    parser.add_argument(
        "-o",
        "--output",
        type=_answer_file,
        metavar="FILE",
        help=f"where to write them ({', '.join(ENDINGS)}); without it CSV is printed",
    )
    parser.add_argument(
        "--confidence",
        type=words.confidence_level,
        default="95",
        metavar="C",
        help="in percent (default: 95)",
    )
    parser.add_argument(
        "--top", type=words.count, default=5, metavar="K", help="labelsets listed (default: 5)"
    )
    parser.add_argument(
        "--keep",
        type=words.names,
        default=[],
        metavar="A,B",
        help="columns of the data to take over, such as an id",
    )
    parser.add_argument(
        "--batch",
        type=words.count,
        default=BATCH_ROWS,
        metavar="N",
        help=f"rows at a time (default: {BATCH_ROWS})",
    )
    add_jobs(parser)
    add_predict_for(parser)
    add_scheduler(parser)
    parser.set_defaults(run=run)


def run(options: Namespace) -> None:
    """Predict batch by batch, and write the file when all are there."""
    from labelsure.cli._predict_parts import print_answers, write_answers

    refuse_to_overwrite(options.output, options.model, options.data)
    trained = open_trained(options)
    with connected(options.scheduler) as client, in_one_line():
        table = open_data(options.data, trained.schema, keep=options.keep, batch_size=options.batch)
        (print_answers if options.output is None else write_answers)(
            trained, table, options, client
        )
    note_unseen(table)


def _answer_file(text: str) -> Path:
    return words.output_file(text, *ENDINGS)

"""``labelsure check``: which labels of a table are in doubt."""

import csv
import io
import math
from argparse import ArgumentTypeError, Namespace
from pathlib import Path
from typing import Any

from labelsure._errors import CommandError
from labelsure.cli import _arguments as words
from labelsure.cli._fit import add_learning, read_examples
from labelsure.cli._models import counted, in_one_line, refuse_to_overwrite
from labelsure.cli._writing import say, write_whole


def add_parser(commands: Any) -> None:
    """Add the command to ``commands``, argparse's subparsers."""
    parser = commands.add_parser(
        "check",
        help="find labels of a table that are likely to be wrong",
        description=(
            "Write the doubtful labels of a table as CSV, the most doubtful first, each with the"
            " labels that would fit"
            " better. Every row is judged by a model that has not seen it. With a file of rows"
            " that are known to be"
            " labelled well, rows are flagged as well, with a bound on the expected share of"
            " correct ones among them."
            " Rows are counted from 1, below the header; where 'better' is empty no label fits"
            " best."
        ),
    )
    parser.add_argument(
        "data", type=Path, metavar="DATA", help="a CSV, Parquet, ARFF or libsvm file"
    )
    add_learning(parser)
    parser.add_argument(
        "--trusted", type=Path, metavar="FILE", help="rows labelled well, with the same columns"
    )
    parser.add_argument(
        "--level",
        type=_level,
        default=0.1,
        metavar="A",
        help="with --trusted: share of correct rows (default: 0.1)",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=_table_file,
        required=True,
        metavar="FILE",
        help="where to write them",
    )
    parser.add_argument(
        "--folds", type=words.count, default=5, metavar="K", help="without --trusted (default: 5)"
    )
    parser.set_defaults(run=run)


def run(options: Namespace) -> None:
    """Fit on the table or on the trusted rows, and write what is doubtful."""
    from labelsure.datasets import open_table
    from labelsure.decisions import find_label_errors

    if options.trusted and options.trusted.resolve() == options.data.resolve():
        raise CommandError(
            f"{options.data}: rows to check must not be the trusted ones. Leave out --trusted."
        )
    refuse_to_overwrite(
        options.output, options.data, *([options.trusted] if options.trusted else [])
    )
    with in_one_line():
        schema, known = read_examples(options.trusted or options.data, options)
        suspects = (
            open_table(options.data, schema, labels=True).read() if options.trusted else known
        )
    model = _model(options, schema, known.n_rows)
    if options.trusted:
        say(_what_it_takes(options, known.n_rows, suspects.n_rows))
    trusted = (known.X, known.Y) if options.trusted else None
    try:
        model.fit(known.X, known.Y, label_names=list(schema.label_names))
        errors = find_label_errors(
            model, suspects.X, suspects.Y, trusted=trusted, level=options.level
        )
    except ValueError as error:
        raise CommandError(" ".join(str(error).split())) from error
    write_whole(options.output, _as_csv(errors))
    say(
        f"{counted(len(errors.pairs), 'doubtful label')} in {counted(suspects.n_rows, 'row')}, in"
        f" {options.output}."
    )
    say(errors.statement.replace("pass trusted=(X, Y)", "add --trusted FILE"))


def _model(options: Namespace, schema: Any, n_rows: int) -> Any:
    """Return the unfitted model: folds for the table itself, one model beside trusted rows."""
    from labelsure.cli._learners import make_table_learner
    from labelsure.conformal import CrossConformalClassifier, InductiveConformalClassifier

    learner = make_table_learner(options.learner, schema)
    given = {"random_state": options.seed, "n_jobs": options.jobs}
    if options.trusted:
        return InductiveConformalClassifier(learner, calibration_size=0.5, **given)
    if options.folds < 2 or n_rows < 2 * options.folds:
        raise CommandError(
            f"{options.data}: {counted(n_rows, 'row')} for {options.folds} folds; there must be"
            f" at least 2 folds with 2"
            " rows in each. Bring more rows, or choose another number with --folds."
        )
    return CrossConformalClassifier(learner, cv=options.folds, **given)


def _what_it_takes(options: Namespace, n_trusted: int, n_suspects: int) -> str:
    """Return how many rows must be flagged together before any can be, or raise CommandError where none can."""
    from labelsure.decisions import fewest_flagged

    n_calibrate = math.ceil(n_trusted / 2)
    least = fewest_flagged(n_calibrate, n_suspects, options.level)
    if least > n_suspects:
        raise CommandError(
            f"{options.trusted}: with {counted(n_trusted, 'trusted row')}, half of them to"
            f" calibrate, nothing can be"
            f" flagged at level {options.level:g}. Bring {2 * math.ceil(1 / options.level) - 2}"
            f" or more, or raise"
            " --level."
        )
    return (
        f"{counted(n_trusted, 'trusted row')}, {n_calibrate} of them calibrate: at level"
        f" {options.level:g} rows are"
        f" flagged where at least {least} of {n_suspects} look wrong together."
    )


def _as_csv(errors: Any) -> str:
    """Return the doubtful labels as a table, the most doubtful first; rows are counted from 1, below the header."""
    text, names = io.StringIO(), errors.label_names
    with_level = errors.p_values is not None
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        ["row", "label", "given", "gain", "better", *(["p_value", "flagged"] if with_level else [])]
    )
    for (row, label), better in zip(errors.pairs.tolist(), errors.better.tolist(), strict=True):
        named = ";".join(name for name, on in zip(names, better, strict=True) if on)
        judged = [f"{errors.p_values[row]:.6g}", int(errors.flagged[row])] if with_level else []
        gain = f"{errors.gains[row, label]:.4g}"
        writer.writerow([row + 1, names[label], errors.labels[row, label], gain, named, *judged])
    return text.getvalue()


def _level(text: str) -> float:
    try:
        level = float(text)
    except ValueError:
        level = 0.0
    if not 0 < level < 1:
        raise ArgumentTypeError(
            f"expected a share strictly between 0 and 1, such as 0.1, got {text!r}"
        )
    return level


def _table_file(text: str) -> Path:
    return words.output_file(text, ".csv")

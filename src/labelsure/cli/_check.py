"""``labelsure check``: which labels of a table are in doubt."""

import math
from argparse import ArgumentTypeError, Namespace
from pathlib import Path
from typing import Any

from labelsure._errors import CommandError
from labelsure.cli import _arguments as arguments
from labelsure.cli._common import counted, csv_text, in_one_line, one_line, say, write_whole
from labelsure.cli._fit import check_folds, read_examples


def add_parser(commands: Any) -> None:
    """Add the command to ``commands``, argparse's subparsers."""
    parser = commands.add_parser(
        "check",
        help="find labels of a table that are likely to be wrong",
        description="Write the doubtful labels of a table as CSV, the most doubtful first, each"
        " with the labels that would fit better. Every row is judged by a model that has not seen"
        " it. With a file of rows that are known to be labelled well, rows are flagged as well,"
        " with a bound on the expected share of correct ones among them. Rows are counted from 1,"
        " below the header; where 'better' is empty no label fits best.",
    )
    arguments.add_learning(parser)
    option = arguments.option
    option(parser, "--trusted", "FILE", "rows labelled well, with the same columns", Path)
    about = "with --trusted: share of correct rows (default: 0.1)"
    option(parser, "--level", "A", about, _level, default=0.1)
    arguments.add_output(parser, "where to write them", ".csv")
    about = "without --trusted (default: 5)"
    option(parser, "--folds", "K", about, arguments.count, default=5)
    parser.set_defaults(run=run)


def run(options: Namespace) -> None:
    """Fit on the table or on the trusted rows, and write what is doubtful."""
    from labelsure.datasets import open_table
    from labelsure.decisions import find_label_errors

    data, trusted = options.data, options.trusted
    if trusted and trusted.resolve() == data.resolve():
        raise CommandError(
            f"{data}: rows to check must not be the trusted ones. Leave out --trusted."
        )
    with in_one_line():
        schema, known = read_examples(trusted or data, options)
        suspects = open_table(data, schema, labels=True).read() if trusted else known
    model = _make_model(options, schema, known.n_rows)
    if trusted:
        say(_what_it_takes(options, known.n_rows, suspects.n_rows))
    examples = (known.X, known.Y)
    try:
        model.fit(*examples, label_names=list(schema.label_names))
        errors = find_label_errors(
            model,
            suspects.X,
            suspects.Y,
            trusted=examples if trusted else None,
            level=options.level,
        )
    except ValueError as error:
        raise CommandError(one_line(error)) from error
    write_whole(options.output, csv_text(_rows(errors)))
    doubtful = counted(len(errors.pairs), "doubtful label")
    say(f"{doubtful} in {counted(suspects.n_rows, 'row')}, in {options.output}.")
    say(errors.statement.replace("pass trusted=(X, Y)", "add --trusted FILE"))


def _make_model(options: Namespace, schema: Any, n_rows: int) -> Any:
    """Return the unfitted model: folds for the table itself, one model beside trusted rows."""
    from labelsure.cli._learners import make_table_learner
    from labelsure.conformal import CrossConformalClassifier, InductiveConformalClassifier

    learner = make_table_learner(options.learner, schema)
    given = {"random_state": options.seed, "n_jobs": options.jobs}
    if options.trusted:
        return InductiveConformalClassifier(learner, calibration_size=0.5, **given)
    check_folds(options, n_rows, options.folds)
    return CrossConformalClassifier(learner, cv=options.folds, **given)


def _what_it_takes(options: Namespace, n_trusted: int, n_suspects: int) -> str:
    """Return how many rows must be flagged together before any can be; CommandError if none can."""
    from labelsure.decisions import fewest_flagged

    n_calibrate, level = math.ceil(n_trusted / 2), options.level
    least, rows = fewest_flagged(n_calibrate, n_suspects, level), counted(n_trusted, "trusted row")
    if least > n_suspects:
        raise CommandError(
            f"{options.trusted}: with {rows}, half of them to calibrate, nothing can be flagged at"
            f" level {level:g}. Bring {2 * math.ceil(1 / level) - 2} or more, or raise --level."
        )
    return (
        f"{rows}, {n_calibrate} of them calibrate: at level {level:g} rows are flagged where at"
        f" least {least} of {n_suspects} look wrong together."
    )


def _rows(errors: Any) -> list[list[Any]]:
    """Return suspicious labels as a table, the most suspicious first; rows count from 1."""
    with_level = errors.p_values is not None
    columns = ["row", "label", "given", "gain", "better"]
    rows: list[list[Any]] = [[*columns, "p_value", "flagged"] if with_level else columns]
    names = errors.label_names
    for (row, label), better in zip(errors.pairs.tolist(), errors.better.tolist(), strict=True):
        fitting = ";".join(name for name, on in zip(names, better, strict=True) if on)
        gain = f"{errors.gains[row, label]:.4g}"
        cells = [row + 1, names[label], errors.labels[row, label], gain, fitting]
        if with_level:
            cells += [f"{errors.p_values[row]:.6g}", int(errors.flagged[row])]
        rows.append(cells)
    return rows


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

"""``labelsure datasets``: list the data sets known by name, or save one as a file to try."""

from argparse import Namespace
from math import isnan
from typing import Any

from labelsure._errors import CommandError, import_optional
from labelsure.cli import _arguments as arguments
from labelsure.cli._common import csv_text, in_one_line, output_stream, say, write_whole


def add_parser(commands: Any) -> None:
    """Add the command to ``commands``, argparse's subparsers."""
    parser = commands.add_parser(
        "datasets",
        help="list the data sets known by name, or write one to a file",
        description="Without a name, list the data sets that are known; with one, describe it, and"
        " with -o write it to a CSV or Parquet file: features first, then the labels.",
    )
    arguments.option(parser, "name", "NAME", "such as yeast", nargs="?")
    about, endings = "where to write it (.csv or .parquet)", (".csv", ".parquet")
    arguments.add_output(parser, about, *endings, required=False)
    about, parts = "of its standard split (default: all)", ("all", "train", "test")
    parser.add_argument("--part", choices=parts, default="all", help=about)
    parser.set_defaults(run=run)


def run(options: Namespace) -> None:
    """List, describe or write."""
    from labelsure.datasets import available_datasets, load_dataset

    output = options.output
    if options.name is None:
        if output is not None:
            raise CommandError("name the data set to write, such as yeast.")
        say("\n".join(available_datasets()))
        return
    with in_one_line():
        data = load_dataset(options.name)
        if output is None:
            say(repr(data).strip("<>"))
            say(f"labels: {', '.join(data.label_names)}")
            return
        rows = slice(None) if options.part == "all" else getattr(data, options.part)
        columns = _columns(data, rows)
        if output.suffix.lower() == ".csv":
            write_whole(output, csv_text([[*columns], *zip(*columns.values(), strict=True)]))
        else:
            pa = import_optional("pyarrow", extra="cli", purpose="Writing Parquet")
            parquet = import_optional("pyarrow.parquet", extra="cli", purpose="Writing Parquet")
            with output_stream(output) as file:
                parquet.write_table(pa.table(columns), file)
    n_rows, n_features = len(data.Y[rows]), len(data.feature_names)
    say(f"{output.name}: {n_rows} rows, {n_features} features, {len(data.label_names)} labels")


def _columns(data: Any, rows: Any) -> dict[str, list[Any]]:
    """Return the cells of columns, nominal ones as words, missing ones as None."""
    X = data.X[rows].toarray() if hasattr(data.X, "toarray") else data.X[rows]
    columns = {}
    for name, values in zip(data.feature_names, X.T.tolist(), strict=True):
        words = {code: word for word, code in data.categories.get(name, {}).items()}
        cells = [None if isnan(value) else value for value in values]
        columns[name] = [words.get(cell) for cell in cells] if words else cells
    return columns | dict(zip(data.label_names, data.Y[rows].T.tolist(), strict=True))

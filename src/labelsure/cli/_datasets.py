"""``labelsure datasets``: which sets are known by name, and one of them as a file to try things with."""

import csv
import io
from argparse import Namespace
from math import isnan
from typing import Any

from labelsure._errors import CommandError
from labelsure.cli import _arguments as words
from labelsure.cli._models import in_one_line
from labelsure.cli._writing import say, whole_file, write_whole

PARTS = ("all", "train", "test")


def add_parser(commands: Any) -> None:
    """Add the command to ``commands``, argparse's subparsers."""
    parser = commands.add_parser(
        "datasets",
        help="list the data sets known by name, or write one to a file",
        description=(
            "Without a name, list the data sets that are known; with one, describe it, and with"
            " -o write it to a CSV or"
            " Parquet file: features first, then the labels."
        ),
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="such as yeast")
    parser.add_argument(
        "-o",
        "--output",
        type=_table_file,
        metavar="FILE",
        help="where to write it (.csv or .parquet)",
    )
    parser.add_argument(
        "--part", choices=PARTS, default="all", help="of its standard split (default: all)"
    )
    parser.set_defaults(run=run)


def run(options: Namespace) -> None:
    """List, describe or write."""
    from labelsure.datasets import available_datasets, load_dataset

    if options.name is None:
        if options.output is not None:
            raise CommandError("name the data set to write, such as yeast.")
        say("\n".join(available_datasets()))
        return
    with in_one_line():
        data = load_dataset(options.name)
        if options.output is None:
            say(repr(data).strip("<>"))
            say(f"labels: {', '.join(data.label_names)}")
            return
        rows: Any = {"train": data.train, "test": data.test}.get(options.part, range(len(data.Y)))
        n_rows = len(rows)
        write = _write_parquet if options.output.suffix.lower() == ".parquet" else _write_csv
        write(options.output, data, rows)
    say(
        f"{options.output.name}: {n_rows} rows, {len(data.feature_names)} features,"
        f" {len(data.label_names)} labels"
    )


def _table_file(text: str) -> Any:
    return words.output_file(text, ".csv", ".parquet")


def _columns(data: Any, rows: Any) -> Any:
    """Yield names and cells of the columns, nominal ones as words, missing ones as None."""
    X = data.X[rows].toarray() if hasattr(data.X, "toarray") else data.X[rows]
    for j, name in enumerate(data.feature_names):
        cells = [None if isnan(value) else value for value in X[:, j].tolist()]
        meaning = {code: word for word, code in data.categories.get(name, {}).items()}
        yield name, [meaning.get(cell) for cell in cells] if meaning else cells
    for j, name in enumerate(data.label_names):
        yield name, data.Y[rows, j].tolist()


def _write_csv(path: Any, data: Any, rows: Any) -> None:
    columns = dict(_columns(data, rows))
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    write_whole(path, text.getvalue())


def _write_parquet(path: Any, data: Any, rows: Any) -> None:
    from labelsure._errors import import_optional

    pa = import_optional("pyarrow", extra="cli", purpose="Writing Parquet")
    parquet = import_optional("pyarrow.parquet", extra="cli", purpose="Writing Parquet")
    table = pa.table(dict(_columns(data, rows)))
    with whole_file(path) as file:
        parquet.write_table(table, file)

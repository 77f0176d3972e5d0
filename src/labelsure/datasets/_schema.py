"""The schema of a table: inferred from the file that a model is fitted on, kept with the model."""

import json
import re
import warnings
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from labelsure._checks import did_you_mean, plural, quote
from labelsure._errors import DatasetError
from labelsure.datasets import _cells
from labelsure.datasets._arff import parse_number
from labelsure.datasets._mulan import read_label_names
from labelsure.datasets._table_files import (
    LABELS,
    ROWS_LOOKED_AT,
    ArffFile,
    Batch,
    LibsvmFile,
    TableFile,
    open_file,
)

KINDS = ("numeric", "categorical", "text")
FORMAT = 1
MOST_CATEGORIES = 1000
FEW_CATEGORIES = 50
"""So many different values make a column categorical however few the rows are."""

SEPARATORS = (";", "|", ",", "\t", " & ", "/")
"""What may stand between the names of labels in one cell, the likeliest first."""

_DATE = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}([T ].*)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}( .*)?|\d{1,2}:\d{2}(:\d{2})?"
)


@dataclass(frozen=True)
class Column:
    """One feature of a table.

    Attributes
    ----------
    name : str
        What the file calls it.
    kind : {"numeric", "categorical", "text"}
        How its cells are read.
    categories : tuple of str
        The values of a categorical column, in the order of their codes 0, 1, ...; a missing value
        is NaN, a value that is not among them -1.

    Examples
    --------
    >>> Column("place", "categorical", ("forest", "sea")).categories
    ('forest', 'sea')
    """

    name: str
    kind: str
    categories: tuple[str, ...] = ()


@dataclass(frozen=True)
class TableSchema:
    """The features and labels of a table, by name: what every file that a model meets is read by.

    Made by :func:`infer_schema`. No type is guessed again afterwards: not from another file, and
    not from a part of it.

    Attributes
    ----------
    columns : tuple of Column
        The features, in the order of the columns of ``X``.
    label_names : tuple of str
        The labels, in the order of the columns of ``Y``; none where there are only features.
    names_in : str or None
        The column that holds the names of each object's labels; None where each label is a column
        of zeros and ones.
    separator : str
        What stands between names in that column.
    sparse : bool
        Whether ``X`` is a sparse matrix.

    Examples
    --------
    >>> schema = TableSchema((Column("size", "numeric"),), ("beach", "sea"))
    >>> schema
    <TableSchema: 1 numeric column, 2 labels>
    >>> TableSchema.from_json(schema.to_json()) == schema
    True
    """

    columns: tuple[Column, ...]
    label_names: tuple[str, ...] = ()
    names_in: str | None = None
    separator: str = ";"
    sparse: bool = False

    def of_kind(self, kind: str) -> list[int]:
        """Return the positions of the columns of one kind."""
        return [j for j, column in enumerate(self.columns) if column.kind == kind]

    @property
    def label_columns(self) -> tuple[str, ...]:
        """The columns that say which labels an object has."""
        return self.label_names if self.names_in is None else (self.names_in,)

    def to_json(self) -> dict[str, Any]:
        """Return the schema as what JSON knows, for ``save_model(model, path, table=...)``."""
        document: dict[str, Any] = json.loads(json.dumps({"format": FORMAT, **asdict(self)}))
        return document

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """Return the schema that :meth:`to_json` wrote, or raise DatasetError if it is damaged."""
        try:
            given = {name: value for name, value in document.items() if name != "format"}
            columns = tuple(
                Column(**{**column, "categories": tuple(column["categories"])})
                for column in given.pop("columns")
            )
            schema = cls(columns, tuple(given.pop("label_names")), **given)
            names = [*(column.name for column in columns), *schema.label_names]
            categories = [text for column in columns for text in column.categories]
            texts = [*names, *categories, schema.separator, *schema.label_columns]
            is_whole = (
                all(isinstance(text, str) for text in texts)
                and len({*names}) == len(names)
                and all(column.kind in KINDS for column in columns)
                and isinstance(schema.sparse, bool)
                and schema.to_json() == document
            )
        except (AttributeError, KeyError, TypeError):
            is_whole = False
        if not is_whole:
            raise DatasetError(
                f"the description of a table is damaged, or not of format {FORMAT}. Fit the model"
                " again with this version of labelsure, or use the version it was fitted with."
            )
        return schema

    def __repr__(self) -> str:
        counts = {kind: len(self.of_kind(kind)) for kind in KINDS}
        parts = [plural(n, f"{kind} column") for kind, n in counts.items() if n]
        if n_labels := len(self.label_names):
            parts.append(plural(n_labels, "label"))
        return f"<TableSchema: {', '.join(parts)}>"


def infer_schema(
    path: Any,
    labels: Iterable[str] | None = None,
    *,
    separator: str | None = None,
    text: Iterable[str] = (),
    categorical: Iterable[str] = (),
    drop: Iterable[str] = (),
) -> TableSchema:
    r"""Infer the columns of a file from all rows: numbers, categories, text, labels.

    Parameters
    ----------
    path : path
        A CSV, Parquet, ARFF or libsvm file.
    labels : iterable of str or None
        The columns of zeros and ones that are labels; patterns such as ``label_*`` are understood.
        With ``separator``, the one column that holds the names of labels. None: no labels, but for
        ARFF those in the XML file beside it, and for libsvm those on every line.
    separator : str or None
        What stands between the names of labels in one column.
    text, categorical, drop : iterables of str
        Columns to read as text, to read as categories although they look like numbers, and to leave
        out.

    Warns
    -----
    UserWarning
        Where columns are left out that neither ``text`` nor ``categorical`` names: dates, and
        columns of words without spaces that differ in every row, which are treated as identifiers.

    Returns
    -------
    TableSchema
        The categories of a column are in alphabetical order.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> head = "@attribute width numeric\n@attribute place {coast,town}\n@attribute sea {0,1}\n"
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "pictures.arff")
    ...     _ = path.write_text(head + "@data\n640,coast,1\n?,town,0\n")
    ...     schema = infer_schema(path, ["sea"])
    >>> schema.columns[1], schema.label_names
    (Column(name='place', kind='categorical', categories=('coast', 'town')), ('sea',))
    """
    file = open_file(path)
    texts = _match(file, text, "text")
    categories = _match(file, categorical, "categorical")
    dropped = _match(file, drop, "drop")
    label_columns, names_in, separator = _find_labels(file, labels, separator)
    features = [name for name in file.names if name not in {*label_columns, *dropped}]
    if not features:
        raise DatasetError(
            f"{file.path}: every column is a label or left out, so no features are left."
        )
    if names_in is None and len(label_columns) == 1:
        _check_separator(file, label_columns[0])
    named = dict.fromkeys(categories, "categorical") | dict.fromkeys(texts, "text")
    looks = [_Look(name, named.get(name, file.kinds.get(name)), name in named) for name in features]
    open_looks = [look for look in looks if look.kind in (None, "categorical")]
    names = {look.name for look in open_looks}
    for batch in file.batches(names, ROWS_LOOKED_AT) if names else ():
        for look in open_looks:
            look.at(batch)
    columns = _choose_columns(file.path, looks)
    label_names = label_columns if names_in is None else _names_found(file, names_in, separator)
    return TableSchema(columns, tuple(label_names), names_in, separator, file.sparse)


def _match(file: TableFile, patterns: Iterable[str], option: str) -> list[str]:
    """Return the columns that names and patterns match, in the order of the patterns."""
    found: dict[str, None] = {}
    for pattern in patterns:
        matches = [name for name in file.names if name == pattern]
        matches = matches or [name for name in file.names if fnmatchcase(name, pattern)]
        if not matches:
            hint = did_you_mean(pattern, file.names) or f" Its columns are {few_names(file.names)}."
            raise DatasetError(
                f"{file.path} has no column {quote(pattern)}, which {option} names.{hint}"
            )
        found |= dict.fromkeys(matches)
    return list(found)


def _find_labels(
    file: TableFile, labels: Iterable[str] | None, separator: str | None
) -> tuple[list[str], str | None, str]:
    """Return the label columns, the column of label names or None, and its separator."""
    if isinstance(file, LibsvmFile):
        if labels is not None or separator is not None:
            raise DatasetError(
                f"{file.path}: its labels are the numbers before the features. Name none for libsvm"
                " files."
            )
        return [LABELS], LABELS, ","
    if labels is None and isinstance(file, ArffFile):
        stem = file.path.stem.removesuffix("-train").removesuffix("-test")
        beside = [file.path.with_suffix(".xml"), file.path.with_name(f"{stem}.xml")]
        labels = next((read_label_names(xml) for xml in beside if xml.is_file()), [])
    columns = _match(file, labels or (), "labels")
    if separator is None:
        return columns, None, ";"
    if not separator:
        raise DatasetError(
            "the separator between names of labels must be at least one character, got none."
        )
    if len(columns) != 1:
        raise DatasetError(
            f"with a separator the names of labels are in one column, got {len(columns)}:"
            f" {few_names(columns)}."
        )
    return columns, columns[0], separator


def _check_separator(file: TableFile, column: str) -> None:
    """Raise DatasetError if the only label column holds words, and suggest a separator."""
    for batch in file.batches([column], ROWS_LOOKED_AT):
        cells = _cells.words(batch.column(column)).tolist()
        spelled = [row for row, cell in enumerate(cells) if cell is not None and _is_word(cell)]
        split = [
            (row, mark) for mark in SEPARATORS for row in spelled if mark in cells[row].strip(mark)
        ]
        for row, mark in [*split, *((row, SEPARATORS[0]) for row in spelled)][:1]:
            labels = " and ".join(
                quote(name.strip()) for name in cells[row].split(mark) if name.strip()
            )
            raise DatasetError(
                f"{file.path}, row {batch.start + row + 1}, column {quote(column)}: a label must be"
                f" 0 or 1, got {quote(cells[row])}. If cells name their labels, say what stands"
                f" between the names: with --separator {mark!r} (separator= in Python) this one has"
                f" {labels}."
            )


def _is_word(cell: str) -> bool:
    """Tell whether a cell is neither a number nor true or false."""
    text = cell.strip().lower()
    known = text in _cells.LABEL_WORDS or cell in _cells.MISSING
    return not known and parse_number(text) is None


def _names_found(file: TableFile, column: str, separator: str) -> list[str]:
    found: set[str] = set()
    for batch in file.batches([column], ROWS_LOOKED_AT):
        found.update(
            name for row in _cells.names_of(batch.column(column), separator) for name in row
        )
    taken = found.intersection(file.names) - {column}
    if taken:
        raise DatasetError(
            f"{file.path}: {quote(min(taken))} is both a label and a column. Rename the column."
        )
    return sorted(found, key=int) if all(name.isdecimal() for name in found) else sorted(found)


@dataclass
class _Look:
    """What has been seen of a column; ``named`` if the user said how to read it."""

    name: str
    kind: str | None
    named: bool
    texts: Any = field(default_factory=set)
    n_rows: int = 0
    n_read: int = 0  # of these, the rows whose values were collected
    slip: str = ""  # where the first cell is that made categories of a column of numbers

    def at(self, batch: Batch) -> None:
        """Look at the next rows."""
        cells = batch.column(self.name)
        if self.kind is None and _cells.has_leading_zeros(cells):
            self.kind = "categorical"
        if self.kind is None:
            try:
                _cells.numbers(cells)
            except _cells.CellError as error:
                self.kind, row = "categorical", batch.start + error.position + 1
                self.slip = f"row {row}, column {quote(self.name)}: {error}"
        self.n_rows += batch.n_rows
        if len(self.texts) <= MOST_CATEGORIES:
            self.n_read = self.n_rows
            self.texts = _cells.different_texts(self.texts, cells)

    @cached_property
    def values(self) -> list[str]:
        """The different cells of a categorical column."""
        texts = self.texts if isinstance(self.texts, set) else self.texts.to_pylist()
        return sorted(texts) if self.kind == "categorical" else []

    @cached_property
    def verdict(self) -> tuple[str, str]:
        """One of "used", "date", "slip", "id", "unreadable", "too many", and the reason."""
        values, n_values = self.values, len(self.values)
        such_as = f" such as {quote(values[0])}" if values else ""
        has_too_many = n_values > max(FEW_CATEGORIES, min(MOST_CATEGORIES, self.n_rows / 2))
        are_dates = self.kind == "dates" or (values and all(map(_DATE.fullmatch, values[:100])))
        if are_dates and not self.named:
            return "date", f"dates{such_as}"
        if self.slip and _are_mostly_numbers(values):
            return "slip", self.slip
        all_differ = n_values == self.n_read and " " not in "".join(values)
        if has_too_many and all_differ and not self.named:
            return "id", f"a different word in every row,{such_as}"  # of the first 10 000 or more
        if self.kind not in KINDS:
            return "unreadable", str(self.kind)
        count = str(n_values) if n_values <= MOST_CATEGORIES else f"more than {MOST_CATEGORIES}"
        return ("too many", f"{count} different values,{such_as}") if has_too_many else ("used", "")

    @property
    def column(self) -> Column:
        """The column as it is read."""
        lower = sorted({value.lower() for value in self.values})
        are_flags = {*lower} <= {"false", "true"}
        return Column(self.name, str(self.kind), tuple(lower if are_flags else self.values))


def _are_mostly_numbers(values: Sequence[str]) -> bool:
    """Whether most values are numbers, perhaps with decimal commas."""
    if any(re.match("[+-]?0[0-9]", value) for value in values):
        return False
    parsed = [parse_number(value.strip().replace(",", ".", 1)) for value in values]
    return parsed.count(None) < len(values) / 2


def _choose_columns(path: Path, looks: Sequence[_Look]) -> tuple[Column, ...]:
    """Return the feature columns; warn about those left out, raise for unreadable ones."""
    groups: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for look in looks:
        look.kind = look.kind or "numeric"
        verdict, reason = look.verdict
        groups[verdict].append((look.name, reason))
    names = {verdict: ",".join(name for name, _ in group) for verdict, group in groups.items()}
    if slips := groups["slip"]:
        raise DatasetError(
            f"{path}, {' '.join(slip for _, slip in slips[:5])} Most of the other cells are"
            f" numbers; if all are categories, say so (--categorical {names['slip']}; categorical="
            " in Python)."
        )
    if unreadable := groups["unreadable"]:
        raise DatasetError(
            f"{path}, {_list_columns(unreadable)}: cannot be read. Make numbers or texts of them,"
            f" or leave them out (--drop {names['unreadable']}; drop= in Python)."
        )
    if many := groups["too many"]:
        raise DatasetError(
            f"{path}, {_list_columns(many)}: too many for categories. Read as text what is text"
            f" (--text {names['too many']}; text= in Python), or leave it out (--drop"
            f" {names['too many']}; drop= in Python)."
        )
    left = _list_columns(groups["date"] + groups["id"])
    keep = (
        "To learn from one all the same, name it (--text or --categorical; text= or categorical= in"
        " Python), or make a number of it, such as the year of a date."
    )
    if not groups["used"]:
        raise DatasetError(f"{path}: no features are left but {left}. {keep}")
    if left:
        warnings.warn(f"{path}: left out {left}. {keep}", stacklevel=3)
    return tuple(look.column for look in looks if look.verdict[0] == "used")


def _list_columns(reasons: Sequence[tuple[str, str]]) -> str:
    """Return columns with reasons for a message, at most a few; empty for none."""
    said = few_names([f"{quote(name)} ({reason})" for name, reason in reasons])
    return said and f"column{'' if len(reasons) == 1 else 's'} {said}"


def few_names(names: Sequence[str], limit: int = 8) -> str:
    """Return names for a message, the first of them where there are many."""
    shown_names = ", ".join(names[:limit])
    return f"{shown_names} and {len(names) - limit} more" if len(names) > limit else shown_names

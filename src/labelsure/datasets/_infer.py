"""What the columns of a file are, decided once, by looking at every row of it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatchcase
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypeAlias

from labelsure.datasets._arrow_files import CsvFile, ParquetFile
from labelsure.datasets._cells import CellError, known_texts, names_of, numbers, words
from labelsure.datasets._errors import DatasetError, shown
from labelsure.datasets._line_files import LABELS, ArffFile, LibsvmFile
from labelsure.datasets._mulan import read_label_names
from labelsure.datasets._raw import TableFile
from labelsure.datasets._schema import KINDS, Column, TableSchema
from labelsure.datasets._tokens import parse_number

PathLikeText: TypeAlias = str | PathLike[str]

TABLE_FILES: tuple[type[TableFile], ...] = (CsvFile, ParquetFile, ArffFile, LibsvmFile)
ENDINGS = tuple(ending for kind in TABLE_FILES for ending in kind.endings)
MOST_CATEGORIES = 1000
FEW_CATEGORIES = 50
"""So many different values make a column categorical however few the rows are."""

BATCH_ROWS = 10_000

_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([T ].*)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}( .*)?|\d{1,2}:\d{2}(:\d{2})?")
_LEADING_ZERO = r"^[+-]?0[0-9]"


def open_file(path: PathLikeText) -> TableFile:
    """Return the file behind a path, by its ending.

    Raises
    ------
    DatasetError
        If no table ends so, or the file cannot be opened.
    """
    found = Path(fspath(path))
    for kind in TABLE_FILES:
        if found.suffix.lower() in kind.endings:
            if not found.expanduser().is_file():
                what = "is a folder, not a file" if found.expanduser().is_dir() else "does not exist"
                if found.expanduser().is_symlink():
                    what = "is a link that leads to no file"
                raise DatasetError(f"{found} {what}. Check the path.")
            return kind(found)  # type: ignore[call-arg]
    raise DatasetError(f"{found} must end in {', '.join(ENDINGS)}, got {found.suffix or 'no ending'!r}.")


def infer_schema(
    path: PathLikeText,
    labels: Iterable[str] | None = None,
    *,
    separator: str | None = None,
    text: Iterable[str] = (),
    categorical: Iterable[str] = (),
    drop: Iterable[str] = (),
) -> TableSchema:
    r"""Return what the columns of a file are: numbers, categories, text, labels. All rows are looked at.

    Parameters
    ----------
    path : path
        A CSV, Parquet, ARFF or libsvm file.
    labels : iterable of str or None
        The columns of zeros and ones that are labels; patterns such as ``label_*`` are understood. With
        ``separator``, the one column that holds the names of labels. None: no labels, but for ARFF those in the XML
        file beside it, and for libsvm those on every line.
    separator : str or None
        What stands between the names of labels in one column.
    text, categorical, drop : iterables of str
        Columns to read as text, to read as categories although they look like numbers, and to leave out.

    Returns
    -------
    TableSchema
        The categories of a column are in alphabetical order.

    Raises
    ------
    DatasetError
        If the file cannot be read, a column is not there, or cannot be made sense of: dates, more different values
        than categories can have.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> rows = ["@attribute width numeric", "@attribute place {coast,town}"]
    >>> rows += ["@attribute sea {0,1}", "@attribute city {0,1}", "@data"]
    >>> rows += ["640,coast,1,0", "?,town,0,1", "320,coast,1,1"]
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "pictures.arff")
    ...     _ = path.write_text("\n".join(rows))
    ...     schema = infer_schema(path, ["sea", "city"])
    >>> schema.columns[1]
    Column(name='place', kind='categorical', categories=('coast', 'town'))
    >>> schema.label_names
    ('sea', 'city')
    """
    file = open_file(path)
    asked = {"text": [*text], "categorical": [*categorical], "drop": [*drop]}
    for option, names in asked.items():
        asked[option] = _match(file, names, option)
    label_columns, names_in, separator = _find_labels(file, labels, separator)
    taken = [*label_columns, *asked["drop"]]
    features = [name for name in file.names if name not in set(taken)]
    if not features:
        raise DatasetError(f"{file.path}: every column is a label or left out, so no features are left.")
    looks = {name: _Look(name, _kind_in(asked, name) or file.kinds.get(name)) for name in features}
    _look(file, looks)
    columns = tuple(look.decide(file) for look in looks.values())
    found = label_columns if names_in is None else _names_found(file, names_in, separator)
    return TableSchema(columns, tuple(found), names_in, separator, file.sparse)


def _kind_in(asked: Mapping[str, Sequence[str]], name: str) -> str | None:
    return next((kind for kind in ("text", "categorical") if name in asked[kind]), None)


def _match(file: TableFile, patterns: Sequence[str], option: str) -> list[str]:
    """Return the columns that names and patterns stand for, in the order in which they are asked for."""
    names = set(file.names)
    found: dict[str, None] = {}
    for pattern in patterns:
        matches = [pattern] if pattern in names else [name for name in file.names if fnmatchcase(name, pattern)]
        if not matches:
            near = get_close_matches(pattern, file.names, n=1) if len(pattern) < 100 else []
            hint = f" Did you mean {shown(near[0])}?" if near else f" Its columns are {few_names(file.names)}."
            raise DatasetError(f"{file.path} has no column {shown(pattern)}, which {option} names.{hint}")
        found |= dict.fromkeys(matches)
    return list(found)


def _find_labels(
    file: TableFile, labels: Iterable[str] | None, separator: str | None
) -> tuple[list[str], str | None, str]:
    """Return the columns of labels, that of names where there is one, and what stands between these."""
    if isinstance(file, LibsvmFile):
        if labels is not None or separator is not None:
            raise DatasetError(
                f"{file.path}: its labels are the numbers before the features. Name none for libsvm files."
            )
        return [LABELS], LABELS, ","
    if labels is None and isinstance(file, ArffFile):
        stem = file.path.stem.removesuffix("-train").removesuffix("-test")
        beside = [file.path.with_suffix(".xml"), file.path.with_name(f"{stem}.xml")]
        found = next((xml for xml in beside if xml.is_file()), None)
        labels = [] if found is None else [*read_label_names(found)]
    columns = _match(file, list(labels or ()), "labels")
    if separator is None:
        return columns, None, ";"
    if not separator:
        raise DatasetError("the separator between names of labels must be at least one character, got none.")
    if len(columns) != 1:
        raise DatasetError(
            f"with a separator the names of labels are in one column, got {len(columns)}: {few_names(columns)}."
        )
    return columns, columns[0], separator


def _names_found(file: TableFile, column: str, separator: str) -> list[str]:
    found: set[str] = set()
    for batch in file.batches([column], BATCH_ROWS):
        found.update(name for row in names_of(batch.column(column), separator) for name in row)
    taken = found.intersection(file.names) - {column}
    if taken:
        raise DatasetError(f"{file.path}: {shown(min(taken))} is both a label and a column. Rename the column.")
    whole = all(name.isdecimal() for name in found)
    return sorted(found, key=int) if whole else sorted(found)


@dataclass
class _Look:
    """What has been seen of a column whose kind may not be known yet."""

    name: str
    kind: str | None
    values: set[str] = field(default_factory=set)
    n_rows: int = 0
    no_number: str = ""  # where a cell is, and what it is, that made a column of numbers one of categories

    def decide(self, file: TableFile) -> Column:
        """Return the column, or say why it cannot be read."""
        where = f"{file.path}, column {shown(self.name)}"
        out = f"leave it out (--drop {self.name}; drop= in Python)"
        some = sorted(self.values)
        if self.kind == "dates" or (self.kind == "categorical" and some and all(map(_DATE.fullmatch, some[:100]))):
            such = f" such as {shown(some[0])}" if some else ""
            raise DatasetError(
                f"{where}: dates{such} are not read, because what matters about them is not known. Make a number of"
                f" them (year, month, hour, days since something happened), or {out}."
            )
        if self.kind not in KINDS:
            raise DatasetError(f"{where}: {self.kind} cannot be read. Make numbers or texts of them, or {out}.")
        if self.no_number and _are_mostly_numbers(some):
            raise DatasetError(
                f"{file.path}, {self.no_number} Most of the other cells are numbers; if all are categories, say so"
                f" (--categorical {self.name}; categorical= in Python)."
            )
        n_values = len(some)
        most = max(FEW_CATEGORIES, min(MOST_CATEGORIES, self.n_rows / 2))
        if self.kind == "categorical" and n_values > most:
            many = f"more than {MOST_CATEGORIES}" if n_values > MOST_CATEGORIES else str(n_values)
            raise DatasetError(
                f"{where}: {many} different values, such as {shown(some[0])}, in {self.n_rows} rows are too many for"
                f" categories. Read it as text (--text {self.name}; text= in Python), or {out}."
            )
        if self.kind != "categorical":
            return Column(self.name, self.kind)
        lower = sorted({value.lower() for value in some})
        return Column(self.name, "categorical", tuple(lower if {*lower} <= {"false", "true"} else some))


def _look(file: TableFile, looks: Mapping[str, _Look]) -> None:
    """Find out which columns are numbers in every row, then which values the categorical ones have."""
    unknown = {name for name, look in looks.items() if look.kind is None}
    for batch in file.batches(unknown, BATCH_ROWS) if unknown else ():
        for name in sorted(unknown):
            cells = batch.column(name)
            if _have_leading_zeros(cells):
                looks[name].kind = "categorical"
            else:
                try:
                    numbers(cells)
                except CellError as error:
                    row = batch.start + error.position + 1
                    looks[name].kind = "categorical"
                    looks[name].no_number = f"row {row}, column {shown(name)}: {error}"
        unknown = {name for name in unknown if looks[name].kind is None}
    for name in unknown:
        looks[name].kind = "numeric"
    categorical = {name for name, look in looks.items() if look.kind == "categorical"}
    for batch in file.batches(categorical, BATCH_ROWS) if categorical else ():
        for name in categorical:
            look = looks[name]
            look.n_rows += batch.n_rows
            if len(look.values) <= MOST_CATEGORIES:
                look.values |= set(words(batch.column(name)).tolist()) - {None}


def _have_leading_zeros(cells: Any) -> bool:
    """Tell whether any cell looks like 007, which is a name."""
    from pyarrow import compute

    return bool(compute.any(compute.match_substring_regex(known_texts(cells), _LEADING_ZERO)).as_py())


def _are_mostly_numbers(values: Sequence[str]) -> bool:
    """Tell whether a column of different values is one of numbers with a slip in it, or with decimal commas."""
    n_numbers = sum(parse_number(value.strip().replace(",", ".", 1)) is not None for value in values)
    return n_numbers > len(values) / 2 and not any(re.match(_LEADING_ZERO, value) for value in values)


def few_names(names: Sequence[str], limit: int = 8) -> str:
    """Return names for a message, the first of them where there are many."""
    shown_names = ", ".join(names[:limit])
    return f"{shown_names} and {len(names) - limit} more" if len(names) > limit else shown_names

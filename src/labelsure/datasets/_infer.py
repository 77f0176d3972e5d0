"""What the columns of a file are, decided once, by looking at every row of it."""

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatchcase
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypeAlias

from labelsure.datasets._arff import parse_number
from labelsure.datasets._arrow_files import CsvFile, ParquetFile
from labelsure.datasets._cells import LABEL_WORDS, MISSING, CellError, known_texts, names_of, numbers, words
from labelsure.datasets._errors import DatasetError, shown
from labelsure.datasets._line_files import LABELS, ArffFile, LibsvmFile
from labelsure.datasets._mulan import read_label_names
from labelsure.datasets._raw import TableFile
from labelsure.datasets._schema import KINDS, Column, TableSchema

PathLikeText: TypeAlias = str | PathLike[str]

TABLE_FILES: tuple[type[TableFile], ...] = (CsvFile, ParquetFile, ArffFile, LibsvmFile)
ENDINGS = tuple(ending for kind in TABLE_FILES for ending in kind.endings)
MOST_CATEGORIES = 1000
FEW_CATEGORIES = 50
"""So many different values make a column categorical however few the rows are."""

BATCH_ROWS = 10_000

_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([T ].*)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}( .*)?|\d{1,2}:\d{2}(:\d{2})?")
SEPARATORS = (";", "|", ",", "\t", " & ", "/")
"""What may stand between the names of labels in one cell, the likeliest first."""

FEW_SLIPS = 5
"""Cells that are no numbers, of different columns, in one message."""

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

    Warns
    -----
    UserWarning
        Where columns are left out that neither ``text`` nor ``categorical`` names: dates, and columns of words without
        spaces that differ in every row, which are taken for identifiers.

    Returns
    -------
    TableSchema
        The categories of a column are in alphabetical order.

    Raises
    ------
    DatasetError
        If the file cannot be read, a column is not there, or cannot be made sense of: more different values than
        categories can have.

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
    if names_in is None and len(label_columns) == 1:
        _check_separator(file, label_columns[0])
    looks = {name: _look_at(name, _kind_in(asked, name), file) for name in features}
    _look(file, looks)
    columns = _decide(file, list(looks.values()))
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


def _check_separator(file: TableFile, column: str) -> None:
    """Raise DatasetError where the one column of labels holds words, and say how to read names of labels from it."""
    for batch in file.batches([column], BATCH_ROWS):
        cells = words(batch.column(column)).tolist()
        rows = [row for row, cell in enumerate(cells) if cell is not None and _is_word(cell)]
        if not rows:
            continue
        split = [(row, mark) for mark in SEPARATORS for row in rows if mark in cells[row].strip(mark)]
        row, mark = split[0] if split else (rows[0], SEPARATORS[0])
        labels = " and ".join(shown(name.strip()) for name in cells[row].split(mark) if name.strip())
        raise DatasetError(
            f"{file.path}, row {batch.start + row + 1}, column {shown(column)}: a label must be 0 or 1, got"
            f" {shown(cells[row])}. If cells name their labels, say what stands between the names: with --separator"
            f" {mark!r} (separator= in Python) this one has {labels}."
        )


def _is_word(cell: str) -> bool:
    """Tell whether a cell is neither a number nor true or false."""
    text = cell.strip().lower()
    return text not in LABEL_WORDS and parse_number(text) is None and cell not in MISSING


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
    named: bool  # whether the user says what it is
    values: set[str] = field(default_factory=set)
    n_rows: int = 0
    n_read: int = 0  # of these, the rows whose values were collected
    no_number: str = ""  # where a cell is, and what it is, that made a column of numbers one of categories

    @property
    def holds_dates(self) -> bool:
        """Whether all known cells are dates."""
        some = sorted(self.values)[:100]
        return self.kind == "dates" or (self.kind == "categorical" and bool(some) and all(map(_DATE.fullmatch, some)))

    @property
    def has_too_many(self) -> bool:
        """Whether there are more values than categories can have."""
        most = max(FEW_CATEGORIES, min(MOST_CATEGORIES, self.n_rows / 2))
        return self.kind == "categorical" and len(self.values) > most

    @property
    def looks_like_id(self) -> bool:
        """Whether every row has a word of its own, without spaces: 10 000 rows are looked at, or all if fewer."""
        return self.has_too_many and len(self.values) == self.n_read and not any(" " in value for value in self.values)

    @property
    def how_many(self) -> str:
        """How many different values there are, with one of them."""
        most = f"more than {MOST_CATEGORIES}" if len(self.values) > MOST_CATEGORIES else str(len(self.values))
        return f"{most} different values, such as {shown(min(self.values))}"

    @property
    def column(self) -> Column:
        """The column as it is read."""
        if self.kind != "categorical":
            return Column(self.name, str(self.kind))
        lower = sorted({value.lower() for value in self.values})
        return Column(self.name, "categorical", tuple(lower if {*lower} <= {"false", "true"} else sorted(self.values)))


def _look_at(name: str, kind: str | None, file: TableFile) -> _Look:
    return _Look(name, kind or file.kinds.get(name), named=kind is not None)


def _decide(file: TableFile, looks: Sequence[_Look]) -> tuple[Column, ...]:
    """Return the columns that are features, note those left out, or say which cannot be read, all of a kind at once."""
    dates = [look for look in looks if not look.named and look.holds_dates]
    words_left = [look for look in looks if look.named or not look.holds_dates]
    if slips := [look for look in words_left if look.no_number and _are_mostly_numbers(sorted(look.values))]:
        raise DatasetError(
            f"{file.path}, {' '.join(look.no_number for look in slips[:FEW_SLIPS])} Most of the other cells are"
            f" numbers; if all are categories, say so (--categorical {','.join(look.name for look in slips)};"
            " categorical= in Python)."
        )
    ids = [look for look in words_left if not look.named and look.looks_like_id]
    used = [look for look in words_left if look.named or not look.looks_like_id]
    if unreadable := [look for look in used if look.kind not in KINDS]:
        kinds = _list_columns((look, str(look.kind)) for look in unreadable)
        raise DatasetError(
            f"{file.path}, {kinds}: cannot be read. Make numbers or texts of them, or {_drop(unreadable)}."
        )
    if many := [look for look in used if look.has_too_many]:
        counts = _list_columns((look, look.how_many) for look in many)
        raise DatasetError(
            f"{file.path}, {counts}: too many for categories in {many[0].n_rows} rows. Read as text what is text"
            f" (--text {','.join(look.name for look in many)}; text= in Python), or {_drop(many)}."
        )
    left = [(look, f"dates such as {shown(min(look.values))}" if look.values else "dates") for look in dates]
    left += [(look, f"a word of its own in every row, such as {shown(min(look.values))}") for look in ids]
    keep = (
        "To learn from one all the same, name it (--text or --categorical; text= or categorical= in Python), or make a"
        " number of it, such as the year of a date."
    )
    if not used:
        raise DatasetError(f"{file.path}: no features are left but {_list_columns(left)}. {keep}")
    if left:
        warnings.warn(f"{file.path}: left out {_list_columns(left)}. {keep}", stacklevel=3)
    return tuple(look.column for look in used)


def _list_columns(described: Iterable[tuple[_Look, str]]) -> str:
    """Return columns with what is said of each, the first of them where there are many."""
    said = [f"{shown(look.name)} ({what})" for look, what in described]
    return f"column{'' if len(said) == 1 else 's'} {few_names(said)}"


def _drop(looks: Sequence[_Look]) -> str:
    them = "it" if len(looks) == 1 else "them"
    return f"leave {them} out (--drop {','.join(look.name for look in looks)}; drop= in Python)"


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
                look.n_read = look.n_rows
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

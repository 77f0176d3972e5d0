"""The cells of one column, whichever file they come from, as numbers, as words or as zeros and ones.

Cells are an array of float64, an array of objects (texts, None where missing) or an array of pyarrow.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from labelsure._core.types import FloatArray
from labelsure.datasets._arff import parse_number
from labelsure.datasets._errors import shown

Cells: TypeAlias = Any

MISSING = frozenset({"", "?", "NA", "N/A", "NaN", "nan", "NAN", "null", "NULL", "None", "#N/A"})
"""What stands for a missing number in a text file. For a category only an empty cell does: NA is Namibia, too."""

LARGEST = float(np.finfo(np.float32).max)
"""Trees work in float32, and the squares of much larger numbers are infinite."""

LABEL_WORDS = {"0": 0.0, "1": 1.0, "0.0": 0.0, "1.0": 1.0, "false": 0.0, "true": 1.0}


class CellError(Exception):
    """What is wrong with the cell at a position; the file's reader adds the file, the row and the column."""

    def __init__(self, position: int, message: str) -> None:
        super().__init__(message)
        self.position = position


def numbers(cells: Cells) -> FloatArray:
    """Return finite numbers, NaN where they are missing, or raise CellError.

    Examples
    --------
    >>> numbers(np.array(["1.5", "NA", None, " 2 "], dtype=object)).tolist()
    [1.5, nan, nan, 2.0]
    """
    if isinstance(cells, np.ndarray) and cells.dtype != object:
        values: FloatArray = cells
    elif isinstance(cells, np.ndarray):
        values = _numbers_one_by_one(cells)
    else:
        values = _numbers_of_arrow(cells)
    check_size(values)
    return values


def check_size(values: FloatArray) -> None:
    """Raise CellError where a number is larger than learners can take.

    Examples
    --------
    >>> check_size(np.array([1.0, np.nan, -1e308]))
    Traceback (most recent call last):
    ...
    labelsure.datasets._cells.CellError: expected a finite number, up to 3.4e+38 in size, got -1e+308. ...
    """
    too_large = np.abs(values) > LARGEST
    if too_large.any():
        at = int(np.flatnonzero(too_large)[0])
        raise CellError(
            at,
            f"expected a finite number, up to {LARGEST:.2g} in size, got {values[at]:g}. Correct it, or leave it empty"
            " if unknown.",
        )


def words(cells: Cells) -> np.ndarray[Any, Any]:
    """Return texts, None where they are missing.

    Examples
    --------
    >>> words(np.array([1.0, np.nan, 2.5])).tolist()
    ['1', None, '2.5']
    """
    if isinstance(cells, np.ndarray) and cells.dtype == object:
        return cells
    if isinstance(cells, np.ndarray):
        texts = [None if np.isnan(value) else repr(value).removesuffix(".0") for value in cells.tolist()]
        return np.array(texts, dtype=object)
    return np.array([text or None for text in as_texts(cells).to_pylist()], dtype=object)


def zeros_and_ones(cells: Cells) -> FloatArray:
    """Return the zeros and ones of a label, or raise CellError.

    Examples
    --------
    >>> zeros_and_ones(np.array(["1", "False", "0"], dtype=object)).tolist()
    [1.0, 0.0, 0.0]
    """
    if isinstance(cells, np.ndarray) and cells.dtype != object:
        values: FloatArray = cells
    else:
        found = [LABEL_WORDS.get((text or "").strip().lower()) for text in words(cells).tolist()]
        values = np.array(found, dtype=np.float64)  # None becomes NaN
    wrong = ~np.isin(values, (0.0, 1.0))
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        found = words(cells)[at]
        got = "nothing" if found is None else shown(found)
        raise CellError(at, f"a label must be 0 or 1, got {got}. Correct it, or do not list the column as a label.")
    return values


def code_categories(cells: Cells, categories: tuple[str, ...]) -> FloatArray:
    """Return the place of each value among the categories; NaN where it is missing, -1 where it is not among them.

    Examples
    --------
    >>> code_categories(np.array(["sea", None, "desert"], dtype=object), ("forest", "sea")).tolist()
    [1.0, nan, -1.0]
    """
    same: Callable[[str], str] = str.lower if {*categories} <= {"false", "true"} else str
    codes = {category: float(code) for code, category in enumerate(categories)}
    texts = words(cells).tolist()
    return np.array([np.nan if text is None else codes.get(same(text), -1.0) for text in texts], dtype=np.float64)


def names_of(cells: Cells, separator: str) -> list[list[str]]:
    """Return the names in each cell: between separators, or the members of a list; nothing where a cell is empty.

    Examples
    --------
    >>> names_of(np.array(["sea; beach", None], dtype=object), ";")
    [['sea', 'beach'], []]
    """
    if not isinstance(cells, np.ndarray) and "list" in str(cells.type):
        return [[str(name) for name in names or []] for names in cells.to_pylist()]
    split = ((text or "").split(separator) for text in words(cells).tolist())
    return [[name.strip() for name in names if name.strip()] for names in split]


def as_texts(cells: Any) -> Any:
    """Return an array of pyarrow as one of texts."""
    import pyarrow as pa
    from pyarrow import compute

    if pa.types.is_dictionary(cells.type):
        cells = cells.dictionary_decode()
    return cells if pa.types.is_string(cells.type) else compute.cast(cells, pa.string())


def known_texts(cells: Any) -> Any:
    """Return an array of pyarrow as one of trimmed texts, null where a number is missing."""
    import pyarrow as pa
    from pyarrow import compute

    trimmed = compute.utf8_trim_whitespace(as_texts(cells))
    missing = compute.is_in(trimmed, value_set=pa.array(sorted(MISSING)))
    return compute.if_else(missing, pa.scalar(None, pa.string()), trimmed)


def _numbers_of_arrow(cells: Any) -> FloatArray:
    import pyarrow as pa
    from pyarrow import compute

    kind = cells.type
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    try:
        known = cells if is_number or pa.types.is_decimal(kind) else known_texts(cells)
        if pa.types.is_boolean(kind):
            known = compute.cast(known, pa.int8())
        values = compute.cast(known, pa.float64(), safe=False)
    except pa.ArrowInvalid:
        return _numbers_one_by_one(words(cells))  # which says what is wrong
    if kind == pa.string() and compute.any(compute.is_nan(values)).as_py():
        return _numbers_one_by_one(words(cells))
    found: FloatArray = values.to_numpy(zero_copy_only=False)
    return found


def _numbers_one_by_one(texts: np.ndarray[Any, Any]) -> FloatArray:
    values = np.full(len(texts), np.nan)
    for position, text in enumerate(texts.tolist()):
        trimmed = "" if text is None else text.strip()
        if trimmed not in MISSING:
            number = parse_number(trimmed)
            if number is None:
                raise CellError(
                    position, f"expected a number, got {shown(text)}. Correct it, or leave it empty if unknown."
                )
            values[position] = number
    return values

"""The cells of one column, from any file, as numbers, words or labels.

Cells are an array of float64, an array of objects (texts, None where missing) or an array of
pyarrow.
"""

from typing import Any, TypeAlias

import numpy as np

from labelsure._checks import FloatArray, quote
from labelsure.datasets._arff import parse_number

Cells: TypeAlias = Any

MISSING = frozenset({"", "?", "NA", "N/A", "NaN", "nan", "NAN", "null", "NULL", "None", "#N/A"})
"""Text for a missing number. A missing category is an empty cell only: NA is also Namibia."""

LARGEST = float(np.finfo(np.float32).max)
"""Trees work in float32, and the squares of much larger numbers are infinite."""

LABEL_WORDS = {"0": 0.0, "1": 1.0, "0.0": 0.0, "1.0": 1.0, "false": 0.0, "true": 1.0}


class CellError(Exception):
    """A problem with the cell at a position; the reader adds the file, the row and the column."""

    def __init__(self, position: int, message: str) -> None:
        super().__init__(message)
        self.position = position


def is_array(cells: Cells) -> bool:
    """Tell whether cells are an array of numbers."""
    return isinstance(cells, np.ndarray) and cells.dtype != object


def numbers(cells: Cells) -> FloatArray:
    """Return finite numbers, NaN where they are missing, or raise CellError."""
    values: FloatArray | None = cells if is_array(cells) else None
    if not isinstance(cells, np.ndarray):
        values = _cast_numbers(cells)
    if values is None:
        values = np.array([_number(at, text) for at, text in enumerate(words(cells))], np.float64)
    for at in np.flatnonzero(np.abs(values) > LARGEST)[:1].tolist():
        raise CellError(
            at,
            f"expected a finite number, up to {LARGEST:.2g} in size, got {values[at]:g}. Correct"
            " it, or leave it empty if unknown.",
        )
    return values


def words(cells: Cells) -> np.ndarray[Any, Any]:
    """Return texts, None where they are missing."""
    if is_array(cells):
        values = [None if np.isnan(value) else repr(value) for value in cells.tolist()]
        texts = [value and value.removesuffix(".0") for value in values]
    elif isinstance(cells, np.ndarray):
        return cells
    else:
        texts = [text or None for text in _as_texts(cells).to_pylist()]
    return np.array(texts, dtype=object)


def different_texts(known: Any, cells: Cells) -> Any:
    """Return the known texts and the texts of cells, each once, without missing ones."""
    if isinstance(cells, np.ndarray):
        return {*known, *cells.tolist()} - {None, ""}
    import pyarrow as pa
    from pyarrow import compute

    texts = _as_texts(cells).unique()
    texts = texts.filter(compute.not_equal(texts, ""))
    return pa.concat_arrays([known, texts]).unique() if len(known) else texts


def zeros_and_ones(cells: Cells) -> FloatArray:
    """Return the zeros and ones of a label, or raise CellError."""
    values: FloatArray = cells
    if not is_array(cells):  # None becomes NaN
        texts = [(text or "").strip().lower() for text in words(cells)]
        values = np.array([LABEL_WORDS.get(text) for text in texts], dtype=float)
    for at in np.flatnonzero(~np.isin(values, (0.0, 1.0)))[:1].tolist():
        cell = words(cells)[at]
        got = "nothing" if cell is None else quote(cell)
        raise CellError(
            at,
            f"a label must be 0 or 1, got {got}. Correct it, or do not list the column as a label.",
        )
    return values


def code_categories(cells: Cells, categories: tuple[str, ...]) -> FloatArray:
    """Return codes of categories; NaN for a missing value, -1 for an unknown one."""
    texts = words(cells).tolist()
    if {*categories} <= {"false", "true"}:
        texts = [text and text.lower() for text in texts]
    codes: dict[str | None, float] = {None: np.nan}
    codes |= {category: code for code, category in enumerate(categories)}
    return np.array([codes.get(text, -1) for text in texts], dtype=np.float64)


def names_of(cells: Cells, separator: str) -> list[list[str]]:
    """Return the names in each cell: split at separators, or the items of a list."""
    if not isinstance(cells, np.ndarray) and "list" in str(cells.type):
        return [[str(name) for name in names or []] for names in cells.to_pylist()]
    split = ((text or "").split(separator) for text in words(cells).tolist())
    return [[name.strip() for name in names if name.strip()] for names in split]


def has_leading_zeros(cells: Any) -> bool:
    """Tell whether any cell of an array of pyarrow looks like 007, which is a name."""
    from pyarrow import compute

    found = compute.match_substring_regex(_known_texts(cells), r"^[+-]?0[0-9]")
    return bool(compute.any(found).as_py())


def _as_texts(cells: Any) -> Any:
    """Return an array of pyarrow as one of texts."""
    import pyarrow as pa

    if pa.types.is_dictionary(cells.type):
        cells = cells.dictionary_decode()
    return cells if pa.types.is_string(cells.type) else cells.cast(pa.string())


def _known_texts(cells: Any) -> Any:
    """Return an array of pyarrow as one of trimmed texts, null where a number is missing."""
    import pyarrow as pa
    from pyarrow import compute

    trimmed = compute.utf8_trim_whitespace(_as_texts(cells))
    missing = compute.is_in(trimmed, value_set=pa.array(sorted(MISSING)))
    return compute.if_else(missing, pa.scalar(None, pa.string()), trimmed)


def _cast_numbers(cells: Any) -> FloatArray | None:
    """Return an array of pyarrow as numbers, None if only :func:`_number` can read it."""
    import pyarrow as pa
    from pyarrow import compute

    kind, types = cells.type, pa.types
    numeric = types.is_integer, types.is_floating, types.is_boolean, types.is_decimal
    is_number = any(is_such(kind) for is_such in numeric)
    try:
        values = compute.cast(cells if is_number else _known_texts(cells), pa.float64(), safe=False)
    except pa.ArrowInvalid:
        return None
    if not is_number and compute.any(compute.is_nan(values)).as_py():
        return None
    found: FloatArray = values.to_numpy(zero_copy_only=False)
    return found


def _number(position: int, text: str | None) -> float:
    trimmed = (text or "").strip()
    number = np.nan if trimmed in MISSING else parse_number(trimmed)
    if number is None:
        raise CellError(
            position,
            f"expected a number, got {quote(text or '')}. Correct it, or leave it empty if"
            " unknown.",
        )
    return number

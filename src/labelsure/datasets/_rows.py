"""The rows of an ARFF file, dense or sparse, as one matrix with a column per attribute.

A row of plain numbers, the usual case, is split and converted directly; a row with anything else in it, or with
anything wrong with it, is read token by token, which costs ten times as much and can say what is wrong.
"""

import math
import re
from array import array
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from labelsure.datasets._errors import DatasetError, LineError, shown
from labelsure.datasets._header import Attribute, Header
from labelsure.datasets._tokens import BLANKS, Token, parse_number, separated_values, tokenize

# What these match holds no quote, comment, missing value, "inf", "nan", underscore or foreign digit.
_PLAIN_DENSE = re.compile(r"[0-9eE+\-., \t]+")
_ENTRY = r"[ \t]*[0-9]{1,9}[ \t]+[0-9eE+\-.]+[ \t]*"
_PLAIN_SPARSE = re.compile(rf"\{{{_ENTRY}(?:,{_ENTRY})*\}}")
_INDEX = re.compile(r"[0-9]{1,9}")
_LABEL_CODES = {"0": 0.0, "1": 1.0}


def read_rows(path: Path, lines: Sequence[str], header: Header, labels: Collection[int]) -> Any:
    """Read the rows after ``@data``: an array, or a CSR matrix if any row is sparse.

    Parameters
    ----------
    path : Path
        The file, for messages.
    lines : sequence of str
        All its lines.
    header : Header
        Its attributes and where its rows start.
    labels : collection of int
        The columns that are labels: they must hold 0 or 1 and nothing else.

    Returns
    -------
    ndarray or csr_matrix of shape (n_rows, n_attributes)
        Missing values are NaN.

    Raises
    ------
    DatasetError
        If there are no rows, or a row is not as the header says.
    """
    rows = [(number, text.strip(BLANKS)) for number, text in enumerate(lines[header.data_line :], header.data_line + 1)]
    rows = [(number, text) for number, text in rows if text and not text.startswith("%")]
    if not rows:
        raise DatasetError(f"{path}, line {len(lines)}: no rows follow @data. The file is truncated; get it again.")
    reader = RowReader(header.attributes, labels)
    values, columns, ends = array("d"), array("q"), array("q", [0])
    for place, (number, text) in enumerate(rows, start=1):
        try:
            row = reader.read(text)
        except LineError as error:
            ending = " The file ends with this row: it may be truncated; get it again." if place == len(rows) else ""
            raise DatasetError(f"{path}, line {number} (data row {place}): {error}{ending}") from None
        columns.extend(row)
        values.extend(row.values())
        ends.append(len(values))
    shape = (len(rows), len(header.attributes))
    if not any(text.startswith("{") for _, text in rows):
        return np.array(values).reshape(shape)
    matrix = sparse.csr_matrix((np.array(values), np.array(columns), np.array(ends)), shape=shape)
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix


class RowReader:
    """Reads one row at a time into numbers.

    Parameters
    ----------
    attributes : sequence of Attribute
        The columns.
    labels : collection of int
        The columns that are labels.
    """

    def __init__(self, attributes: Sequence[Attribute], labels: Collection[int]) -> None:
        self._attributes = attributes
        self._labels = frozenset(labels)
        self._defaults = {column: value.default for column, value in enumerate(attributes) if value.default != 0}
        self._converters: list[Callable[[str], float]] = []
        for column, attribute in enumerate(attributes):
            codes = _LABEL_CODES if attribute.codes is None and column in self._labels else attribute.codes
            self._converters.append(float if codes is None else codes.__getitem__)

    def read(self, text: str) -> dict[int, float]:
        """Return the values by column of a row written as ``value,value,...`` or ``{index value,...}``.

        Columns not in the result are zero. A row with all of them has them in order.
        """
        is_sparse = text.startswith("{")
        if (_PLAIN_SPARSE if is_sparse else _PLAIN_DENSE).fullmatch(text):
            columns: Sequence[int] = range(len(self._attributes))
            cells = text.strip("{}").split(",")
            with suppress(KeyError, ValueError, IndexError):
                if is_sparse:
                    pairs = [cell.split() for cell in cells]
                    columns, cells = [int(index) for index, _ in pairs], [value for _, value in pairs]
                row = {column: self._converters[column](cell) for column, cell in zip(columns, cells, strict=True)}
                if len(row) == len(columns) and math.isfinite(sum(row.values())):
                    return self._defaults | row if is_sparse else row
        return self.read_carefully(text)

    def read_carefully(self, text: str) -> dict[int, float]:
        """Return the same, token by token, or raise LineError saying what is wrong with the row."""
        tokens = tokenize(text)
        if text.startswith("{"):
            return self._defaults | self._read_entries(_sparse_entries(tokens))
        cells = separated_values(tokens)
        if len(cells) != len(self._attributes):
            raise LineError(
                f"expected {len(self._attributes)} values, one per attribute, got {len(cells)}."
                " Complete the row; quote values that contain blanks or commas."
            )
        return {column: self._value(column, token) for column, token in enumerate(cells)}

    def _read_entries(self, entries: list[list[Token]]) -> dict[int, float]:
        row: dict[int, float] = {}
        for entry in entries:
            if len(entry) != 2 or not all(token.is_value for token in entry):
                raise LineError(
                    "every entry of a sparse row must be an index, a blank and a value, got"
                    f" {shown(' '.join(token.text for token in entry))}. Correct it; quote values that contain blanks."
                )
            index = entry[0].text
            if _INDEX.fullmatch(index) is None or int(index) >= len(self._attributes):
                raise LineError(
                    f"the index of a sparse entry must be a whole number from 0 to {len(self._attributes) - 1}, since"
                    f" the file declares {len(self._attributes)} attributes, got {shown(index)}. Correct the row."
                )
            column = int(index)
            if column in row:
                raise LineError(f"index {column} appears twice in this sparse row. Remove one of the two entries.")
            row[column] = self._value(column, entry[1])
        return row

    def _value(self, column: int, token: Token) -> float:
        attribute, text = self._attributes[column], token.text
        if token.kind == "word" and (text == "?" or (attribute.codes is None and text.lower() == "nan")):
            if column in self._labels:
                raise LineError(
                    f"label {shown(attribute.name)} is missing ({text}). Labels must be 0 or 1: fill it in."
                )
            return math.nan
        if attribute.codes is not None:
            if text not in attribute.codes:
                declared = ", ".join(attribute.codes)
                raise LineError(
                    f"{shown(text)} is not among the values that attribute {shown(attribute.name)} declares"
                    f" ({shown(declared)}). Correct it, declare it, or write ? for a missing value."
                )
            return attribute.codes[text]
        number = parse_number(text)
        if number is None:
            raise LineError(
                f"attribute {shown(attribute.name)} (column {column}, counted from 0) must be a finite number,"
                f" got {shown(text)}. Correct it, or write ? for a missing value."
            )
        if column in self._labels and number not in {0.0, 1.0}:
            raise LineError(f"label {shown(attribute.name)} must be 0 or 1, got {shown(text)}. Correct it.")
        return number


def _sparse_entries(tokens: list[Token]) -> list[list[Token]]:
    """Return what stands between the commas of a sparse row."""
    kinds = [token.kind for token in tokens]
    if "}" not in kinds:
        raise LineError("the sparse row has no closing brace. Complete the row.")
    end = kinds.index("}")
    if end + 1 < len(tokens):
        raise LineError(
            f"nothing may follow the closing brace of a sparse row, got {shown(tokens[-1].text)}."
            " Weights of rows are not supported: remove them."
        )
    entries: list[list[Token]] = [[]]
    for token in tokens[1:end]:
        if token.kind == ",":
            entries.append([])
        else:
            entries[-1].append(token)
    return [] if entries == [[]] else entries

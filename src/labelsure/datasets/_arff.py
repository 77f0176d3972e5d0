r"""ARFF, dense or sparse, as numbers.

The rules are those of Weka, whose format it is: everything up to the space character is blank,
``%`` outside quotes starts a comment, ``'...'`` and ``"..."`` quote, a backslash inside quotes
escapes, and values are separated by commas or by blanks alone. No maintained library reads this:
scipy's ``loadarff`` rejects sparse rows, and the others leave the backslash in ``'Swainson\'s
Thrush'``.
"""

import math
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from labelsure._checks import quote
from labelsure._errors import DatasetError, LineError
from labelsure.datasets._files import filled_lines

# A mark, a quoted value, a word, a comment, or a quote that is never closed. Each but the last
# starts with another character and repeats disjoint pieces, so matching takes linear time.
_TOKEN = re.compile(
    r"""[,{}] | '(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*"
    | [^\x00-\x20,{}%'"][^\x00-\x20,{}%]* | %.* | ['"]""",
    re.VERBOSE | re.DOTALL,
)
_MARKS = frozenset(",{}")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_INDEX = re.compile("[0-9]{1,9}")
# What these match holds no quote, comment, missing value, underscore or foreign digit.
_PLAIN_DENSE = re.compile(r"[0-9A-Za-z+\-., \t]+")
_ENTRY = r"[ \t]*[0-9]{1,9}[ \t]+[0-9A-Za-z+\-.]+[ \t]*"
_PLAIN_SPARSE = re.compile(rf"\{{{_ENTRY}(?:,{_ENTRY})*\}}")


class Attribute(NamedTuple):
    """A column: numeric, or nominal with the number that stands for each declared value."""

    name: str
    codes: dict[str, float] | None

    @property
    def default(self) -> float:
        """The value in sparse rows that omit the attribute: zero, or the first declared value."""
        return 0.0 if self.codes is None else next(iter(self.codes.values()))

    @property
    def is_binary(self) -> bool:
        """Whether it is nominal and declares nothing but the numbers 0 and 1."""
        codes = self.codes or {}
        return bool(codes) and all(
            code in {0.0, 1.0} and parse_number(value) == code for value, code in codes.items()
        )


def parse_number(text: str) -> float | None:
    """Return a finite number, or None; refuses ``1_0``, non-ASCII digits and ``inf``."""
    number = float(text) if _NUMBER.fullmatch(text) else math.inf
    return number if math.isfinite(number) else None


def tokenize(line: str) -> list[str]:
    r"""Split a line into values, quoted or not, and the marks ``,``, ``{`` and ``}``.

    Examples
    --------
    >>> tokenize(r"'Swainson\'s Thrush' {0,1} % a bird")
    ["'Swainson\\'s Thrush'", '{', '0', ',', '1', '}']
    """
    tokens = _TOKEN.findall(line)
    if "'" in tokens or '"' in tokens:
        raise LineError(
            "a quote is not closed on this line. Close it, or write \\' for a quote inside a name."
        )
    return tokens[:-1] if tokens and tokens[-1].startswith("%") else tokens


def _unquote(token: str) -> str:
    if token[0] not in "'\"":
        return token
    return _ESCAPE.sub(lambda escape: _ESCAPED.get(escape[1], escape[1]), token[1:-1])


def _separated_values(tokens: list[str]) -> list[str]:
    """Return values separated by commas or blanks; an empty value between commas is an error."""
    if tokens and (
        not {"{", "}"}.isdisjoint(tokens) or (",", ",") in pairwise([",", *tokens, ","])
    ):
        raise LineError(
            f"expected values between commas or blanks, got {quote(' '.join(tokens))}. Write ? for"
            " a missing value, '' for an empty name, and quote values with braces; weights of rows"
            " are not supported."
        )
    return [token for token in tokens if token != ","]


def _parse_attribute(tokens: list[str]) -> Attribute:
    if len(tokens) < 2 or tokens[0] in _MARKS:
        raise LineError(
            "@attribute needs a name and a type. Quote a name with blanks, commas, braces or %."
        )
    name, kind, *rest = tokens
    name = _unquote(name)
    if kind.lower() in ("numeric", "real", "integer") and not rest:
        return Attribute(name, None)
    if kind != "{" or tokens[-1] != "}":
        raise LineError(
            f"attribute {quote(name)} must be numeric, real, integer or {{values}}, got"
            f" {quote(' '.join(tokens[1:]))}. Remove or convert others; quote a name that contains"
            " blanks."
        )
    values = [_unquote(token) for token in _separated_values(rest[:-1])]
    if not values or len(set(values)) < len(values):
        raise LineError(
            f"attribute {quote(name)} must declare different values between its braces. Correct"
            " them."
        )
    numbers = [number for number in map(parse_number, values) if number is not None]
    # numbers stand for themselves, other values for their places
    if len(set(numbers)) < len(values):
        numbers = [float(place) for place in range(len(values))]
    return Attribute(name, dict(zip(values, numbers, strict=True)))


class ArffReader:
    """An ARFF file: its attributes, whether its first row is sparse, and its rows as numbers."""

    def __init__(self, path: Path) -> None:
        self.path = path
        lines = filled_lines(path)
        self.attributes, self._data_line = self._read_header(lines)
        self.is_sparse = next(lines, (0, ""))[1].startswith("{")
        self._defaults = {
            column: value.default
            for column, value in enumerate(self.attributes)
            if value.default != 0
        }
        self._converters: list[Callable[[str], float]] = [
            float if attribute.codes is None else {**attribute.codes, "": math.nan}.__getitem__
            for attribute in self.attributes
        ]

    def batches(self, size: int | None) -> Iterator[tuple[list[int], Any]]:
        """Yield ``size`` rows at a time (None: all), as their line numbers and a csr matrix."""
        lines = (filled for filled in filled_lines(self.path) if filled[0] > self._data_line)
        start = 0
        while batch := list(islice(lines, size)):
            yield [number for number, _ in batch], self._matrix(batch, start)
            start += len(batch)

    def _read_header(self, lines: Iterable[tuple[int, str]]) -> tuple[tuple[Attribute, ...], int]:
        """Return the attributes and the number of the line that says ``@data``."""
        attributes: dict[str, Attribute] = {}
        number = 1
        for number, line in lines:
            try:
                keyword, *tokens = tokenize(line)
                if keyword.lower() == "@data" and attributes and not tokens:
                    return tuple(attributes.values()), number
                if keyword.lower() == "@attribute":
                    attribute = _parse_attribute(tokens)
                    if attribute.name in attributes:
                        raise LineError(
                            f"attribute {quote(attribute.name)} is declared a second time. Rename"
                            " it."
                        )
                    attributes[attribute.name] = attribute
                elif keyword.lower() != "@relation":
                    raise LineError(
                        "expected @relation, @attribute, or @data after the attributes and alone on"
                        f" its line, got {quote(line)}. Is this an ARFF file?"
                    )
            except LineError as error:
                raise DatasetError(f"{self.path}, line {number}: {error}") from None
        raise DatasetError(
            f"{self.path}, line {number}: the file ends before @data. It is truncated, or no ARFF"
            " file; get it again."
        )

    def _matrix(self, lines: Iterable[tuple[int, str]], start: int) -> Any:
        """Return the rows on these numbered lines; ``start`` rows of the file come before them."""
        values, columns = array("d"), array("q")
        ends = [0]
        for row_number, (line_number, text) in enumerate(lines, start + 1):
            try:
                row = self._read_row(text)
            except LineError as error:
                raise DatasetError(
                    f"{self.path}, row {row_number} (line {line_number}): {error}"
                ) from None
            columns.extend(row)
            values.extend(row.values())
            ends.append(len(values))
        shape = (len(ends) - 1, len(self.attributes))
        matrix = sparse.csr_matrix(
            (np.array(values, float), np.array(columns, np.int64), np.array(ends)), shape=shape
        )
        matrix.eliminate_zeros()
        matrix.sort_indices()
        return matrix

    def _read_row(self, text: str) -> dict[int, float]:
        """Return the values by column of ``value,value,...`` or ``{index value,...}``.

        A row of plain words and numbers, the usual case, is converted directly; any other, right or
        wrong, token by token, which takes ten times as long and gives error messages.
        """
        is_sparse = text.startswith("{")
        columns: Sequence[int] = range(len(self.attributes))
        defaults = self._defaults if is_sparse else {}
        if (_PLAIN_SPARSE if is_sparse else _PLAIN_DENSE).fullmatch(text):
            cells = text.split(",")
            if is_sparse:
                words = text.strip("{}").replace(",", " ").split()
                columns, cells = [int(index) for index in words[::2]], words[1::2]
            with suppress(KeyError, ValueError, IndexError):
                row = {
                    column: self._converters[column](cell)
                    for column, cell in zip(columns, cells, strict=True)
                }
                if len(row) == len(columns) and math.isfinite(sum(row.values())):
                    return defaults | row
        tokens = tokenize(text)
        columns, cells = (
            self._split_entries(tokens) if is_sparse else (columns, _separated_values(tokens))
        )
        if len(cells) != len(columns):
            raise LineError(
                f"expected {len(columns)} values, one per attribute, got {len(cells)}. Complete the"
                " row; quote values that contain blanks or commas."
            )
        return defaults | {
            column: self._value(column, cell) for column, cell in zip(columns, cells, strict=True)
        }

    def _split_entries(self, tokens: list[str]) -> tuple[Sequence[int], list[str]]:
        """Return the columns and the values of a sparse row."""
        indices = tokens[1:-1:3]
        cells = tokens[2:-1:3]
        commas = tokens[3:-1:3]
        columns = [
            int(index)
            for index in indices
            if _INDEX.fullmatch(index) and int(index) < len(self.attributes)
        ]
        is_whole = tokens[-1] == "}" and len({*columns}) == len(indices) == len(cells)
        if (
            not is_whole
            or len(commas) != max(len(cells) - 1, 0)
            or {*commas, ","} != {","}
            or {*cells} & _MARKS
        ):
            raise LineError(
                "a sparse row must be {index value, index value, ...} with different indices from 0"
                f" to {len(self.attributes) - 1}, got {quote(' '.join(tokens))}. Correct it;"
                " weights are not supported."
            )
        return columns, cells

    def _value(self, column: int, token: str) -> float:
        """Return a value or raise LineError; ten times slower than the converter."""
        attribute, text = self.attributes[column], _unquote(token)
        if token == "?" or (attribute.codes is None and token.lower() == "nan"):
            return math.nan
        number = parse_number(text) if attribute.codes is None else attribute.codes.get(text)
        if number is None:
            values = (
                "a finite number"
                if attribute.codes is None
                else f"one of {quote(', '.join(attribute.codes))}"
            )
            raise LineError(
                f"attribute {quote(attribute.name)} must be {values}, got {quote(text)}. Correct"
                " it, or write ? for a missing value."
            )
        return number

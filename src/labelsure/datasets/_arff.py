r"""ARFF: its head, and its rows, dense or sparse, as numbers.

The rules are those of Weka, whose format it is: everything up to the space character is blank, ``%`` outside quotes
starts a comment, ``'...'`` and ``"..."`` quote, a backslash inside quotes escapes, and values are separated by commas
or by blanks alone. No maintained library reads this: scipy's ``loadarff`` rejects sparse rows, and the others leave
the backslash in ``'Swainson\'s Thrush'``.
"""

import math
import re
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from labelsure.datasets._errors import DatasetError, LineError, shown

BLANKS = "".join(map(chr, range(33)))
"""What separates words. Not Python's idea of space, which would split names at a non-breaking space."""

# Each alternative starts with a character of its own and repeats disjoint pieces, so matching takes linear time.
_TOKEN = re.compile(
    r"""(?P<blank> [\x00-\x20]+ | %.* )
      | (?P<mark> [,{}] )
      | (?P<quoted> ' (?: [^'\\] | \\. )* ' | " (?: [^"\\] | \\. )* " )
      | (?P<word> [^\x00-\x20,{}%'"] [^\x00-\x20,{}%]* )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_KEYWORD = re.compile(r"@(attribute|data|relation)(?=[\x00-\x20'\"%]|\Z)", re.IGNORECASE)
_INDEX = re.compile(r"[0-9]{1,9}")
# What these match holds no quote, comment, missing value, "inf", "nan", underscore or foreign digit.
_PLAIN_DENSE = re.compile(r"[0-9eE+\-., \t]+")
_ENTRY = r"[ \t]*[0-9]{1,9}[ \t]+[0-9eE+\-.]+[ \t]*"
_PLAIN_SPARSE = re.compile(rf"\{{{_ENTRY}(?:,{_ENTRY})*\}}")


class Token(NamedTuple):
    """A piece of a line; ``kind`` is "word", "quoted" or the punctuation mark itself."""

    kind: str
    text: str

    @property
    def is_value(self) -> bool:
        return self.kind in {"word", "quoted"}


class Attribute(NamedTuple):
    """A column: numeric, or nominal with the number that stands for each declared value."""

    name: str
    codes: dict[str, float] | None = None
    line: int = 0

    @property
    def default(self) -> float:
        """What a sparse row that leaves the attribute out says: zero, or the first value declared."""
        return 0.0 if self.codes is None else next(iter(self.codes.values()))

    @property
    def is_binary(self) -> bool:
        """Whether it is nominal and declares nothing but the numbers 0 and 1."""
        codes = self.codes or {}
        return bool(codes) and all(code in {0.0, 1.0} and parse_number(value) == code for value, code in codes.items())


def parse_number(text: str) -> float | None:
    """Return a finite number, or None; unlike ``float``, refuse ``1_0``, digits of other scripts and ``inf``."""
    number = float(text) if _NUMBER.fullmatch(text) else math.inf
    return number if math.isfinite(number) else None


def filled_lines(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield the lines that hold more than a comment, without blanks around them."""
    stripped = ((number, line.strip(BLANKS)) for number, line in lines)
    return ((number, line) for number, line in stripped if line and not line.startswith("%"))


def read_header(path: Path, lines: Iterable[tuple[int, str]]) -> tuple[tuple[Attribute, ...], int]:
    """Return the attributes and the number of the line that says ``@data``, from lines with their numbers."""
    attributes: dict[str, Attribute] = {}
    number = 1
    for number, line in filled_lines(lines):
        match = _KEYWORD.match(line)
        keyword = match[1].lower() if match else ""
        rest = line[match.end() :] if match else ""
        try:
            if keyword == "attribute":
                attribute = _parse_attribute(tokenize(rest), number)
                if attribute.name in attributes:
                    first = attributes[attribute.name].line
                    raise LineError(
                        f"attribute {shown(attribute.name)} was declared on line {first} before. Rename it."
                    )
                attributes[attribute.name] = attribute
            elif keyword == "data":
                if tokenize(rest):
                    raise LineError(f"nothing may follow @data on its line, got {shown(rest)}. Start a new line.")
                if not attributes:
                    raise LineError("@data comes before any @attribute. The file is damaged; get it again.")
                return tuple(attributes.values()), number
            elif not keyword:
                raise LineError(
                    f"expected @relation, @attribute, @data or a % comment, got {shown(line)}. Is this an ARFF file?"
                )
        except LineError as error:
            raise DatasetError(f"{path}, line {number}: {error}") from None
    raise DatasetError(
        f"{path}, line {number}: the file ends before @data. It is truncated, or not an ARFF file; get it again."
    )


def tokenize(line: str) -> list[Token]:
    r"""Cut a line into tokens, without blanks and comments.

    Examples
    --------
    >>> [token.text for token in tokenize(r"'Swainson\'s Thrush' {0,1} % a bird")]
    ["Swainson's Thrush", '{', '0', ',', '1', '}']
    """
    tokens: list[Token] = []
    position = 0
    while position < len(line):
        match = _TOKEN.match(line, position)
        if match is None:  # only a quote that never closes matches nothing
            raise LineError(
                f"the quote before {shown(line[position + 1 :], limit=20)} is not closed on this line."
                " Close it, or write \\' for a quote inside a name."
            )
        position = match.end()
        kind, text = match.lastgroup, match.group()
        if kind == "quoted":
            text = _ESCAPE.sub(lambda escape: _ESCAPED.get(escape[1], escape[1]), text[1:-1])
        if kind != "blank":
            tokens.append(Token(text if kind == "mark" else str(kind), text))
    return tokens


def _separated_values(tokens: list[Token]) -> list[Token]:
    """Return the values of a list separated by commas or blanks; an empty place between commas is an error."""
    values: list[Token] = []
    after_comma = True
    for token in [*tokens, Token(",", ",")] if tokens else []:
        if token.is_value:
            values.append(token)
        elif token.kind != ",":
            raise LineError(
                f"a brace stands where value {len(values) + 1} should be. Quote values with braces; weights in braces"
                " at the end of a row are not supported."
            )
        elif after_comma:
            raise LineError(f"value {len(values) + 1} is empty. Write ? for a missing value, '' for an empty name.")
        after_comma = token.kind == ","
    return values


def _parse_attribute(tokens: list[Token], line: int) -> Attribute:
    if len(tokens) < 2 or not tokens[0].is_value:
        raise LineError("@attribute needs a name and a type. Quote a name with blanks, commas, braces or %.")
    name, kind = tokens[0].text, tokens[1]
    if kind.kind != "{":
        if kind.text.lower() not in ("numeric", "real", "integer"):
            raise LineError(
                f"attribute {shown(name)} has the type {shown(kind.text)}; numeric, real, integer and {{values}} can be"
                " read. Remove or convert others; quote a name that contains blanks."
            )
        if len(tokens) > 2:
            raise LineError(f"nothing may follow the type {kind.text}, got {shown(tokens[2].text)}. Remove it.")
        return Attribute(name, None, line)
    if tokens[-1].kind != "}":
        raise LineError(f"the values of attribute {shown(name)} must end with a closing brace. Is the line cut short?")
    values = [token.text for token in _separated_values(tokens[2:-1])]
    if not values or len(set(values)) < len(values):
        problem = "a value twice" if values else "no values"
        raise LineError(f"attribute {shown(name)} declares {problem}. List different values between the braces.")
    numbers = [number for number in map(parse_number, values) if number is not None]
    if len(set(numbers)) < len(values):  # numbers stand for themselves, other values for their places
        numbers = [float(place) for place in range(len(values))]
    return Attribute(name, dict(zip(values, numbers, strict=True)), line)


class RowReader:
    """Reads rows into numbers; the columns in ``labels`` must hold 0 or 1."""

    def __init__(self, attributes: Sequence[Attribute], labels: Collection[int]) -> None:
        self._attributes = attributes
        self._labels = frozenset(labels)
        self._defaults = {column: value.default for column, value in enumerate(attributes) if value.default != 0}
        self._converters: list[Callable[[str], float]] = []
        for column, attribute in enumerate(attributes):
            codes = {"0": 0.0, "1": 1.0} if attribute.codes is None and column in self._labels else attribute.codes
            self._converters.append(float if codes is None else codes.__getitem__)

    def matrix(self, path: Path, lines: Iterable[tuple[int, str]], start: int = 0) -> Any:
        """Return the rows on these numbered lines as one csr matrix; ``start`` rows of the file come before them."""
        values, columns = array("d"), array("q")
        ends = [0]
        for row_number, (line_number, text) in enumerate(lines, start + 1):
            try:
                row = self.read(text)
            except LineError as error:
                raise DatasetError(f"{path}, row {row_number} (line {line_number}): {error}") from None
            columns.extend(row)
            values.extend(row.values())
            ends.append(len(values))
        shape = (len(ends) - 1, len(self._attributes))
        matrix = sparse.csr_matrix((np.array(values, float), np.array(columns, np.int64), np.array(ends)), shape=shape)
        matrix.eliminate_zeros()
        matrix.sort_indices()
        return matrix

    def read(self, text: str) -> dict[int, float]:
        """Return the values by column of ``value,value,...`` or ``{index value,...}``; others are zero.

        A row of plain numbers, the usual case, is converted directly; any other, right or wrong, token by token, which
        costs ten times as much and can say what is wrong.
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
            return self._defaults | self._read_entries(tokens)
        cells = _separated_values(tokens)
        if len(cells) != len(self._attributes):
            raise LineError(
                f"expected {len(self._attributes)} values, one per attribute, got {len(cells)}."
                " Complete the row; quote values that contain blanks or commas."
            )
        return {column: self._value(column, token) for column, token in enumerate(cells)}

    def _read_entries(self, tokens: list[Token]) -> dict[int, float]:
        kinds = [token.kind for token in tokens]
        if "}" not in kinds:
            raise LineError("the sparse row has no closing brace. Complete the row.")
        if kinds.index("}") + 1 < len(tokens):
            raise LineError("nothing may follow the closing brace of a sparse row. Weights of rows are not supported.")
        row: dict[int, float] = {}
        entries: list[list[Token]] = [[]]
        for token in tokens[1:-1]:
            if token.kind == ",":
                entries.append([])
            else:
                entries[-1].append(token)
        for entry in [] if entries == [[]] else entries:
            words = shown(" ".join(token.text for token in entry))
            if len(entry) != 2 or not all(token.is_value for token in entry):
                raise LineError(f"every entry of a sparse row must be an index, a blank and a value, got {words}.")
            index = int(entry[0].text) if _INDEX.fullmatch(entry[0].text) else len(self._attributes)
            if index >= len(self._attributes) or index in row:
                problem = f"index {index} appears twice" if index in row else f"got {shown(entry[0].text)}"
                raise LineError(
                    f"indices of a sparse row must be different whole numbers, each a"
                    f" whole number from 0 to {len(self._attributes) - 1}, {problem}. Correct the row."
                )
            row[index] = self._value(index, entry[1])
        return row

    def _value(self, column: int, token: Token) -> float:
        attribute, text = self._attributes[column], token.text
        is_label = column in self._labels
        if token.kind == "word" and (text == "?" or (attribute.codes is None and text.lower() == "nan")):
            if is_label:
                raise LineError(f"label {shown(attribute.name)} is missing ({text}). Fill in 0 or 1.")
            return math.nan
        if attribute.codes is not None:
            if text not in attribute.codes:
                raise LineError(
                    f"{shown(text)} is not among the values that attribute {shown(attribute.name)} declares"
                    f" ({shown(', '.join(attribute.codes))}). Correct it, declare it, or write ? for a missing value."
                )
            return attribute.codes[text]
        number = parse_number(text)
        if number is None:
            raise LineError(
                f"attribute {shown(attribute.name)} (column {column}, counted from 0) must be a finite number,"
                f" got {shown(text)}. Correct it, or write ? for a missing value."
            )
        if is_label and number not in {0.0, 1.0}:
            raise LineError(f"label {shown(attribute.name)} must be 0 or 1, got {shown(text)}. Correct it.")
        return number

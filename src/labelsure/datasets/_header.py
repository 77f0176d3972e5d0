"""The head of an ARFF file: which attributes its rows have, and how their values become numbers."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from labelsure.datasets._errors import DatasetError, LineError, shown
from labelsure.datasets._tokens import BLANKS, Token, parse_number, separated_values, tokenize

NUMERIC_TYPES = ("numeric", "real", "integer")

_KEYWORD = re.compile(r"@([A-Za-z]+)(?=[\x00-\x20'\"%]|\Z)")


class Attribute(NamedTuple):
    """A column of an ARFF file: numeric, or nominal with the number that stands for each declared value."""

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
        codes = {} if self.codes is None else self.codes
        return bool(codes) and all(code in {0.0, 1.0} and parse_number(value) == code for value, code in codes.items())


class Header(NamedTuple):
    """The attributes in column order, and the number of the line that says ``@data``."""

    attributes: tuple[Attribute, ...]
    data_line: int


def read_header(path: Path, lines: Sequence[str]) -> Header:
    """Read the declarations up to ``@data`` from all lines of the file ``path``, which is named in messages.

    Raises
    ------
    DatasetError
        If a line cannot be understood, two attributes share a name, or ``@data`` never comes.
    """
    attributes: dict[str, Attribute] = {}
    for number, line in enumerate(lines, start=1):
        text = line.strip(BLANKS)
        if not text or text.startswith("%"):
            continue
        try:
            if _read_declaration(text, number, attributes):
                return Header(tuple(attributes.values()), number)
        except LineError as error:
            raise DatasetError(f"{path}, line {number}: {error}") from None
    raise DatasetError(
        f"{path}, line {len(lines)}: the file ends before @data. It is truncated, or not an ARFF file; get it again."
    )


def _read_declaration(text: str, number: int, attributes: dict[str, Attribute]) -> bool:
    """Take in one line of the head, and tell whether it was the last: ``@data``."""
    match = _KEYWORD.match(text)
    keyword = match[1].lower() if match else ""
    rest = text[match.end() :] if match else text
    if keyword == "attribute":
        attribute = parse_attribute(tokenize(rest), line=number)
        if attribute.name in attributes:
            first = attributes[attribute.name].line
            raise LineError(
                f"attribute {shown(attribute.name)} was declared on line {first} before. Rename one of them."
            )
        attributes[attribute.name] = attribute
    elif keyword == "data":
        if tokenize(rest):
            raise LineError(
                f"nothing may follow @data on its line, got {shown(rest)}. Start the rows on the next line."
            )
        if not attributes:
            raise LineError("@data comes before any @attribute. The file is damaged; get it again.")
        return True
    elif keyword != "relation":
        raise LineError(
            f"expected @relation, @attribute, @data or a % comment, got {shown(text)}."
            " Is this an ARFF file? Correct the line, or get the file again."
        )
    return False


def parse_attribute(tokens: list[Token], *, line: int = 0) -> Attribute:
    """Return the attribute that the words after ``@attribute`` declare.

    Examples
    --------
    >>> parse_attribute(tokenize("size {small, large}"))
    Attribute(name='size', codes={'small': 0.0, 'large': 1.0}, line=0)
    """
    if len(tokens) < 2 or not tokens[0].is_value:
        raise LineError(
            "@attribute needs a name and a type: numeric, or the values in braces."
            " Quote a name that contains blanks, commas, braces or %."
        )
    name, kind = tokens[0].text, tokens[1]
    if kind.kind == "{":
        return Attribute(name, nominal_codes(_declared_values(name, tokens[2:])), line)
    if kind.text.lower() not in NUMERIC_TYPES:
        raise LineError(
            f"attribute {shown(name)} has the type {shown(kind.text)}; numeric, real, integer and {{values}} can be"
            " read. Remove or convert string, date and relational attributes; quote a name that contains blanks."
        )
    if len(tokens) > 2:
        raise LineError(
            f"attribute {shown(name)}: nothing may follow the type {kind.text}, got {shown(tokens[2].text)}. Remove it."
        )
    return Attribute(name, line=line)


def _declared_values(name: str, tokens: list[Token]) -> list[str]:
    if not tokens or tokens[-1].kind != "}":
        raise LineError(f"the values of attribute {shown(name)} must end with a closing brace. Is the line cut short?")
    values = [token.text for token in separated_values(tokens[:-1])]
    if not values:
        raise LineError(f"attribute {shown(name)} declares no values. List them between the braces.")
    if len(set(values)) < len(values):
        raise LineError(f"attribute {shown(name)} declares a value twice. Remove one of them.")
    return values


def nominal_codes(values: Sequence[str]) -> dict[str, float]:
    """Return the number that stands for each value of a nominal attribute.

    Values that are all (different) numbers stand for themselves, so {0,1} needs no thought and the order of the
    declaration does not matter; otherwise each value becomes its place in the declaration, counted from 0.

    Examples
    --------
    >>> nominal_codes(["2", "10", "1"])
    {'2': 2.0, '10': 10.0, '1': 1.0}
    >>> nominal_codes(["no", "yes"])
    {'no': 0.0, 'yes': 1.0}
    """
    numbers = [number for number in map(parse_number, values) if number is not None]
    if len(set(numbers)) == len(values):
        return dict(zip(values, numbers, strict=True))
    return {value: float(place) for place, value in enumerate(values)}

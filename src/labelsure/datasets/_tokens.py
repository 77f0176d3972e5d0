"""Lines of ARFF cut into words, quoted strings and punctuation, and words read as numbers.

The rules are those of Weka, whose format ARFF is: everything up to the space character is blank, ``%`` outside quotes
starts a comment, ``'...'`` and ``"..."`` quote, a backslash inside quotes escapes, and values are separated by commas
or by blanks alone.
"""

import math
import re
from typing import NamedTuple

from labelsure.datasets._errors import LineError, shown

BLANKS = "".join(map(chr, range(33)))
"""What separates words. Not Python's idea of space, which would split names at a non-breaking space."""

# Each alternative starts with a character of its own and repeats disjoint pieces, so matching takes linear time.
_TOKEN = re.compile(
    r"""(?P<blank> [\x00-\x20]+ )
      | (?P<comment> %.* )
      | (?P<punctuation> [,{}] )
      | (?P<quoted> ' (?: [^'\\] | \\. )* ' | " (?: [^"\\] | \\. )* " )
      | (?P<word> [^\x00-\x20,{}%'"] [^\x00-\x20,{}%]* )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


class Token(NamedTuple):
    """A piece of a line; ``kind`` is ``"word"``, ``"quoted"`` or the punctuation mark itself."""

    kind: str
    text: str

    @property
    def is_value(self) -> bool:
        """Whether this is a word or a quoted string."""
        return self.kind in {"word", "quoted"}


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
        kind, text = match.lastgroup or "", match.group()
        if kind == "quoted":
            text = _ESCAPE.sub(lambda escape: _ESCAPED.get(escape[1], escape[1]), text[1:-1])
        if kind not in {"blank", "comment"}:
            tokens.append(Token(text if kind == "punctuation" else kind, text))
    return tokens


def separated_values(tokens: list[Token]) -> list[Token]:
    """Return the values of a list separated by commas or blanks; an empty place between commas is an error.

    Examples
    --------
    >>> [token.text for token in separated_values(tokenize("a, 'b c'  d"))]
    ['a', 'b c', 'd']
    """
    values: list[Token] = []
    after_comma = True
    for token in [*tokens, Token(",", ",")] if tokens else []:
        if token.is_value:
            values.append(token)
        elif token.kind != ",":
            raise LineError(
                f"a brace stands where value {len(values) + 1} should be. Quote values that contain braces;"
                " weights in braces at the end of a row are not supported, remove them."
            )
        elif after_comma:
            raise LineError(f"value {len(values) + 1} is empty. Write ? for a missing value, '' for an empty name.")
        after_comma = token.kind == ","
    return values


def parse_number(text: str) -> float | None:
    """Return a finite number, or None where ``text`` is not one.

    Narrower than ``float``, which takes ``1_0``, digits of other scripts and ``inf``.

    Examples
    --------
    >>> parse_number("-1.5e3"), parse_number("1_0"), parse_number("inf"), parse_number("1e999")
    (-1500.0, None, None, None)
    """
    if _NUMBER.fullmatch(text) is None:
        return None
    number = float(text)
    return number if math.isfinite(number) else None

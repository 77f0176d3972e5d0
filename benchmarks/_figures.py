"""What a question answers: figures, each with a baseline or a limit."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Figure:
    """One measured number.

    Parameters
    ----------
    what : str
        What was measured, and against what.
    value : float
        The number.
    unit : str
        "x" for a ratio, else "s", "ms", "bytes" and so on.
    at_least, at_most : float or None
        The limit it has to reach or stay under, if there is one.
    """

    what: str
    value: float
    unit: str
    at_least: float | None = None
    at_most: float | None = None

    @property
    def bar(self) -> str:
        """The limit in words, "" where there is none."""
        if self.at_least is not None:
            return f"at least {self.at_least:g} {self.unit}"
        return "" if self.at_most is None else f"at most {self.at_most:g} {self.unit}"

    @property
    def verdict(self) -> str:
        """Whether the limit was kept, "" where there is none."""
        if not self.bar:
            return ""
        low = self.at_least is not None and self.value < self.at_least
        high = self.at_most is not None and self.value > self.at_most
        return "missed" if low or high else "met"

    @property
    def shown(self) -> str:
        """The value with its unit, to three digits."""
        digits = 0 if abs(self.value) >= 100 else 1 if abs(self.value) >= 10 else 2
        return f"{self.value:.{digits}f} {self.unit}"

    def to_dict(self) -> dict[str, Any]:
        """Return what goes into the results file."""
        return asdict(self)


def as_lines(figures: list[Figure]) -> str:
    """Return the figures as lines of text in columns."""
    width = max((len(figure.what) for figure in figures), default=0)
    lines = []
    for figure in figures:
        bar = f"   {figure.verdict}: {figure.bar}" if figure.bar else ""
        lines.append(f"  {figure.what:<{width}}  {figure.shown:>12}{bar}")
    return "\n".join(lines)

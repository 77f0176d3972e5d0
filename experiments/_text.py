"""Figures and tables as text."""

from collections.abc import Callable, Sequence

from experiments._rows import LEVELS, Row


def table(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def write_sizes(row: Row) -> str:
    """Return the sizes at all levels, those that are open with a tilde."""
    marks = ["~" if row.is_open(level) else "" for level in LEVELS]
    return " / ".join(f"{mark}{write_size(size)}" for mark, size in zip(marks, row.sizes, strict=True))


def write_errors(row: Row) -> str:
    """Return the errors at all levels, those that are too many with a star."""
    marks = ["" if row.is_valid(level) else "*" for level in LEVELS]
    return " / ".join(f"{error:.1f}{mark}" for error, mark in zip(row.errors, marks, strict=True))


def write_joined(values: Sequence[float], write: Callable[[float], str]) -> str:
    """Return figures at all levels."""
    return " / ".join(map(write, values))


def write_size(value: float) -> str:
    """Return a figure to three digits."""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"

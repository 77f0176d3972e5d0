"""The results of ``labelsure compare`` as tables in Markdown, aligned so that they can be read as they are."""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from labelsure.cli._compare_results import Results, Row, Summary

NOTES = """\
- Figures are means over the resplits, in brackets their standard deviations.
- error: percentage of test objects whose region misses the true labelset; aimed at are 100 % less the confidence.
- N: mean number of labelsets in a region, over the objects whose regions were sized. log2 N, for more than 20 labels:
  median of the base-2 logarithm of that number, an empty region counted as one labelset. Large regions are estimated;
  where that leaves the median open by more than half a bit, the medians of the ends of the 99 % intervals are given.
- S: mean sum of the p-values of all labelsets; OF: of the false ones. Smaller is better, as for N.
- acc.: share of the objects whose predicted labelset is the true one; F: mean over labels of the F measure of
  predictions. learner's: the same of what the learner by itself predicts, fitted on all training objects.
- none, frequency: the most frequent labelsets, the same for every object. Regions not much smaller owe little to it.
- fit s: seconds of the processor for fitting the learner and asking for its outputs; answer s: for fitting the measure
  and for everything in this table."""


OPEN_BITS = 0.5
"""By how much a median of log2 N may be open before its interval is shown instead."""


class Column(NamedTuple):
    """A column of figures: its heading, where its figure is, and how many decimals it is written with."""

    heading: str
    keys: tuple[str, ...]
    decimals: Callable[[float], int]


def comparison(results: Results) -> str:
    """Return everything that was measured: a section for each data set, and how to read it."""
    summaries = results.summaries()
    sections = []
    for name in dict.fromkeys(row.dataset for row in summaries):
        rows = {row: summary for row, summary in summaries.items() if row.dataset == name}
        sections += [f"## {name}", describe(results, name), *rows_table(results, rows)]
    return "\n\n".join([*sections, NOTES]) + "\n"


def describe(results: Results, name: str) -> str:
    """Return a paragraph about a data set and how it was split."""
    data, settings = results.terms["datasets"][name], results.terms["settings"]
    n_resplits = len({number for (row, number) in results.cells if row.dataset == name})
    used = data["n_train"] + data["n_test"]
    sized = f", regions sized for {data['n_sized']} of these" if data["n_sized"] < data["n_test"] else ""
    left_out = f" ({data['n_objects'] - used} left out)" if used < data["n_objects"] else ""
    return (
        f"{data['n_objects']} objects, {data['n_features']} features, {data['n_labels']} labels,"
        f" {data['labels_per_object']:.2f} labels per object; {n_resplits} random resplit{'s' * (n_resplits != 1)} into"
        f" {data['n_train']} training and {data['n_test']} test objects{left_out}{sized}; {settings['folds']} folds."
    )


def rows_table(results: Results, rows: dict[Row, Summary]) -> Iterator[str]:
    """Yield the table of some rows of one data set, and why others could not be measured."""
    measured = {row: summary for row, summary in rows.items() if summary.resplits}
    if measured:
        columns = _columns(results.terms["settings"]["confidence"], {k for s in measured.values() for k in s.means})
        cells = [["learner", "measure", "guarantee", *(column.heading for column in columns)]]
        cells += [[*row[1:], *(figure(column, s) for column in columns)] for row, s in measured.items()]
        yield markdown_table(cells, n_names=3)
    refused = {row: summary.refused for row, summary in rows.items() if summary.refused is not None}
    if refused:
        yield "\n".join(f"- {', '.join(row[1:])}: not measured. {reason}" for row, reason in refused.items())


def markdown_table(cells: Sequence[Sequence[str]], *, n_names: int) -> str:
    """Return a Markdown table, its headings the first row; columns after the first ``n_names`` are flush right.

    Examples
    --------
    >>> print(markdown_table([["set", "N"], ["scene", "3.8"]], n_names=1))
    | set   |   N |
    |:------|----:|
    | scene | 3.8 |
    """
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    formats = [f"{'<' if j < n_names else '>'}{width}" for j, width in enumerate(widths)]
    lines = [" | ".join(map(format, row, formats)) for row in cells]
    dashes = ["-" * (width + 1) for width in widths]
    rule = "|".join([*(f":{dash}" for dash in dashes[:n_names]), *(f"{dash}:" for dash in dashes[n_names:])])
    return "\n".join([f"| {lines[0]} |", f"|{rule}|", *(f"| {line} |" for line in lines[1:])])


def figure(column: Column, summary: Summary) -> str:
    """Return a mean with its standard deviation, an interval, or a dash where there is no such figure."""
    mean, sd = _look_up(summary.means, column.keys), _look_up(summary.sds, column.keys)
    if mean is None:
        return "-"
    if column.keys[0] == "log2_sizes":
        low, high = (_look_up(summary.means, (end, *column.keys[1:])) for end in ("log2_low", "log2_high"))
        if high - low > OPEN_BITS:
            return f"{low:.1f} to {high:.1f}"
    decimals = column.decimals(mean)
    return f"{mean:.{decimals}f}" if sd is None else f"{mean:.{decimals}f} ({sd:.{decimals}f})"


def _look_up(figures: Any, keys: Iterable[str]) -> Any:
    """Return the figure at some keys within keys, None where there is none."""
    for key in keys:
        figures = None if figures is None else figures.get(key)
    return figures


def three_digits(value: float) -> int:
    """Return the decimals that show three digits of a number.

    Examples
    --------
    >>> [three_digits(value) for value in (0.5, 12.3, 4567.8)]
    [2, 1, 0]
    """
    return 0 if value >= 100 else 1 if value >= 10 else 2


def _columns(levels: Sequence[str], names: Container[str]) -> list[Column]:
    """Return the columns for figures with these names."""
    sizes, heading = ("sizes", "N") if "sizes" in names else ("log2_sizes", "log2 N")
    return [
        *(Column(f"error {level} %", ("errors", level), lambda _: 2) for level in levels),
        *(Column(f"{heading} {level} %", (sizes, level), three_digits) for level in levels),
        *(Column(name, (name,), three_digits) for name in ("S", "OF") if name in names),
        *(
            Column(f"{owner}{heading}", (*keys, name), lambda _: 3)
            for owner, keys in (("", ()), ("learner's ", ("learner",)))
            for heading, name in (("acc.", "subset_accuracy"), ("F", "macro_f"))
        ),
        *(Column(f"{what} s", ("seconds", what), three_digits) for what in ("fit", "answer")),
    ]

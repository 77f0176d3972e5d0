"""The tables of a page at its initial level, as HTML; its script refills some at other levels.

Whatever comes from outside is escaped here, and nowhere else.
"""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

from labelsure._checks import FloatArray, LabelMatrix
from labelsure.predictions import RankedLabelsets
from labelsure.report._singles import ALPHAS, Acceptance
from labelsure.report._subject import Subject
from labelsure.report._words import amount, interval, percent, share

Cell = str | int | float
Facts = dict[str, Any]

WORDS = ' class="words"'
N_HARDEST = 10
# levels of the calibration table, in tenths of a per cent
IN_TABLE = {*range(0, 1000, 50), 990, 999}


def text(value: Cell) -> str:
    """Return a value as text of a page.

    Examples
    --------
    >>> text("<b>"), text(12345)
    ('&lt;b&gt;', '12,345')
    """
    return escape(f"{value:,}" if isinstance(value, int) else str(value))


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    *,
    name: str,
    caption: str,
    sortable: bool = False,
    n_words: int = 1,
) -> str:
    """Return a table in a frame that scrolls by itself; the first column holds the heads of rows.

    Parameters
    ----------
    columns : sequence of str
        Their heads.
    rows : iterable of sequences
        Their cells.
    name : str
        The table's id.
    caption : str
        What it shows.
    sortable : bool
        Whether heads are buttons that sort by their column.
    n_words : int
        How many of the first columns hold words, which are aligned left; the others hold numbers.
    """
    kinds = [WORDS if place < n_words else "" for place in range(len(columns))]
    heads = [text(column) for column in columns]
    if sortable:
        heads = [f'<button type="button" class="sort">{head}</button>' for head in heads]
    head_cells = "".join(
        f'<th scope="col"{kind}>{head}</th>' for kind, head in zip(kinds, heads, strict=True)
    )
    body = ""
    for first, *others in rows:
        cells = zip(kinds[1:], others, strict=True)
        filled = "".join(f"<td{kind}>{text(cell)}</td>" for kind, cell in cells)
        body += f'<tr><th scope="row">{text(first)}</th>{filled}</tr>\n'
    return (
        f'<div class="scroll" role="region" aria-label="{text(caption)}">'
        f'<table id="{text(name)}"><caption>{text(caption)}</caption>'
        f"<thead><tr>{head_cells}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def behind(table_of_figure: str, by: str = "") -> str:
    """Return the table behind a figure, folded.

    Examples
    --------
    >>> behind("<table></table>")
    '<details class="behind"><summary>Table behind the figure</summary><table></table></details>'
    """
    summary = f"Table behind the figure{by}"
    return f'<details class="behind"><summary>{summary}</summary>{table_of_figure}</details>'


def sizes_table(facts: Facts) -> str:
    """Return how many regions have which size."""
    counts = facts["sizeCounts"][facts["start"]]
    rows = [
        (facts["bins"][place], counts[place], share(counts[place], facts["nObjects"]))
        for place in facts["shownBins"]
    ]
    caption = "Objects by the size of their region"
    return behind(
        table(["labelsets", "objects", "share"], rows, name="table-sizes", caption=caption)
    )


def single_table(single: dict[str, list[float]]) -> str:
    """Return how good single answers are, side by side."""
    rows = [
        (name, share(exact, 1), *(f"{figure:.4f}" for figure in others))
        for name, (exact, *others) in single.items()
    ]
    columns = ["single answer", "exact match", "Hamming loss", "F1 micro", "F1 macro"]
    caption = "Single answers compared with the truth"
    return table(columns, rows, name="table-single", caption=caption)


def labels_table(facts: Facts) -> str:
    """Return what is said of each label, and how often it is wrong if that is known."""
    said = facts["labelCounts"][facts["start"]]
    counted = zip(facts["labels"], facts["labelPredicted"], said, strict=True)
    columns = ["label", "predicted", "sure", "possible", "ruled out"]
    rows: list[list[Cell]] = [[name, predicted, *of[:3]] for name, predicted, of in counted]
    if facts["labelled"]:
        columns = ["label", "true", *columns[1:], "sure but wrong", "ruled out but true"]
        known = zip(rows, facts["labelTrue"], said, strict=True)
        rows = [[row[0], true, *row[1:], *of[3:]] for row, true, of in known]
    caption = "Number of objects, label by label"
    return table(columns, rows, name="table-labels", caption=caption, sortable=True)


def groups_tables(facts: Facts) -> str:
    """Return the coverage of groups, one table for each way to divide the objects."""
    tables = []
    for place, group in enumerate(facts["groups"]):
        shown = [group[key][facts["start"]] for key in ("objects", "covered", "low", "high")]
        rows = [
            (name, n, covered, share(covered, n), share(low, 1), share(high, 1))
            for name, n, covered, low, high in zip(group["names"], *shown, strict=True)
            if n
        ]
        columns = [group["by"], "objects", "hold the truth", "share", "from", "to"]
        caption = f"Regions that hold the truth, by {group['by']}"
        body = table(columns, rows, name=f"table-groups-{place}", caption=caption)
        tables.append(behind(body, f": by {text(group['by'])}"))
    return "".join(tables)


def calibration_table(facts: Facts) -> str:
    """Return the share of regions that hold the truth at some levels."""
    rows = [
        (percent(level), *(share(point[name], 1) for name in ("covered", "low", "high")))
        for level, point in zip(facts["perMille"], facts["calibration"], strict=True)
        if level in IN_TABLE
    ]
    columns = ["confidence", "hold the truth", "from", "to"]
    caption = "Regions that hold the truth, by level"
    return behind(table(columns, rows, name="table-calibration", caption=caption))


def bars_table(facts: Facts, name: str) -> str:
    """Return the histogram of confidence or credibility."""
    bars = facts["bars"][name]
    kinds = list(dict.fromkeys(bar["kind"] for bar in bars))
    rows = []
    for i in range(0, len(bars), len(kinds)):
        bin_name = f"{100 * bars[i]['low']:.0f} to {100 * bars[i]['high']:.0f} %"
        rows.append((bin_name, *(bar["count"] for bar in bars[i : i + len(kinds)])))
    caption = f"Most plausible labelsets by {name}"
    return behind(table([name, *kinds], rows, name=f"table-{name}", caption=caption))


def accepted_parts(acceptance: Acceptance) -> dict[str, str]:
    """Return what conformal selection would accept: a table, and buttons that list the objects."""
    n_decided = int(acceptance.decided.sum())
    buttons, rows = [], list[tuple[Cell, ...]]()
    for place, (alpha, members) in enumerate(zip(ALPHAS, acceptance.accepted, strict=True)):
        level, accepted = percent(1000 * alpha), int(members.sum())
        wrong = int((members & acceptance.wrong).sum())
        shares = ("", "")
        if accepted:
            shares = (share(wrong, accepted), interval(wrong, accepted))
            shown = f'data-show="accepted-{place}"'
            buttons.append(f'<button type="button" {shown}>Show those at {level}</button>')
        rows.append((level, accepted, share(accepted, n_decided), wrong, *shares))
    columns = ["accepted error rate", "accepted", "share of this half", "wrong among them"]
    columns += ["share", "95 % interval"]
    caption = "What conformal selection accepts of half of the objects"
    return {
        "n_decided": amount(n_decided, "object"),
        "n_held_out": f"{len(acceptance.decided) - n_decided:,}",
        "accepted_table": table(columns, rows, name="table-accepted", caption=caption),
        "accepted_buttons": " ".join(buttons),
    }


def hardest_tables(
    subject: Subject, best: RankedLabelsets, truth_p_values: FloatArray | None
) -> str:
    """Return the hardest objects: implausible truth, no labelset that fits, or several that fit."""
    first, second = best.p_values[:, 0], best.p_values[:, 1]
    answers: dict[str, LabelMatrix] = {"most plausible": best.labelsets[:, 0]}
    if subject.predicted is not None:
        answers = {"predicted": subject.predicted, **answers}
    tables = []
    if subject.truth is not None and truth_p_values is not None:
        shown = {"truth": subject.truth, **answers}
        numbers = {"p-value of the truth": truth_p_values, "credibility": first}
        caption = "The truth surprises most"
        order = np.lexsort((first, truth_p_values))
        tables.append(_hard(subject, order, shown, numbers, "table-surprising", caption))
    caption = "Lowest credibility: near 0, no labelset fits"
    order = np.lexsort((second, first))
    tables.append(_hard(subject, order, answers, {"credibility": first}, "table-strange", caption))
    shown = {**answers, "next best": best.labelsets[:, 1]}
    caption = "Lowest confidence: another labelset fits nearly as well"
    order = np.lexsort((-first, -second))
    numbers = {"confidence": 1 - second}
    return "".join([*tables, _hard(subject, order, shown, numbers, "table-unsure", caption)])


def _hard(
    subject: Subject,
    order: Any,
    labelsets: dict[str, LabelMatrix],
    numbers: dict[str, FloatArray],
    name: str,
    caption: str,
) -> str:
    """Return a table of the first objects in an order, with labelsets and numbers of each."""
    rows = []
    for i in order[:N_HARDEST].tolist():
        named = [join_names(subject.label_names, matrix[i]) for matrix in labelsets.values()]
        rows.append(
            [subject.names[i], *named, *(f"{column[i]:.4f}" for column in numbers.values())]
        )
    columns = ["object", *labelsets, *numbers]
    return table(columns, rows, name=name, caption=caption, n_words=1 + len(labelsets))


def join_names(names: Sequence[str], labelset: Any) -> str:
    """Return a labelset in words.

    Examples
    --------
    >>> join_names(["sea", "sky"], [1, 1]), join_names(["sea", "sky"], [0, 0])
    ('sea, sky', 'no label')
    """
    return ", ".join(name for name, on in zip(names, labelset, strict=True) if on) or "no label"

"""The tables of a page, at the level that it opens at; its script fills some of them anew at other levels."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from labelsure._checks import IntArray, LabelMatrix
from labelsure.report._acceptance import Acceptance
from labelsure.report._facts import Facts
from labelsure.report._html import Cell, behind, table, text
from labelsure.report._words import amount, interval, percent, share

N_HARDEST = 10
"""Objects in each table of hard ones."""
IN_TABLE = {*range(0, 1000, 50), 990, 999}
"""Levels of the calibration table, in tenths of a per cent."""


def sizes_table(facts: Facts) -> str:
    """Return how many regions have which size."""
    counts = facts.counts
    sizes = [(counts.bins[b], int(counts.sizes[facts.start, b])) for b in counts.shown_bins]
    rows = [(name, count, share(count, len(facts.subject))) for name, count in sizes]
    columns = ["labelsets", "objects", "share"]
    return behind(
        table(columns, rows, name="table-sizes", caption="Objects by the size of their region")
    )


def single_table(facts: Facts) -> str:
    """Return how good single answers are, side by side."""
    rows = [
        (name, share(exact, 1), *(f"{figure:.4f}" for figure in others))
        for name, (exact, *others) in facts.single.items()
    ]
    columns = ["single answer", "exact match", "Hamming loss", "F1 micro", "F1 macro"]
    return table(
        columns, rows, name="table-single", caption="Single answers compared with the truth"
    )


def labels_table(facts: Facts) -> str:
    """Return what is said of each label, and how often it is wrong where that is known."""
    said = facts.counts.labels[facts.start].tolist()
    names, predicted = facts.subject.label_names, facts.n_predicted.tolist()
    columns = ["label", "predicted", "sure", "possible", "ruled out"]
    rows: list[list[Cell]] = [
        [name, n, *of[:3]] for name, n, of in zip(names, predicted, said, strict=True)
    ]
    if facts.n_true is not None:
        columns = ["label", "true", *columns[1:], "sure but wrong", "ruled out but true"]
        true = facts.n_true.tolist()
        rows = [[row[0], n, *row[1:], *of[3:]] for row, n, of in zip(rows, true, said, strict=True)]
    return table(
        columns,
        rows,
        name="table-labels",
        caption="Number of objects, label by label",
        sortable=True,
    )


def groups_tables(facts: Facts) -> str:
    """Return the coverage of groups, one table for each way to divide the objects."""
    tables = []
    for place, group in enumerate(facts.counts.groups):
        low, high = (limit[facts.start] for limit in group.limits)
        counted = zip(
            group.names,
            group.n_objects[facts.start],
            group.n_covered[facts.start],
            low,
            high,
            strict=True,
        )
        rows = [
            (name, int(n), int(covered), share(covered, n), share(lo, 1), share(hi, 1))
            for name, n, covered, lo, hi in counted
            if n
        ]
        columns = [group.by, "objects", "hold the truth", "share", "from", "to"]
        caption = f"Regions that hold the truth, by {group.by}"
        body = table(columns, rows, name=f"table-groups-{place}", caption=caption)
        tables.append(
            f'<details class="behind"><summary>Table behind the figure: by'
            f" {text(group.by)}</summary>{body}</details>"
        )
    return "".join(tables)


def calibration_table(facts: Facts) -> str:
    """Return the share of regions that hold the truth at some levels."""
    rows = [
        (percent(level), *(share(point[name], 1) for name in ("covered", "low", "high")))
        for level, point in zip(facts.levels.per_mille, facts.calibration, strict=True)
        if level in IN_TABLE
    ]
    columns = ["confidence", "hold the truth", "from", "to"]
    return behind(
        table(
            columns, rows, name="table-calibration", caption="Regions that hold the truth, by level"
        )
    )


def bars_table(facts: Facts, name: str) -> str:
    """Return the histogram of confidence or credibility."""
    bars = facts.bars[name]
    kinds = list(dict.fromkeys(bar["kind"] for bar in bars))
    rows = [
        (
            f"{100 * bar['low']:.0f} to {100 * bar['high']:.0f} %",
            *(one["count"] for one in bars[i : i + len(kinds)]),
        )
        for i, bar in enumerate(bars)
        if i % len(kinds) == 0
    ]
    return behind(
        table(
            [name, *kinds],
            rows,
            name=f"table-{name}",
            caption=f"Most plausible labelsets by {name}",
        )
    )


def acceptance_part(acceptance: Acceptance | None, *, labelled: bool) -> str:
    """Return what conformal selection would accept, and what is proven about that."""
    if acceptance is None:
        more = " of several objects" if labelled else ""
        return (
            "<p>To accept predictions with a promise about the accepted ones, the truth"
            f"{more} must be known: <code>labelsure.ReviewSelector</code> compares new objects"
            f" with held-out examples"
            " and keeps the expected share of wrong ones among those that it accepts below a"
            " number of your choice.</p>"
        )
    n_decided, n_held_out = int(acceptance.decided.sum()), int((~acceptance.decided).sum())
    buttons = " ".join(
        f'<button type="button" data-show="accepted-{place}">Show those at'
        f" {percent(1000 * alpha)}</button>"
        for place, (alpha, accepted, _) in enumerate(acceptance.rows)
        if accepted
    )
    rows = [
        (
            percent(1000 * alpha),
            accepted,
            share(accepted, n_decided),
            wrong,
            share(wrong, accepted),
            interval(wrong, accepted),
        )
        if accepted
        else (percent(1000 * alpha), 0, share(0, n_decided), 0, "", "")
        for alpha, accepted, wrong in acceptance.rows
    ]
    columns = [
        "wrong ones put up with",
        "accepted",
        "share of this half",
        "wrong among them",
        "share",
        "95 % interval",
    ]
    caption = "What conformal selection accepts of half of the objects"
    found = table(columns, rows, name="table-accepted", caption=caption)
    return (
        "<p>Conformal selection (Jin and Candes 2023) accepts as many most plausible labelsets as"
        " it can such that the"
        " expected share of wrong ones among the accepted is at most what is put up with. Here it"
        " decides about"
        f" {amount(n_decided, 'object')}, half of them, drawn at random, by confidence; the other"
        f" {n_held_out:,} are"
        " the held-out examples. A labelset is wrong where any of its labels is.</p>"
        f'{found}<p class="shows">{buttons}</p>'
        "<p>That share is an average over held-out examples and batches, for objects that are"
        " exchangeable with them"
        " and new to the predictor: a single batch may have more, and nothing is promised about a"
        " single object. Choose"
        " the share before you look. For new objects use <code>labelsure.ReviewSelector</code>.</p>"
    )


def hardest_tables(facts: Facts) -> str:
    """Return the objects whose truth surprises most, those that nothing fits, those that several labelsets fit."""
    subject, best = facts.subject, facts.objects.best
    first, second = best.p_values[:, 0], best.p_values[:, 1]
    told: dict[str, Any] = {"most plausible": _named(facts, best.labelsets[:, 0])}
    if subject.predicted is not None:
        told = {"predicted": _named(facts, subject.predicted), **told}
    parts = []
    if subject.labels is not None and (p_values := facts.truth_p_values) is not None:
        rows = _lowest(p_values, first)
        shown = {
            "truth": _named(facts, subject.labels),
            **told,
            "p-value of the truth": p_values,
            "credibility": first,
        }
        parts.append(_hard(facts, rows, shown, "surprising", "The truth surprises most"))
    rows = _lowest(first, second)
    parts.append(
        _hard(
            facts,
            rows,
            {**told, "credibility": first},
            "strange",
            "Lowest credibility: near 0, no labelset fits",
        )
    )
    runner_up = {**told, "next best": _named(facts, best.labelsets[:, 1]), "confidence": 1 - second}
    rows = _lowest(-second, -first)
    parts.append(
        _hard(
            facts,
            rows,
            runner_up,
            "unsure",
            "Lowest confidence: another labelset fits nearly as well",
        )
    )
    return "".join(parts)


def _lowest(values: Any, then: Any) -> IntArray:
    lowest: IntArray = np.lexsort((then, values))[:N_HARDEST]
    return lowest


def _hard(facts: Facts, rows: IntArray, shown: dict[str, Any], name: str, caption: str) -> str:
    cells = [
        [facts.subject.names[i], *(_cell(column, i) for column in shown.values())]
        for i in rows.tolist()
    ]
    n_words = 1 + sum(map(callable, shown.values()))
    return table(["object", *shown], cells, name=f"table-{name}", caption=caption, n_words=n_words)


def _cell(column: Any, i: int) -> str:
    return column(i) if callable(column) else f"{column[i]:.4f}"


def _named(facts: Facts, labelsets: LabelMatrix) -> Any:
    """Return a function from objects to the names of the labels in their labelsets."""
    return lambda i: join_names(
        name
        for name, on in zip(facts.subject.label_names, labelsets[i].tolist(), strict=True)
        if on
    )


def join_names(names: Iterable[str]) -> str:
    """Return the labels of a labelset in words.

    Examples
    --------
    >>> join_names(["sea", "sky"]), join_names([])
    ('sea, sky', 'no label')
    """
    return ", ".join(names) or "no label"

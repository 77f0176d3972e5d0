"""The results of ``labelsure compare``: one JSON file, whole at all times, that a later run goes on from."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from labelsure._core.versions import versions
from labelsure._version import __version__
from labelsure.cli._errors import CommandError
from labelsure.cli._paper import means, standard_deviations
from labelsure.cli._writing import write_whole

LAYOUT = 1
"""Of the file; a later layout gets another number."""


class Row(NamedTuple):
    """A line of the tables: what is compared."""

    dataset: str
    learner: str
    measure: str
    guarantee: str


class Summary(NamedTuple):
    """The figures of a row over the resplits that were measured, or why the measure could not be used."""

    resplits: list[int]
    means: dict[str, Any]
    sds: dict[str, Any]
    refused: str | None


@dataclass
class Results:
    """What has been measured, and what the words in it stand for.

    Attributes
    ----------
    terms : dict
        Settings, data sets, learners, measures and guarantees: what must be the same for cells to stand in one table.
    cells : dict
        By row and number of the resplit: ``{"figures": ...}``, or ``{"refused": reason}`` where the measure cannot be
        used; each with the version that measured it.
    path : Path or None
        The file that they are kept in.
    """

    terms: dict[str, Any]
    cells: dict[tuple[Row, int], dict[str, Any]] = field(default_factory=dict)
    path: Path | None = None
    _summaries: dict[Row, Summary] = field(default_factory=dict)

    def add(self, row: Row, resplit: int, cell: dict[str, Any]) -> None:
        """Take in a finished cell and write the file, if there is to be one: the old one until the new one is whole."""
        self.cells[row, resplit] = cell | {"labelsure": __version__}
        self._summaries.pop(row, None)
        if self.path is not None:
            write_whole(self.path, self.to_json())

    def summaries(self) -> dict[Row, Summary]:
        """Return the rows, in the order of the names in ``terms``."""
        by_row: dict[Row, dict[int, dict[str, Any]]] = {}
        for (row, number), cell in self.cells.items():
            by_row.setdefault(row, {})[number] = cell
        for row in by_row.keys() - self._summaries.keys():
            self._summaries[row] = _summary(by_row[row])
        return {row: self._summaries[row] for row in sorted(by_row, key=self._place)}

    def to_json(self) -> str:
        """Return what is written to the file: terms and versions, then every row and every cell on a line."""
        head = {"source": f"labelsure {__version__} compare", "layout": LAYOUT, **self.terms, "versions": versions()}
        rows = [row._asdict() | summary._asdict() for row, summary in self.summaries().items()]
        cells = [row._asdict() | {"resplit": number} | cell for (row, number), cell in self.cells.items()]
        parts = [json.dumps(head, indent=1).removesuffix("\n}")]
        for name, lines in (("rows", rows), ("cells", cells)):
            parts.append(f' "{name}": [\n' + ",\n".join(f"  {json.dumps(line)}" for line in lines) + "\n ]")
        return ",\n".join(parts) + "\n}\n"

    def _place(self, row: Row) -> tuple[int, ...]:
        terms = self.terms
        names = (terms["datasets"], terms["learners"][row.dataset], terms["measures"], terms["guarantees"])
        return tuple(list(known).index(name) for known, name in zip(names, row, strict=True))


def open_results(path: Path | None, terms: dict[str, Any]) -> Results:
    """Return the results in a file, or none yet, to add more to.

    Raises
    ------
    CommandError
        If the file holds something else, or results with other settings or data: they are left alone.
    """
    if path is None or not path.exists():
        return Results(terms, path=path)
    earlier = read_results(path)
    return Results(_merge(earlier.terms, terms, path), earlier.cells, path)


def read_results(path: Path) -> Results:
    """Return the results in a file.

    Raises
    ------
    CommandError
        If it cannot be read.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["layout"] != LAYOUT:
            raise CommandError(
                f"{path} was written by {document['source']} in another layout. Name another file, or start afresh."
            )
        cells = {}
        for cell in document["cells"]:
            row = Row(*(cell.pop(name) for name in Row._fields))
            cells[row, cell.pop("resplit")] = cell
        terms = {name: document[name] for name in ("settings", "datasets", "learners", "measures", "guarantees")}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CommandError(
            f"{path} is no results file of labelsure compare ({type(error).__name__}: {error})."
            " Name another file; this one is left as it is."
        ) from error
    return Results(terms, cells, path)


def _summary(cells: dict[int, dict[str, Any]]) -> Summary:
    measured = {number: cells[number]["figures"] for number in sorted(cells) if "figures" in cells[number]}
    refused = next((cell["refused"] for cell in cells.values() if "refused" in cell), None)
    figures = list(measured.values())
    if not figures:
        return Summary([], {}, {}, refused)
    return Summary(list(measured), means(figures), standard_deviations(figures), refused)


def _merge(theirs: Any, ours: Any, path: Path, place: str = "") -> Any:
    """Return both, which must agree wherever both say something."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        keys = dict.fromkeys([*theirs, *ours])
        return {
            key: _merge(theirs.get(key, ours.get(key)), ours.get(key, theirs.get(key)), path, f"{place} {key}".strip())
            for key in keys
        }
    if theirs != ours:
        raise CommandError(
            f"{path} holds results with another {place}: {theirs!r} there, {ours!r} in this run."
            " Name another file with --json, or repeat that run's options."
        )
    return theirs

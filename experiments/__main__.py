"""The command ``python -m experiments``."""
# ruff: noqa: T201 - a command prints

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks._page import PAGE, write_block

from experiments._page import write_findings
from experiments._plan import PLAN
from experiments.compare import measure_run

HERE = Path(__file__).parent


def main() -> None:
    """Run the plans that are named, and write the findings."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments", description=sys.modules["experiments"].__doc__
    )
    parser.add_argument(
        "names", nargs="*", metavar="name", help=f"{', '.join(PLAN)}; without any, all of them"
    )
    parser.add_argument(
        "--write-docs",
        action="store_true",
        help=f"only write the findings of {PAGE.name} from the results kept",
    )
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in PLAN]:
        parser.error(f"unknown name {', '.join(unknown)}; there are {', '.join(PLAN)}")
    for name in [] if options.write_docs else options.names or PLAN:
        with tempfile.TemporaryDirectory() as folder:
            for run in PLAN[name]:
                measure_run(run, _path(name), Path(folder))
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE}")


def page() -> str:
    """Return the page with the findings of the results that are there."""
    documents = {name: _read(name) for name in PLAN if _path(name).exists()}
    n_missing = sum(len(missing(name, documents.get(name))) for name in PLAN)
    findings = write_findings(documents, n_missing=n_missing)
    return write_block(PAGE.read_text(encoding="utf-8"), "experiments", findings)


def missing(name: str, document: dict[str, Any] | None) -> set[tuple[str, str, str, int]]:
    """Return the planned cells that a results file, None if there is none, does not have."""
    keys = ("learner", "measure", "guarantee", "resplit")
    kept = (
        set()
        if document is None
        else {tuple(cell[key] for key in keys) for cell in document["cells"]}
    )
    planned: set[tuple[str, str, str, int]] = set().union(*(run.cells() for run in PLAN[name]))
    return planned - kept


def _read(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(_path(name).read_text(encoding="utf-8"))
    return document


def _path(name: str) -> Path:
    return HERE / "results" / f"{name}.json"


if __name__ == "__main__":
    main()

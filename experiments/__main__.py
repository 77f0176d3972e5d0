"""The command ``python -m experiments``."""
# ruff: noqa: T201 - a command prints

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from experiments._page import write_page
from experiments._plan import PLAN
from labelsure.cli import main as labelsure

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "experiments.md"


def main() -> int:
    """Run what is asked for, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m experiments", description=sys.modules["experiments"].__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"{', '.join(PLAN)}; without any, all of them")
    parser.add_argument("--write-docs", action="store_true", help=f"only write {PAGE.name} from the results kept")
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in PLAN]:
        parser.error(f"unknown name {', '.join(unknown)}; there are {', '.join(PLAN)}")
    if not options.write_docs:
        for name in options.names or PLAN:
            code = run(name)
            if code != 0:
                return code
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE}")
    return 0


def run(name: str) -> int:
    """Run the command lines of one results file; return the exit code of the first that fails, or 0."""
    for one in PLAN[name]:
        words = ["compare", *one.words(), "--json", str(_path(name))]
        print("labelsure", *words, flush=True)
        code = labelsure(words)
        if code != 0:
            return code
    return 0


def page() -> str:
    """Return the page for the results that are there."""
    documents = {name: _read(name) for name in PLAN if _path(name).exists()}
    return write_page(documents, n_missing=sum(len(missing(name, documents.get(name))) for name in PLAN))


def missing(name: str, document: dict[str, Any] | None) -> set[tuple[str, str, str, int]]:
    """Return the planned cells that a results file, None if there is none, does not have."""
    keys = ("learner", "measure", "guarantee", "resplit")
    kept = set() if document is None else {tuple(cell[key] for key in keys) for cell in document["cells"]}
    return set().union(*(one.cells() for one in PLAN[name])) - kept


def _read(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(_path(name).read_text(encoding="utf-8"))
    return document


def _path(name: str) -> Path:
    return HERE / "results" / f"{name}.json"


if __name__ == "__main__":
    sys.exit(main())

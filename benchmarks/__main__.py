"""The command ``python -m benchmarks``."""

import argparse
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import imports, reproduce, table
from benchmarks._figures import Figure, as_lines
from benchmarks._machine import describe_machine
from benchmarks._page import write_page

QUESTIONS = {"table": table, "reproduce": reproduce, "imports": imports}
HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "benchmarks.md"


def main() -> None:
    """Measure the questions asked for, and write results and page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Speed and memory of labelsure.")
    parser.add_argument(
        "questions", nargs="*", metavar="question", help=f"{', '.join(QUESTIONS)}; without any, all of them"
    )
    parser.add_argument("--write-docs", action="store_true", help=f"only write {PAGE.name} from the results kept")
    options = parser.parse_args()
    if unknown := set(options.questions) - set(QUESTIONS):
        parser.error(f"unknown question {', '.join(sorted(unknown))}; there are {', '.join(QUESTIONS)}")
    if not options.write_docs:
        _measure(options.questions or list(QUESTIONS))
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE}")


def page() -> str:
    """Return the page for the results that are there."""
    paths = [path for name in QUESTIONS if (path := _result_path(name)).exists()]
    return write_page([json.loads(path.read_text(encoding="utf-8")) for path in paths])


def _measure(names: list[str]) -> None:
    machine = describe_machine()
    print("\n".join(f"{key}: {value}" for key, value in machine.items()))
    for name in names:
        question = QUESTIONS[name]
        print(f"\n{name}: {question.__doc__}", flush=True)
        figures = question.measure()
        print(as_lines(figures), flush=True)
        document = _document(question, figures, machine)
        _result_path(name).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def _document(question: Any, figures: list[Figure], machine: dict[str, str]) -> dict[str, Any]:
    return {
        "title": question.TITLE,
        "method": question.METHOD,
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine,
        "figures": [figure.to_dict() for figure in figures],
    }


def _result_path(name: str) -> Path:
    return HERE / "results" / f"{name}.json"


if __name__ == "__main__":
    main()

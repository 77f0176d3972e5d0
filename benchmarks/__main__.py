"""The command ``python -m benchmarks``."""

import argparse
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import (
    auto,
    bibtex,
    choice,
    compilation,
    constraints,
    folds,
    growth,
    imports,
    limit,
    paths,
    pools,
    posterior,
    reproduce,
    risk,
    rivals,
    search,
    stream,
    table,
)
from benchmarks._answers import NotMeasuredError, Picture, Table
from benchmarks._figures import Figure, as_lines
from benchmarks._machine import describe_machine, describe_packages
from benchmarks._page import write_page
from benchmarks._pictures import draw

QUESTIONS = {
    "table": table,
    "limit": limit,
    "rivals": rivals,
    "search": search,
    "bibtex": bibtex,
    "paths": paths,
    "choice": choice,
    "posterior": posterior,
    "auto": auto,
    "growth": growth,
    "constraints": constraints,
    "risk": risk,
    "pools": pools,
    "folds": folds,
    "compilation": compilation,
    "reproduce": reproduce,
    "imports": imports,
    "stream": stream,
}
HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "benchmarks.md"
PICTURES = PAGE.parent / "figures"


def main() -> None:
    """Measure the questions asked for, and write results and page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Speed and memory of labelsure.")
    parser.add_argument(
        "questions", nargs="*", metavar="question", help=f"{', '.join(QUESTIONS)}; without any, all of them"
    )
    parser.add_argument(
        "--write-docs", action="store_true", help=f"only write {PAGE.name} and its pictures from the results kept"
    )
    options = parser.parse_args()
    if unknown := set(options.questions) - set(QUESTIONS):
        parser.error(f"unknown question {', '.join(sorted(unknown))}; there are {', '.join(QUESTIONS)}")
    if not options.write_docs:
        _measure(options.questions or list(QUESTIONS))
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE}")
    try:
        for path in draw(_pictures(), PICTURES):
            print(f"wrote {path}")
    except ImportError:
        print('The pictures were not drawn again: that takes matplotlib, pip install -e ".[docs]".')


def page() -> str:
    """Return the page for the results that are there."""
    return write_page(_results())


def _results() -> list[dict[str, Any]]:
    paths = [path for name in QUESTIONS if (path := _result_path(name)).exists()]
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def _pictures() -> list[Picture]:
    return [Picture(**picture) for result in _results() for picture in result["pictures"]]


def _measure(names: list[str]) -> None:
    machine = describe_machine()
    print("\n".join(f"{key}: {value}" for key, value in machine.items()))
    for name in names:
        question = QUESTIONS[name]
        print(f"\n{name}: {question.__doc__}", flush=True)
        try:
            answers = question.measure()
        except NotMeasuredError as reason:
            print(f"  not measured, the results kept stay: {reason}", flush=True)
            continue
        print(as_lines([answer for answer in answers if isinstance(answer, Figure)]), flush=True)
        document = _document(question, answers, machine | describe_packages(getattr(question, "PACKAGES", ())))
        _result_path(name).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def _document(question: Any, answers: list[Figure | Table | Picture], machine: dict[str, str]) -> dict[str, Any]:
    return {
        "title": question.TITLE,
        "method": question.METHOD,
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine,
        **{
            name: [answer.to_dict() for answer in answers if isinstance(answer, kind)]
            for name, kind in (("figures", Figure), ("tables", Table), ("pictures", Picture))
        },
    }


def _result_path(name: str) -> Path:
    return HERE / "results" / f"{name}.json"


if __name__ == "__main__":
    main()

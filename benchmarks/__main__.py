"""The command ``python -m benchmarks``."""

import argparse
import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

from benchmarks import (
    auto,
    batches,
    bibtex,
    choice,
    compilation,
    constraints,
    folds,
    growth,
    imports,
    label_errors,
    limit,
    model_files,
    paths,
    pools,
    posterior,
    probabilities,
    questions,
    reproduce,
    risk,
    rivals,
    search,
    stream,
    table,
)
from benchmarks._answers import NotMeasuredError, Picture, Table, table_lines
from benchmarks._figures import Figure, as_lines
from benchmarks._machine import describe_machine, describe_packages
from benchmarks._page import PAGE, speed_block, write_block
from benchmarks._pictures import draw
from labelsure._start_up import START_UP

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
    "model_files": model_files,
    "stream": stream,
    "batches": batches,
    "label_errors": label_errors,
    "probabilities": probabilities,
    "questions": questions,
}
HERE = Path(__file__).parent
PICTURES = PAGE.parent / "figures"
DRAWN = ("questions",)
"""The pictures that pages show."""


def main() -> None:
    """Measure the questions asked for, and write results, the page's figures and its picture."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Speed and memory of labelsure."
    )
    parser.add_argument(
        "questions",
        nargs="*",
        metavar="question",
        help=f"{', '.join(QUESTIONS)}; without any, all of them",
    )
    parser.add_argument(
        "--write-docs",
        action="store_true",
        help=f"only write the figures of {PAGE.name} from the results kept",
    )
    parser.add_argument(
        "--only",
        type=lambda text: text.split(","),
        metavar="part,part",
        help="parts of paths or questions, cases of probabilities",
    )
    parser.add_argument("--n-jobs", type=int, default=1, help="processes, of probabilities")
    options = parser.parse_args()
    question = QUESTIONS.get(options.questions[0]) if len(options.questions) == 1 else None
    parts = getattr(question, "PARTS", getattr(question, "CASES", ()))
    if options.only and set(options.only) - set(parts):
        parser.error(
            f"--only chooses parts of one question:"
            f" {', '.join(parts) or 'paths, questions, probabilities'}"
        )
    if unknown := set(options.questions) - set(QUESTIONS):
        parser.error(
            f"unknown question {', '.join(sorted(unknown))}; there are {', '.join(QUESTIONS)}"
        )
    if not options.write_docs:
        _measure(options.questions or list(QUESTIONS), options.only, options.n_jobs)
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE}")
    try:
        for path in draw(_pictures(), PICTURES):
            print(f"wrote {path}")
    except ImportError:
        print('The pictures were not drawn again: that takes matplotlib, pip install -e ".[docs]".')


def page() -> str:
    """Return the page with the figures of the results that are there."""
    return write_block(PAGE.read_text(encoding="utf-8"), "benchmarks", speed_block(_results()))


def _results() -> dict[str, dict[str, Any]]:
    found = {}
    for name, question in QUESTIONS.items():
        kept = [path for part in _parts(question) if (path := _result_path(name, part)).exists()]
        if kept:
            found[name] = join([json.loads(path.read_text(encoding="utf-8")) for path in kept])
    return found


def _parts(question: Any) -> Sequence[str | None]:
    """Return the parts of a question that are measured and saved separately, or None."""
    parts: Sequence[str | None] = getattr(question, "PARTS", (None,))
    return parts


def join(documents: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the merged results of a question's parts: all figures and pictures, joined tables."""
    tables: dict[str, dict[str, Any]] = {}
    for one in (one for document in documents for one in document["tables"]):
        before = tables.get(one["caption"], {"rows": []})["rows"]
        tables[one["caption"]] = {**one, "rows": [*before, *one["rows"]]}
    several = {
        name: [one for document in documents for one in document[name]]
        for name in ("figures", "pictures")
    }
    machines = [document["machine"] for document in documents]
    machine = {
        key: _each(one[key] for one in machines if key in one)
        for key in dict.fromkeys(chain(*machines))
    }
    date = _each(document["date"] for document in documents)
    return {
        **documents[-1],
        **several,
        "tables": list(tables.values()),
        "date": date,
        "machine": machine,
    }


def _each(texts: Iterable[str]) -> str:
    """Return each of some texts once: parts may have been measured on several days, or machines."""
    return " and ".join(dict.fromkeys(texts))


def _pictures() -> list[Picture]:
    pictures = [one for result in _results().values() for one in result["pictures"]]
    return [Picture(**one) for one in pictures if one["name"] in DRAWN]


def _measure(names: list[str], only: Sequence[str] | None = None, n_jobs: int = 1) -> None:
    machine = describe_machine()
    print("\n".join(f"{key}: {value}" for key, value in machine.items()))
    START_UP.end()  # what kernels take is measured, but for questions that start processes
    for name in names:
        question = QUESTIONS[name]
        print(f"\n{name}: {question.__doc__}", flush=True)
        by_case = hasattr(question, "CASES")  # these are measured together, and kept in one file
        for part in (None,) if by_case else only or _parts(question):
            given = (
                {"only": only, "n_jobs": n_jobs}
                if by_case
                else {}
                if part is None
                else {"part": part}
            )
            try:
                answers = question.measure(**given)
            except NotMeasuredError as reason:
                print(f"  not measured, the results kept stay: {reason}", flush=True)
                continue
            print(
                as_lines([answer for answer in answers if isinstance(answer, Figure)]), flush=True
            )
            for rows in (answer for answer in answers if isinstance(answer, Table)):
                print("\n".join([f"\n{rows.caption}:", *table_lines(rows)]), flush=True)
            document = _document(
                question, answers, machine | describe_packages(getattr(question, "PACKAGES", ()))
            )
            _result_path(name, part).parent.mkdir(exist_ok=True)
            _result_path(name, part).write_text(
                json.dumps(document, indent=1) + "\n", encoding="utf-8"
            )


def _document(
    question: Any, answers: list[Figure | Table | Picture], machine: dict[str, str]
) -> dict[str, Any]:
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


def _result_path(name: str, part: str | None = None) -> Path:
    return HERE / "results" / (f"{name}.json" if part is None else f"{name}/{part}.json")


if __name__ == "__main__":
    main()

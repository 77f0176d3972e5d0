"""The record of answers: what it says, how it is compared, how it is made anew.

``python -m tests.golden.record --check [TEXT ...]`` prints the cells that differ; with texts, of
the configurations whose names hold one of them. Without ``--check`` it writes the record anew,
after printing the same; texts are then the names of new configurations. The names on record say
what is asked: whoever deletes a feature deletes their lines.

Rules. Answers are data: whoever renames something changes the calling scripts (answers.py,
others.py) and leaves record.json alone. Cells that are "certain" or "near" stay as they are; what
is an "estimate" or a "bound" may become another, better one. A cell is removed only by the step
that deletes its feature, and a cell changed only by one that repairs it; either says so in its
commit. Names that ``_private`` code has are not used here.
"""

import argparse
import json
import sys
import warnings
from functools import cache
from pathlib import Path

import sklearn
from tests.golden.answers import answer, answer_single
from tests.golden.cells import differs, spell
from tests.golden.configurations import SINGLE, Configuration
from tests.golden.others import OTHERS

RECORD = Path(__file__).with_name("record.json")


@cache
def read():
    """Return the record: "sklearn", "statements", and "answers" by name, status and question."""
    return json.loads(RECORD.read_text(encoding="utf-8"))


def names():
    """Return the names on record, which are all configurations, and those of the other answers."""
    return list(dict.fromkeys([*read()["answers"], *OTHERS]))


def ask(name):
    """Return the cells of a configuration, by question."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name in OTHERS:
            return OTHERS[name]()
        respond = answer_single if name.startswith(SINGLE) else answer
        return respond(Configuration.read(name))


def spell_all(cells, statements):
    """Return cells as the record holds them; statements go to the list of all of them."""
    answers = {}
    for question, cell in cells.items():
        text = cell.values[0] if "statement" in question else None
        stored = spell(cell) if text is None else statements.setdefault(text, len(statements))
        answers.setdefault(cell.status, {})[question] = stored
    return answers


def differences(name, cells):
    """Return what differs from the record, one line for each cell."""
    old = {
        question: (status, value)
        for status, stored in read()["answers"].get(name, {}).items()
        for question, value in stored.items()
    }
    lines = [
        f"{name}: {question}: gone"
        for question in old.keys() - cells.keys()
        if old[question][0] != "bound"
    ]
    for question, cell in cells.items():
        if question not in old:
            lines.append(f"{name}: {question}: not on record")
            continue
        status, value = old[question]
        if "statement" in question:
            new, value = cell.values[0], read()["statements"][value]
            different = new != value
        else:
            new = spell(cell)
            different = status != cell.status or differs(cell, value)
        if different:
            lines.append(f"{name}: {question} ({status}): {value} became {new}")
    return lines


def comparable(name):
    """Tell whether scikit-learn's version may not have changed the answers."""
    same_version = read()["sklearn"] == sklearn.__version__
    return name in OTHERS or same_version or not Configuration.read(name).follows_trees


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    parser.add_argument("names", nargs="*", help="texts in the names of configurations to compare")
    arguments = parser.parse_args()
    texts = arguments.names or [""]
    asked = [*names(), *arguments.names]
    if arguments.check:
        asked = [name for name in names() if comparable(name) and any(t in name for t in texts)]
    answers, statements, n_lines = {}, {}, 0
    for name in asked:
        cells = ask(name)
        lines = differences(name, cells)
        n_lines += len(lines)
        print(*lines, sep="\n", end="\n" if lines else "", flush=True)  # noqa: T201
        answers[name] = spell_all(cells, statements)
    print(f"{n_lines} cells differ.")  # noqa: T201
    if arguments.check:
        return int(n_lines > 0)
    write(answers, statements)
    return 0


def write(answers, statements):
    """Write the record, one line for each configuration."""
    lines = [
        f"{json.dumps(name)}: {json.dumps(cells, separators=(',', ':'))}"
        for name, cells in answers.items()
    ]
    texts = [json.dumps(text) for text in statements]
    head = f'"sklearn": "{sklearn.__version__}"'
    text = '{%s,\n"statements": [\n%s\n],\n"answers": {\n%s\n}}\n'
    RECORD.write_text(text % (head, ",\n".join(texts), ",\n".join(lines)), encoding="utf-8")
    n_cells = sum(len(stored) for cells in answers.values() for stored in cells.values())
    print(f"{len(answers)} configurations, {n_cells} cells, {RECORD.stat().st_size} bytes.")  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())

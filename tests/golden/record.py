"""The record of answers: what it says, how it is compared, how it is made anew.

``python -m tests.golden.record --check [TEXT ...]`` prints the cells that differ; with texts, of
the configurations whose names hold one of them. Without ``--check`` it writes the record anew, and
prints what that changes.

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
from pathlib import Path

import sklearn
from tests.golden.answers import answer
from tests.golden.cells import differs, spell
from tests.golden.configurations import CONFIGURATIONS, follows_trees
from tests.golden.others import OTHERS

RECORD = Path(__file__).with_name("record.json")
NAMES = [*CONFIGURATIONS, *OTHERS]


def ask(name):
    """Return the cells of a configuration, by question."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return answer(CONFIGURATIONS[name]) if name in CONFIGURATIONS else OTHERS[name]()


def read():
    """Return the record: "sklearn", "statements", and "answers" by name, by status, by question."""
    return json.loads(RECORD.read_text(encoding="utf-8"))


def spell_all(cells, statements):
    """Return the cells of a configuration as the record holds them; statements go to the list of all of them."""
    answers = {}
    for question, cell in cells.items():
        if "statement" in question:
            text = cell.values[0]
            stored = statements.setdefault(text, len(statements))
        else:
            stored = spell(cell)
        answers.setdefault(cell.status, {})[question] = stored
    return answers


def differences(name, record):
    """Return what differs from the record, one line for each cell."""
    cells, stored = ask(name), record["answers"].get(name)
    if stored is None:
        return [f"{name}: not on record"]
    old = {
        question: (status, value)
        for status, part in stored.items()
        for question, value in part.items()
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
            different = record["statements"][value] != cell.values[0]
            value = record["statements"][value] if different else value
        else:
            different = status != cell.status or differs(cell, value)
        if different:
            new = cell.values[0] if "statement" in question else spell(cell)
            lines.append(f"{name}: {question} ({status}): {value} became {new}")
    return lines


def comparable(name, record):
    """Tell whether scikit-learn's version may not have changed the answers."""
    return (
        name in OTHERS
        or record["sklearn"] == sklearn.__version__
        or not follows_trees(CONFIGURATIONS[name])
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    parser.add_argument("names", nargs="*", help="texts in the names of configurations to compare")
    arguments = parser.parse_args()
    if not arguments.check:
        return write()
    record, n_lines = read(), 0
    for name in NAMES:
        if comparable(name, record) and (
            not arguments.names or any(text in name for text in arguments.names)
        ):
            lines = differences(name, record)
            n_lines += len(lines)
            print(*lines, sep="\n", end="\n" if lines else "", flush=True)  # noqa: T201
    print(f"{n_lines} cells differ.")  # noqa: T201
    return int(n_lines > 0)


def write():
    """Write the record, and print what changes."""
    statements, answers = {}, {name: {} for name in NAMES}
    for name in NAMES:
        answers[name] = spell_all(ask(name), statements)
    old = read() if RECORD.exists() else {"answers": {}, "statements": []}
    record = {"sklearn": sklearn.__version__, "statements": list(statements), "answers": answers}
    print(*changes(old, record), sep="\n")  # noqa: T201
    lines = [
        f"{json.dumps(name)}: {json.dumps(cells, separators=(',', ':'))}"
        for name, cells in answers.items()
    ]
    texts = [json.dumps(text) for text in statements]
    head = f'"sklearn": "{sklearn.__version__}"'
    text = '{%s,\n"statements": [\n%s\n],\n"answers": {\n%s\n}}\n'
    RECORD.write_text(text % (head, ",\n".join(texts), ",\n".join(lines)), encoding="utf-8")
    n_cells = sum(len(part) for cells in answers.values() for part in cells.values())
    print(f"{len(answers)} configurations, {n_cells} cells, {RECORD.stat().st_size} bytes.")  # noqa: T201
    return 0


def changes(old, new):
    """Return a line for each configuration that two records do not say the same of."""
    lines = [f"{name}: removed" for name in old["answers"] if name not in new["answers"]]
    for name in new["answers"]:
        before, after = (_told(record, name) for record in (old, new))
        changed = [question for question in after if before.get(question) != after[question]]
        lost = [question for question in before if question not in after]
        if before and (changed or lost):
            lines.append(f"{name}: changed {changed}, removed {lost}")
    return lines


def _told(record, name):
    cells = {
        question: value
        for part in record["answers"].get(name, {}).values()
        for question, value in part.items()
    }
    return {
        question: record["statements"][value] if "statement" in question else value
        for question, value in cells.items()
    }


if __name__ == "__main__":
    sys.exit(main())

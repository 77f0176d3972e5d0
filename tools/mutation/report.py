"""What was found, kept: results.json beside this file, and the page docs/mutation.md.

Survivors that were looked at are in explained.json: "equivalent: ..." says why no test can tell the change from the
original, "killed: ..." which test has been written since. All others count against the tests.
"""

import json
from collections import Counter
from datetime import date
from itertools import takewhile
from pathlib import Path
from typing import Any

from scipy.stats import beta
from tools.mutation.mutants import Change
from tools.mutation.reached import SOURCE

HERE = Path(__file__).parent
RESULTS, EXPLAINED, PAGE = HERE / "results.json", HERE / "explained.json", Path("docs/mutation.md")
KILLED = ("killed", "timeout", "crash")
Mutant = tuple[str, Change]
Records = dict[tuple[str, str], dict[str, Any]]

INTRODUCTION = """\
# Mutation testing

Would a test notice if a line were wrong? `make mutation` changes one spot of `conformal/`, `labelsets/` or `measures/`
at a time (a comparison, an operator, a number by one, an end of a slice, a condition, a `return`, an option not given,
a statement away), imports the module so changed in a process of its own, and runs the tests that reach the line, quick
ones first, until one fails. Kernels are tried as plain Python. A mutant is killed when a test fails, crashes, or takes
ten times as long as before and ten seconds more. Annotations, strings, messages and decorators are left alone.

The mutants are a random sample (seed {seed}) of up to {size} per room, as far as it was tried by {date}; lines are
those of that day. Intervals are Clopper and Pearson's at 95 %, for all mutants of the room. *Equivalent* are survivors
that no test can notice, or that change nothing anybody is promised, each with its reason below: a bound that only saves
work, for instance, or how exactly an optimum is found. They are left out of the adjusted score; in the plain one they
count as survivors.
"""

SINCE = """\
Of those killed in {room}, {since} are killed by tests that were written for survivors. So the sample says too much
about mutants that were not tried; without these the adjusted score is {before}."""


def write_report(samples: dict[str, list[Mutant]], tried: Records, size: int, seed: int) -> None:
    """Write the results of the sample, as far as it was tried, and the page; say what is still to be tried."""
    explained = json.loads(EXPLAINED.read_text(encoding="utf-8")) if EXPLAINED.exists() else {}
    kept: dict[str, Any] = {"seed": seed, "sample": size, "date": date.today().isoformat(), "rooms": {}}
    for room, mutants in samples.items():
        names = [(module, change.name) for module, change in mutants]
        first = list(takewhile(tried.__contains__, names))  # what was tried after a gap is no random sample
        if len(first) < len(names):
            print(f"{room}: {len(first)} of {len(names)} were tried without a gap")
        kept["rooms"][room] = _room({":".join(name): tried[name] for name in first}, explained)
    kept["controls"] = _controls(tried)
    RESULTS.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(page(kept), encoding="utf-8")
    print("\n".join(_table(kept)))


def _controls(tried: Records) -> dict[str, int]:
    outcomes = [record["status"] for (module, _), record in tried.items() if module.startswith("control")]
    return {"runs": len(outcomes), "passed": outcomes.count("survived")}


def _room(records: dict[str, dict[str, Any]], explained: dict[str, str]) -> dict[str, Any]:
    """Count a room's outcomes and list its survivors with what is known of them."""
    outcomes = Counter(record["status"] for record in records.values())
    survivors = []
    for name, record in records.items():
        if record["status"] not in KILLED:
            why = explained.get(name, "" if record["status"] == "survived" else record["status"])
            survivors.append({"mutant": name, "text": _text(name), "why": why})
    equivalent = sum(survivor["why"].startswith("equivalent") for survivor in survivors)
    n_tried, killed = len(records), sum(outcomes[status] for status in KILLED)
    since = sum(record.get("since", False) for record in records.values())
    return {
        "tried": n_tried,
        "killed": killed,
        "equivalent": equivalent,
        "score": score(killed, n_tried),
        "adjusted": score(killed, n_tried - equivalent),
        "since": since,
        "before": score(killed - since, n_tried - equivalent),
        "outcomes": dict(sorted(outcomes.items())),
        "survivors": sorted(survivors, key=lambda survivor: _place(survivor["mutant"])),
    }


def score(killed: int, tried: int) -> list[float]:
    """Return the share killed, and Clopper and Pearson's interval at 95 %.

    >>> [float(round(bound, 3)) for bound in score(90, 100)]
    [0.9, 0.824, 0.951]
    """
    low = float(beta.ppf(0.025, killed, tried - killed + 1)) if killed else 0.0
    high = float(beta.ppf(0.975, killed + 1, tried - killed)) if killed < tried else 1.0
    return [round(value, 4) for value in (killed / tried if tried else 0.0, low, high)]


def _place(mutant: str) -> tuple[str, int, str]:
    module, line, rest = mutant.split(":", 2)
    return module, int(line), rest


def _text(mutant: str) -> str:
    module, line, _ = mutant.split(":", 2)
    return (SOURCE / module).read_text(encoding="utf-8").splitlines()[int(line) - 1].strip()


def page(kept: dict[str, Any]) -> str:
    """Return the page in Markdown."""
    controls = kept["controls"]
    lines = [INTRODUCTION.format(seed=kept["seed"], size=kept["sample"], date=kept["date"]), *_table(kept), ""]
    lines += [f"Controls, the same tests without a change: {controls['passed']} of {controls['runs']} runs passed."]
    for room, found in kept["rooms"].items():
        if found["since"]:
            before = "{:.1%} ({:.1%} to {:.1%})".format(*found["before"])
            lines += ["", SINCE.format(room=room, since=found["since"], before=before)]
    for room, found in kept["rooms"].items():
        lines += ["", f"## Survivors in {room}", "", "| where | change | text | why |", "|---|---|---|---|"]
        for survivor in found["survivors"]:
            module, line, rest = survivor["mutant"].split(":", 2)
            change = rest.partition(" ")[2]
            cells = (f"{module}:{line}", _code(change), _code(survivor["text"]), survivor["why"] or "open")
            lines += ["| " + " | ".join(cells) + " |"]
    return "\n".join(lines) + "\n"


def _code(text: str) -> str:
    return "`" + text.replace("|", "\\|").replace("`", "'") + "`"


def _table(kept: dict[str, Any]) -> list[str]:
    lines = ["| room | tried | killed | score | equivalent | adjusted score |", "|---|---|---|---|---|---|"]
    for room, found in kept["rooms"].items():
        plain, adjusted = ("{:.1%} ({:.1%} to {:.1%})".format(*found[name]) for name in ("score", "adjusted"))
        lines += [f"| {room} | {found['tried']} | {found['killed']} | {plain} | {found['equivalent']} | {adjusted} |"]
    return lines

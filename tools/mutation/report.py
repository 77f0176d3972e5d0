"""What was found, kept: results.json beside this file, and the page docs/mutation.md.

Survivors that were looked at are in explained.json, by the seed of their sample: "equivalent: ..." says why no test can
tell the change from the original, "killed: ..." which test notices it now. All others count against the tests. A "note"
of a sample in results.json, written by hand, is kept and shown.
"""

import json
from collections import Counter
from hashlib import sha256
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

from scipy.stats import beta

HERE = Path(__file__).parent
RESULTS, EXPLAINED, PAGE = HERE / "results.json", HERE / "explained.json", Path("docs/mutation.md")
KILLED = ("killed", "timeout", "crash")
Records = dict[tuple[str, str], dict[str, Any]]

INTRODUCTION = """\
# Mutation testing

Would a test notice if a line were wrong? `make mutation` changes one spot of `conformal/`, `labelsets/` or `measures/`
at a time (a comparison, an operator, a number by one, an end of a slice, a condition, a `return`, an option not given,
a statement away), imports the module so changed in a process of its own, and runs the tests that reach the line, quick
ones first, until one fails. Kernels are tried as plain Python. A mutant is killed when a test fails, crashes, or takes
ten times as long as before and ten seconds more. Annotations, strings, messages and decorators are left alone.

Mutants are random samples of all that a room has; none is in two samples. Their survivors were looked at one by one,
and tests written for many. So a sample is judged twice: *at first*, by the tests that were there before any was written
for its survivors, which is the honest score of the tests for mutants that nobody looked at; and *now*. *Equivalent* are
survivors that no test can notice, or that change nothing anybody is promised, each with its reason below: a bound that
only saves work, for instance, or how exactly an optimum is found. They are left out of the adjusted scores; in the
plain one they count as survivors. Intervals are Clopper and Pearson's at 95 %, for all mutants of the room.
"""

DRAWN = """\
Drawn with seed {seed} from the source of {source}, whose lines are those below, and tried by {date}. Controls, the same
tests without a change: {passed} of {runs} runs passed.
"""


class Sample(NamedTuple):
    """The mutants of each room, (module, change, line), in the order in which they are tried.

    With the day on which they were drawn, and the commit of the source.
    """

    seed: int
    date: str
    source: str
    rooms: dict[str, list[tuple[str, str, str]]]


def mark(module: str, change: str, text: str) -> str:
    """Return a short text that tells mutants apart, wherever in its module the line now is.

    >>> mark("a.py", "3:4 1 to 2", "x = 1") == mark("a.py", "5:4 1 to 2", "x = 1")
    True
    >>> mark("a.py", "3:4 1 to 2", "x = 1") == mark("a.py", "3:4 1 to 0", "x = 1")
    False
    """
    return sha256(f"{module}|{change.partition(':')[2]}|{text}".encode()).hexdigest()[:10]


def read_results() -> list[dict[str, Any]]:
    """Return what is kept of each sample, the earliest first."""
    kept: list[dict[str, Any]] = json.loads(RESULTS.read_text(encoding="utf-8"))["samples"] if RESULTS.exists() else []
    return kept


def tried_before(seed: int) -> set[str]:
    """Return the marks of all mutants that other samples tried."""
    others = [kept["rooms"].values() for kept in read_results() if kept["seed"] != seed]
    return {one for rooms in others for room in rooms for one in room["marks"].split()}


def write_report(sample: Sample | None, tried: Records, size: int) -> None:
    """Write the results of all samples and the page, one of them as far as it was tried; say what is still to be."""
    samples = read_results()
    if sample is not None:
        others = [kept for kept in samples if kept["seed"] != sample.seed]
        notes = {kept["seed"]: kept.get("note", "") for kept in samples}
        samples = [*others, _kept(sample, tried, size) | {"note": notes.get(sample.seed, "")}]
    samples.sort(key=lambda kept: (kept["date"], kept["seed"]))
    explained = json.loads(EXPLAINED.read_text(encoding="utf-8")) if EXPLAINED.exists() else {}
    for kept in samples:
        reasons = explained.get(str(kept["seed"]), {})
        for survivor in [one for room in kept["rooms"].values() for one in room["survivors"]]:
            survivor["why"] = reasons.get(survivor["mutant"], "")
    RESULTS.write_text(json.dumps({"samples": samples}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(page(samples), encoding="utf-8")
    for kept in samples:
        print("\n".join([f"seed {kept['seed']}", *_table(kept)]))


def _kept(sample: Sample, tried: Records, size: int) -> dict[str, Any]:
    """Return what is kept of a sample: counts, marks of all that was tried, and survivors by name."""
    rooms = {}
    for room, mutants in sample.rooms.items():
        first = list(takewhile(lambda one: tuple(one[:2]) in tried, mutants[:size]))  # later ones are no random sample
        if len(first) < size:
            print(f"{room}: {len(first)} of {size} were tried without a gap")
        outcomes = Counter(tried[module, change]["status"] for module, change, _ in first)
        survivors = [
            {"mutant": f"{module}:{change}", "text": text}
            for module, change, text in first
            if tried[module, change]["status"] not in KILLED
        ]
        rooms[room] = {
            "tried": len(first),
            "killed": sum(outcomes[status] for status in KILLED),
            "since": 0,
            "outcomes": dict(sorted(outcomes.items())),
            "survivors": sorted(survivors, key=lambda survivor: _place(survivor["mutant"])),
            "marks": " ".join(sorted(mark(*mutant) for mutant in first)),
        }
    outcomes = [record["status"] for (module, _), record in tried.items() if module.startswith("control")]
    controls = {"runs": len(outcomes), "passed": outcomes.count("survived")}
    return {**sample._asdict(), "controls": controls, "rooms": rooms}


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


def page(samples: list[dict[str, Any]]) -> str:
    """Return the page in Markdown, the latest sample first."""
    lines = [INTRODUCTION]
    for kept in reversed(samples):
        drawn = {name: kept[name] for name in ("seed", "source", "date")} | kept["controls"]
        lines += [f"## The sample of {kept['date']}", "", DRAWN.format(**drawn)]
        lines += [kept["note"] + "\n"] if kept.get("note") else []
        lines += [*_table(kept), ""]
        for room, found in kept["rooms"].items():
            lines += [f"### Its survivors in {room}", "", "| where | change | text | why |", "|---|---|---|---|"]
            lines += [*map(_row, found["survivors"]), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _row(survivor: dict[str, str]) -> str:
    module, line, rest = survivor["mutant"].split(":", 2)
    change = rest.partition(" ")[2]
    cells = (f"{module}:{line}", _code(change), _code(survivor["text"]), survivor["why"] or "open")
    return "| " + " | ".join(cells) + " |"


def _code(text: str) -> str:
    return "`" + text.replace("|", "\\|").replace("`", "'") + "`"


def _table(kept: dict[str, Any]) -> list[str]:
    names = ("room", "tried", "killed at first", "score at first", "equivalent", "adjusted, at first")
    lines = ["| " + " | ".join([*names, "killed since", "adjusted, now"]) + " |", "|---" * 8 + "|"]
    for room, found in kept["rooms"].items():
        whys = [survivor["why"].partition(":")[0] for survivor in found["survivors"]]
        first, since = found["killed"] - found["since"], found["since"] + whys.count("killed")
        others = found["tried"] - whys.count("equivalent")
        scores = score(first, found["tried"]), score(first, others), score(first + since, others)
        plain, before, now = ("{:.1%} ({:.1%} to {:.1%})".format(*one) for one in scores)
        cells = (room, found["tried"], first, plain, whys.count("equivalent"), before, since, now)
        lines += ["| " + " | ".join(map(str, cells)) + " |"]
    return lines

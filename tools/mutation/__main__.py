"""Mutation testing of conformal/, labelsets/ and measures/: is a change of one spot noticed by a test?

``make mutation`` does it all and goes on where it was stopped. From the root of the repository, with PYTHONPATH=src:

    python -m tools.mutation map      which tests reach which lines
    python -m tools.mutation try      a seeded sample of each room's mutants; with --again, once more what survived
    python -m tools.mutation report   the kept results and the page docs/mutation.md

With NUMBA_DISABLE_JIT=1 the first two look at kernels, which are plain Python then; without it at everything else.

A new --seed, which is the usual one, draws a fresh sample: mutants that no sample in the kept results has. It is drawn
once, from the source of that moment, and kept beside what became of its mutants; a later commit is no harm to a report.
"""

import argparse
import ast
import hashlib
import json
import os
import random
import subprocess
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

from tools.mutation.mutants import changes_of
from tools.mutation.processes import Job, import_beforehand, run_all
from tools.mutation.reached import READERS, ROOMS, SOURCE, Reached, watch
from tools.mutation.report import Sample, mark, read_results, tried_before, write_report
from tools.mutation.trial import try_change

KEPT = Path("build/mutation")
UNCOMPILED = os.environ.get("NUMBA_DISABLE_JIT") == "1"
MAP = KEPT / ("uncompiled" if UNCOMPILED else "compiled")
TESTS = ("tests/measures", "tests/conformal", "tests/labelsets", "tests/golden", "tests/predictions")
OTHERS = ("tests/decisions", "tests/models/test_round_trips.py", "tests/test_benchmark_folds.py", *READERS)
KERNEL_TESTS = (
    "tests/conformal/test_stratified.py",
    "tests/conformal/test_stratified_kernels.py",
    "tests/labelsets",
    "tests/measures",
)
TEST_SECONDS = 12.0 if UNCOMPILED else 60.0


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutation", description=__doc__.partition("\n")[0])
    parser.add_argument("command", choices=["map", "try", "report"])
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin nothing new after so long")
    parser.add_argument("--file-seconds", type=float, default=float("inf"), help="of one file of tests, for the map")
    parser.add_argument("--sample", type=int, default=400, help="mutants of each room")
    parser.add_argument("--seed", type=int, help="the sample; else the one begun last, or the next")
    parser.add_argument("--most", type=float, default=60.0, help="seconds of tests for one mutant")
    parser.add_argument("--controls", type=int, default=8, help="runs without a change")
    parser.add_argument("--again", action="store_true", help="try once more what survived")
    parser.add_argument("--only", default="", help="modules whose name has this in it")
    arguments = parser.parse_args()
    arguments.seed = _usual_seed() if arguments.seed is None else arguments.seed
    if arguments.command == "report":
        path = _sample_file(arguments.seed)
        write_report(read_sample(path) if path.exists() else None, tried(arguments.seed), arguments.sample)
        return
    import_beforehand()
    (make_map if arguments.command == "map" else try_sample)(arguments)


def make_map(arguments: argparse.Namespace) -> None:
    """Run each file of tests once, those left out that were seen before."""
    files = [path for tests in (KERNEL_TESTS if UNCOMPILED else (*TESTS, *OTHERS)) for path in _files(Path(tests))]
    files += [] if UNCOMPILED else [f"{SOURCE}/{room}" for room in ROOMS]
    missing = sorted((file for file in files if not _is_kept(file)), key=lambda file: -Path(file).stat().st_size)
    jobs = [Job(file, partial(_watch, file, arguments.file_seconds), limit=3600.0) for file in missing]
    for number, (job, outcome) in enumerate(run_all(jobs, arguments.workers, arguments.seconds), 1):
        print(f"{number} of {len(jobs)}: {job.name} {outcome}", flush=True)


def _files(path: Path) -> list[str]:
    found = [path] if path.is_file() else sorted(path.rglob("test_*.py"))
    return [file.as_posix() for file in found]


def _kept(file: str) -> Path:
    return MAP / f"{file.replace('/', '-')}.json"


def _is_kept(file: str) -> bool:
    return _kept(file).exists() and json.loads(_kept(file).read_text(encoding="utf-8"))["of"] == _digest(file)


def _digest(file: str) -> str:
    """Tell whether a file of tests has changed; a folder is one of doctests, which change with everything."""
    return hashlib.sha256(Path(file).read_bytes()).hexdigest() if Path(file).is_file() else "folder"


def _watch(file: str, of_file: float, note: Path) -> dict[str, Any]:
    found = watch(file, TEST_SECONDS, of_file)
    MAP.mkdir(parents=True, exist_ok=True)
    _kept(file).write_text(json.dumps({"of": _digest(file)} | found), encoding="utf-8")
    summary = {"tests": len(found["tests"]), "left out": len(found["left out"]), "code": found["code"]}
    return summary | ({"log": note.with_name("log").read_text()[-2000:]} if found["code"] not in (0, 1) else {})


def _usual_seed() -> int:
    """Return the seed of the sample that was begun last; where there is none, one that no sample has."""
    begun = max(KEPT.glob("sample-*.json"), key=lambda path: path.stat().st_mtime, default=None)
    if begun is not None:
        return int(begun.stem.partition("-")[2])
    return 1 + max((kept["seed"] for kept in read_results()), default=0)


def _sample_file(seed: int) -> Path:
    return KEPT / f"sample-{seed}.json"


def read_sample(path: Path) -> Sample:
    """Return a sample that was drawn before."""
    return Sample(**json.loads(path.read_text(encoding="utf-8")))


def sampled(seed: int) -> Sample:
    """Return all mutants of each room in the order in which they are tried, which only seed and text decide.

    A mutant is its module, its change and the line that it changes. Those of other samples are left out.
    """
    path = _sample_file(seed)
    if path.exists():
        return read_sample(path)
    if seed in [kept["seed"] for kept in read_results()]:
        raise SystemExit(f"The sample with seed {seed} is kept, and tests were written for it: take another --seed.")
    before, rooms = tried_before(seed), {}
    for room in ROOMS:
        found = []
        for file in sorted((SOURCE / room).rglob("*.py")):
            text, module = file.read_text(encoding="utf-8"), file.relative_to(SOURCE).as_posix()
            lines = text.splitlines()
            found += [(module, one.name, lines[one.line - 1].strip()) for one in changes_of(ast.parse(text))]
        random.Random(f"{seed} {room}").shuffle(found)
        rooms[room] = [mutant for mutant in found if mark(*mutant) not in before]
    changed = ", changed since," if _git("status", "--porcelain", str(SOURCE)) else ""
    sample = Sample(seed, date.today().isoformat(), _git("rev-parse", "--short", "HEAD") + changed, rooms)
    KEPT.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(sample._asdict()), encoding="utf-8")
    return sample


def _git(*command: str) -> str:
    return subprocess.run(["git", *command], capture_output=True, text=True, check=False).stdout.strip()


def tried(seed: int) -> dict[tuple[str, str], dict[str, Any]]:
    """Return what became of the mutants of a sample tried so far, compiled or not; the last word counts."""
    found = {}
    for path in sorted(KEPT.glob(f"tried-{seed}-*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            of_map = record["change"] or path.stem  # controls have no change, and are there twice
            found[record["module"], of_map] = record
    return found


def try_sample(arguments: argparse.Namespace) -> None:
    """Try the mutants of the sample, room by room in turn, and note each at once."""
    reached, before = Reached.read(MAP), tried(arguments.seed)
    rooms = [mutants[: arguments.sample] for mutants in sampled(arguments.seed).rooms.values()]
    jobs = []
    for module, name, _ in [mutant for turn in zip(*rooms, strict=True) for mutant in turn]:
        status = before.get((module, name), {}).get("status", "")
        wanted = not status or (arguments.again and status in ("survived", "not reached", "error"))
        if wanted and arguments.only in module and module.endswith("kernels.py") == UNCOMPILED:
            tree = ast.parse((SOURCE / module).read_text(encoding="utf-8"))
            change = next((one for one in changes_of(tree) if one.name == name), None)
            if change is None:
                raise SystemExit(f"{module} has changed since the sample was drawn; remove {KEPT} and begin anew.")
            imported = change.is_default or not change.within
            tests = reached.tests_of(module, change.within, arguments.most, imported=imported)
            jobs.append(_job(module, name, tests, reached))
    quick = sorted(reached.seconds, key=reached.seconds.__getitem__)
    for number in range(arguments.controls):
        jobs.append(
            _job(f"control {number}", "", quick[number : 50 * arguments.controls : arguments.controls], reached)
        )
    with (KEPT / f"tried-{arguments.seed}-{MAP.name}.jsonl").open("a", encoding="utf-8") as file:
        for number, (job, outcome) in enumerate(run_all(jobs, arguments.workers, arguments.seconds), 1):
            module, _, change = job.name.partition("|")
            record = json.dumps({"module": module, "change": change} | outcome)
            file.write(record + "\n")
            file.flush()
            print(f"{number} of {len(jobs)}: {record}", flush=True)


def _job(module: str, change: str, tests: list[str], reached: Reached) -> Job:
    limit = 600.0 + 10 * sum(reached.seconds[name] for name in tests)
    return Job(f"{module}|{change}", partial(_try, module, change, reached.stages(tests)), limit)


def _try(module: str, change: str, stages: list[dict[str, float]], note: Path) -> dict[str, Any]:
    if not stages:
        return {"status": "not reached"}
    return try_change(module, change, stages, note) | {"tests": sum(map(len, stages))}


if __name__ == "__main__":
    main()

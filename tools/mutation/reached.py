"""Which tests reach which lines, and how long they take: seen once, file by file, and kept.

A test that fails, is skipped or takes longer than its limit has no place in the map: it could not tell a mutant from
what was there before.
"""

import json
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import coverage
import pytest

ROOMS = ("conformal", "labelsets", "measures")
SOURCE = Path("src/labelsure")


READERS = ("tests/test_documented_defaults.py",)
"""Tests that look at what was imported, without running it."""


class TooLong(BaseException):
    """A test has had its time; no Exception, which Hypothesis would try to make smaller."""


class Watcher:
    """A pytest plugin that notes the time of each test, and has coverage know which one runs."""

    def __init__(self, seen: coverage.Coverage, limit: float, end: float) -> None:
        self.seen, self.limit, self.end = seen, limit, end
        self.seconds: dict[str, float] = {}
        self.bad: set[str] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        """Tell what fixtures run, which may be for all tests of the file."""
        self.seen.switch_context(f"{item.nodeid}|setup")
        if time.process_time() > self.end:
            pytest.skip("this file has had its time")
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """Run a test for no longer than the limit, in seconds of processor time."""
        self.seen.switch_context(item.nodeid)
        signal.setitimer(signal.ITIMER_PROF, self.limit)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            self.seen.switch_context("")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up setup, call and teardown."""
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        if report.outcome != "passed":
            self.bad.add(report.nodeid)


def watch(file: str, limit: float, of_file: float) -> dict[str, Any]:
    """Return the tests of a file with their seconds, and which of them reach each line of the rooms.

    A test may take ``limit`` seconds of processor time; after ``of_file`` seconds those that are left are left out.
    """
    signal.signal(signal.SIGPROF, _too_long)
    seen = coverage.Coverage(data_file=None, config_file=False, include=[f"{SOURCE}/{room}/*" for room in ROOMS])
    watcher = Watcher(seen, limit, time.process_time() + of_file)
    seen.start()
    code = pytest.main(pytest_options(file), plugins=[watcher])
    seen.stop()
    good = [name for name in watcher.seconds if name not in watcher.bad]
    return {
        "code": int(code),
        "tests": {name: round(watcher.seconds[name], 3) for name in good},
        "left out": sorted(watcher.bad),
        "lines": _lines(seen.get_data(), good),
    }


def pytest_options(*files: str) -> list[str]:
    """Return options of a run in this process without anything kept, shown or spread."""
    off = [f"-pno:{plugin}" for plugin in ("cacheprovider", "xdist", "cov", "randomly", "dask")]
    return [*files, *off, "-q", "--no-header", "--tb=native", "-mnot validity"]


def _too_long(*_: object) -> None:
    raise TooLong


def _lines(data: coverage.CoverageData, good: list[str]) -> dict[str, dict[int, list[int]]]:
    """Return the tests by number; what a fixture reaches, all tests of the file do."""
    numbers = {name: at for at, name in enumerate(good)}
    lines: dict[str, dict[int, list[int]]] = {}
    for path in data.measured_files():
        module = Path(path).resolve().relative_to(SOURCE.resolve()).as_posix()
        for line, contexts in data.contexts_by_lineno(path).items():
            tests = {numbers[name] for name in contexts if name in numbers}
            if any(name.endswith("|setup") for name in contexts):
                tests = {*numbers.values()}
            if tests:
                lines.setdefault(module, {})[line] = sorted(tests)
    return lines


def _file(test: str) -> str:
    return test.partition("::")[0]


@dataclass
class Reached:
    """The map: the seconds of each test, and the tests of each line of each module."""

    seconds: dict[str, float] = field(default_factory=dict)
    lines: dict[str, dict[int, set[str]]] = field(default_factory=dict)
    breadth: dict[str, int] = field(default_factory=dict)  # how many lines each file of tests reaches

    @classmethod
    def read(cls, folder: Path) -> "Reached":
        """Put together what was kept of each file of tests."""
        reached = cls()
        for path in sorted(folder.glob("*.json")):
            kept = json.loads(path.read_text(encoding="utf-8"))
            reached.seconds |= kept["tests"]
            names = list(kept["tests"])
            n_lines = sum(len(lines) for lines in kept["lines"].values())
            reached.breadth |= dict.fromkeys((_file(name) for name in names), n_lines)
            for module, lines in kept["lines"].items():
                mine = reached.lines.setdefault(module, {})
                for line, tests in lines.items():
                    mine.setdefault(int(line), set()).update(names[at] for at in tests)
        return reached

    def tests_of(self, module: str, within: range, most: float, *, imported: bool = False) -> list[str]:
        """Return the tests to run for a change within these lines, quick ones first, of ``most`` seconds in all.

        Within no lines, which is when the module is imported, those are all that run anything of the module. What is
        ``imported`` is also seen by tests that read signatures.
        """
        lines = self.lines.get(module, {})
        found = set().union(*(tests for line, tests in lines.items() if not within or line in within))
        found |= {name for name in self.seconds if imported and name.startswith(READERS)}
        chosen: list[str] = []
        spent = 0.0
        for name in sorted(found, key=self._tier):
            spent += self.seconds[name]
            if spent > most and chosen:
                break
            chosen.append(name)
        return chosen

    def stages(self, tests: list[str]) -> list[dict[str, float]]:
        """Split tests into those of the files nearest to what they test, then of some others, then of the rest.

        Files of tests take time to import. Near are those that reach few lines in all. Tests of a stage are in order,
        quick ones first; those that take about as long stay together with others of their file, so that what a file
        sets up is set up once.
        """
        files = sorted({_file(name) for name in tests}, key=lambda file: (self.breadth[file], file))
        stages = []
        for some in (files[:2], files[2:8], files[8:]):
            own = [name for name in tests if _file(name) in some]
            ordered = sorted(own, key=lambda name: (self._tier(name), _file(name), name))
            stages.append({name: self.seconds[name] for name in ordered})
        return [stage for stage in stages if stage]

    def _tier(self, name: str) -> int:
        return sum(self.seconds[name] > bound for bound in (0.03, 0.1, 0.3, 1.0, 3.0, 10.0))

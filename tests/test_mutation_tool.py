"""``make mutation``: what is changed, how a mutant ends, and what is kept of it."""

import ast
import importlib.util
import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest
from scipy.stats import binomtest
from tools.mutation.mutants import changes_of, mutated
from tools.mutation.processes import Job, run_all
from tools.mutation.reached import ROOMS, SOURCE, Reached
from tools.mutation.report import EXPLAINED, PAGE, page, read_results, score
from tools.mutation.trial import Loader

ROOT = Path(__file__).parents[1]
LEAST_NOW, LEAST_TRIED = 0.95, 60
LEAST_AT_FIRST = {"conformal": 0.88, "labelsets": 0.9, "measures": 0.94}  # as found, before tests were written
# of 400 mutants in each room, as far as they were tried
MODULE = '''\
"""A docstring with 1 number."""
LIMIT = 3
Alias = int | None


def count(values: "list[1]", start: int = 0) -> int:
    """Another, 2."""
    if not values:
        raise ValueError(f"no {1 + 1} values, {start + 1}")
    for value in values[1:]:
        start += max(value, 2.0, key=abs)
    return start if start < LIMIT and values else -start
'''
CHANGES = """\
2:8 3 to 4
2:8 3 to 2
6:42 0 to 1
6:42 0 to -1
8:7 without not
9:8 removed
10:24 1 to 2
10:24 1 to 0
11:8 removed
11:8 + to -
11:17 max to min
11:28 2.0 to 3.0
11:28 2.0 to 1.0
11:33 without key=
12:11 return None
12:20 not
12:20 and to or
12:20 < to <=
12:20 < to >=
12:50 without -"""


def names(text):
    return [change.name for change in changes_of(ast.parse(text))]


def test_changes_of_a_module_are_those_of_what_it_does():
    assert set(names(MODULE)) == {*CHANGES.splitlines()}


def test_every_change_is_one_and_compiles(tmp_path):
    path = tmp_path / "module.py"
    path.write_text(MODULE)
    trees = [ast.dump(mutated(path, name)) for name in names(MODULE)]
    assert len({*trees, ast.dump(ast.parse(MODULE))}) == len(trees) + 1
    for name in names(MODULE):
        compile(mutated(path, name), str(path), "exec")


def test_changes_are_tried_where_their_line_runs():
    within = {change.name: change.within for change in changes_of(ast.parse(MODULE))}
    assert within["2:8 3 to 4"] == range(0)  # when the module is imported
    assert within["6:42 0 to 1"] == range(7, 13)  # a default: wherever the function runs
    assert within["8:7 without not"] == range(8, 9)
    assert within["12:50 without -"] == range(12, 13)


def test_two_changes_at_one_place_have_two_names():
    found = names("def f(a, b):\n    return a < b < a\n")
    assert len({*found}) == len(found) == 5


@pytest.mark.parametrize("room", ROOMS)
def test_every_module_has_changes_with_names_of_their_own(room):
    for path in (ROOT / SOURCE / room).rglob("*.py"):
        found = names(path.read_text(encoding="utf-8"))
        assert len({*found}) == len(found), path


def test_loader_loads_the_module_with_the_change(tmp_path):
    path = tmp_path / "counting.py"
    path.write_text(MODULE)
    loader = Loader("counting", path, "2:8 3 to 4")
    module = importlib.util.module_from_spec(importlib.util.spec_from_file_location("counting", path, loader=loader))
    loader.exec_module(module)
    assert module.LIMIT == 4


def crash(note):
    note.write_text("test_x")
    os.kill(os.getpid(), signal.SIGKILL)  # SIGSEGV would have pytest print where


def run_out_of_time(note):
    note.write_text("test_y")
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, 0.05)
    while True:
        pass


def wait_for_ever(note):
    note.write_text("test_z")
    time.sleep(600)


def raise_an_error(_):
    raise RuntimeError("the tool is wrong")


def return_what_was_found(_):
    return {"status": "survived"}


@pytest.mark.skipif(sys.platform == "win32", reason="forks")
def test_processes_end_as_they_should():
    """What hangs, in Python or elsewhere, is ended and counted, and so is what crashes; errors of the tool are not."""
    jobs = [
        Job(run.__name__, run, limit)
        for run, limit in [(crash, 60.0), (run_out_of_time, 60.0), (wait_for_ever, 0.3), (raise_an_error, 60.0),
                           (return_what_was_found, 60.0)]
    ]  # fmt: skip
    found = {job.name: outcome for job, outcome in run_all(jobs, 2, 60.0)}
    assert {name: (outcome["status"], outcome.get("by", "")[-6:]) for name, outcome in found.items()} == {
        "crash": ("crash", "test_x"),
        "run_out_of_time": ("timeout", "test_y"),
        "wait_for_ever": ("timeout", "test_z"),
        "raise_an_error": ("error", "wrong\n"),
        "return_what_was_found": ("survived", ""),
    }


def test_after_its_seconds_nothing_new_begins():
    assert list(run_all([Job("x", return_what_was_found, 60.0)], 1, 0.0)) == []


@pytest.fixture
def reached(tmp_path):
    """Two files of tests; the last test of the second one takes long."""
    for file, tests, lines in [
        ("a", {"a::1": 0.01, "a::2": 2.0}, {"m.py": {"3": [0, 1], "4": [1]}}),
        ("b", {"b::1": 0.02, "b::2": 50.0}, {"m.py": {"3": [0, 1], "9": [1]}}),
    ]:
        (tmp_path / f"{file}.json").write_text(json.dumps({"tests": tests, "lines": lines}))
    return Reached.read(tmp_path)


def test_tests_of_a_line_are_those_that_reach_it_quick_ones_first(reached):
    assert reached.tests_of("m.py", range(3, 4), 100.0)[2:] == ["a::2", "b::2"]
    assert reached.tests_of("m.py", range(4, 6), 100.0) == ["a::2"]
    assert reached.tests_of("m.py", range(5, 9), 100.0) == []


def test_tests_of_what_runs_at_import_are_all_of_the_module(reached):
    assert {*reached.tests_of("m.py", range(0), 100.0)} == {"a::1", "b::1", "a::2", "b::2"}
    assert reached.tests_of("other.py", range(0), 100.0) == []


def test_tests_stop_at_the_seconds_given_but_for_the_first(reached):
    assert {*reached.tests_of("m.py", range(3, 4), 10.0)} == {"a::1", "b::1", "a::2"}
    assert reached.tests_of("m.py", range(9, 10), 10.0) == ["b::2"]


def test_stages_begin_with_the_files_that_reach_least():
    reached = Reached(seconds={"a::1": 1.0, "a::2": 0.01, "b::1": 0.1, "c::1": 0.1}, breadth={"a": 9, "b": 1, "c": 50})
    stages = reached.stages(["a::1", "a::2", "b::1", "c::1"])
    assert [list(stage) for stage in stages] == [["a::2", "b::1", "a::1"], ["c::1"]]


@pytest.mark.parametrize(("killed", "tried"), [(0, 10), (10, 10), (371, 400)])
def test_interval_is_clopper_and_pearsons(killed, tried):
    exact = binomtest(killed, tried).proportion_ci(0.95, method="exact")
    assert score(killed, tried) == pytest.approx([killed / tried, exact.low, exact.high], abs=1e-4)


def test_page_says_what_is_kept():
    assert (ROOT / PAGE).read_text(encoding="utf-8") == page(read_results())


@pytest.mark.parametrize("room", ROOMS)
def test_share_of_mutants_killed_does_not_fall(room):
    for sample in read_results():
        found = sample["rooms"][room]
        assert found["tried"] >= LEAST_TRIED
        assert found["tried"] == found["killed"] + len(found["survivors"])
        whys = [survivor["why"].partition(":")[0] for survivor in found["survivors"]]
        assert {*whys} <= {"killed", "equivalent"}  # no survivor is open
        others = found["tried"] - whys.count("equivalent")
        assert (found["killed"] + whys.count("killed")) / others >= LEAST_NOW
        assert (found["killed"] - found["since"]) / others >= LEAST_AT_FIRST[room]


def test_controls_passed():
    """The same tests without a change: else what was counted as killed may not have been."""
    for sample in read_results():
        assert sample["controls"]["runs"] == sample["controls"]["passed"] > 0


def test_explanations_are_of_survivors():
    for sample in read_results():
        survivors = {survivor["mutant"] for room in sample["rooms"].values() for survivor in room["survivors"]}
        explained = json.loads(EXPLAINED.read_text(encoding="utf-8"))[str(sample["seed"])]
        assert {*explained} <= survivors

"""Model files changed at random, checksums made anew, are refused or read, and never make code run."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from model_cases import write_attacked

pytest.importorskip("skops", reason="learners of other packages are kept by skops")
pytest.importorskip("resource", reason="processes are bounded in memory and time, which takes POSIX")

RUNNER = Path(__file__).with_name("mutation_runner.py")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("attacked")
    write_attacked(folder)
    return folder


def outcomes_of(folder, out, first, last):
    """Read changed files in a process of its own, and count what became of them."""
    command = [sys.executable, str(RUNNER), str(folder), str(first), str(last), str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=RUNNER.parent)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, f"ended by {done.returncode} after {lines[-1:]}: {done.stderr[-2000:]}"
    assert not [line for line in lines if line.startswith("RAN")]
    outcomes = Counter(line.split(" ", 2)[2] for line in lines if line.startswith("done"))
    assert not [outcome for outcome in outcomes if outcome[0].isupper()]
    assert outcomes.total() == last - first
    return outcomes


def test_changed_files_run_no_code(folder, tmp_path):
    outcomes = outcomes_of(folder, tmp_path, 0, 120)
    assert outcomes["refused"] > 80
    assert outcomes["answered"] > 2  # not everything is refused at the door

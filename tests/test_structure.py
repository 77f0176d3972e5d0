"""How the house is built: imports point one way, and the walk from fit to sizes stays short."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

WALKS = {"default measure": (40, 218, 91), 'measure="auto"': (45, 272, 110)}
"""The most files, functions and returns to a file; to be lowered as the walk gets shorter."""


@pytest.fixture(scope="module")
def printed():
    """What `make path` prints; in a fresh interpreter, because tests may have patched anything."""
    tool = ROOT / "tools" / "count_path.py"
    return subprocess.run([sys.executable, tool], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("name", WALKS)
def test_walk_from_fit_to_sizes_does_not_grow(printed, name):
    pattern = rf"^{name}: (\d+) files, (\d+) functions, (\d+) returns"
    counts = [int(count) for count in re.search(pattern, printed, re.M).groups()]
    within = [count <= most for count, most in zip(counts, WALKS[name], strict=True)]
    assert all(within), f"{counts}, at most {WALKS[name]}; see `make path`"


def test_imports_point_one_way():
    pytest.importorskip("importlinter")
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()"]
    done = subprocess.run(
        [*command, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr

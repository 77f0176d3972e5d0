"""How the house is built: no hidden cycles, and a short path from fit to sizes."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src" / "labelsure"
MODULES = sorted(SRC.rglob("*.py"))
KERNELS = [
    path for path in MODULES if path.name.endswith("kernels.py") or path.parent.name == "kernels"
]

KERNEL_PARAMETERS = 8
PATHS = {"default measure": (42, 212), 'measure="auto"': (48, 280)}  # files and functions
# The target is 30 files and 115 functions, 38 files with "auto".


def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def functions_of(path):
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [node for node in ast.walk(tree_of(path)) if isinstance(node, kinds)]


def named(path, line=None):
    return f"{path.relative_to(SRC)}{f':{line}' if line else ''}"


def test_kernels_take_at_most_8_parameters():
    many = []
    for path in KERNELS:
        for node in functions_of(path):
            n_parameters = (
                len(node.args.posonlyargs) + len(node.args.args) + len(node.args.kwonlyargs)
            )
            many += (
                [f"{named(path, node.lineno)} {node.name}: {n_parameters}"]
                if n_parameters > KERNEL_PARAMETERS
                else []
            )
    assert KERNELS
    assert not many


def test_no_import_for_types_only_hides_a_cycle():
    """The package and its room of measures import lazily, and tell type checkers what there is; neither has a cycle."""
    assert [
        named(path) for path in MODULES if re.search(r"^if TYPE_CHECKING", path.read_text(), re.M)
    ] == [
        "__init__.py",
        "measures/__init__.py",
    ]


@pytest.fixture(scope="module")
def counted():
    """What tools/count_path.py prints, in an interpreter of its own: tests may have patched or imported anything."""
    tool = ROOT / "tools" / "count_path.py"
    return subprocess.run([sys.executable, tool], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("name", PATHS)
def test_path_from_fit_to_sizes_does_not_grow(counted, name):
    n_files, n_functions = re.search(
        rf"^{name}: (\d+) files, (\d+) functions", counted, re.M
    ).groups()
    most_files, most_functions = PATHS[name]
    assert int(n_files) <= most_files
    assert int(n_functions) <= most_functions

"""What SECURITY.md says was tested is tested."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAMED = sorted(
    set(
        re.findall(
            r"`(tests/[\w/]+\.py)::(\w+)`", (ROOT / "SECURITY.md").read_text(encoding="utf-8")
        )
    )
)


def test_many_tests_are_named():
    assert len(NAMED) > 30


@pytest.mark.parametrize(("file", "name"), NAMED, ids=[name for _, name in NAMED])
def test_every_test_that_is_named_exists(file, name):
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_format_that_is_read_has_a_row():
    from labelsure.datasets._table_files import ENDINGS

    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8").lower()
    words = {".tsv": "csv", ".pq": "parquet", ".svm": "libsvm", ".svmlight": "libsvm"}
    assert [
        ending for ending in ENDINGS if f"| {words.get(ending, ending[1:])} |" not in page
    ] == []

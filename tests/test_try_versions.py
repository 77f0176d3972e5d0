"""What ``make lowest``, ``make newest`` and ``make python`` note about a run of the tests."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
tool = runpy.run_path(str(ROOT / "tools" / "try_versions.py"))
COUNTS = {"passed": 5, "failed": 1, "skipped": 2}


def test_results_are_counted_with_errors_as_failures():
    junit = (
        '<testsuites><testsuite tests="9" failures="1" errors="2" skipped="3"/>'
        '<testsuite tests="1" failures="0" errors="0" skipped="0"/></testsuites>'
    )
    assert tool["count"](junit) == {"passed": 4, "failed": 3, "skipped": 3}


def test_a_row_says_what_was_run_and_fits_the_table():
    row = tool["row_of"]("lowest", ["-n", "1", "tests/_core", "tests/golden"], COUNTS)
    assert row.startswith("| lowest | _core, golden | 3.")
    assert "| 5 | 1 | 2 | 20" in row
    assert row.count("|") == tool["HEAD"].splitlines()[0].count("|") == tool["HEAD"].splitlines()[1].count("|")
    assert tool["row_of"]("newest", ["-n", "1"], COUNTS).startswith("| newest | all |")


def test_a_row_takes_the_place_of_an_earlier_one_about_the_same_tests():
    page = f"# Versions\n\n{tool['HEAD']}| b | all | 1 |\n| a | all | 1 |\n\n## More\n"
    noted = tool["note"](page, "| a | all | 2 |\n")
    assert noted == f"# Versions\n\n{tool['HEAD']}| a | all | 2 |\n| b | all | 1 |\n\n## More\n"
    assert "| a | _core | 3 |\n| a | all | 2 |\n| b |" in tool["note"](noted, "| a | _core | 3 |\n")


def test_a_page_without_the_table_is_refused():
    with pytest.raises(SystemExit, match="has no table"):
        tool["note"]("# Versions\n", "| a |\n")


def test_the_page_has_the_table():
    page = (ROOT / "docs" / "versions.md").read_text(encoding="utf-8")
    assert page.count(tool["HEAD"]) == 1
    noted = tool["note"](page, tool["row_of"]("no such environment", [], COUNTS))
    assert len(noted.splitlines()) == len(page.splitlines()) + 1
    assert "\n\n## Threads\n" in noted

"""Run the tests in this environment and note the outcome in docs/versions.md: ``python tools/try_versions.py lowest``.

Called by `make lowest`, `make newest` and `make python PYTHON=python3.13`; further arguments go to pytest. What was
noted under the same name for the same tests is replaced.
"""

import platform
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "versions.md"
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "joblib")
HEAD = f"| name | tests | Python | {' | '.join(PACKAGES)} | passed | failed | skipped | on |\n|{'---|' * 12}\n"


def run_tests(arguments: list[str]) -> tuple[int, dict[str, int]]:
    """Return pytest's exit status, and how many tests passed, failed and were skipped."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder, "results.xml")
        command = [sys.executable, "-m", "pytest", "-q", "-m", "not validity", f"--junitxml={results}", *arguments]
        status = subprocess.run(command, cwd=ROOT, check=False).returncode
        return status, count(results.read_text(encoding="utf-8"))


def count(junit: str) -> dict[str, int]:
    """Return what a JUnit file says, an error while setting up counted as a failure."""
    total = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    for suite in ElementTree.fromstring(junit).iter("testsuite"):
        total = {key: n + int(suite.get(key, "0")) for key, n in total.items()}
    failed = total["failures"] + total["errors"]
    return {"passed": total["tests"] - failed - total["skipped"], "failed": failed, "skipped": total["skipped"]}


def row_of(name: str, arguments: list[str], counts: dict[str, int]) -> str:
    """Return one line of the table."""
    paths = [one.removeprefix("tests/") for one in arguments if one.startswith("tests/")]
    cells = [name, ", ".join(paths) or "all", platform.python_version(), *map(version, PACKAGES)]
    cells += [*map(str, counts.values()), f"{datetime.now(UTC):%Y-%m-%d}"]
    return f"| {' | '.join(cells)} |\n"


def note(page: str, row: str) -> str:
    """Return the page with the row in its table, in place of an earlier one of that name about the same tests."""
    before, head, after = page.partition(HEAD)
    if not head:
        raise SystemExit(f"{PAGE} has no table with the head\n{HEAD}")
    rows = after[: after.index("\n\n") + 1] if "\n\n" in after else after
    rest = after[len(rows) :]
    kept = [one for one in rows.splitlines(keepends=True) if one.split("|")[1:3] != row.split("|")[1:3]]
    return before + head + "".join(sorted([*kept, row])) + rest


if __name__ == "__main__":
    name, *arguments = sys.argv[1:]
    status, counts = run_tests(arguments)
    PAGE.write_text(note(PAGE.read_text(encoding="utf-8"), row_of(name, arguments, counts)), encoding="utf-8")
    sys.exit(status)

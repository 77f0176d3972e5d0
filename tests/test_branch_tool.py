"""tools/branch_coverage.py fails where too few branches are reached, and names those that are not."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[1] / "tools" / "branch_coverage.py"


@pytest.mark.parametrize(("n_reached", "returned"), [(20, 0), (19, 0), (18, 1), (0, 1)])
def test_branch_tool_fails_below_the_share_asked_for(tmp_path, n_reached, returned):
    missing = [[line, line + 1] for line in range(20 - n_reached)]
    summary = {"covered_branches": n_reached, "num_branches": 20}
    report = tmp_path / "report.json"
    report.write_text(json.dumps({"files": {"a_kernels.py": {"summary": summary, "missing_branches": missing}}}))
    done = subprocess.run([sys.executable, TOOL, report, "95"], capture_output=True, text=True, check=False)
    assert done.returncode == returned
    assert f"{n_reached} of 20 branches reached, {5 * n_reached:.1f} %" in done.stdout
    assert ("0->1" in done.stdout) == (n_reached < 20)
    assert ("At least 95 %" in done.stderr) == bool(returned)


def test_branch_tool_fails_where_nothing_was_measured(tmp_path):
    report = tmp_path / "report.json"
    summary = {"covered_branches": 0, "num_branches": 0}
    report.write_text(json.dumps({"files": {"a_kernels.py": {"summary": summary, "missing_branches": []}}}))
    assert subprocess.run([sys.executable, TOOL, report, "95"], capture_output=True, check=False).returncode == 1

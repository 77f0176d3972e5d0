"""Print how many branches tests reach, file by file, and fail where it is less than a share of them.

``python tools/branch_coverage.py report.json 95`` reads what ``coverage json`` wrote. coverage's
own ``fail_under`` counts lines and branches together, and lines are easier to reach.
"""

import json
import sys
from pathlib import Path


def main(report: str, least: str) -> int:
    """Return 0 where at least ``least`` percent of the branches are reached, else 1."""
    files = json.loads(Path(report).read_text(encoding="utf-8"))["files"]
    reached = {
        name: (file["summary"]["covered_branches"], file["summary"]["num_branches"])
        for name, file in files.items()
    }
    for name, (n_reached, n_branches) in sorted(reached.items()):
        if n_reached < n_branches:
            missing = ", ".join(f"{start}->{end}" for start, end in files[name]["missing_branches"])
            print(f"{name}: {n_reached} of {n_branches}, not {missing}")
    n_reached, n_branches = (sum(counts) for counts in zip(*reached.values(), strict=True))
    share = 100 * n_reached / max(n_branches, 1)
    print(f"{n_reached} of {n_branches} branches reached, {share:.1f} %")
    if share < float(least) or not n_branches:
        print(
            f"At least {least} % must be: add a case, or delete what nothing needs.",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

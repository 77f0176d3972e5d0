"""Print pip constraints for the lowest versions that pyproject.toml declares: ``make lowest``.

Read by `make lowest`. Run-time dependencies and the extras named on the command line are pinned;
tools of development are not, because no user needs them.
"""

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
LOWEST = re.compile(r"(?P<name>[\w.-]+)\s*>=\s*(?P<version>[\d.]+)")


def lowest_versions(*extras: str) -> list[str]:
    """Return ``name==version`` for each dependency, with ``.*`` after the first numbers alone."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    declared = project["dependencies"] + [
        one for extra in extras for one in project["optional-dependencies"][extra]
    ]
    found = [LOWEST.match(one) for one in declared]
    return [f"{one['name']}=={_pin(one['version'])}" for one in found if one is not None]


def _pin(version: str) -> str:
    """Return a version as it is, or the first of its series: 2 is 2.0.*."""
    numbers = version.split(".")
    return version if len(numbers) > 2 else ".".join([*numbers, "0"][:2]) + ".*"


if __name__ == "__main__":
    print("\n".join(lowest_versions(*sys.argv[1].split(","))))

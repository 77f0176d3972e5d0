"""What does importing labelsure add to importing scikit-learn?"""

import json
import subprocess
import sys
from statistics import median

from benchmarks._figures import Figure

TITLE = "Importing"
METHOD = (
    "Seconds that the two lines take after `import sklearn`, each in a new process; the median of"
    " several. The first line imports nothing heavy: names are looked up when they are first used."
)
REPEATS = 9
PROGRAM = """
import json, time
start = time.perf_counter()
import sklearn
middle = time.perf_counter()
{line}
print(json.dumps([middle - start, time.perf_counter() - middle]))
"""
LINES = ("import labelsure", "from labelsure import CrossConformalClassifier")


def measure() -> list[Figure]:
    """Return the seconds of both lines, and of importing scikit-learn."""
    _seconds(LINES[-1])  # compiles the bytecode
    seconds = {line: [_seconds(line) for _ in range(REPEATS)] for line in LINES}
    sklearn = median(before for pairs in seconds.values() for before, _ in pairs)
    added = {line: median(after for _, after in pairs) for line, pairs in seconds.items()}
    return [
        Figure("import sklearn, for comparison", sklearn, "s"),
        *(Figure(f"`{line}`, beyond it", value, "s", at_most=0.3) for line, value in added.items()),
    ]


def _seconds(line: str) -> tuple[float, float]:
    """Return the seconds of importing scikit-learn, and of the next line, in a new process."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(line=line)],
        capture_output=True,
        text=True,
        check=True,
    )
    before, after = json.loads(done.stdout)
    return before, after

"""Print the walk from ``fit`` to ``region(0.1).sizes``, and count lines of code.

``PYTHONPATH=src python tools/count_path.py`` prints which functions of labelsure run, in the order
in which they are first called, one line for each stay in a file: that is what a reader follows. A
line that begins with ``<-`` comes back to a file that the walk had left. Then it prints the lines
of code by room, without docstrings, comments and blanks. What runs is seen by sys.setprofile.
Comprehensions, generator expressions and lambdas are not counted as functions: they are read where
they stand. Compiled kernels are not seen; the functions that call them are.
"""

import ast
import sys
import threading
import tokenize
from collections import Counter
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from types import FrameType
from typing import Any

N_LABELS = 14
ROOT = Path(__file__).parents[1]
SPACING = {
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NEWLINE,
    tokenize.NL,
}

Walk = list[tuple[str, str]]
"""The functions of labelsure that ran, as (file, qualified name), in the order of first calls."""


def watch(run: Callable[[], Any]) -> Walk:
    """Return the walk of ``run``, in this thread and in those that it starts."""
    import labelsure

    root = str(Path(labelsure.__file__).parent) + "/"
    walk: dict[tuple[str, str], None] = {}

    def note(frame: FrameType, event: str, _: Any) -> None:
        file, name = frame.f_code.co_filename, frame.f_code.co_qualname
        if event == "call" and file.startswith(root) and not name.endswith(">"):
            walk[file.removeprefix(root), name] = None

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return list(walk)


def fit_and_size(measure: Any = None) -> Callable[[], Any]:
    """Return what is watched: fit on 14 labels, predict, and ask for the sizes of regions."""
    import numpy as np

    from labelsure import CrossConformalClassifier, MLkNNClassifier

    rng = np.random.RandomState(0)
    X = rng.rand(110, 6)
    Y = (X[:, np.arange(N_LABELS) % 6] + 0.3 * rng.rand(110, N_LABELS) > 0.8).astype(int)
    model = CrossConformalClassifier(MLkNNClassifier(), measure=measure, cv=5, random_state=0)
    return lambda: model.fit(X[:100], Y[:100]).predict_labelsets(X[100:]).region(0.1).sizes


def report(name: str, walk: Walk) -> str:
    """Return the counts, and the walk in the order in which files are met."""
    stays = [(file, [f for _, f in met]) for file, met in groupby(walk, lambda step: step[0])]
    files = {file for file, _ in stays}
    lines = []
    for file, functions in stays:
        mark = "  " if file in files else "<-"
        files.discard(file)
        lines.append(f"{mark} {file}: {', '.join(functions)}")
    n_files = len({file for file, _ in walk})
    counts = f"{n_files} files, {len(walk)} functions, {len(stays) - n_files} returns"
    return "\n".join([f"{name}: {counts}", *lines])


def docstring_lines(tree: ast.AST) -> set[int]:
    """Return the numbers of the lines that docstrings take."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            and node.body
        ):
            first = node.body[0]
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                lines.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return lines


def code_lines(path: Path) -> int:
    """Return the number of lines of a file without docstrings, comments and blanks."""
    lines: set[int] = set()
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type not in SPACING | {tokenize.COMMENT}:
                lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - docstring_lines(ast.parse(path.read_bytes())))


def report_code(folder: str, package: Path) -> str:
    """Return the lines of code below a folder, by room."""
    files: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    for path in package.rglob("*.py"):
        inside = path.relative_to(package)
        room = inside.parts[0] if len(inside.parts) > 1 else "(top)"
        files[room] += 1
        lines[room] += code_lines(path)
    rooms = "".join(
        f"\n  {room:12} {files[room]:3} files {lines[room]:5} lines" for room in sorted(files)
    )
    return f"{folder}: {files.total()} files, {lines.total()} lines of code{rooms}"


def main() -> None:
    """Print both walks, and the lines of code."""
    for name, measure in (("default measure", None), ('measure="auto"', "auto")):
        run = fit_and_size(measure)
        run()  # so that imports and compilation are not watched
        print(report(name, watch(fit_and_size(measure))))
    print(report_code("src", ROOT / "src" / "labelsure"))
    print(report_code("tests", ROOT / "tests"))


if __name__ == "__main__":
    main()

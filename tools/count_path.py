"""Count the files and functions of labelsure that run from ``fit`` to ``region(0.1).sizes``, and all lines of code.

``PYTHONPATH=src python tools/count_path.py`` prints both paths room by room; ``--names`` lists
every function. What runs is seen by sys.setprofile. Comprehensions, generator expressions and
lambdas are not counted as functions of their own: they are read where they stand. Compiled kernels
are not seen; the functions that call them are. Lines of code are those without docstrings, comments
and blanks.
"""

import argparse
import ast
import sys
import threading
import tokenize
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
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


class Met(dict[tuple[str, str], int]):
    """The functions met, as (file, qualified name)."""

    @property
    def files(self) -> set[str]:
        """The files they are in."""
        return {file for file, _ in self}


def watch(run: Callable[[], Any]) -> Met:
    """Return the functions of labelsure that run while ``run`` does, in this thread and in those it starts."""
    import labelsure

    root = str(Path(labelsure.__file__).parent) + "/"
    codes: set[CodeType] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            codes.add(frame.f_code)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    met = Met()
    for code in codes:
        name = code.co_qualname
        if code.co_filename.startswith(root) and not name.endswith(">"):
            met[code.co_filename.removeprefix(root), name] = code.co_firstlineno
    return met


def fit_and_size(measure: Any = None) -> Callable[[], Any]:
    """Return what is watched: fit on 14 labels, predict, and ask for the sizes of regions."""
    import numpy as np

    from labelsure import CrossConformalClassifier, MLkNNClassifier

    rng = np.random.RandomState(0)
    X = rng.rand(110, 6)
    Y = (X[:, np.arange(N_LABELS) % 6] + 0.3 * rng.rand(110, N_LABELS) > 0.8).astype(int)
    model = CrossConformalClassifier(MLkNNClassifier(), measure=measure, cv=5, random_state=0)
    return lambda: model.fit(X[:100], Y[:100]).predict_labelsets(X[100:]).region(0.1).sizes


def report(name: str, met: Met) -> str:
    """Return the counts by room."""
    files = Counter(file.partition("/")[0] for file in met.files)
    functions = Counter(file.partition("/")[0] for file, _ in met)
    rooms = "".join(
        f"\n  {room:12} {files[room]:3} files {functions[room]:4} functions"
        for room in sorted(files)
    )
    return f"{name}: {len(met.files)} files, {len(met)} functions{rooms}"


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
    """Print both paths, and the lines of code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--names", action="store_true", help="list every function")
    arguments = parser.parse_args()
    for name, measure in (("default measure", None), ('measure="auto"', "auto")):
        run = fit_and_size(measure)
        run()  # so that imports and compilation are not watched
        met = watch(fit_and_size(measure))
        print(report(name, met))
        if arguments.names:
            print(
                *(f"  {file}:{line} {function}" for (file, function), line in sorted(met.items())),
                sep="\n",
            )
    print(report_code("src", ROOT / "src" / "labelsure"))
    print(report_code("tests", ROOT / "tests"))


if __name__ == "__main__":
    main()

"""Count the files and functions of labelsure that run from ``fit`` to ``region(0.1).sizes``.

``PYTHONPATH=src python tools/count_path.py`` prints both paths room by room; ``--names`` lists every function. What
runs is seen by sys.setprofile: for so few objects rows in numpy answer. Comprehensions, generator expressions and
lambdas are not counted as functions of their own: they are read where they stand.
"""

import argparse
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

N_LABELS = 14


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
    rooms = "".join(f"\n  {room:12} {files[room]:3} files {functions[room]:4} functions" for room in sorted(files))
    return f"{name}: {len(met.files)} files, {len(met)} functions{rooms}"


def main() -> None:
    """Print both paths."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--names", action="store_true", help="list every function")
    arguments = parser.parse_args()
    for name, measure in (("default measure", None), ('measure="auto"', "auto")):
        run = fit_and_size(measure)
        run()  # so that imports and compilation are not watched
        met = watch(fit_and_size(measure))
        print(report(name, met))
        if arguments.names:
            print(*(f"  {file}:{line} {function}" for (file, function), line in sorted(met.items())), sep="\n")


if __name__ == "__main__":
    main()
